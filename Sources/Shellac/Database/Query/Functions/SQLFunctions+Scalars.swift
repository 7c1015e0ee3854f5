// The scalar and mathematical functions of SQLite.
//
// They are those of SQLite's pages "Built-In Scalar SQL Functions" and "Built-In Mathematical SQL
// Functions".
//
// They have SQLite's names, in Swift's camel case. Functions without an operand are members of
// `SQLExpression`, so that they occupy no global names.
//
// Over 350 lines: because each function says its parameters.

// MARK: - Choosing

/// Returns a value, or another one if it is NULL: `IFNULL(a, b)`.
///
/// - Parameters:
///   - value: The value.
///   - other: The value to use instead of NULL. It may be NULL itself.
public func ifNull(_ value: some SQLSpecificExpressible, _ other: any SQLExpressible) -> SQLExpression {
    .function("IFNULL", [value, other])
}

/// Returns a value, or NULL if it equals another one: `NULLIF(a, b)`.
///
/// - Parameters:
///   - value: The value.
///   - other: The value to compare with, by `=`. If one of them is NULL, the first value is
///     returned.
public func nullIf(_ value: some SQLSpecificExpressible, _ other: any SQLExpressible) -> SQLExpression {
    .function("NULLIF", [value, other])
}

/// Returns one of two values, depending on a condition: `IIF(condition, a, b)`.
///
/// ```swift
/// Player.select(Column("name"), iif(Column("score") >= 1000, "master", "pupil").forKey("title"))
/// ```
///
/// - Parameters:
///   - condition: The condition. NULL counts as false.
///   - value: The result if the condition is true.
///   - other: The result otherwise.
public func iif(
    _ condition: some SQLSpecificExpressible, _ value: any SQLExpressible, _ other: any SQLExpressible
) -> SQLExpression { .function("IIF", [condition, value, other]) }

/// Returns the greatest of several values of one row, or NULL if one is NULL: `MAX(a, b, …)`.
///
/// - Parameters:
///   - first: A value.
///   - second: A value to compare with, in SQLite's order: numbers come before texts, and texts
///     before blobs.
///   - others: Further values to compare.
public func greatest(
    _ first: any SQLExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MAX", [first, second] + others) }

/// Returns the least of several values of one row, or NULL if one is NULL: `MIN(a, b, …)`.
///
/// - Parameters:
///   - first: A value.
///   - second: A value to compare with, in SQLite's order: numbers come before texts, and texts
///     before blobs.
///   - others: Further values to compare.
public func least(
    _ first: any SQLExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MIN", [first, second] + others) }

/// Returns the name of the value's storage class: `TYPEOF(value)`.
///
/// - Parameter value: Any value. Its class is one of the texts `null`, `integer`, `real`, `text`
///   and `blob`.
public func typeOf(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("TYPEOF", [value]) }

// MARK: - Hints

/// Tells SQLite's planner that a condition is mostly true: `LIKELY(condition)`.
///
/// - Parameter condition: The condition. Its value does not change.
public func likely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("LIKELY", [condition])
}

/// Tells SQLite's planner that a condition is mostly false: `UNLIKELY(condition)`.
///
/// - Parameter condition: The condition. Its value does not change.
public func unlikely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNLIKELY", [condition])
}

// MARK: - Texts

/// Returns the number of characters of a text, or of bytes of a blob: `LENGTH(value)`.
///
/// - Parameter value: A text or a blob. A number counts as its text. NULL remains NULL.
public func length(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("LENGTH", [value]) }

/// Returns the text with its ASCII letters in lower case: `LOWER(text)`.
///
/// - Parameter text: The text. NULL remains NULL.
public func lower(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LOWER", [text]) }

/// Returns the text with its ASCII letters in upper case: `UPPER(text)`.
///
/// - Parameter text: The text. NULL remains NULL.
public func upper(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UPPER", [text]) }

/// Returns the text without spaces at its ends: `TRIM(text)`.
///
/// - Parameter text: The text. White space other than spaces remains.
public func trim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("TRIM", [text]) }

/// Returns the text without the given characters at its ends: `TRIM(text, characters)`.
///
/// - Parameters:
///   - text: The text.
///   - characters: A text of the characters, in any order. Each is removed as often as it occurs.
public func trim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("TRIM", [text, characters])
}

