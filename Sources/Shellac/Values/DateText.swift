/// A date as the text of it says: what it holds and how it is written.
///
/// These are the formats of SQLite's date functions (SQLite documentation, "Date And Time Functions"), with
/// `T` in the place of the space, too:
///
///     YYYY-MM-DD              HH:MM
///     YYYY-MM-DD HH:MM        HH:MM:SS
///     YYYY-MM-DD HH:MM:SS     HH:MM:SS.SSS
///     YYYY-MM-DD HH:MM:SS.SSS
///
/// A time may be followed by its distance from UTC: `Z`, or `+HH:MM`, or `-HH:MM`, with or without spaces
/// before. The last format has any number of digits after the point, from one on.
///
/// Each byte is looked at. A text is a date as a whole, or it is none: a thirtieth of February is none,
/// although SQLite takes it for the first or second of March; nor is a text with anything behind the date.
struct DateText: Equatable, Sendable {
    /// The format, in which `T` counts as a space, and the distance from UTC does not count.
    var format: DatabaseDateComponents.Format
    /// The day, where the format has one, or else 0000-01-01.
    var date = CivilDate()
    /// 0…23.
    var hour = 0
    /// 0…59.
    var minute = 0
    /// 0…59: SQLite knows no leap seconds.
    var second = 0
    /// 0…999,999,999. Digits behind the ninth are read and forgotten.
    var nanosecond = 0
    /// The minutes by which the text is ahead of UTC, where it says so.
    var minutesFromUTC: Int?
}

// MARK: - Reading

extension DateText {
    /// The date that a text is, or nil.
    @inline(__always)
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.count >= 5, let start = text.baseAddress else { return nil }
        var rest = Scanner(start, count: text.count)
        if start[2] == UInt8(ascii: ":") {
            self.init(format: .HM)
        } else {
            guard rest.count >= 10, let date = rest.date() else { return nil }
            self.init(format: .YMD, date: date)
            if rest.count == 0 { return }
            guard rest.skip(" ") || rest.skip("T") else { return nil }
            format = .YMD_HM
        }
        guard let (hour, minute) = rest.hourAndMinute(maximum: 23) else { return nil }
        (self.hour, self.minute) = (hour, minute)
        if rest.skip(":") {
            guard let second = rest.second() else { return nil }
            self.second = second
            format = format == .HM ? .HMS : .YMD_HMS
            if rest.skip(".") {
                guard let nanosecond = rest.fraction() else { return nil }
                self.nanosecond = nanosecond
                format = format == .HMS ? .HMSS : .YMD_HMSS
            }
        }
        if rest.count > 0 {
            guard let minutes = rest.minutesFromUTC(), rest.count == 0 else { return nil }
            minutesFromUTC = minutes
        }
    }
}

/// What is left of a text that is being read.
private struct Scanner {
    private var next: UnsafePointer<UInt8>
    private(set) var count: Int

    @inline(__always)
    init(_ start: UnsafePointer<UInt8>, count: Int) { (next, self.count) = (start, count) }

    @inline(__always)
    private mutating func drop(_ length: Int) {
        next += length
        count &-= length
    }

