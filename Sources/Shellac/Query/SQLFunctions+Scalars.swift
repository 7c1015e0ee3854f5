// The scalar functions of SQLite's pages "Built-In Scalar SQL Functions" and "Built-In Mathematical SQL Functions".
//
// They have SQLite's names, in the camel case of Swift. Those without an operand stand on `SQLExpression`, so that they
// take no name away from anybody.

// MARK: - Choosing

/// Returns a value, or another one where it is NULL: `IFNULL(a, b)`.
public func ifNull(_ value: some SQLSpecificExpressible, _ other: any SQLExpressible) -> SQLExpression {
    .function("IFNULL", [value, other])
}

/// Returns a value, or NULL where it equals another one: `NULLIF(a, b)`.
public func nullIf(_ value: some SQLSpecificExpressible, _ other: any SQLExpressible) -> SQLExpression {
    .function("NULLIF", [value, other])
}

/// Returns one of two values, by a condition: `IIF(condition, a, b)`.
///
/// ```swift
/// Player.select(Column("name"), iif(Column("score") >= 1000, "master", "pupil").forKey("title"))
/// ```
public func iif(
    _ condition: some SQLSpecificExpressible, _ value: any SQLExpressible, _ other: any SQLExpressible
) -> SQLExpression { .function("IIF", [condition, value, other]) }

/// Returns the greatest of some values of one row, or NULL where one is NULL: `MAX(a, b, …)`.
public func greatest(
    _ first: any SQLExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MAX", [first, second] + others) }

/// Returns the least of some values of one row, or NULL where one is NULL: `MIN(a, b, …)`.
public func least(
    _ first: any SQLExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MIN", [first, second] + others) }

/// Returns the name of the value's storage class: `TYPEOF(value)`.
public func typeOf(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("TYPEOF", [value]) }

// MARK: - Hints

/// Tells SQLite's planner that a condition is mostly true: `LIKELY(condition)`.
public func likely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("LIKELY", [condition])
}

/// Tells SQLite's planner that a condition is mostly false: `UNLIKELY(condition)`.
public func unlikely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNLIKELY", [condition])
}

// MARK: - Texts

/// Returns the number of characters of a text, or of bytes of a blob: `LENGTH(value)`.
public func length(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("LENGTH", [value]) }

/// Returns the text, with its ASCII letters in lower case: `LOWER(text)`.
public func lower(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LOWER", [text]) }

/// Returns the text, with its ASCII letters in upper case: `UPPER(text)`.
public func upper(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UPPER", [text]) }

/// Returns the text without spaces at its ends: `TRIM(text)`.
public func trim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("TRIM", [text]) }

/// Returns the text without some characters at its ends: `TRIM(text, characters)`.
public func trim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("TRIM", [text, characters])
}

/// Returns the text without spaces at its beginning: `LTRIM(text)`.
public func ltrim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LTRIM", [text]) }

/// Returns the text without some characters at its beginning: `LTRIM(text, characters)`.
public func ltrim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("LTRIM", [text, characters])
}

/// Returns the text without spaces at its end: `RTRIM(text)`.
public func rtrim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("RTRIM", [text]) }

/// Returns the text without some characters at its end: `RTRIM(text, characters)`.
public func rtrim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("RTRIM", [text, characters])
}

/// Returns the characters of a text from one on, counted from 1, or from the end where it is negative:
/// `SUBSTR(text, start)`.
public func substr(_ text: some SQLSpecificExpressible, _ start: any SQLExpressible) -> SQLExpression {
    .function("SUBSTR", [text, start])
}

/// Returns a number of characters of a text from one on, counted from 1: `SUBSTR(text, start, count)`.
public func substr(
    _ text: some SQLSpecificExpressible, _ start: any SQLExpressible, _ count: any SQLExpressible
) -> SQLExpression { .function("SUBSTR", [text, start, count]) }

/// Returns where a text is first found in another, counted from 1, or 0: `INSTR(text, part)`.
public func instr(_ text: some SQLSpecificExpressible, _ part: any SQLExpressible) -> SQLExpression {
    .function("INSTR", [text, part])
}

/// Replaces a part of a text wherever it is found: `REPLACE(text, part, other)`.
public func replace(
    _ text: some SQLSpecificExpressible, _ part: any SQLExpressible, with other: any SQLExpressible
) -> SQLExpression { .function("REPLACE", [text, part, other]) }

/// Formats arguments as a text, as C's `printf` does: `PRINTF(format, …)`.
///
/// ```swift
/// Player.select(printf("%s (%d)", Column("name"), Column("score")))
/// ```
public func printf(
    _ format: any SQLExpressible, _ first: some SQLSpecificExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("PRINTF", [format, first] + others) }

