// Operators beside the comparisons, and functions of several operands.

/// Whether two values are the same, treating NULLs as equal: `a IS b`.
public func === (a: some SQLSpecificExpressible, b: (any SQLExpressible)?) -> SQLExpression {
    SQLExpression(.infix(.isSame, a.sqlExpression, b?.sqlExpression ?? SQLExpression(.value(.null))))
}

/// Whether two values are the same, treating NULLs as equal: `a IS b`.
public func === (a: (any SQLExpressible)?, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.isSame, a?.sqlExpression ?? SQLExpression(.value(.null)), b.sqlExpression))
}

/// Whether two values are the same, treating NULLs as equal: `a IS b`.
public func === (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(.infix(.isSame, a.sqlExpression, b.sqlExpression))
}

/// Whether two values are not the same, treating NULLs as equal: `a IS NOT b`.
public func !== (a: some SQLSpecificExpressible, b: (any SQLExpressible)?) -> SQLExpression { !(a === b) }

/// Whether two values are not the same, treating NULLs as equal: `a IS NOT b`.
public func !== (a: (any SQLExpressible)?, b: some SQLSpecificExpressible) -> SQLExpression { !(a === b) }

/// Whether two values are not the same, treating NULLs as equal: `a IS NOT b`.
public func !== (a: some SQLSpecificExpressible, b: some SQLSpecificExpressible) -> SQLExpression {
    !(a === b)
}

/// Returns the least of several values, or NULL if one is NULL: `MIN(a, b, …)`.
///
/// ```swift
/// Player.select(min(Column("score"), 1000))
/// ```
///
/// - Parameters:
///   - first: A column or an expression, which distinguishes this function from Swift's own.
///   - second: A value to compare with, in SQLite's order: numbers come before texts, and texts
///     before blobs.
///   - others: Further values to compare.
public func min(
    _ first: some SQLSpecificExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MIN", [first, second] + others) }

/// Returns the greatest of several values, or NULL if one is NULL: `MAX(a, b, …)`.
///
/// - Parameters:
///   - first: A column or an expression, which distinguishes this function from Swift's own.
///   - second: A value to compare with, in SQLite's order: numbers come before texts, and texts
///     before blobs.
///   - others: Further values to compare.
public func max(
    _ first: some SQLSpecificExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MAX", [first, second] + others) }

extension Sequence<any SQLSpecificExpressible> {
    /// Joins all operands with an operator.
    ///
    /// - Parameter operator: The operator. It also determines the result for an empty sequence,
    ///   which is true for ``AssociativeOperator/and``.
    @_disfavoredOverload
    public func joined(operator: AssociativeOperator) -> SQLExpression {
        map(\.sqlExpression).joined(operator: `operator`)
    }
}
