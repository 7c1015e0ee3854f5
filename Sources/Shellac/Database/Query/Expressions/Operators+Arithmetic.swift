// Operators for numbers and bits. See the note on overloads in Operators.swift.

// MARK: - Arithmetic

/// Adds two values: `a + b`.
public func + (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.add, a.sqlExpression, b.sqlExpression))
}

/// Subtracts a value from another one: `a - b`.
public func - (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.subtract, a.sqlExpression, b.sqlExpression))
}

/// Subtracts a value from another one: `a - b`.
public func - (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.subtract, a.sqlExpression, b.sqlExpression))
}

/// Subtracts a value from another one: `a - b`.
public func - (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.subtract, a.sqlExpression, b.sqlExpression))
}

/// Multiplies two values: `a * b`.
public func * (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.multiply, a.sqlExpression, b.sqlExpression))
}

/// Divides a value by another one: `a / b`. The quotient of integers is an integer.
public func / (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.divide, a.sqlExpression, b.sqlExpression))
}

/// Divides a value by another one: `a / b`. The quotient of integers is an integer.
public func / (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.divide, a.sqlExpression, b.sqlExpression))
}

/// Divides a value by another one: `a / b`. The quotient of integers is an integer.
public func / (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.divide, a.sqlExpression, b.sqlExpression))
}

/// Returns the remainder of a division of integers: `a % b`.
public func % (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.remainder, a.sqlExpression, b.sqlExpression))
}

/// Negates a value: `-a`.
public prefix func - (a: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.prefix(.minus, a.sqlExpression))
}

// MARK: - Bits

/// Returns the bits set in both integers: `a & b`.
public func & (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.bitAnd, a.sqlExpression, b.sqlExpression))
}

/// Returns the bits set in at least one of two integers: `a | b`.
public func | (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.bitOr, a.sqlExpression, b.sqlExpression))
}

/// Shifts the bits of an integer left: `a << b`.
public func << (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.leftShift, a.sqlExpression, b.sqlExpression))
}

/// Shifts the bits of an integer right: `a >> b`.
public func >> (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.rightShift, a.sqlExpression, b.sqlExpression))
}

/// Inverts the bits of an integer: `~a`.
public prefix func ~ (a: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.prefix(.complement, a.sqlExpression))
}