/// Returns the text without spaces at its beginning: `LTRIM(text)`.
///
/// - Parameter text: The text. White space other than spaces remains.
public func ltrim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LTRIM", [text]) }

/// Returns the text without the given characters at its beginning: `LTRIM(text, characters)`.
///
/// - Parameters:
///   - text: The text.
///   - characters: A text of the characters, in any order. Each is removed as often as it occurs.
public func ltrim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("LTRIM", [text, characters])
}

/// Returns the text without spaces at its end: `RTRIM(text)`.
///
/// - Parameter text: The text. White space other than spaces remains.
public func rtrim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("RTRIM", [text]) }

/// Returns the text without the given characters at its end: `RTRIM(text, characters)`.
///
/// - Parameters:
///   - text: The text.
///   - characters: A text of the characters, in any order. Each is removed as often as it occurs.
public func rtrim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("RTRIM", [text, characters])
}

/// Returns the rest of a text from a character on: `SUBSTR(text, start)`.
///
/// - Parameters:
///   - text: The text, or a blob. For a blob, bytes are returned.
///   - start: The position of the first character, counted from 1. A negative position counts from
///     the end: -1 is the last character.
public func substr(_ text: some SQLSpecificExpressible, _ start: any SQLExpressible) -> SQLExpression {
    .function("SUBSTR", [text, start])
}

/// Returns a number of characters of a text from a position on: `SUBSTR(text, start, count)`.
///
/// - Parameters:
///   - text: The text, or a blob. For a blob, bytes are returned.
///   - start: The position of the first character, counted from 1. A negative position counts from
///     the end: -1 is the last character.
///   - count: The maximum number of characters. A negative count gives the characters before the
///     position.
public func substr(
    _ text: some SQLSpecificExpressible, _ start: any SQLExpressible, _ count: any SQLExpressible
) -> SQLExpression { .function("SUBSTR", [text, start, count]) }

/// Returns the position of the first occurrence of a part in a text, counted from 1:
/// `INSTR(text, part)`. 0 if there is none.
///
/// - Parameters:
///   - text: The text to search. If both are blobs, bytes are counted.
///   - part: The text to find. Its case matters.
public func instr(_ text: some SQLSpecificExpressible, _ part: any SQLExpressible) -> SQLExpression {
    .function("INSTR", [text, part])
}

/// Replaces every occurrence of a part of a text: `REPLACE(text, part, other)`.
///
/// - Parameters:
///   - text: The text.
///   - part: The part. Its case matters. If it is empty, nothing is replaced.
///   - other: The replacement. If it is NULL, so is the result.
public func replace(
    _ text: some SQLSpecificExpressible, _ part: any SQLExpressible, with other: any SQLExpressible
) -> SQLExpression { .function("REPLACE", [text, part, other]) }

/// Formats arguments as a text, as C's `printf` does: `PRINTF(format, …)`.
///
/// ```swift
/// Player.select(printf("%s (%d)", Column("name"), Column("score")))
/// ```
///
/// - Parameters:
///   - format: The format, as described in "Built-in printf()" in the SQLite documentation. If it
///     is NULL, so is the result.
///   - first: The value for the first conversion of the format.
///   - others: The values for the other conversions. Missing values count as NULL, and superfluous
///     ones are ignored.
public func printf(
    _ format: any SQLExpressible, _ first: some SQLSpecificExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("PRINTF", [format, first] + others) }

