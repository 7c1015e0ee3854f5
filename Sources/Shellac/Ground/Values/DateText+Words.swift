// Reads and writes `YYYY-MM-DD HH:MM:SS.SSS`, the format in which dates are stored, as three words.
//
// Each word has eight characters, with the first character in the lowest byte. The third word
// begins one character early, with the last digit of the minute, so that the three words cover 23
// characters:
//
//     YYYY-MM-    DD HH:MM    M:SS.SSS
//
// In each word, the tens and the ones of a number are adjacent, at a multiple of eight bits from
// the lowest.

extension DateText {
    /// The number of characters of the format, the longest that is written.
    static var maximumLength: Int { 23 }

    /// The words of a text with zeros for all digits.
    private static var zeros: (UInt64, UInt64, UInt64) {
        (0x2D30_302D_3030_3030, 0x3030_3A30_3020_3030, 0x3030_302E_3030_3A30)
    }

    /// Numbers that are added to a word after the zeros were XORed away, to detect misfits. No byte
    /// of the sum may reach 128. The number is 118 for a digit, and 127 for any other character,
    /// which must leave nothing.
    private static var limits: (UInt64, UInt64, UInt64) {
        (0x7F76_767F_7676_7676, 0x7676_7F76_767F_7676, 0x7676_767F_7676_7F76)
    }
}

// MARK: - Reading

extension DateText {
    /// Reads a date from a text in the format in which dates are written. Fails for any other text.
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
        // A byte of 128 or more may carry into the next one, but it is already a misfit.
        misfits |= (word &+ limits) | word
        return word
    }

    /// Returns the number with its tens in the given byte, and its ones in the next one.
    private static func number(_ digits: UInt64, at byte: UInt64) -> Int {
        // All numbers of the word share this product. None of its bytes exceeds 99.
        let numbers = digits &* 10 &+ digits >> 8
        return Int(numbers >> (byte &* 8) & 0xFF)
    }
}

// MARK: - Writing

extension DateText {
    /// Writes `YYYY-MM-DD HH:MM:SS.SSS`. Each number must be in bounds.
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

    /// Returns the two digits of a number below 100 as two bytes, with the tens in the lower one.
    private static func pair(_ number: UInt64) -> UInt64 {
        let tens = (number &* 103) >> 10
        return tens | (number &- tens &* 10) << 8
    }
}
