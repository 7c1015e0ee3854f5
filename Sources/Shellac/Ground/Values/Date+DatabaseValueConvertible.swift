// Date as a database value: UTC text with milliseconds, Unix time, and Julian days.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A date, stored as the text `YYYY-MM-DD HH:MM:SS.SSS` in UTC, rounded to the millisecond.
///
/// Such texts sort in the order of the dates, and can be mixed with those of `CURRENT_TIMESTAMP`.
/// All of the following formats can be read, also with a `T` instead of the space:
///
/// - `YYYY-MM-DD`, `YYYY-MM-DD HH:MM`, `YYYY-MM-DD HH:MM:SS`, and `YYYY-MM-DD HH:MM:SS.SSS` with
///   any number of digits after the point. They are in UTC, unless a time is followed by `Z`,
///   `+HH:MM` or `-HH:MM`.
/// - An INTEGER or a REAL: the seconds since 1970-01-01 in UTC. For julian days see
///   ``init(julianDay:)``.
///
/// The format has four digits for the year. A date outside the years 0000 to 9999 is stored as a
/// REAL, its seconds since 1970, and reads back as the same date. It sorts before all dates that
/// are texts. Do not store such a date in a TEXT column: SQLite would convert the number to text.
///
/// An infinite date, or one that is not a number, is stored as NULL. So a NOT NULL column rejects
/// it.
extension Date: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue {
        var isWritten = false
        let text = String(unsafeUninitializedCapacity: DateText.maximumLength) { buffer in
            guard let bytes = buffer.baseAddress else { return 0 }
            isWritten = writeDatabaseText(to: bytes)
            return isWritten ? DateText.maximumLength : 0
        }
        if isWritten { return DatabaseValue(.string(text)) }
        let seconds = timeIntervalSince1970
        return seconds.isFinite ? DatabaseValue(.double(seconds)) : .null
    }

    /// Stores the date, marked as such: dates are compared by their instants.
    @_documentation(visibility: internal)
    public func store(in sink: borrowing DatabaseValueSink) { sink.store(self) }

    @inlinable public static var _followsStrategies: Bool { true }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> Date? {
        switch value.storage {
        case .string(var text): text.withUTF8 { Date(databaseText: $0) }
        case .int64(let seconds): Date(timeIntervalSince1970: Double(seconds))
        case .double(let seconds): seconds.isFinite ? Date(timeIntervalSince1970: seconds) : nil
        default: nil
        }
    }

    @_documentation(visibility: internal)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Date? {
        guard let utf8 = value.text else { return fromDatabaseValue(value.databaseValue) }
        return Date(databaseText: utf8)
    }
}

// MARK: - Texts
//
// Dates and texts are converted through the whole number of milliseconds since the reference date
// of `Date`, 2001-01-01 in UTC. Reading divides this number by 1000, which gives the double that is
// nearest to the decimal fraction. Writing multiplies by 1000 and rounds.
//
// In the years 0000 to 9999 the number has at most 48 bits, and a double has 53. So the combined
// error of both conversions is below a tenth of a millisecond. A text that is read and written
// again is the same text. A date that is written and read again is the nearest whole millisecond,
// and is written again as the same text.

extension Date {
    /// Reads a date from a text. Fails if the text is not a date. A time without a day is not a
    /// date.
    @inline(__always)
    init?(databaseText: UnsafeBufferPointer<UInt8>) {
        guard let text = DateText(databaseText), !text.format.isTimeAlone else { return nil }
        var milliseconds = Double(text.milliseconds)
        let nanoseconds = text.nanosecond % 1_000_000
        if nanoseconds != 0 { milliseconds += Double(nanoseconds) / 1_000_000 }
        self.init(timeIntervalSinceReferenceDate: milliseconds / 1000)
    }

    /// Writes the 23 bytes of `YYYY-MM-DD HH:MM:SS.SSS`, in UTC and rounded to the millisecond. For
    /// a date outside the years 0000 to 9999, writes nothing and returns false.
    func writeDatabaseText(to bytes: UnsafeMutablePointer<UInt8>) -> Bool {
        let milliseconds = (timeIntervalSinceReferenceDate * 1000).rounded()
        guard milliseconds >= Self.firstMillisecond, milliseconds < Self.endMillisecond else { return false }
        // Count from the first millisecond, so that the division gets no negative number.
        let elapsed = Int(milliseconds - Self.firstMillisecond)
        let (days, millisecondOfDay) = elapsed.quotientAndRemainder(dividingBy: 86_400_000)
        let date = CivilDate(daysSinceReferenceDate: days &- Self.daysBeforeReferenceDate)
        DateText.write(date, millisecondOfDay: millisecondOfDay, to: bytes)
        return true
    }

    private static var daysBeforeReferenceDate: Int { 730_851 }
    /// 0000-01-01 00:00:00.000
    private static var firstMillisecond: Double { -730_851 * 86_400_000 }
    /// 10000-01-01 00:00:00.000
    private static var endMillisecond: Double { 2_921_574 * 86_400_000 }
}

extension DateText {
    /// The whole milliseconds since the reference date.
    @inline(__always)
    var milliseconds: Int {
        let minutes = date.daysSinceReferenceDate &* 1440 &+ hour &* 60 &+ minute
        let seconds = (minutes &- (minutesFromUTC ?? 0)) &* 60 &+ second
        return seconds &* 1000 &+ nanosecond / 1_000_000
    }
}

// MARK: - Julian days

extension Date {
    /// Creates the date of a julian day, as returned by SQLite's `julianday()`.
    ///
    /// ```swift
    /// let date = Date(julianDay: 2_451_545)      // 2000-01-01 12:00:00 UTC
    /// ```
    ///
    /// The date is rounded to the millisecond, as SQLite's dates are.
    ///
    /// - Parameter julianDay: The days, with a fraction, since noon in Greenwich on November 24,
    ///   4714 B.C. A number that is not finite gives a date that is not finite either.
    public init(julianDay: Double) {
        let milliseconds = ((julianDay - Self.referenceJulianDay) * 86_400_000).rounded()
        self.init(timeIntervalSinceReferenceDate: milliseconds / 1000)
    }

    /// The julian day of this date, as returned by SQLite's `julianday()`. For present-day dates, a
    /// double is precise to some twenty microseconds.
    public var julianDay: Double {
        timeIntervalSinceReferenceDate / 86_400 + Self.referenceJulianDay
    }

    /// 2001-01-01 00:00:00 UTC
    private static var referenceJulianDay: Double { 2_451_910.5 }
}
