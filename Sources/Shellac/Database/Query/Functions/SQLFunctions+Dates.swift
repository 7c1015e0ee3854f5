// The functions of SQLite's page "Date And Time Functions".

/// A change that a date function makes to its date before it gives the result: "Modifiers" in SQLite's page on dates.
///
/// ```swift
/// date(Column("createdAt"), .startOfMonth, .months(1), .days(-1))    // the last day of the month
/// ```
///
/// A modifier that is not here is written as SQLite has it: `date(Column("createdAt"), "+1 day")`.
public struct SQLDateModifier: Hashable, Sendable, ExpressibleByStringLiteral {
    let text: String

    /// Creates a modifier as SQLite writes it.
    ///
    /// - Parameter text: The modifier, which is bound as a value. One that SQLite does not know makes the date NULL.
    public init(_ text: String) { self.text = text }

    public init(stringLiteral text: String) { self.init(text) }

    private static func adding(_ number: some SignedNumeric & Comparable, _ unit: String) -> Self {
        Self("\(number < 0 ? "" : "+")\(number) \(unit)")
    }

    /// Adds days.
    ///
    /// - Parameter number: How many days. A negative number takes them off.
    public static func days(_ number: Int) -> Self { adding(number, "days") }
    /// Adds hours.
    ///
    /// - Parameter number: How many hours. A negative number takes them off.
    public static func hours(_ number: Int) -> Self { adding(number, "hours") }
    /// Adds minutes.
    ///
    /// - Parameter number: How many minutes. A negative number takes them off.
    public static func minutes(_ number: Int) -> Self { adding(number, "minutes") }
    /// Adds seconds.
    ///
    /// - Parameter number: How many seconds, which may have a fraction. A negative number takes them off.
    public static func seconds(_ number: Double) -> Self { adding(number, "seconds") }
    /// Adds months. A day that the month has not is one of the next month.
    ///
    /// - Parameter number: How many months. A negative number takes them off.
    public static func months(_ number: Int) -> Self { adding(number, "months") }
    /// Adds years. A day that the month has not is one of the next month.
    ///
    /// - Parameter number: How many years. A negative number takes them off.
    public static func years(_ number: Int) -> Self { adding(number, "years") }

    /// Goes back to the first day of the month.
    public static let startOfMonth = Self("start of month")
    /// Goes back to the first day of the year.
    public static let startOfYear = Self("start of year")
    /// Goes back to midnight.
    public static let startOfDay = Self("start of day")
    /// Goes forward to a day of the week, unless it is that day.
    ///
    /// - Parameter number: The day of the week, from 0, which is Sunday, to 6.
    public static func weekday(_ number: Int) -> Self { Self("weekday \(number)") }

    /// Takes a number for the seconds since 1970. It must be the first modifier.
    public static let unixEpoch = Self("unixepoch")
    /// Takes a number for a julian day. It must be the first modifier.
    public static let julianDay = Self("julianday")
    /// Takes a number for the one or the other, by its size. It must be the first modifier.
    public static let auto = Self("auto")
    /// Takes a day that the month has not, after months or years were added, for one of the next month. It is what is
    /// done without being asked: SQLite 3.46.
    public static let ceiling = Self("ceiling")
    /// Takes a day that the month has not, after months or years were added, for the last one of the month: SQLite 3.46.
    public static let floor = Self("floor")
    /// Gives fractions of a second, too: SQLite 3.42.
    public static let subsecond = Self("subsec")

    /// Goes from UTC to local time.
    public static let localTime = Self("localtime")
    /// Goes from local time to UTC.
    public static let utc = Self("utc")
}

extension SQLSpecificExpressible where Self == SQLExpression {
    /// The date and time at which the statement began, for date functions: the text `now`.
    ///
    /// What SQLite takes for the present is not ``Database/transactionDate``, which is constant in a transaction, and
    /// which tests can set: bind that one where it matters.
    public static var now: SQLExpression { "now".sqlExpression }
}

extension SQLExpression {
    fileprivate static func date(
        _ name: String, _ arguments: [any SQLExpressible], _ modifiers: [SQLDateModifier]
    ) -> SQLExpression { function(name, arguments + modifiers.map(\.text.asConstant)) }
}

/// Returns the day, as `YYYY-MM-DD`: `DATE(value, modifier, …)`.
///
/// ```swift
/// Visit.filter(date(Column("arrival")) == "2026-11-21")
/// ```
///
/// - Parameters:
///   - value: A date, as a text that SQLite's page on dates knows, or as a julian day. For anything else, the result is NULL.
///   - modifiers: How the date is changed before that, one after the other.
public func date(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .date("DATE", [value], modifiers)
}

/// Returns the time, as `HH:MM:SS`: `TIME(value, modifier, …)`.
///
/// - Parameters:
///   - value: A date, as a text that SQLite's page on dates knows, or as a julian day. For anything else, the result is NULL.
///   - modifiers: How the date is changed before that, one after the other.
public func time(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .date("TIME", [value], modifiers)
}

/// Returns the day and the time, as `YYYY-MM-DD HH:MM:SS`: `DATETIME(value, modifier, …)`.
///
/// - Parameters:
///   - value: A date, as a text that SQLite's page on dates knows, or as a julian day. For anything else, the result is NULL.
///   - modifiers: How the date is changed before that, one after the other.
public func dateTime(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .date("DATETIME", [value], modifiers)
}

/// Returns the julian day, a real number of days: `JULIANDAY(value, modifier, …)`.
///
/// - Parameters:
///   - value: A date, as a text that SQLite's page on dates knows, or as a julian day. For anything else, the result is NULL.
///   - modifiers: How the date is changed before that, one after the other.
public func julianDay(
    _ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...
) -> SQLExpression { .date("JULIANDAY", [value], modifiers) }

/// Returns the whole seconds since 1970, from SQLite 3.38 on: `UNIXEPOCH(value, modifier, …)`.
///
/// - Parameters:
///   - value: A date, as a text that SQLite's page on dates knows, or as a julian day. For anything else, the result is NULL.
///   - modifiers: How the date is changed before that, one after the other.
public func unixEpoch(
    _ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...
) -> SQLExpression { .date("UNIXEPOCH", [value], modifiers) }

/// Formats a date as a text: `STRFTIME(format, value, modifier, …)`.
///
/// ```swift
/// Visit.select(strftime("%Y", Column("arrival")).forKey("year"))
/// ```
///
/// - Parameters:
///   - format: The format, in which `%Y` and its like stand for parts of the date. One that SQLite does not know makes the result
///     NULL.
///   - value: A date, as a text that SQLite's page on dates knows, or as a julian day. For anything else, the result is NULL.
///   - modifiers: How the date is changed before that, one after the other.
public func strftime(
    _ format: String, _ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...
) -> SQLExpression { .date("STRFTIME", [format.asConstant, value], modifiers) }

/// Returns the time between two dates as a text, from SQLite 3.43 on: `TIMEDIFF(end, start)`.
///
/// - Parameters:
///   - end: A date. Where it is before the other one, the text begins with a minus.
///   - start: The date from which the time is counted.
public func timeDiff(_ end: some SQLSpecificExpressible, _ start: any SQLExpressible) -> SQLExpression {
    .function("TIMEDIFF", [end, start])
}