/// Returns the text of the given code points: `CHAR(65, 66)` is `AB`.
///
/// - Parameters:
///   - first: The number of the first code point.
///   - others: The numbers of the other code points.
public func char(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression {
    .function("CHAR", [first] + others)
}

/// Returns the code point of a text's first character: `UNICODE(text)`.
///
/// - Parameter text: The text. If it is empty, the result is NULL.
public func unicode(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UNICODE", [text]) }

/// Returns the value as an SQL literal: `QUOTE(value)`.
///
/// - Parameter value: Any value. A blob becomes `X'…'`, and NULL becomes the word NULL.
public func quote(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("QUOTE", [value]) }

/// Returns the bytes of a blob or a text as hexadecimal digits: `HEX(value)`.
///
/// - Parameter value: The blob. Anything else counts as text: the number 12 has the bytes `3132`,
///   and NULL has none.
public func hex(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("HEX", [value]) }

/// Returns a blob of zeros: `ZEROBLOB(count)`.
///
/// - Parameter count: The number of bytes. A negative number counts as 0.
public func zeroBlob(_ count: some SQLSpecificExpressible) -> SQLExpression {
    .function("ZEROBLOB", [count])
}

/// Returns a blob of random bytes: `RANDOMBLOB(count)`.
///
/// - Parameter count: The number of bytes. A number below 1 counts as 1.
public func randomBlob(_ count: some SQLSpecificExpressible) -> SQLExpression {
    .function("RANDOMBLOB", [count])
}

// MARK: - Numbers

/// Rounds a number to a whole one: `ROUND(number)`.
///
/// - Parameter number: The number. One half is rounded away from zero. The result is a real number,
///   even for an integer.
public func round(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ROUND", [number]) }

/// Rounds a number to the given number of decimal digits: `ROUND(number, digits)`.
///
/// - Parameters:
///   - number: The number. The result is a real number, even for an integer.
///   - digits: The number of digits. A negative number counts as 0.
public func round(_ number: some SQLSpecificExpressible, _ digits: any SQLExpressible) -> SQLExpression {
    .function("ROUND", [number, digits])
}

/// Returns -1, 0 or 1 for a negative number, zero, or a positive number: `SIGN(number)`.
///
/// - Parameter number: The number. Anything else makes the result NULL.
public func sign(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SIGN", [number]) }

extension SQLSpecificExpressible where Self == SQLExpression {
    /// A random integer, different for each row: `RANDOM()`.
    ///
    /// ```swift
    /// let three = try Player.order(SQLExpression.random).limit(3).fetchAll(db)
    /// ```
    public static var random: SQLExpression { .function("RANDOM", []) }

    /// The number of rows that the last statement changed: `CHANGES()`.
    public static var changes: SQLExpression { .function("CHANGES", []) }

    /// The number of rows changed since the connection was opened: `TOTAL_CHANGES()`.
    public static var totalChanges: SQLExpression { .function("TOTAL_CHANGES", []) }

    /// The row id of the last insertion: `LAST_INSERT_ROWID()`.
    public static var lastInsertedRowID: SQLExpression { .function("LAST_INSERT_ROWID", []) }

    /// The version of the running SQLite: `SQLITE_VERSION()`.
    public static var sqliteVersion: SQLExpression { .function("SQLITE_VERSION", []) }
}

// MARK: - Mathematics
//
// These require a SQLite built with SQLITE_ENABLE_MATH_FUNCTIONS. Otherwise, a statement that uses
// one throws "no such function".

extension SQLSpecificExpressible where Self == SQLExpression {
    /// The number pi: `PI()`.
    public static var pi: SQLExpression { .function("PI", []) }
}

/// Rounds a number up to a whole one: `CEIL(number)`.
///
/// - Parameter number: The number. An integer remains an integer, and a real number remains real.
public func ceil(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("CEIL", [number]) }

/// Rounds a number down to a whole one: `FLOOR(number)`.
///
/// - Parameter number: The number. An integer remains an integer, and a real number remains real.
public func floor(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("FLOOR", [number]) }

/// Rounds a number towards zero to a whole one: `TRUNC(number)`.
///
/// - Parameter number: The number. An integer remains an integer, and a real number remains real.
public func trunc(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("TRUNC", [number]) }

/// Returns the remainder of a division of real numbers: `MOD(a, b)`.
///
/// - Parameters:
///   - number: The dividend. The remainder has its sign.
///   - divisor: The divisor. If it is 0, the result is NULL.
public func mod(_ number: some SQLSpecificExpressible, _ divisor: any SQLExpressible) -> SQLExpression {
    .function("MOD", [number, divisor])
}

/// Returns a power: `POW(base, exponent)`.
///
/// - Parameters:
///   - base: The base. If it is negative, and the exponent has a fraction, the result is NULL.
///   - exponent: The exponent.
public func pow(_ base: some SQLSpecificExpressible, _ exponent: any SQLExpressible) -> SQLExpression {
    .function("POW", [base, exponent])
}

/// Returns the square root: `SQRT(number)`.
///
/// - Parameter number: The number. If it is negative, the result is NULL.
public func sqrt(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SQRT", [number]) }

/// Returns e raised to a power: `EXP(number)`.
///
/// - Parameter number: The exponent.
public func exp(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("EXP", [number]) }

/// Returns the natural logarithm: `LN(number)`.
///
/// - Parameter number: The number. The result is NULL unless it is positive.
public func ln(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LN", [number]) }

/// Returns the logarithm to the base 10: `LOG10(number)`.
///
/// - Parameter number: The number. The result is NULL unless it is positive.
public func log10(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LOG10", [number]) }

/// Returns the logarithm to the base 2: `LOG2(number)`.
///
/// - Parameter number: The number. The result is NULL unless it is positive.
public func log2(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LOG2", [number]) }

/// Returns the logarithm to a base: `LOG(base, number)`.
///
/// - Parameters:
///   - number: The number. The result is NULL unless it is positive.
///   - base: The base. The result is NULL unless it is positive and not 1.
public func log(_ number: some SQLSpecificExpressible, base: any SQLExpressible) -> SQLExpression {
    .function("LOG", [base, number])
}

/// Converts an angle from radians to degrees: `DEGREES(angle)`.
///
/// - Parameter angle: The angle, in radians.
public func degrees(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("DEGREES", [angle]) }

/// Converts an angle from degrees to radians: `RADIANS(angle)`.
///
/// - Parameter angle: The angle, in degrees.
public func radians(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("RADIANS", [angle]) }

/// Returns the sine of an angle in radians: `SIN(angle)`.
///
/// - Parameter angle: The angle, in radians: see ``radians(_:)``.
public func sin(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("SIN", [angle]) }

/// Returns the cosine of an angle in radians: `COS(angle)`.
///
/// - Parameter angle: The angle, in radians: see ``radians(_:)``.
public func cos(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("COS", [angle]) }

/// Returns the tangent of an angle in radians: `TAN(angle)`.
///
/// - Parameter angle: The angle, in radians: see ``radians(_:)``.
public func tan(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("TAN", [angle]) }

/// Returns the angle of a sine, in radians: `ASIN(number)`.
///
/// - Parameter number: The sine, from -1 to 1. The result is NULL outside this range.
public func asin(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ASIN", [number]) }

/// Returns the angle of a cosine, in radians: `ACOS(number)`.
///
/// - Parameter number: The cosine, from -1 to 1. The result is NULL outside this range.
public func acos(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ACOS", [number]) }

/// Returns the angle of a tangent, in radians: `ATAN(number)`.
///
/// - Parameter number: The tangent. It may be any number.
public func atan(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ATAN", [number]) }

/// Returns the angle of the point (x, y), in radians: `ATAN2(y, x)`.
///
/// - Parameters:
///   - y: The second coordinate, which is the first operand.
///   - x: The first coordinate. If both are 0, so is the angle.
public func atan2(_ y: some SQLSpecificExpressible, _ x: any SQLExpressible) -> SQLExpression {
    .function("ATAN2", [y, x])
}

/// Returns the hyperbolic sine: `SINH(number)`.
///
/// - Parameter number: Any number.
public func sinh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SINH", [number]) }

/// Returns the hyperbolic cosine: `COSH(number)`.
///
/// - Parameter number: Any number.
public func cosh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("COSH", [number]) }

/// Returns the hyperbolic tangent: `TANH(number)`.
///
/// - Parameter number: Any number.
public func tanh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("TANH", [number]) }

/// Returns the inverse of the hyperbolic sine: `ASINH(number)`.
///
/// - Parameter number: Any number.
public func asinh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ASINH", [number]) }

/// Returns the inverse of the hyperbolic cosine: `ACOSH(number)`.
///
/// - Parameter number: A number of at least 1. Below that, the result is NULL.
public func acosh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ACOSH", [number]) }

/// Returns the inverse of the hyperbolic tangent: `ATANH(number)`.
///
/// - Parameter number: A number between -1 and 1. The result is NULL outside this range.
public func atanh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ATANH", [number]) }
