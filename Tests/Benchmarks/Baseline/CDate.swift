import Foundation

/// Dates as one writes them by hand: 'YYYY-MM-DD HH:MM:SS.SSS', in UTC, by arithmetic on bytes.
///
/// The days are counted as in Howard Hinnant's "chrono-compatible low-level date algorithms".
enum CDate {
    /// The length of a date.
    static let count = 23

    /// Reads a date of the right length, whatever its bytes.
    @inline(__always)
    static func parse(_ bytes: UnsafePointer<UInt8>) -> Date {
        @inline(__always) func two(_ place: Int) -> Int {
            Int(bytes[place] &- 48) &* 10 &+ Int(bytes[place + 1] &- 48)
        }
        let days = days(year: two(0) * 100 + two(2), month: two(5), day: two(8))
        let seconds = two(11) * 3600 + two(14) * 60 + two(17)
        let milliseconds = Int(bytes[20] &- 48) * 100 + two(21)
        return Date(
            timeIntervalSince1970: Double(days * 86_400 + seconds) + Double(milliseconds) / 1000)
    }

    /// Writes a date of the years 0 to 9999.
    @inline(__always)
    static func format(_ date: Date, to bytes: UnsafeMutableBufferPointer<UInt8>) {
        let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
        let rest = ((milliseconds % 86_400_000) + 86_400_000) % 86_400_000
        let (year, month, day) = civil(days: (milliseconds - rest) / 86_400_000)
        let (seconds, fraction) = (rest / 1000, rest % 1000)
        @inline(__always) func two(_ place: Int, _ number: Int) {
            bytes[place] = UInt8(truncatingIfNeeded: 48 + number / 10)
            bytes[place + 1] = UInt8(truncatingIfNeeded: 48 + number % 10)
        }
        two(0, year / 100)
        two(2, year % 100)
        bytes[4] = UInt8(ascii: "-")
        two(5, month)
        bytes[7] = UInt8(ascii: "-")
        two(8, day)
        bytes[10] = UInt8(ascii: " ")
        two(11, seconds / 3600)
        bytes[13] = UInt8(ascii: ":")
        two(14, seconds / 60 % 60)
        bytes[16] = UInt8(ascii: ":")
        two(17, seconds % 60)
        bytes[19] = UInt8(ascii: ".")
        bytes[20] = UInt8(truncatingIfNeeded: 48 + fraction / 100)
        two(21, fraction % 100)
    }

    /// The days from 1970-01-01 to a day.
    @inline(__always)
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The day that is so many days from 1970-01-01.
    @inline(__always)
    private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let days = days + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted + (shifted < 10 ? 3 : -9)
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
