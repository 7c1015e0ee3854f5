// The comparison and logic operators of expressions.
//
// Each has two or three overloads, which keeps the type checker fast. There is one for a specific
// operand on each side, and one for both. Think twice before you add one. Most of those with one
// specific operand are spellings: see Operators+Operands.swift.

// MARK: - Equality

/// Whether two values are equal, or whether a value is NULL if the other is nil: `a = b`,
/// `a IS NULL`.
public func == (a: some SQLSpecificExpressible, b: (any SQLExpressible)?) -> SQLExpression {
    SQLExpression.equality(.equal, a.sqlExpression, b?.sqlExpression)
}

/// Whether two values are equal, or whether a value is NULL if the other is nil: `a = b`,
/// `a IS NULL`.
public func == (a: (any SQLExpressible)?, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression.equality(.equal, a?.sqlExpression, b.sqlExpression)
}

/// Whether two values are equal, or whether a value is NULL if the other is nil: `a = b`,
/// `a IS NULL`.
public func == (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression.equality(.equal, a.sqlExpression, b.sqlExpression)
}

/// Whether two values differ, or whether a value is not NULL if the other is nil: `a <> b`,
/// `a IS NOT NULL`.
public func != (a: some SQLSpecificExpressible, b: (any SQLExpressible)?) -> SQLExpression {
    SQLExpression.equality(.notEqual, a.sqlExpression, b?.sqlExpression)
}

/// Whether two values differ, or whether a value is not NULL if the other is nil: `a <> b`,
/// `a IS NOT NULL`.
public func != (a: (any SQLExpressible)?, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression.equality(.notEqual, a?.sqlExpression, b.sqlExpression)
}

/// Whether two values differ, or whether a value is not NULL if the other is nil: `a <> b`,
/// `a IS NOT NULL`.
public func != (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression.equality(.notEqual, a.sqlExpression, b.sqlExpression)
}

extension SQLExpression {
    /// Compares two expressions. Uses `IS` if one is NULL.
    fileprivate static func equality(
        _ infix: InfixOperator, _ a: SQLExpression?, _ b: SQLExpression?
    ) -> SQLExpression {
        let (a, b) = (a.flatMap { $0.isNull ? nil : $0 }, b.flatMap { $0.isNull ? nil : $0 })
        if let a, let b { return SQLExpression(.infix(infix, a, b)) }
        return SQLExpression(.isNull(a ?? b ?? SQLExpression(.value(.null)), isNegated: infix == .notEqual))
    }
}

// MARK: - Comparison

/// Whether a value is less than another: `a < b`.
public func < (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.less, a.sqlExpression, b.sqlExpression))
}

/// Whether a value is at most another: `a <= b`.
public func <= (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.lessOrEqual, a.sqlExpression, b.sqlExpression))
}

/// Whether a value is greater than another: `a > b`.
public func > (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.greater, a.sqlExpression, b.sqlExpression))
}

/// Whether a value is at least another: `a >= b`.
public func >= (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.greaterOrEqual, a.sqlExpression, b.sqlExpression))
}

// MARK: - Logic

/// Whether both conditions hold: `a AND b`.
public func && (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    .chain(.and, [a.sqlExpression, b.sqlExpression])
}

/// Whether one of two conditions holds: `a OR b`.
public func || (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    .chain(.or, [a.sqlExpression, b.sqlExpression])
}

/// Whether a condition does not hold: `NOT a`, `a <> b`, `a NOT IN (…)`.
public prefix func ! (a: some SQLSpecificExpressible) -> SQLExpression { a.sqlExpression.negated }
