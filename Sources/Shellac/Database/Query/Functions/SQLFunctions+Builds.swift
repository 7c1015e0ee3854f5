// Functions that not every SQLite has.
//
// They were added after 3.40, or depend on the build. If one is missing, a statement that uses it
// throws "no such function", with the SQL.
//
// SQLite has second names for some functions. FORMAT is `printf`, SUBSTRING is `substr`, IF is
// `iif`, CEILING is `ceil`, POWER is `pow`, STRING_AGG is `groupConcat`. The functions LIKE, GLOB,
// MATCH and REGEXP are the operators.

// MARK: - Texts and blobs

/// Concatenates values as texts, and skips NULLs, from SQLite 3.44 on: `CONCAT(a, b, …)`.
///
/// - Parameters:
///   - first: The first value. A number or a blob counts as its text.
///   - others: The other values.
public func concat(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression {
    .function("CONCAT", [first] + others)
}

/// Concatenates values as texts with a separator, and skips NULLs, from SQLite 3.44 on:
/// `CONCAT_WS(separator, a, b, …)`.
///
/// - Parameters:
///   - separator: The text between two values. If it is NULL, the result is NULL.
///   - first: The first value. A number or a blob counts as its text.
///   - others: The other values.
public func concat(
    separator: any SQLExpressible, _ first: some SQLSpecificExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("CONCAT_WS", [separator, first] + others) }

/// Returns the number of bytes of a text or blob, from SQLite 3.43 on: `OCTET_LENGTH(value)`.
///
/// - Parameter value: A text, counted in bytes of the database's encoding, or a blob. NULL remains
///   NULL.
public func octetLength(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("OCTET_LENGTH", [value])
}

/// Returns the blob of hexadecimal digits, from SQLite 3.41 on: `UNHEX(digits)`.
///
/// - Parameter digits: Two digits per byte, in upper or lower case. Any other text gives NULL.
public func unhex(_ digits: some SQLSpecificExpressible) -> SQLExpression { .function("UNHEX", [digits]) }

/// Returns the blob of hexadecimal digits that may be separated by some characters, from SQLite
/// 3.41 on: `UNHEX(digits, characters)`.
///
/// - Parameters:
///   - digits: Two digits per byte, in upper or lower case. The digits of a byte must be adjacent,
///     or the result is NULL.
///   - characters: A text of the characters to skip, such as `"- "`. Any other character makes the
///     result NULL.
public func unhex(_ digits: some SQLSpecificExpressible, ignoring characters: any SQLExpressible)
    -> SQLExpression
{
    .function("UNHEX", [digits, characters])
}

/// Returns the text with escapes such as `\u0041` replaced by their characters, from SQLite 3.50
/// on: `UNISTR(text)`.
///
/// - Parameter text: The text. A backslash that begins no such escape makes the statement throw,
///   unless it is doubled.
public func unistr(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UNISTR", [text]) }

/// Returns a value as an SQL literal with escaped control characters, from SQLite 3.50 on:
/// `UNISTR_QUOTE(value)`.
///
/// - Parameter value: Any value. For a number, a blob or NULL, the result is that of ``quote(_:)``.
public func unistrQuote(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNISTR_QUOTE", [value])
}

/// Returns a code for the sound of an English word: `SOUNDEX(text)`. Requires SQLITE_SOUNDEX.
///
/// - Parameter text: The word. NULL, and a text without ASCII letters, give `?000`.
public func soundex(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("SOUNDEX", [text]) }

// MARK: - About SQLite

/// Tells the planner how often a condition holds: `LIKELIHOOD(condition, probability)`.
///
/// - Parameters:
///   - condition: The condition. Its value does not change.
///   - probability: The probability from 0 to 1. A number outside this range is clamped to it.
public func likelihood(_ condition: some SQLSpecificExpressible, _ probability: Double) -> SQLExpression {
    // SQLite requires a literal.
    .function("LIKELIHOOD", [condition, SQL(sql: "\(max(min(probability, 1), 0))")])
}

/// Returns the offset of a column's record in the database file: `SQLITE_OFFSET(column)`. Requires
/// SQLITE_ENABLE_OFFSET_SQL_FUNC.
///
/// - Parameter column: A column of a table. Anything else gives NULL.
public func sqliteOffset(_ column: some SQLSpecificExpressible) -> SQLExpression {
    .function("SQLITE_OFFSET", [column])
}

/// Returns a compile-time option of SQLite by its number: `SQLITE_COMPILEOPTION_GET(number)`.
///
/// - Parameter number: The number, counted from 0. The result is NULL after the last option.
public func sqliteCompileOption(_ number: some SQLSpecificExpressible) -> SQLExpression {
    .function("SQLITE_COMPILEOPTION_GET", [number])
}

/// Returns whether SQLite was built with an option: `SQLITE_COMPILEOPTION_USED(option)`.
///
/// - Parameter option: The name of the option, with or without `SQLITE_`.
public func isSQLiteCompileOptionUsed(_ option: some SQLSpecificExpressible) -> SQLExpression {
    .function("SQLITE_COMPILEOPTION_USED", [option])
}

extension SQLSpecificExpressible where Self == SQLExpression {
    /// The source version of the running SQLite: `SQLITE_SOURCE_ID()`.
    public static var sqliteSourceID: SQLExpression { .function("SQLITE_SOURCE_ID", []) }
}

// MARK: - Aggregates

/// Returns the median: `MEDIAN(value)`. Requires SQLITE_ENABLE_PERCENTILE, from SQLite 3.51 on.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func median(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("MEDIAN", [value], filter: filter) }

/// Returns the value below which a percentage of the values lies: `PERCENTILE(value, percentage)`.
/// Requires SQLITE_ENABLE_PERCENTILE.
///
/// - Parameters:
///   - value: The value of each row.
///   - percentage: The percentage, from 0 to 100.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func percentile(
    _ value: some SQLSpecificExpressible, _ percentage: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("PERCENTILE", [value, percentage], filter: filter) }

/// Returns the value below which a fraction of the values lies: `PERCENTILE_CONT(value, part)`.
/// Interpolates between two values. Requires SQLITE_ENABLE_PERCENTILE.
///
/// - Parameters:
///   - value: The value of each row.
///   - part: The fraction, from 0 to 1.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func percentileContinuous(
    _ value: some SQLSpecificExpressible, _ part: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("PERCENTILE_CONT", [value, part], filter: filter) }

/// Returns the value below which a fraction of the values lies: `PERCENTILE_DISC(value, part)`. It
/// is always one of the values. Requires SQLITE_ENABLE_PERCENTILE.
///
/// - Parameters:
///   - value: The value of each row.
///   - part: The fraction, from 0 to 1.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func percentileDiscrete(
    _ value: some SQLSpecificExpressible, _ part: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("PERCENTILE_DISC", [value, part], filter: filter) }
