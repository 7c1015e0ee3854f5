// SQLite's window functions, which need `.over(…)`, and further functions over many rows.
//
// They are those of SQLite's page "Window Functions".

/// Concatenates the texts of all rows with a separator: `GROUP_CONCAT(value, separator)`.
///
/// Their order is undefined unless the request that is read is sorted.
///
/// - Parameters:
///   - value: The value of each row.
///   - separator: The text between two texts. A comma if nil.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func groupConcat(
    _ value: some SQLSpecificExpressible, separator: String? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("GROUP_CONCAT", [value] + (separator.map { [$0] } ?? []), filter: filter) }

/// Concatenates the distinct texts of all rows with commas: `GROUP_CONCAT(DISTINCT value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func groupConcat(
    distinct value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("GROUP_CONCAT", [value], isDistinct: true, filter: filter) }

/// Returns the rank of a row, from 0 to 1: `PERCENT_RANK()`.
public func percentRank() -> SQLExpression { .function("PERCENT_RANK", []) }

/// Returns the fraction of the rows up to and including this one, from 0 to 1: `CUME_DIST()`.
public func cumeDist() -> SQLExpression { .function("CUME_DIST", []) }

/// Returns the number of the row's group, if the rows are divided into equal groups:
/// `NTILE(count)`. Counted from 1.
///
/// - Parameter count: The number of groups. The statement throws unless it is positive.
public func ntile(_ count: Int) -> SQLExpression { .function("NTILE", [count]) }

/// Returns the value of an earlier row, or another value if there is none:
/// `LAG(value, offset, other)`.
///
/// ```swift
/// let earlier = lag(Column("score")).over(order: [Column("date")])
/// Game.select(Column("date"), (Column("score") - earlier).forKey("progress"))
/// ```
///
/// - Parameters:
///   - value: The value, read in the other row.
///   - offset: The number of rows before this one. 0 is this row itself.
///   - other: The value if there is no such row. NULL if nil.
public func lag(
    _ value: some SQLSpecificExpressible, _ offset: Int = 1, default other: (any SQLExpressible)? = nil
) -> SQLExpression { .neighbour("LAG", value, offset, other) }

/// Returns the value of a later row, or another value if there is none:
/// `LEAD(value, offset, other)`.
///
/// - Parameters:
///   - value: The value, read in the other row.
///   - offset: The number of rows after this one. 0 is this row itself.
///   - other: The value if there is no such row. NULL if nil.
public func lead(
    _ value: some SQLSpecificExpressible, _ offset: Int = 1, default other: (any SQLExpressible)? = nil
) -> SQLExpression { .neighbour("LEAD", value, offset, other) }

/// Returns the value of the first row of the frame: `FIRST_VALUE(value)`.
///
/// - Parameter value: The value, read in that row.
public func firstValue(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("FIRST_VALUE", [value])
}

/// Returns the value of the last row of the frame: `LAST_VALUE(value)`. By default, the frame ends
/// at the row itself.
///
/// - Parameter value: The value, read in that row.
public func lastValue(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("LAST_VALUE", [value])
}

/// Returns the value of a row of the frame: `NTH_VALUE(value, number)`.
///
/// - Parameters:
///   - value: The value, read in that row.
///   - number: The number of the row, counted from 1. The statement throws unless it is positive.
///     If the frame ends before that row, the result is NULL.
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
