/// The parsed text of a date: its components and its format.
///
/// The formats are those of SQLite's date functions, also with a `T` instead of the space (SQLite
/// documentation, "Date And Time Functions"):
///
///     YYYY-MM-DD              HH:MM
///     YYYY-MM-DD HH:MM        HH:MM:SS
///     YYYY-MM-DD HH:MM:SS     HH:MM:SS.SSS
///     YYYY-MM-DD HH:MM:SS.SSS
///
/// A time may be followed by its offset from UTC: `Z`, or `+HH:MM`, or `-HH:MM`, with or without
/// spaces before. The last format has one or more digits after the point.
///
/// Every byte is checked. The whole text must be a date: trailing characters are an error. So is a
/// thirtieth of February, although SQLite reads it as the first or second of March.
struct DateText: Equatable, Sendable {
    /// The format. `T` counts as a space, and the offset from UTC is ignored.
    var format: DatabaseDateComponents.Format
    /// The day, if the format has one, or else 0000-01-01.
    var date = CivilDate()
    /// 0…23.
    var hour = 0
    /// 0…59.
    var minute = 0
    /// 0…59: SQLite has no leap seconds.
    var second = 0
    /// 0…999,999,999. Digits after the ninth are read and ignored.
    var nanosecond = 0
    /// The offset from UTC in minutes, if the text has one. It is positive if the text is ahead of
    /// UTC.
    var minutesFromUTC: Int?
}

// MARK: - Reading

extension DateText {
    /// Reads a date from a text. Fails if it is not a date.
    @inline(__always)
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        // The text was most likely written by Shellac.
        if let written = DateText(written: text) {
            self = written
        } else if let other = DateText(anyFormat: text) {
            self = other
        } else {
            return nil
        }
    }

    /// Reads a date from a text in any format, character by character.
    @inline(never)
    init?(anyFormat text: UnsafeBufferPointer<UInt8>) {
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

/// The unread rest of a text.
private struct Scanner {
    private var next: UnsafePointer<UInt8>
    private(set) var count: Int

    init(_ start: UnsafePointer<UInt8>, count: Int) { (next, self.count) = (start, count) }

    private mutating func drop(_ length: Int) {
        next += length
        count &-= length
    }

    /// Whether the given character comes next. If so, skips it.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard count > 0, next.pointee == UInt8(ascii: character) else { return false }
        drop(1)
        return true
    }

    private func isNot(_ character: Unicode.Scalar, at index: Int) -> UInt8 {
        next[index] ^ UInt8(ascii: character)
    }

    /// Reads the number in two bytes. If they are not digits, `misfit` becomes nonzero.
    private func pair(at index: Int, _ misfit: inout UInt8) -> Int {
        let (tens, ones) = (next[index] &- 48, next[index + 1] &- 48)
        misfit |= (tens > 9 ? 1 : 0) | (ones > 9 ? 1 : 0)
        return Int(tens) &* 10 &+ Int(ones)
    }

    /// Reads `YYYY-MM-DD`. There must be ten bytes.
    mutating func date() -> CivilDate? {
        var misfit = isNot("-", at: 4) | isNot("-", at: 7)
        let year = pair(at: 0, &misfit) &* 100 &+ pair(at: 2, &misfit)
        let (month, day) = (pair(at: 5, &misfit), pair(at: 8, &misfit))
        let date = CivilDate(year: year, month: month, day: day)
        guard misfit == 0, date.isInCalendar else { return nil }
        drop(10)
        return date
    }

    /// Reads `HH:MM`.
    mutating func hourAndMinute(maximum: Int) -> (Int, Int)? {
        guard count >= 5 else { return nil }
        var misfit = isNot(":", at: 2)
        let (hour, minute) = (pair(at: 0, &misfit), pair(at: 3, &misfit))
        guard misfit == 0, hour <= maximum, minute <= 59 else { return nil }
        drop(5)
        return (hour, minute)
    }

    /// Reads `SS`.
    mutating func second() -> Int? {
        guard count >= 2 else { return nil }
        var misfit: UInt8 = 0
        let second = pair(at: 0, &misfit)
        guard misfit == 0, second <= 59 else { return nil }
        drop(2)
        return second
    }

    /// Reads the digits after the point, as nanoseconds.
    mutating func fraction() -> Int? {
        var (nanoseconds, unit) = (0, 100_000_000)
        let before = count
        while count > 0, next.pointee &- 48 <= 9 {
            nanoseconds += Int(next.pointee &- 48) * unit
            unit /= 10
            drop(1)
        }
        return count < before ? nanoseconds : nil
    }

    /// Reads `Z`, `+HH:MM` or `-HH:MM`, after any number of spaces. As in SQLite, the maximum is 14
    /// hours.
    mutating func minutesFromUTC() -> Int? {
        while skip(" ") {}
        if skip("Z") { return 0 }
        let isBehind = skip("-")
        guard isBehind || skip("+"), let (hours, minutes) = hourAndMinute(maximum: 14) else { return nil }
        return (hours * 60 + minutes) * (isBehind ? -1 : 1)
    }
}
