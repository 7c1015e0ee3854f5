// The window functions of SQLite's page "Window Functions", which need `.over(…)`, and what else goes over many rows.

/// Concatenates the texts of all rows, with a text between them: `GROUP_CONCAT(value, separator)`.
///
/// Their order is not defined, unless the request that is read is sorted.
///
/// - Parameters:
///   - value: The value of each row.
///   - separator: The text between two texts; a comma if nil.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func groupConcat(
    _ value: some SQLSpecificExpressible, separator: String? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("GROUP_CONCAT", [value] + (separator.map { [$0] } ?? []), filter: filter) }

/// Concatenates the different texts of all rows, with commas between them: `GROUP_CONCAT(DISTINCT value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func groupConcat(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("GROUP_CONCAT", [value], isDistinct: true, filter: filter) }

/// Returns the rank of a row, from 0 to 1: `PERCENT_RANK()`.
public func percentRank() -> SQLExpression { .function("PERCENT_RANK", []) }

/// Returns which part of the rows is not behind this one, from 0 to 1: `CUME_DIST()`.
public func cumeDist() -> SQLExpression { .function("CUME_DIST", []) }

/// Returns in which of a number of equal parts a row is, counted from 1: `NTILE(count)`.
///
/// - Parameter count: How many parts there are. The statement throws unless it is positive.
public func ntile(_ count: Int) -> SQLExpression { .function("NTILE", [count]) }

/// Returns the value of a row before this one, or another value where there is none: `LAG(value, offset, other)`.
///
/// ```swift
/// let earlier = lag(Column("score")).over(order: [Column("date")])
/// Game.select(Column("date"), (Column("score") - earlier).forKey("progress"))
/// ```
///
/// - Parameters:
///   - value: The value, which is read in the other row.
///   - offset: How many rows before this one it stands: 0 is the row itself.
///   - other: The value where there is no such row; NULL if nil.
public func lag(
    _ value: some SQLSpecificExpressible, _ offset: Int = 1, default other: (any SQLExpressible)? = nil
) -> SQLExpression { .neighbour("LAG", value, offset, other) }

/// Returns the value of a row behind this one, or another value where there is none: `LEAD(value, offset, other)`.
///
/// - Parameters:
///   - value: The value, which is read in the other row.
///   - offset: How many rows behind this one it stands: 0 is the row itself.
///   - other: The value where there is no such row; NULL if nil.
public func lead(
    _ value: some SQLSpecificExpressible, _ offset: Int = 1, default other: (any SQLExpressible)? = nil
) -> SQLExpression { .neighbour("LEAD", value, offset, other) }

/// Returns the value of the first row of the frame: `FIRST_VALUE(value)`.
///
/// - Parameter value: The value, which is read in that row.
public func firstValue(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("FIRST_VALUE", [value])
}

/// Returns the value of the last row of the frame: `LAST_VALUE(value)`. Without a frame, the frame ends at the row
/// itself.
///
/// - Parameter value: The value, which is read in that row.
public func lastValue(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("LAST_VALUE", [value])
}

/// Returns the value of a row of the frame: `NTH_VALUE(value, number)`.
///
/// - Parameters:
///   - value: The value, which is read in that row.
///   - number: The place of the row, counted from 1. Where the frame ends before, the result is NULL; the statement throws unless
///     it is positive.
public func nthValue(_ value: some SQLSpecificExpressible, _ number: Int) -> SQLExpression {
    .function("NTH_VALUE", [value, number])
}

extension SQLExpression {
    fileprivate static func neighbour(
        _ name: String, _ value: any SQLExpressible, _ offset: Int, _ other: (any SQLExpressible)?
    ) -> SQLExpression {
        if let other { return function(name, [value, offset, other]) }
        return function(name, offset == 1 ? [value] : [value, offset])
    }
}
