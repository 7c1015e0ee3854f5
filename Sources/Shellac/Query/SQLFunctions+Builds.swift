// Functions that not every SQLite has: they came after 3.40, or depend on how it was built. Where one is missing, a
// statement that uses it throws "no such function", with the SQL.
//
// SQLite has a second name for some functions: FORMAT is `printf`, SUBSTRING is `substr`, IF is `iif`, CEILING is `ceil`,
// POWER is `pow`, STRING_AGG is `groupConcat`. The functions LIKE, GLOB, MATCH and REGEXP are the operators.

// MARK: - Texts and blobs

/// Concatenates values as texts, without those that are NULL, from SQLite 3.44 on: `CONCAT(a, b, …)`.
public func concat(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression {
    .function("CONCAT", [first] + others)
}

/// Concatenates values as texts with a separator between them, without those that are NULL, from SQLite 3.44 on:
/// `CONCAT_WS(separator, a, b, …)`.
public func concat(
    separator: any SQLExpressible, _ first: some SQLSpecificExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("CONCAT_WS", [separator, first] + others) }

/// Returns the number of bytes of a text or blob, from SQLite 3.43 on: `OCTET_LENGTH(value)`.
public func octetLength(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("OCTET_LENGTH", [value])
}

/// Returns the blob of hexadecimal digits, from SQLite 3.41 on: `UNHEX(digits)`.
public func unhex(_ digits: some SQLSpecificExpressible) -> SQLExpression { .function("UNHEX", [digits]) }

/// Returns the blob of hexadecimal digits between which some characters may stand, from SQLite 3.41 on:
/// `UNHEX(digits, characters)`.
public func unhex(_ digits: some SQLSpecificExpressible, ignoring characters: any SQLExpressible)
    -> SQLExpression
{
    .function("UNHEX", [digits, characters])
}

/// Returns the text in which `\u0041` and its like are the characters of these numbers, from SQLite 3.50 on:
/// `UNISTR(text)`.
public func unistr(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UNISTR", [text]) }

/// Returns a value as an SQL literal, in which control characters are written as numbers, from SQLite 3.50 on:
/// `UNISTR_QUOTE(value)`.
public func unistrQuote(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNISTR_QUOTE", [value])
}

/// Returns how an English word sounds, where SQLite was built with SQLITE_SOUNDEX: `SOUNDEX(text)`.
public func soundex(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("SOUNDEX", [text]) }

// MARK: - About SQLite

/// Tells the planner how often a condition holds, from 0 to 1: `LIKELIHOOD(condition, probability)`.
public func likelihood(_ condition: some SQLSpecificExpressible, _ probability: Double) -> SQLExpression {
    // SQLite wants a literal.
    .function("LIKELIHOOD", [condition, SQL(sql: "\(max(min(probability, 1), 0))")])
}

/// Returns where the record of a column begins in the database file, where SQLite was built with
/// SQLITE_ENABLE_OFFSET_SQL_FUNC: `SQLITE_OFFSET(column)`.
public func sqliteOffset(_ column: some SQLSpecificExpressible) -> SQLExpression {
    .function("SQLITE_OFFSET", [column])
}

/// Returns an option that SQLite was built with, by its number: `SQLITE_COMPILEOPTION_GET(number)`.
public func sqliteCompileOption(_ number: some SQLSpecificExpressible) -> SQLExpression {
    .function("SQLITE_COMPILEOPTION_GET", [number])
}

/// Whether SQLite was built with an option: `SQLITE_COMPILEOPTION_USED(option)`.
public func isSQLiteCompileOptionUsed(_ option: some SQLSpecificExpressible) -> SQLExpression {
    .function("SQLITE_COMPILEOPTION_USED", [option])
}

extension SQLSpecificExpressible where Self == SQLExpression {
    /// The version of the running SQLite's source: `SQLITE_SOURCE_ID()`.
    public static var sqliteSourceID: SQLExpression { .function("SQLITE_SOURCE_ID", []) }
}

// MARK: - Aggregates

/// Returns the median, where SQLite was built with SQLITE_ENABLE_PERCENTILE, from 3.51 on: `MEDIAN(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func median(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("MEDIAN", [value], filter: filter) }

/// Returns the value below which a percentage of the values is, where SQLite was built with SQLITE_ENABLE_PERCENTILE:
/// `PERCENTILE(value, percentage)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - percentage: The percentage, from 0 to 100.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func percentile(
    _ value: some SQLSpecificExpressible, _ percentage: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("PERCENTILE", [value, percentage], filter: filter) }

/// Returns the value below which a part of the values is, interpolated where it falls between two of them, where SQLite
/// was built with SQLITE_ENABLE_PERCENTILE: `PERCENTILE_CONT(value, part)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - part: The part, from 0 to 1.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func percentileContinuous(
    _ value: some SQLSpecificExpressible, _ part: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("PERCENTILE_CONT", [value, part], filter: filter) }

/// Returns the value below which a part of the values is, always one of them, where SQLite was built with
/// SQLITE_ENABLE_PERCENTILE: `PERCENTILE_DISC(value, part)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - part: The part, from 0 to 1.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func percentileDiscrete(
    _ value: some SQLSpecificExpressible, _ part: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("PERCENTILE_DISC", [value, part], filter: filter) }
