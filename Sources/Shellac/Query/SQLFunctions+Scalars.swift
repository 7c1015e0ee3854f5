// The scalar functions of SQLite's pages "Built-In Scalar SQL Functions" and "Built-In Mathematical SQL Functions".
//
// They have SQLite's names, in the camel case of Swift. Those without an operand stand on `SQLExpression`, so that they
// take no name away from anybody.

// MARK: - Choosing

/// A value, or another one where it is NULL: `IFNULL(a, b)`.
public func ifNull(_ value: some SQLSpecificExpressible, _ other: any SQLExpressible) -> SQLExpression {
    .function("IFNULL", [value, other])
}

/// A value, or NULL where it equals another one: `NULLIF(a, b)`.
public func nullIf(_ value: some SQLSpecificExpressible, _ other: any SQLExpressible) -> SQLExpression {
    .function("NULLIF", [value, other])
}

/// One of two values, by a condition: `IIF(condition, a, b)`.
///
/// ```swift
/// Player.select(Column("name"), iif(Column("score") >= 1000, "master", "pupil").forKey("title"))
/// ```
public func iif(
    _ condition: some SQLSpecificExpressible, _ value: any SQLExpressible, _ other: any SQLExpressible
) -> SQLExpression { .function("IIF", [condition, value, other]) }

/// The greatest of some values of one row, or NULL where one is NULL: `MAX(a, b, …)`.
public func greatest(
    _ first: any SQLExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MAX", [first, second] + others) }

/// The least of some values of one row, or NULL where one is NULL: `MIN(a, b, …)`.
public func least(
    _ first: any SQLExpressible, _ second: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("MIN", [first, second] + others) }

/// The name of the value's storage class: `TYPEOF(value)`.
public func typeOf(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("TYPEOF", [value]) }

// MARK: - Hints

/// A condition that is mostly true, for SQLite's planner: `LIKELY(condition)`.
public func likely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("LIKELY", [condition])
}

/// A condition that is mostly false, for SQLite's planner: `UNLIKELY(condition)`.
public func unlikely(_ condition: some SQLSpecificExpressible) -> SQLExpression {
    .function("UNLIKELY", [condition])
}

// MARK: - Texts

/// The number of characters of a text, or of bytes of a blob: `LENGTH(value)`.
public func length(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("LENGTH", [value]) }

/// The text, with its ASCII letters in lower case: `LOWER(text)`.
public func lower(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LOWER", [text]) }

/// The text, with its ASCII letters in upper case: `UPPER(text)`.
public func upper(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UPPER", [text]) }

/// The text without spaces at its ends: `TRIM(text)`.
public func trim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("TRIM", [text]) }

/// The text without some characters at its ends: `TRIM(text, characters)`.
public func trim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("TRIM", [text, characters])
}

/// The text without spaces at its beginning: `LTRIM(text)`.
public func ltrim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("LTRIM", [text]) }

/// The text without some characters at its beginning: `LTRIM(text, characters)`.
public func ltrim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("LTRIM", [text, characters])
}

/// The text without spaces at its end: `RTRIM(text)`.
public func rtrim(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("RTRIM", [text]) }

/// The text without some characters at its end: `RTRIM(text, characters)`.
public func rtrim(_ text: some SQLSpecificExpressible, _ characters: any SQLExpressible) -> SQLExpression {
    .function("RTRIM", [text, characters])
}

/// The characters of a text from one on, counted from 1, or from the end where it is negative: `SUBSTR(text, start)`.
public func substr(_ text: some SQLSpecificExpressible, _ start: any SQLExpressible) -> SQLExpression {
    .function("SUBSTR", [text, start])
}

/// A number of characters of a text from one on, counted from 1: `SUBSTR(text, start, count)`.
public func substr(
    _ text: some SQLSpecificExpressible, _ start: any SQLExpressible, _ count: any SQLExpressible
) -> SQLExpression { .function("SUBSTR", [text, start, count]) }

/// Where a text is first found in another, counted from 1, or 0: `INSTR(text, part)`.
public func instr(_ text: some SQLSpecificExpressible, _ part: any SQLExpressible) -> SQLExpression {
    .function("INSTR", [text, part])
}

/// The text, in which a part is replaced wherever it is found: `REPLACE(text, part, other)`.
public func replace(
    _ text: some SQLSpecificExpressible, _ part: any SQLExpressible, with other: any SQLExpressible
) -> SQLExpression { .function("REPLACE", [text, part, other]) }

/// A text by a format and its arguments, as C's `printf` has them: `PRINTF(format, …)`.
///
/// ```swift
/// Player.select(printf("%s (%d)", Column("name"), Column("score")))
/// ```
public func printf(
    _ format: any SQLExpressible, _ first: some SQLSpecificExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("PRINTF", [format, first] + others) }

