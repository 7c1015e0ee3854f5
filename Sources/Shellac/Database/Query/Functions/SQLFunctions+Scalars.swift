// The scalar functions of SQLite's pages "Built-In Scalar SQL Functions" and "Built-In Mathematical SQL Functions".
//
// They have SQLite's names, in the camel case of Swift. Those without an operand stand on `SQLExpression`, so that they
// take no name away from anybody.
//
// Over 350 lines: because each function says its parameters.

// MARK: - Choosing

/// Returns a value, or another one where it is NULL: `IFNULL(a, b)`.
///
/// - Parameters:
///   - value: The value.
///   - other: The value instead of NULL. It may be NULL itself.
public func ifNull(_ value: some SQLSpecificExpressible, _ other: any SQLExpressible) -> SQLExpression {
    .function("IFNULL", [value, other])
}

/// Returns a value, or NULL where it equals another one: `NULLIF(a, b)`.
///
/// - Parameters:
///   - value: The value.
///   - other: What it is compared with, as `=` does. Where one of both is NULL, the first value is returned.
public func nullIf(_ value: some SQLSpecificExpressible, _ other: any SQLExpressible) -> SQLExpression {
    .function("NULLIF", [value, other])
}

/// Returns one of two values, by a condition: `IIF(condition, a, b)`.
///
/// ```swift
/// Player.select(Column("name"), iif(Column("score") >= 1000, "master", "pupil").forKey("title"))
/// ```
///
/// - Parameters:
///   - condition: The condition. Where it is NULL, it does not hold.
///   - value: The result where the condition holds.
///   - other: The result where it does not.
public func iif(
    _ condition: some SQLSpecificExpressible, _ value: any SQLExpressible, _ other: any SQLExpressible
) -> SQLExpression { .function("IIF", [condition, value, other]) }

/// Returns the greatest of some values of one row, or NULL where one is NULL: `MAX(a, b, …)`.
///
/// - Parameters:
///   - first: A value.
///   - second: What it is compared with, as SQLite sorts: numbers come before texts, and texts before blobs.
///   - others: What else is compared.
public func greatest(
    _ first: any SQLExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MAX", [first, second] + others) }

/// Returns the least of some values of one row, or NULL where one is NULL: `MIN(a, b, …)`.
///
/// - Parameters:
///   - first: A value.
///   - second: What it is compared with, as SQLite sorts: numbers come before texts, and texts before blobs.
///   - others: What else is compared.
public func least(
    _ first: any SQLExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MIN", [first, second] + others) }

/// Returns the name of the value's storage class: `TYPEOF(value)`.
///
/// - Parameter value: Any value. Its class is one of the texts `null`, `integer`, `real`, `text` and `blob`.
public func typeOf(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("TYPEOF", [value]) }

// MARK: - Hints

/// Tells SQLite's planner that a condition is mostly true: `LIKELY(condition)`.
///
/// - Parameter condition: The condition, whose value stays what it is.
public func likely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("LIKELY", [condition])
}

/// Tells SQLite's planner that a condition is mostly false: `UNLIKELY(condition)`.
///
/// - Parameter condition: The condition, whose value stays what it is.
public func unlikely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNLIKELY", [condition])
}

// MARK: - Texts

/// Returns the number of characters of a text, or of bytes of a blob: `LENGTH(value)`.
///
/// - Parameter value: A text or a blob. A number is taken for its text. NULL stays NULL.
public func length(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("LENGTH", [value]) }

/// Returns the text, with its ASCII letters in lower case: `LOWER(text)`.
///
/// - Parameter text: The text. NULL stays NULL.
public func lower(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LOWER", [text]) }

/// Returns the text, with its ASCII letters in upper case: `UPPER(text)`.
///
/// - Parameter text: The text. NULL stays NULL.
public func upper(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UPPER", [text]) }

/// Returns the text without spaces at its ends: `TRIM(text)`.
///
/// - Parameter text: The text. Other white space than spaces stays.
public func trim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("TRIM", [text]) }

/// Returns the text without some characters at its ends: `TRIM(text, characters)`.
///
/// - Parameters:
///   - text: The text.
///   - characters: A text of the characters, in any order, each of which is removed however often it stands there.
public func trim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("TRIM", [text, characters])
}

/// Returns the text without spaces at its beginning: `LTRIM(text)`.
///
/// - Parameter text: The text. Other white space than spaces stays.
public func ltrim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LTRIM", [text]) }

/// Returns the text without some characters at its beginning: `LTRIM(text, characters)`.
///
/// - Parameters:
///   - text: The text.
///   - characters: A text of the characters, in any order, each of which is removed however often it stands there.
public func ltrim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("LTRIM", [text, characters])
}