/// Returns the text of some code points: `CHAR(65, 66)` is `AB`.
public func char(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression {
    .function("CHAR", [first] + others)
}

/// Returns the code point of a text's first character: `UNICODE(text)`.
public func unicode(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UNICODE", [text]) }

/// Returns the value as an SQL literal: `QUOTE(value)`.
public func quote(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("QUOTE", [value]) }

/// Returns the bytes of a blob or a text, as hexadecimal digits: `HEX(value)`.
public func hex(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("HEX", [value]) }

/// Returns a blob of zeros: `ZEROBLOB(count)`.
public func zeroBlob(_ count: some SQLSpecificExpressible) -> SQLExpression {
    .function("ZEROBLOB", [count])
}

/// Returns a blob of random bytes: `RANDOMBLOB(count)`.
public func randomBlob(_ count: some SQLSpecificExpressible) -> SQLExpression {
    .function("RANDOMBLOB", [count])
}

// MARK: - Numbers

/// Rounds a number to a whole one: `ROUND(number)`.
public func round(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ROUND", [number]) }

/// Rounds a number to some digits behind the point: `ROUND(number, digits)`.
public func round(_ number: some SQLSpecificExpressible, _ digits: any SQLExpressible) -> SQLExpression {
    .function("ROUND", [number, digits])
}

/// Returns -1, 0 or 1, as the number is negative, zero or positive: `SIGN(number)`.
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
public func ceil(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("CEIL", [number]) }

/// Rounds a number down to a whole one: `FLOOR(number)`.
public func floor(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("FLOOR", [number]) }

/// Rounds a number towards zero to a whole one: `TRUNC(number)`.
public func trunc(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("TRUNC", [number]) }

/// Returns the rest of a division of real numbers: `MOD(a, b)`.
public func mod(_ number: some SQLSpecificExpressible, _ divisor: any SQLExpressible) -> SQLExpression {
    .function("MOD", [number, divisor])
}

/// Returns a power: `POW(base, exponent)`.
public func pow(_ base: some SQLSpecificExpressible, _ exponent: any SQLExpressible) -> SQLExpression {
    .function("POW", [base, exponent])
}

/// Returns the square root: `SQRT(number)`.
public func sqrt(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SQRT", [number]) }

/// Returns the power of e: `EXP(number)`.
public func exp(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("EXP", [number]) }

/// Returns the natural logarithm: `LN(number)`.
public func ln(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LN", [number]) }

/// Returns the logarithm to the base 10: `LOG10(number)`.
public func log10(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LOG10", [number]) }

/// Returns the logarithm to the base 2: `LOG2(number)`.
public func log2(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LOG2", [number]) }

/// Returns the logarithm to a base: `LOG(base, number)`.
public func log(_ number: some SQLSpecificExpressible, base: any SQLExpressible) -> SQLExpression {
    .function("LOG", [base, number])
}

/// Converts an angle from radians to degrees: `DEGREES(angle)`.
public func degrees(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("DEGREES", [angle]) }

/// Converts an angle from degrees to radians: `RADIANS(angle)`.
public func radians(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("RADIANS", [angle]) }

/// Returns the sine of an angle in radians: `SIN(angle)`.
public func sin(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("SIN", [angle]) }

/// Returns the cosine of an angle in radians: `COS(angle)`.
public func cos(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("COS", [angle]) }

/// Returns the tangent of an angle in radians: `TAN(angle)`.
public func tan(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("TAN", [angle]) }

/// Returns the angle of a sine: `ASIN(number)`.
public func asin(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ASIN", [number]) }

/// Returns the angle of a cosine: `ACOS(number)`.
public func acos(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ACOS", [number]) }

/// Returns the angle of a tangent: `ATAN(number)`.
public func atan(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ATAN", [number]) }

/// Returns the angle of the point (x, y): `ATAN2(y, x)`.
public func atan2(_ y: some SQLSpecificExpressible, _ x: any SQLExpressible) -> SQLExpression {
    .function("ATAN2", [y, x])
}

/// Returns the hyperbolic sine: `SINH(number)`.
public func sinh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SINH", [number]) }

/// Returns the hyperbolic cosine: `COSH(number)`.
public func cosh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("COSH", [number]) }

/// Returns the hyperbolic tangent: `TANH(number)`.
public func tanh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("TANH", [number]) }

/// Returns the inverse of the hyperbolic sine: `ASINH(number)`.
public func asinh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ASINH", [number]) }

/// Returns the inverse of the hyperbolic cosine: `ACOSH(number)`.
public func acosh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ACOSH", [number]) }

/// Returns the inverse of the hyperbolic tangent: `ATANH(number)`.
public func atanh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ATANH", [number]) }
