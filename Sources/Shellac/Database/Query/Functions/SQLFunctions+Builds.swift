// Functions that not every SQLite has: they came after 3.40, or depend on how it was built. Where one is missing, a
// statement that uses it throws "no such function", with the SQL.
//
// SQLite has a second name for some functions: FORMAT is `printf`, SUBSTRING is `substr`, IF is `iif`, CEILING is `ceil`,
// POWER is `pow`, STRING_AGG is `groupConcat`. The functions LIKE, GLOB, MATCH and REGEXP are the operators.

// MARK: - Texts and blobs

/// Concatenates values as texts, without those that are NULL, from SQLite 3.44 on: `CONCAT(a, b, …)`.
///
/// - Parameters:
///   - first: The first value. A number or a blob is taken for its text.
///   - others: The values behind it.
public func concat(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression {
    .function("CONCAT", [first] + others)
}

/// Concatenates values as texts with a separator between them, without those that are NULL, from SQLite 3.44 on:
/// `CONCAT_WS(separator, a, b, …)`.
///
/// - Parameters:
///   - separator: What stands between two values. Where it is NULL, the result is NULL.
///   - first: The first value. A number or a blob is taken for its text.
///   - others: The values behind it.
public func concat(
    separator: any SQLExpressible, _ first: some SQLSpecificExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("CONCAT_WS", [separator, first] + others) }

/// Returns the number of bytes of a text or blob, from SQLite 3.43 on: `OCTET_LENGTH(value)`.
///
/// - Parameter value: A text, whose bytes are counted in the encoding of the database, or a blob. NULL stays NULL.
public func octetLength(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("OCTET_LENGTH", [value])
}

/// Returns the blob of hexadecimal digits, from SQLite 3.41 on: `UNHEX(digits)`.
///
/// - Parameter digits: Two digits for each byte, in upper or lower case. For any other text, the result is NULL.
public func unhex(_ digits: some SQLSpecificExpressible) -> SQLExpression { .function("UNHEX", [digits]) }

/// Returns the blob of hexadecimal digits between which some characters may stand, from SQLite 3.41 on:
/// `UNHEX(digits, characters)`.
///
/// - Parameters:
///   - digits: Two digits for each byte, in upper or lower case. Digits of one byte stand together, or the result is NULL.
///   - characters: The characters that are passed over, each of them a text's: `"- "`. Another one makes the result NULL.
public func unhex(_ digits: some SQLSpecificExpressible, ignoring characters: any SQLExpressible)
    -> SQLExpression
{
    .function("UNHEX", [digits, characters])
}

/// Returns the text in which `\u0041` and its like are the characters of these numbers, from SQLite 3.50 on:
/// `UNISTR(text)`.
///
/// - Parameter text: The text. A backslash that begins no such number makes the statement throw, unless it is doubled.
public func unistr(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UNISTR", [text]) }

/// Returns a value as an SQL literal, in which control characters are written as numbers, from SQLite 3.50 on:
/// `UNISTR_QUOTE(value)`.
///
/// - Parameter value: Any value: a number, a blob or NULL becomes what ``quote(_:)`` makes of it.
public func unistrQuote(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNISTR_QUOTE", [value])
}

/// Returns how an English word sounds, where SQLite was built with SQLITE_SOUNDEX: `SOUNDEX(text)`.
///
/// - Parameter text: The word. For NULL, and a text without letters of ASCII, the result is `?000`.
public func soundex(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("SOUNDEX", [text]) }

// MARK: - About SQLite

/// Tells the planner how often a condition holds: `LIKELIHOOD(condition, probability)`.
///
/// - Parameters:
///   - condition: The condition, whose value stays what it is.
///   - probability: How often it holds, from 0 to 1. A number beyond that is taken for the nearer of the two.
public func likelihood(_ condition: some SQLSpecificExpressible, _ probability: Double) -> SQLExpression {
    // SQLite wants a literal.
    .function("LIKELIHOOD", [condition, SQL(sql: "\(max(min(probability, 1), 0))")])
}

/// Returns where the record of a column begins in the database file, where SQLite was built with
/// SQLITE_ENABLE_OFFSET_SQL_FUNC: `SQLITE_OFFSET(column)`.
///
/// - Parameter column: A column of a table. For anything else, the result is NULL.
public func sqliteOffset(_ column: some SQLSpecificExpressible) -> SQLExpression {
    .function("SQLITE_OFFSET", [column])
}

/// Returns an option that SQLite was built with, by its number: `SQLITE_COMPILEOPTION_GET(number)`.
///
/// - Parameter number: The number, from 0. Behind the last option, the result is NULL.
public func sqliteCompileOption(_ number: some SQLSpecificExpressible) -> SQLExpression {
    .function("SQLITE_COMPILEOPTION_GET", [number])
}

/// Whether SQLite was built with an option: `SQLITE_COMPILEOPTION_USED(option)`.
///
/// - Parameter option: The name of the option, with or without `SQLITE_`.
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
