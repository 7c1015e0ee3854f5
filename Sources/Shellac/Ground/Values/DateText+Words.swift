// `YYYY-MM-DD HH:MM:SS.SSS` is the format in which dates are stored. It is read and written as three words of
// eight characters, with the first character in the lowest byte. The third word begins one character early,
// with the last digit of the minute, which makes 23 characters of the three:
//
//     YYYY-MM-    DD HH:MM    M:SS.SSS
//
// In each word, the tens and the ones of a number are neighbours, a multiple of eight bits from the lowest.

extension DateText {
    /// The number of characters of the format, which is the longest that is written.
    static var maximumLength: Int { 23 }

    /// The words of a text that has zeros for digits.
    private static var zeros: (UInt64, UInt64, UInt64) {
        (0x2D30_302D_3030_3030, 0x3030_3A30_3020_3030, 0x3030_302E_3030_3A30)
    }

    /// The numbers with which no byte of a word, from which the zeros were taken, may reach 128: 118 for a digit, and
    /// 127 for any other character, of which nothing may be left.
    private static var limits: (UInt64, UInt64, UInt64) {
        (0x7F76_767F_7676_7676, 0x7676_7F76_767F_7676, 0x7676_767F_7676_7F76)
    }
}

// MARK: - Reading

extension DateText {
    /// Reads the date that a text is, if it has the format in which dates are written, or nil.
    @inline(__always)
    init?(written text: UnsafeBufferPointer<UInt8>) {
        guard text.count == Self.maximumLength, let start = UnsafeRawPointer(text.baseAddress) else {
            return nil
        }
        var misfits: UInt64 = 0
        let first = Self.digits(start, Self.zeros.0, Self.limits.0, &misfits)
        let second = Self.digits(start + 8, Self.zeros.1, Self.limits.1, &misfits)
        let third = Self.digits(start + 15, Self.zeros.2, Self.limits.2, &misfits)
        guard misfits & 0x8080_8080_8080_8080 == 0 else { return nil }

        self.init(format: .YMD_HMSS)
        date.year = Self.number(first, at: 0) &* 100 &+ Self.number(first, at: 2)
        date.month = Self.number(first, at: 5)
        date.day = Self.number(second, at: 0)
        hour = Self.number(second, at: 3)
        minute = Self.number(second, at: 6)
        self.second = Self.number(third, at: 2)
        nanosecond = (Self.number(third, at: 5) &* 10 &+ Int(third >> 56)) &* 1_000_000
        guard date.isInCalendar, hour <= 23, minute <= 59, self.second <= 59 else { return nil }
    }

    /// Returns the digits of a word.
    private static func digits(
        _ start: UnsafeRawPointer, _ zeros: UInt64, _ limits: UInt64, _ misfits: inout UInt64
    ) -> UInt64 {
        let word = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)) ^ zeros
        // A byte that is 128 or more may carry into the next one. It is a misfit already.
        misfits |= (word &+ limits) | word
        return word
    }

    /// Returns the number whose tens are in this byte, and whose ones are in the next one.
    private static func number(_ digits: UInt64, at byte: UInt64) -> Int {
        // The same product for all numbers of the word. No byte of it is above 99.
        let numbers = digits &* 10 &+ digits >> 8
        return Int(numbers >> (byte &* 8) & 0xFF)
    }
}

// MARK: - Writing

extension DateText {
    /// Writes `YYYY-MM-DD HH:MM:SS.SSS`. Each number must be in its bounds.
    @inline(__always)
    static func write(_ date: CivilDate, millisecondOfDay: Int, to bytes: UnsafeMutablePointer<UInt8>) {
        let milliseconds = UInt32(truncatingIfNeeded: millisecondOfDay)
        let (seconds, millisecond) = (milliseconds / 1000, UInt64(milliseconds % 1000))
        let (minutes, second) = (seconds / 60, UInt64(seconds % 60))
        let (hour, minute) = (UInt64(minutes / 60), UInt64(minutes % 60))
        let year = UInt64(truncatingIfNeeded: date.year)
        let (month, day) = (UInt64(truncatingIfNeeded: date.month), UInt64(truncatingIfNeeded: date.day))

        let start = UnsafeMutableRawPointer(bytes)
        func put(_ zeros: UInt64, _ digits: UInt64, at offset: Int) {
            start.storeBytes(of: (zeros | digits).littleEndian, toByteOffset: offset, as: UInt64.self)
        }
        put(zeros.0, pair(year / 100) | pair(year % 100) << 16 | pair(month) << 40, at: 0)
        let minuteDigits = pair(minute)
        put(zeros.1, pair(day) | pair(hour) << 24 | minuteDigits << 48, at: 8)
        let fraction = pair(millisecond / 10) << 40 | (millisecond % 10) << 56
        put(zeros.2, minuteDigits >> 8 | pair(second) << 16 | fraction, at: 15)
    }

    /// Returns the two digits of a number below 100, in two bytes, the tens in the lower one.
    private static func pair(_ number: UInt64) -> UInt64 {
        let tens = (number &* 103) >> 10
        return tens | (number &- tens &* 10) << 8
    }
}