    /// Whether this character comes next. It is taken.
    @inline(__always)
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard count > 0, next.pointee == UInt8(ascii: character) else { return false }
        drop(1)
        return true
    }

    @inline(__always)
    private func isNot(_ character: Unicode.Scalar, at index: Int) -> UInt8 {
        next[index] ^ UInt8(ascii: character)
    }

    /// The number in two bytes. Where they are no digits, `misfit` will not be 0.
    @inline(__always)
    private func pair(at index: Int, _ misfit: inout UInt8) -> Int {
        let (tens, ones) = (next[index] &- 48, next[index + 1] &- 48)
        misfit |= (tens > 9 ? 1 : 0) | (ones > 9 ? 1 : 0)
        return Int(tens) &* 10 &+ Int(ones)
    }

    /// `YYYY-MM-DD`. There must be ten bytes.
    @inline(__always)
    mutating func date() -> CivilDate? {
        var misfit = isNot("-", at: 4) | isNot("-", at: 7)
        let year = pair(at: 0, &misfit) &* 100 &+ pair(at: 2, &misfit)
        let (month, day) = (pair(at: 5, &misfit), pair(at: 8, &misfit))
        guard misfit == 0, month >= 1, month <= 12, day >= 1,
            day <= 28 || day <= CivilDate.length(ofMonth: month, year: year)
        else { return nil }
        drop(10)
        return CivilDate(year: year, month: month, day: day)
    }

    /// `HH:MM`
    @inline(__always)
    mutating func hourAndMinute(maximum: Int) -> (Int, Int)? {
        guard count >= 5 else { return nil }
        var misfit = isNot(":", at: 2)
        let (hour, minute) = (pair(at: 0, &misfit), pair(at: 3, &misfit))
        guard misfit == 0, hour <= maximum, minute <= 59 else { return nil }
        drop(5)
        return (hour, minute)
    }

    /// `SS`
    @inline(__always)
    mutating func second() -> Int? {
        guard count >= 2 else { return nil }
        var misfit: UInt8 = 0
        let second = pair(at: 0, &misfit)
        guard misfit == 0, second <= 59 else { return nil }
        drop(2)
        return second
    }

    /// The digits behind the point, as nanoseconds.
    @inline(__always)
    mutating func fraction() -> Int? {
        if count == 3 {
            var misfit: UInt8 = 0
            let milliseconds = Int(next[0] &- 48) &* 100 &+ pair(at: 1, &misfit)
            guard misfit == 0, next[0] &- 48 <= 9 else { return nil }
            drop(3)
            return milliseconds &* 1_000_000
        }
        return anyFraction()
    }

    @inline(never)
    private mutating func anyFraction() -> Int? {
        var (nanoseconds, unit) = (0, 100_000_000)
        let before = count
        while count > 0, next.pointee &- 48 <= 9 {
            nanoseconds += Int(next.pointee &- 48) * unit
            unit /= 10
            drop(1)
        }
        return count < before ? nanoseconds : nil
    }

    /// `Z`, `+HH:MM` or `-HH:MM`, behind any number of spaces. SQLite goes as far as 14 hours, and so do we.
    @inline(never)
    mutating func minutesFromUTC() -> Int? {
        while skip(" ") {}
        if skip("Z") { return 0 }
        let isBehind = skip("-")
        guard isBehind || skip("+"), let (hours, minutes) = hourAndMinute(maximum: 14) else { return nil }
        return (hours * 60 + minutes) * (isBehind ? -1 : 1)
    }
}

// MARK: - Writing

extension DateText {
    /// The number of bytes of the longest format that is written: `YYYY-MM-DD HH:MM:SS.SSS`.
    static var maximumLength: Int { 23 }

    /// Writes `YYYY-MM-DD HH:MM:SS.SSS`. Each number must be in its bounds.
    @inline(__always)
    static func write(_ date: CivilDate, millisecondOfDay: Int, to bytes: UnsafeMutablePointer<UInt8>) {
        let milliseconds = UInt32(truncatingIfNeeded: millisecondOfDay)
        let (seconds, millisecond) = (milliseconds / 1000, UInt64(milliseconds % 1000))
        let (minutes, second) = (seconds / 60, UInt64(seconds % 60))
        let (hour, minute) = (UInt64(minutes / 60), UInt64(minutes % 60))
        let year = UInt64(truncatingIfNeeded: date.year)
        let (month, day) = (UInt64(truncatingIfNeeded: date.month), UInt64(truncatingIfNeeded: date.day))

        // Eight characters at a time, the first in the lowest byte: zeros, to which the digits are added.
        let raw = UnsafeMutableRawPointer(bytes)
        func put(_ word: UInt64, at offset: Int) {
            raw.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
        }
        let zeros: (UInt64, UInt64, UInt64) = (
            0x2D30_302D_3030_3030,  // 0000-00-
            0x3030_3A30_3020_3030,  // 00 00:00
            0x3030_302E_3030_3A00  //  :00.000, behind the last digit of the minute
        )
        put(zeros.0 &+ pair(year / 100) &+ pair(year % 100) << 16 &+ pair(month) << 40, at: 0)
        let middle = zeros.1 &+ pair(day) &+ pair(hour) << 24 &+ pair(minute) << 48
        put(middle, at: 8)
        let end = pair(second) << 16 &+ pair(millisecond / 10) << 40 &+ (millisecond % 10) << 56
        put(zeros.2 &+ middle >> 56 &+ end, at: 15)
    }

    /// The two digits of a number below 100, in two bytes, the tens in the lower one.
    @inline(__always)
    private static func pair(_ number: UInt64) -> UInt64 {
        let tens = (number &* 103) >> 10
        return number << 8 &- tens &* 2559
    }
}
