// SQL functions. Each takes one line: the name and the operands.
//
// A function with a single operand takes `some SQLSpecificExpressible`, so that `abs(-1)` is still
// Swift's own. Further operands are `any SQLExpressible`.

extension SQLExpression {
    /// Returns a call of a function.
    static func function(
        _ name: String, _ arguments: [any SQLExpressible], isDistinct: Bool = false,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        SQLExpression(
            .call(
                FunctionCall(
                    name: name, arguments: arguments.map(\.sqlExpression), isDistinct: isDistinct,
                    filter: filter?.sqlExpression)))
    }

    /// Returns a call of a function that is built into SQLite, or was added to the connection.
    ///
    /// ```swift
    /// Player.select(SQLExpression.call("soundex", Column("name")))
    /// // SELECT "soundex"("name") FROM "player"
    /// ```
    ///
    /// - Parameters:
    ///   - function: The name of the function, without quotes. It is quoted in SQL. The statement
    ///     throws if there is none of that name.
    ///   - arguments: The arguments of the function. Values are bound.
    public static func call(_ function: String, _ arguments: any SQLExpressible...) -> SQLExpression {
        .function(function.quotedDatabaseIdentifier, arguments)
    }
}

extension DatabaseFunction {
    /// Returns a call of the function with the given arguments.
    ///
    /// ```swift
    /// let initials = DatabaseFunction("initials", argumentCount: 1) { … }
    /// Player.select(initials(Column("name")))
    /// ```
    ///
    /// - Parameter arguments: The arguments of the function, as many as ``argumentCount``
    ///   specifies. Values are bound. The statement throws if the connection has no such function.
    public func callAsFunction(_ arguments: any SQLExpressible...) -> SQLExpression {
        .function(name.quotedDatabaseIdentifier, arguments)
    }
}

// MARK: - Aggregates

/// Counts the rows: `COUNT(*)`.
///
/// - Parameters:
///   - rows: The argument `*`.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func count(_ rows: AllColumns, filter: (any SQLSpecificExpressible)? = nil) -> SQLExpression {
    SQLExpression(
        .call(FunctionCall(name: "COUNT", arguments: [], takesRows: true, filter: filter?.sqlExpression)))
}

/// Counts the values that are not NULL: `COUNT(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func count(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("COUNT", [value], filter: filter) }

/// Counts the distinct values that are not NULL: `COUNT(DISTINCT value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func count(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("COUNT", [value], isDistinct: true, filter: filter) }

/// Returns the greatest value: `MAX(value)`.
///
/// ```swift
/// let best = try Player.select(max(Column("score")), as: Int.self).fetchOne(db)
/// ```
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func max(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("MAX", [value], filter: filter) }

/// Returns the least value: `MIN(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func min(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("MIN", [value], filter: filter) }

/// Returns the sum of the values, or NULL if there are none: `SUM(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func sum(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("SUM", [value], filter: filter) }

/// Returns the sum of the distinct values: `SUM(DISTINCT value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func sum(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("SUM", [value], isDistinct: true, filter: filter) }

/// Returns the sum of the values as a real number, or 0.0 if there are none: `TOTAL(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func total(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("TOTAL", [value], filter: filter) }

/// Returns the mean of the values, or NULL if there are none: `AVG(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func average(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("AVG", [value], filter: filter) }

/// Returns the mean of the distinct values: `AVG(DISTINCT value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func average(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("AVG", [value], isDistinct: true, filter: filter) }

// MARK: - Scalars

/// Returns the absolute value: `ABS(value)`.
///
/// - Parameter value: The number. A text that is not a number counts as 0.0. NULL remains NULL.
public func abs(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("ABS", [value]) }

/// Returns the first value that is not NULL: `COALESCE(a, b, …)`.
///
/// - Parameter values: The values, checked in order. SQLite requires at least two. If all are NULL,
///   so is the result.
public func coalesce(_ values: any SQLExpressible...) -> SQLExpression { coalesce(values) }

/// Returns the first value that is not NULL: see ``coalesce(_:)``.
///
/// - Parameter values: At least two values.
public func coalesce(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
    .function("COALESCE", Array(values))
}

// MARK: - Windows

/// Returns the rank of a row in its window, with gaps: `RANK()`.
public func rank() -> SQLExpression { .function("RANK", []) }

/// Returns the rank of a row in its window, without gaps: `DENSE_RANK()`.
public func denseRank() -> SQLExpression { .function("DENSE_RANK", []) }

/// Returns the number of a row in its window: `ROW_NUMBER()`.
public func rowNumber() -> SQLExpression { .function("ROW_NUMBER", []) }
