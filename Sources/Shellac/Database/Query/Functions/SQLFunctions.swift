// Functions of SQL. Each is one line: the name, and the operands.
//
// A function takes `some SQLSpecificExpressible` where it has one operand, and `any SQLExpressible` beside others, so
// that `abs(-1)` stays Swift's own.

extension SQLExpression {
    /// Calls a function.
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

    /// Calls a function that SQLite knows, or that was added to the connection.
    ///
    /// ```swift
    /// Player.select(SQLExpression.call("soundex", Column("name")))
    /// // SELECT "soundex"("name") FROM "player"
    /// ```
    ///
    /// - Parameters:
    ///   - function: The name of the function, without quotes: SQL gets it quoted. The statement throws where there is none of that
    ///     name.
    ///   - arguments: What the function is called with. Values are bound.
    public static func call(_ function: String, _ arguments: any SQLExpressible...) -> SQLExpression {
        .function(function.quotedDatabaseIdentifier, arguments)
    }
}

extension DatabaseFunction {
    /// Calls the function with operands.
    ///
    /// ```swift
    /// let initials = DatabaseFunction("initials", argumentCount: 1) { … }
    /// Player.select(initials(Column("name")))
    /// ```
    ///
    /// - Parameter arguments: What the function is called with, as many as ``argumentCount`` says. Values are bound. The statement
    ///   throws where the connection has no such function.
    public func callAsFunction(_ arguments: any SQLExpressible...) -> SQLExpression {
        .function(name.quotedDatabaseIdentifier, arguments)
    }
}

// MARK: - Aggregates

/// Counts the rows: `COUNT(*)`.
///
/// - Parameters:
///   - rows: Stands for `*`.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func count(_ rows: AllColumns, filter: (any SQLSpecificExpressible)? = nil) -> SQLExpression {
    SQLExpression(
        .call(FunctionCall(name: "COUNT", arguments: [], takesRows: true, filter: filter?.sqlExpression)))
}

/// Counts the values that are not NULL: `COUNT(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func count(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("COUNT", [value], filter: filter) }

/// Counts the different values that are not NULL: `COUNT(DISTINCT value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
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
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func max(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("MAX", [value], filter: filter) }

/// Returns the least value: `MIN(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func min(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("MIN", [value], filter: filter) }

/// Returns the sum of the values, or NULL where there is none: `SUM(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func sum(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("SUM", [value], filter: filter) }

/// Returns the sum of the different values: `SUM(DISTINCT value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func sum(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("SUM", [value], isDistinct: true, filter: filter) }

/// Returns the sum of the values as a real number, 0.0 where there is none: `TOTAL(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func total(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("TOTAL", [value], filter: filter) }

/// Returns the mean of the values, or NULL where there is none: `AVG(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func average(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("AVG", [value], filter: filter) }

/// Returns the mean of the different values: `AVG(DISTINCT value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func average(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("AVG", [value], isDistinct: true, filter: filter) }

// MARK: - Scalars

/// Returns the absolute value: `ABS(value)`.
///
/// - Parameter value: The number. A text that is none counts as 0.0. NULL stays NULL.
public func abs(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("ABS", [value]) }

/// Returns the first value that is not NULL: `COALESCE(a, b, …)`.
///
/// - Parameter values: The values, in the order in which they are asked: at least two, since SQLite refuses fewer. Where all are
///   NULL, so is the result.
public func coalesce(_ values: any SQLExpressible...) -> SQLExpression { .function("COALESCE", values) }

// MARK: - Windows

/// Returns the rank of a row in its window, with gaps: `RANK()`.
public func rank() -> SQLExpression { .function("RANK", []) }

/// Returns the rank of a row in its window, without gaps: `DENSE_RANK()`.
public func denseRank() -> SQLExpression { .function("DENSE_RANK", []) }

/// Returns the number of a row in its window: `ROW_NUMBER()`.
public func rowNumber() -> SQLExpression { .function("ROW_NUMBER", []) }