/// Returns the text without spaces at its end: `RTRIM(text)`.
///
/// - Parameter text: The text. Other white space than spaces stays.
public func rtrim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("RTRIM", [text]) }

/// Returns the text without some characters at its end: `RTRIM(text, characters)`.
///
/// - Parameters:
///   - text: The text.
///   - characters: A text of the characters, in any order, each of which is removed however often it stands there.
public func rtrim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("RTRIM", [text, characters])
}

/// Returns the characters of a text from one on: `SUBSTR(text, start)`.
///
/// - Parameters:
///   - text: The text, or a blob, of which bytes are returned.
///   - start: The place of the first character, counted from 1, or from the end where it is negative: -1 is the last one.
public func substr(_ text: some SQLSpecificExpressible, _ start: any SQLExpressible) -> SQLExpression {
    .function("SUBSTR", [text, start])
}

/// Returns a number of characters of a text from one on: `SUBSTR(text, start, count)`.
///
/// - Parameters:
///   - text: The text, or a blob, of which bytes are returned.
///   - start: The place of the first character, counted from 1, or from the end where it is negative: -1 is the last one.
///   - count: How many characters at most. Where it is negative, they are those before the place.
public func substr(
    _ text: some SQLSpecificExpressible, _ start: any SQLExpressible, _ count: any SQLExpressible
) -> SQLExpression { .function("SUBSTR", [text, start, count]) }

/// Returns where a text is first found in another, counted from 1, or 0: `INSTR(text, part)`.
///
/// - Parameters:
///   - text: The text that is looked into. Where both are blobs, bytes are counted.
///   - part: What is looked for, whose case matters.
public func instr(_ text: some SQLSpecificExpressible, _ part: any SQLExpressible) -> SQLExpression {
    .function("INSTR", [text, part])
}

/// Replaces a part of a text wherever it is found: `REPLACE(text, part, other)`.
///
/// - Parameters:
///   - text: The text.
///   - part: The part, whose case matters. Where it is empty, nothing is replaced.
///   - other: What stands there then. Where it is NULL, so is the result.
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
///   - format: The format, as "Built-in printf()" in the SQLite documentation has it. Where it is NULL, so is the result.
///   - first: What the first conversion of the format writes.
///   - others: What the other ones write. Those that are missing are taken for NULL, and those that are left over do not matter.
public func printf(
    _ format: any SQLExpressible, _ first: some SQLSpecificExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("PRINTF", [format, first] + others) }

