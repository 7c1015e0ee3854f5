// What stands beside conditions, and what has several operands.

/// Whether both conditions hold: `a AND b`. Swift's own value may be a part of a condition that is put together.
@_disfavoredOverload
public func && (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    .chain(.and, [a.sqlExpression, b.sqlExpression])
}

/// Whether both conditions hold: `a AND b`.
@_disfavoredOverload
public func && (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    .chain(.and, [a.sqlExpression, b.sqlExpression])
}

/// Whether one of two conditions holds: `a OR b`.
@_disfavoredOverload
public func || (a: some SQLSpecificExpressible, b: some SQLExpressible) -> SQLExpression {
    .chain(.or, [a.sqlExpression, b.sqlExpression])
}

/// Whether one of two conditions holds: `a OR b`.
@_disfavoredOverload
public func || (a: some SQLExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    .chain(.or, [a.sqlExpression, b.sqlExpression])
}

/// Whether two values are the same, where NULL is the same as NULL: `a IS b`.
public func === (a: some SQLSpecificExpressible, b: (any SQLExpressible)?) -> SQLExpression {
    SQLExpression(.infix(.isSame, a.sqlExpression, b?.sqlExpression ?? SQLExpression(.value(.null))))
}

/// Whether two values are the same, where NULL is the same as NULL: `a IS b`.
public func === (a: (any SQLExpressible)?, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.isSame, a?.sqlExpression ?? SQLExpression(.value(.null)), b.sqlExpression))
}

/// Whether two values are the same, where NULL is the same as NULL: `a IS b`.
public func === (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.isSame, a.sqlExpression, b.sqlExpression))
}

/// Whether two values are not the same, where NULL is the same as NULL: `a IS NOT b`.
public func !== (a: some SQLSpecificExpressible, b: (any SQLExpressible)?) -> SQLExpression { !(a === b) }

/// Whether two values are not the same, where NULL is the same as NULL: `a IS NOT b`.
public func !== (a: (any SQLExpressible)?, b: some SQLSpecificExpressible) -> SQLExpression { !(a === b) }

/// Whether two values are not the same, where NULL is the same as NULL: `a IS NOT b`.
public func !== (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    !(a === b)
}

/// Returns the least of some values, or NULL where one is NULL: `MIN(a, b, …)`.
///
/// ```swift
/// Player.select(min(Column("score"), 1000))
/// ```
///
/// - Parameters:
///   - first: A column or an expression, which tells this function from Swift's own.
///   - second: What it is compared with, as SQLite sorts: numbers come before texts, and texts before blobs.
///   - others: What else is compared.
public func min(
    _ first: some SQLSpecificExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MIN", [first, second] + others) }

/// Returns the greatest of some values, or NULL where one is NULL: `MAX(a, b, …)`.
///
/// - Parameters:
///   - first: A column or an expression, which tells this function from Swift's own.
///   - second: What it is compared with, as SQLite sorts: numbers come before texts, and texts before blobs.
///   - others: What else is compared.
public func max(
    _ first: some SQLSpecificExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MAX", [first, second] + others) }

extension Sequence<any SQLSpecificExpressible> {
    /// Joins all operands by an operator.
    ///
    /// - Parameter operator: The operator. It says, too, what comes of no operands: ``AssociativeOperator/and`` is true then.
    @_disfavoredOverload
    public func joined(operator: AssociativeOperator) -> SQLExpression {
        map(\.sqlExpression).joined(operator: `operator`)
    }
}
