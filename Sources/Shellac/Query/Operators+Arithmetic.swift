// Numbers and bits: see the note on overloads in Operators.swift.

// MARK: - Arithmetic

/// The sum: `a + b`.
public func + (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.add, a.sqlExpression, b.sqlExpression))
}

/// The sum: `a + b`.
public func + (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.add, a.sqlExpression, b.sqlExpression))
}

/// The sum: `a + b`.
public func + (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.add, a.sqlExpression, b.sqlExpression))
}

/// The difference: `a - b`.
public func - (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.subtract, a.sqlExpression, b.sqlExpression))
}

/// The difference: `a - b`.
public func - (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.subtract, a.sqlExpression, b.sqlExpression))
}

/// The difference: `a - b`.
public func - (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.subtract, a.sqlExpression, b.sqlExpression))
}

/// The product: `a * b`.
public func * (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.multiply, a.sqlExpression, b.sqlExpression))
}

/// The product: `a * b`.
public func * (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.multiply, a.sqlExpression, b.sqlExpression))
}

/// The product: `a * b`.
public func * (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.multiply, a.sqlExpression, b.sqlExpression))
}

/// The quotient: of integers, an integer: `a / b`.
public func / (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.divide, a.sqlExpression, b.sqlExpression))
}

/// The quotient: of integers, an integer: `a / b`.
public func / (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.divide, a.sqlExpression, b.sqlExpression))
}

/// The quotient: of integers, an integer: `a / b`.
public func / (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.divide, a.sqlExpression, b.sqlExpression))
}

/// The remainder of a division of integers: `a % b`.
public func % (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.remainder, a.sqlExpression, b.sqlExpression))
}

/// The remainder of a division of integers: `a % b`.
public func % (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.remainder, a.sqlExpression, b.sqlExpression))
}

/// The remainder of a division of integers: `a % b`.
public func % (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.remainder, a.sqlExpression, b.sqlExpression))
}

/// The negative value: `-a`.
public prefix func - (a: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.prefix(.minus, a.sqlExpression))
}

// MARK: - Bits

/// The bits that both integers have: `a & b`.
public func & (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.bitAnd, a.sqlExpression, b.sqlExpression))
}

/// The bits that both integers have: `a & b`.
public func & (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.bitAnd, a.sqlExpression, b.sqlExpression))
}

/// The bits that both integers have: `a & b`.
public func & (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.bitAnd, a.sqlExpression, b.sqlExpression))
}

/// The bits that one of two integers has: `a | b`.
public func | (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.bitOr, a.sqlExpression, b.sqlExpression))
}

/// The bits that one of two integers has: `a | b`.
public func | (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.bitOr, a.sqlExpression, b.sqlExpression))
}

/// The bits that one of two integers has: `a | b`.
public func | (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.bitOr, a.sqlExpression, b.sqlExpression))
}

/// An integer with its bits moved up: `a << b`.
public func << (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.leftShift, a.sqlExpression, b.sqlExpression))
}

/// An integer with its bits moved up: `a << b`.
public func << (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.leftShift, a.sqlExpression, b.sqlExpression))
}

/// An integer with its bits moved up: `a << b`.
public func << (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.leftShift, a.sqlExpression, b.sqlExpression))
}

/// An integer with its bits moved down: `a >> b`.
public func >> (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    SQLExpression(.infix(.rightShift, a.sqlExpression, b.sqlExpression))
}

/// An integer with its bits moved down: `a >> b`.
public func >> (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.rightShift, a.sqlExpression, b.sqlExpression))
}

/// An integer with its bits moved down: `a >> b`.
public func >> (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.rightShift, a.sqlExpression, b.sqlExpression))
}

/// The bits that an integer has not: `~a`.
public prefix func ~ (a: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.prefix(.complement, a.sqlExpression))
}