/// Returns the text of some code points: `CHAR(65, 66)` is `AB`.
///
/// - Parameters:
///   - first: The number of the first code point.
///   - others: The numbers of those behind it.
public func char(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression {
    .function("CHAR", [first] + others)
}

/// Returns the code point of a text's first character: `UNICODE(text)`.
///
/// - Parameter text: The text. Where it is empty, the result is NULL.
public func unicode(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UNICODE", [text]) }

/// Returns the value as an SQL literal: `QUOTE(value)`.
///
/// - Parameter value: Any value. A blob becomes `X'…'`, and NULL the word.
public func quote(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("QUOTE", [value]) }

/// Returns the bytes of a blob or a text, as hexadecimal digits: `HEX(value)`.
///
/// - Parameter value: The blob. Anything else is taken for a text: the number 12 has the bytes `3132`, and NULL has none.
public func hex(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("HEX", [value]) }

/// Returns a blob of zeros: `ZEROBLOB(count)`.
///
/// - Parameter count: The number of bytes. A negative one is taken for 0.
public func zeroBlob(_ count: some SQLSpecificExpressible) -> SQLExpression {
    .function("ZEROBLOB", [count])
}

/// Returns a blob of random bytes: `RANDOMBLOB(count)`.
///
/// - Parameter count: The number of bytes. One below 1 is taken for 1.
public func randomBlob(_ count: some SQLSpecificExpressible) -> SQLExpression {
    .function("RANDOMBLOB", [count])
}

// MARK: - Numbers

/// Rounds a number to a whole one: `ROUND(number)`.
///
/// - Parameter number: The number. One half goes away from zero. The result is a real number, also of an integer.
public func round(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ROUND", [number]) }

/// Rounds a number to some digits behind the point: `ROUND(number, digits)`.
///
/// - Parameters:
///   - number: The number. The result is a real number, also of an integer.
///   - digits: How many digits; a negative number is taken for 0.
public func round(_ number: some SQLSpecificExpressible, _ digits: any SQLExpressible) -> SQLExpression {
    .function("ROUND", [number, digits])
}

/// Returns -1, 0 or 1, as the number is negative, zero or positive: `SIGN(number)`.
///
/// - Parameter number: The number. Anything else makes the result NULL.
public func sign(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SIGN", [number]) }

extension SQLSpecificExpressible where Self == SQLExpression {
    /// A random integer, another one for each row: `RANDOM()`.
    ///
    /// ```swift
    /// let three = try Player.order(SQLExpression.random).limit(3).fetchAll(db)
    /// ```
    public static var random: SQLExpression { .function("RANDOM", []) }

    /// The number of rows that the last statement changed: `CHANGES()`.
    public static var changes: SQLExpression { .function("CHANGES", []) }

    /// The number of rows that were changed since the connection was opened: `TOTAL_CHANGES()`.
    public static var totalChanges: SQLExpression { .function("TOTAL_CHANGES", []) }

    /// The row id of the last insertion: `LAST_INSERT_ROWID()`.
    public static var lastInsertedRowID: SQLExpression { .function("LAST_INSERT_ROWID", []) }

    /// The version of the running SQLite: `SQLITE_VERSION()`.
    public static var sqliteVersion: SQLExpression { .function("SQLITE_VERSION", []) }
}

// MARK: - Mathematics
//
// SQLite has these where it was built with SQLITE_ENABLE_MATH_FUNCTIONS. Elsewhere, a statement that uses one throws
// "no such function".

extension SQLSpecificExpressible where Self == SQLExpression {
    /// The number pi: `PI()`.
    public static var pi: SQLExpression { .function("PI", []) }
}

/// Rounds a number up to a whole one: `CEIL(number)`.
///
/// - Parameter number: The number. An integer stays one, and a real number becomes a real one.
public func ceil(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("CEIL", [number]) }

/// Rounds a number down to a whole one: `FLOOR(number)`.
///
/// - Parameter number: The number. An integer stays one, and a real number becomes a real one.
public func floor(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("FLOOR", [number]) }

/// Rounds a number towards zero to a whole one: `TRUNC(number)`.
///
/// - Parameter number: The number. An integer stays one, and a real number becomes a real one.
public func trunc(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("TRUNC", [number]) }

/// Returns the rest of a division of real numbers: `MOD(a, b)`.
///
/// - Parameters:
///   - number: What is divided. The rest has its sign.
///   - divisor: What it is divided by. Where that is 0, the result is NULL.
public func mod(_ number: some SQLSpecificExpressible, _ divisor: any SQLExpressible) -> SQLExpression {
    .function("MOD", [number, divisor])
}

/// Returns a power: `POW(base, exponent)`.
///
/// - Parameters:
///   - base: The base. Where it is negative, and the exponent has a fraction, the result is NULL.
///   - exponent: The exponent.
public func pow(_ base: some SQLSpecificExpressible, _ exponent: any SQLExpressible) -> SQLExpression {
    .function("POW", [base, exponent])
}

/// Returns the square root: `SQRT(number)`.
///
/// - Parameter number: The number. Where it is negative, the result is NULL.
public func sqrt(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SQRT", [number]) }

/// Returns the power of e: `EXP(number)`.
///
/// - Parameter number: The exponent.
public func exp(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("EXP", [number]) }

/// Returns the natural logarithm: `LN(number)`.
///
/// - Parameter number: The number. Unless it is positive, the result is NULL.
public func ln(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LN", [number]) }

/// Returns the logarithm to the base 10: `LOG10(number)`.
///
/// - Parameter number: The number. Unless it is positive, the result is NULL.
public func log10(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LOG10", [number]) }

/// Returns the logarithm to the base 2: `LOG2(number)`.
///
/// - Parameter number: The number. Unless it is positive, the result is NULL.
public func log2(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LOG2", [number]) }

/// Returns the logarithm to a base: `LOG(base, number)`.
///
/// - Parameters:
///   - number: The number. Unless it is positive, the result is NULL.
///   - base: The base. Unless it is positive, and another than 1, the result is NULL.
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
/// - Parameter number: The sine, from -1 to 1. Beyond that, the result is NULL.
public func asin(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ASIN", [number]) }

/// Returns the angle of a cosine, in radians: `ACOS(number)`.
///
/// - Parameter number: The cosine, from -1 to 1. Beyond that, the result is NULL.
public func acos(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ACOS", [number]) }

/// Returns the angle of a tangent, in radians: `ATAN(number)`.
///
/// - Parameter number: The tangent, which may be any number.
public func atan(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ATAN", [number]) }

/// Returns the angle of the point (x, y), in radians: `ATAN2(y, x)`.
///
/// - Parameters:
///   - y: The second coordinate, which is the first operand.
///   - x: The first coordinate. Both may be 0: so is the angle then.
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
/// - Parameter number: A number from 1 on. Below that, the result is NULL.
public func acosh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ACOSH", [number]) }

/// Returns the inverse of the hyperbolic tangent: `ATANH(number)`.
///
/// - Parameter number: A number between -1 and 1. Beyond that, the result is NULL.
public func atanh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ATANH", [number]) }