/// The text of some code points: `CHAR(65, 66)` is `AB`.
public func char(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression {
    .function("CHAR", [first] + others)
}

/// The code point of a text's first character: `UNICODE(text)`.
public func unicode(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("UNICODE", [text]) }

/// The value as an SQL literal: `QUOTE(value)`.
public func quote(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("QUOTE", [value]) }

/// The bytes of a blob or a text, as hexadecimal digits: `HEX(value)`.
public func hex(_ value: some SQLSpecificExpressible) -> SQLExpression { .function("HEX", [value]) }

/// A blob of zeros: `ZEROBLOB(count)`.
public func zeroBlob(_ count: some SQLSpecificExpressible) -> SQLExpression {
    .function("ZEROBLOB", [count])
}

/// A blob of random bytes: `RANDOMBLOB(count)`.
public func randomBlob(_ count: some SQLSpecificExpressible) -> SQLExpression {
    .function("RANDOMBLOB", [count])
}

// MARK: - Numbers

/// The number, rounded to a whole one: `ROUND(number)`.
public func round(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ROUND", [number]) }

/// The number, rounded to some digits behind the point: `ROUND(number, digits)`.
public func round(_ number: some SQLSpecificExpressible, _ digits: any SQLExpressible) -> SQLExpression {
    .function("ROUND", [number, digits])
}

/// -1, 0 or 1, as the number is negative, zero or positive: `SIGN(number)`.
public func sign(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SIGN", [number]) }

extension SQLSpecificExpressible where Self == SQLExpression {
    /// A random integer, another one for each row: `RANDOM()`.
    ///
    /// ```swift
    /// let three = try Player.order(SQLExpression.random).limit(3).fetchAll(db)
    /// ```
    public static var random: SQLExpression { .function("RANDOM", []) }

    /// How many rows the last statement changed: `CHANGES()`.
    public static var changes: SQLExpression { .function("CHANGES", []) }

    /// How many rows were changed since the connection was opened: `TOTAL_CHANGES()`.
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

/// The least whole number that is not less: `CEIL(number)`.
public func ceil(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("CEIL", [number]) }

/// The greatest whole number that is not greater: `FLOOR(number)`.
public func floor(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("FLOOR", [number]) }

/// The whole number towards zero: `TRUNC(number)`.
public func trunc(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("TRUNC", [number]) }

/// The rest of a division of real numbers: `MOD(a, b)`.
public func mod(_ number: some SQLSpecificExpressible, _ divisor: any SQLExpressible) -> SQLExpression {
    .function("MOD", [number, divisor])
}

/// A power: `POW(base, exponent)`.
public func pow(_ base: some SQLSpecificExpressible, _ exponent: any SQLExpressible) -> SQLExpression {
    .function("POW", [base, exponent])
}

/// The square root: `SQRT(number)`.
public func sqrt(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SQRT", [number]) }

/// The power of e: `EXP(number)`.
public func exp(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("EXP", [number]) }

/// The natural logarithm: `LN(number)`.
public func ln(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LN", [number]) }

/// The logarithm to the base 10: `LOG10(number)`.
public func log10(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LOG10", [number]) }

/// The logarithm to the base 2: `LOG2(number)`.
public func log2(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("LOG2", [number]) }

/// The logarithm to a base: `LOG(base, number)`.
public func log(_ number: some SQLSpecificExpressible, base: any SQLExpressible) -> SQLExpression {
    .function("LOG", [base, number])
}

/// The angle in degrees, of one in radians: `DEGREES(angle)`.
public func degrees(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("DEGREES", [angle]) }

/// The angle in radians, of one in degrees: `RADIANS(angle)`.
public func radians(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("RADIANS", [angle]) }

/// The sine of an angle in radians: `SIN(angle)`.
public func sin(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("SIN", [angle]) }

/// The cosine of an angle in radians: `COS(angle)`.
public func cos(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("COS", [angle]) }

/// The tangent of an angle in radians: `TAN(angle)`.
public func tan(_ angle: some SQLSpecificExpressible) -> SQLExpression { .function("TAN", [angle]) }

/// The angle of a sine: `ASIN(number)`.
public func asin(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ASIN", [number]) }

/// The angle of a cosine: `ACOS(number)`.
public func acos(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ACOS", [number]) }

/// The angle of a tangent: `ATAN(number)`.
public func atan(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ATAN", [number]) }

/// The angle of the point (x, y): `ATAN2(y, x)`.
public func atan2(_ y: some SQLSpecificExpressible, _ x: any SQLExpressible) -> SQLExpression {
    .function("ATAN2", [y, x])
}

/// The hyperbolic sine: `SINH(number)`.
public func sinh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("SINH", [number]) }

/// The hyperbolic cosine: `COSH(number)`.
public func cosh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("COSH", [number]) }

/// The hyperbolic tangent: `TANH(number)`.
public func tanh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("TANH", [number]) }

/// The inverse of the hyperbolic sine: `ASINH(number)`.
public func asinh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ASINH", [number]) }

/// The inverse of the hyperbolic cosine: `ACOSH(number)`.
public func acosh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ACOSH", [number]) }

/// The inverse of the hyperbolic tangent: `ATANH(number)`.
public func atanh(_ number: some SQLSpecificExpressible) -> SQLExpression { .function("ATANH", [number]) }
