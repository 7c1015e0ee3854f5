// The functions of SQLite's page "Date And Time Functions".

/// A change of a date by a date function before it returns the result: "Modifiers" in SQLite's page
/// on dates.
///
/// ```swift
/// date(Column("createdAt"), .startOfMonth, .months(1), .days(-1))    // the last day of the month
/// ```
///
/// To use a modifier that is missing here, write it as in SQLite:
/// `date(Column("createdAt"), "+1 day")`.
public struct SQLDateModifier: Hashable, Sendable, ExpressibleByStringLiteral {
    let text: String

    /// Creates a modifier from its SQLite text.
    ///
    /// - Parameter text: The modifier, bound as a value. An unknown modifier makes the date NULL.
    public init(_ text: String) { self.text = text }

    public init(stringLiteral text: String) { self.init(text) }

    private static func adding(_ number: some SignedNumeric & Comparable, _ unit: String) -> Self {
        Self("\(number < 0 ? "" : "+")\(number) \(unit)")
    }

    /// Adds days.
    ///
    /// - Parameter number: The number of days. A negative number subtracts.
    public static func days(_ number: Int) -> Self { adding(number, "days") }
    /// Adds hours.
    ///
    /// - Parameter number: The number of hours. A negative number subtracts.
    public static func hours(_ number: Int) -> Self { adding(number, "hours") }
    /// Adds minutes.
    ///
    /// - Parameter number: The number of minutes. A negative number subtracts.
    public static func minutes(_ number: Int) -> Self { adding(number, "minutes") }
    /// Adds seconds.
    ///
    /// - Parameter number: The number of seconds, possibly with a fraction. A negative number
    ///   subtracts.
    public static func seconds(_ number: Double) -> Self { adding(number, "seconds") }
    /// Adds months. A day beyond the end of the month falls into the next month.
    ///
    /// - Parameter number: The number of months. A negative number subtracts.
    public static func months(_ number: Int) -> Self { adding(number, "months") }
    /// Adds years. A day beyond the end of the month falls into the next month.
    ///
    /// - Parameter number: The number of years. A negative number subtracts.
    public static func years(_ number: Int) -> Self { adding(number, "years") }

    /// A modifier that goes back to the first day of the month.
    public static let startOfMonth = Self("start of month")
    /// A modifier that goes back to the first day of the year.
    public static let startOfYear = Self("start of year")
    /// A modifier that goes back to midnight.
    public static let startOfDay = Self("start of day")
    /// Goes forward to a day of the week, or stays if it is that day.
    ///
    /// - Parameter number: The day of the week, from 0 for Sunday to 6.
    public static func weekday(_ number: Int) -> Self { Self("weekday \(number)") }

    /// A modifier that interprets a number as seconds since 1970. It must be the first modifier.
    public static let unixEpoch = Self("unixepoch")
    /// A modifier that interprets a number as a julian day. It must be the first modifier.
    public static let julianDay = Self("julianday")
    /// A modifier that interprets a number as seconds or as a julian day, by its size. It must be
    /// the first modifier.
    public static let auto = Self("auto")
    /// A modifier that moves a day beyond the end of the month into the next month, after months or
    /// years were added. This is the default. Requires SQLite 3.46.
    public static let ceiling = Self("ceiling")
    /// A modifier that changes a day beyond the end of the month to its last day, after months or
    /// years were added. Requires SQLite 3.46.
    public static let floor = Self("floor")
    /// A modifier that includes fractions of a second. Requires SQLite 3.42.
    public static let subsecond = Self("subsec")

    /// A modifier that converts from UTC to local time.
    public static let localTime = Self("localtime")
    /// A modifier that converts from local time to UTC.
    public static let utc = Self("utc")
}

extension SQLSpecificExpressible where Self == SQLExpression {
    /// The date and time when the statement began, for date functions: the text `now`.
    ///
    /// This is SQLite's current date, and not ``Database/transactionDate``, which is constant in a
    /// transaction, and which tests can set. If that matters, bind ``Database/transactionDate``
    /// instead.
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
///   - value: A date, as a text in a format of SQLite's page on dates, or as a julian day. Anything
///     else gives NULL.
///   - modifiers: The changes to the date before formatting, in order.
public func date(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .date("DATE", [value], modifiers)
}

/// Returns the time, as `HH:MM:SS`: `TIME(value, modifier, …)`.
///
/// - Parameters:
///   - value: A date, as a text in a format of SQLite's page on dates, or as a julian day. Anything
///     else gives NULL.
///   - modifiers: The changes to the date before formatting, in order.
public func time(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .date("TIME", [value], modifiers)
}

/// Returns the day and the time, as `YYYY-MM-DD HH:MM:SS`: `DATETIME(value, modifier, …)`.
///
/// - Parameters:
///   - value: A date, as a text in a format of SQLite's page on dates, or as a julian day. Anything
///     else gives NULL.
///   - modifiers: The changes to the date before formatting, in order.
public func dateTime(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .date("DATETIME", [value], modifiers)
}

/// Returns the julian day, a real number of days: `JULIANDAY(value, modifier, …)`.
///
/// - Parameters:
///   - value: A date, as a text in a format of SQLite's page on dates, or as a julian day. Anything
///     else gives NULL.
///   - modifiers: The changes to the date before formatting, in order.
public func julianDay(
    _ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...
) -> SQLExpression { .date("JULIANDAY", [value], modifiers) }

/// Returns the whole seconds since 1970, from SQLite 3.38 on: `UNIXEPOCH(value, modifier, …)`.
///
/// - Parameters:
///   - value: A date, as a text in a format of SQLite's page on dates, or as a julian day. Anything
///     else gives NULL.
///   - modifiers: The changes to the date before formatting, in order.
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
///   - format: The format, in which `%Y` and the like represent parts of the date. An unknown one
///     makes the result NULL.
///   - value: A date, as a text in a format of SQLite's page on dates, or as a julian day. Anything
///     else gives NULL.
///   - modifiers: The changes to the date before formatting, in order.
public func strftime(
    _ format: String, _ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...
) -> SQLExpression { .date("STRFTIME", [format.asConstant, value], modifiers) }

/// Returns the time between two dates as a text, from SQLite 3.43 on: `TIMEDIFF(end, start)`.
///
/// - Parameters:
///   - end: A date. If it is before the other one, the text begins with a minus.
///   - start: The date from which the time is counted.
public func timeDiff(_ end: some SQLSpecificExpressible, _ start: any SQLExpressible) -> SQLExpression {
    .function("TIMEDIFF", [end, start])
}
