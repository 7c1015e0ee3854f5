import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The instant of these components in the Gregorian calendar, in UTC, as Foundation knows it.
func utc(
    _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0,
    milliseconds: Double = 0
) throws -> Date {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    let components = DateComponents(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    return try #require(calendar.date(from: components)).addingTimeInterval(milliseconds / 1000)
}

func readDate(_ text: String) -> Date? { Date.fromDatabaseValue(text.databaseValue) }

func dateText(_ date: Date) -> String? { String.fromDatabaseValue(date.databaseValue) }

@Suite("Date texts")
struct DateTextTests {
    /// A text, its format, and the milliseconds behind 2015-07-22 00:00:00 UTC, or nil for a time
    /// alone.
    static let formats: [(String, DatabaseDateComponents.Format, Double?)] = [
        ("2015-07-22", .YMD, 0),
        ("2015-07-22 01:02", .YMD_HM, 3_720_000),
        ("2015-07-22 01:02:03", .YMD_HMS, 3_723_000),
        ("2015-07-22 01:02:03.004", .YMD_HMSS, 3_723_004),
        ("2015-07-22T01:02", .YMD_HM, 3_720_000),
        ("2015-07-22T01:02:03", .YMD_HMS, 3_723_000),
        ("2015-07-22T01:02:03.004", .YMD_HMSS, 3_723_004),
        ("2015-07-22 01:02:03.5", .YMD_HMSS, 3_723_500),
        ("2015-07-22 01:02:03.04", .YMD_HMSS, 3_723_040),
        ("2015-07-22T01:02:03.0045", .YMD_HMSS, 3_723_004.5),
        ("2015-07-22 01:02:03.004000001", .YMD_HMSS, 3_723_004),
        ("2015-07-22 01:02:03.00400000000000000000000000000009", .YMD_HMSS, 3_723_004),
        ("01:02", .HM, nil),
        ("01:02:03", .HMS, nil),
        ("01:02:03.004", .HMSS, nil),
        ("01:02:03.00412345678901", .HMSS, nil),
    ]

    static let suffixes: [(String, Int?)] = [
        ("", nil), ("Z", 0), (" Z", 0), ("   Z", 0), ("+00:00", 0), ("-00:00", 0), ("+02:00", 120),
        (" +02:00", 120), ("-05:30", -330), ("  -05:30", -330), ("+14:00", 840), ("-14:59", -899),
    ]

    @Test(
        "All text formats of the date table read, with their time zone rules", .behaviour(42),
        arguments: formats,
        suffixes)
    func reading(_ format: (String, DatabaseDateComponents.Format, Double?), _ suffix: (String, Int?)) throws
    {
        let string = format.0 + suffix.0
        if format.1 == .YMD, !suffix.0.isEmpty {
            // A zone needs a time.
            #expect(readDate(string) == nil)
            #expect(DatabaseDateComponents.fromDatabaseValue(string.databaseValue) == nil)
            return
        }
        if let milliseconds = format.2 {
            let start = try utc(2015, 7, 22)
            let expected = start.addingTimeInterval(milliseconds / 1000 - Double((suffix.1 ?? 0) * 60))
            let found = try #require(readDate(string))
            #expect(abs(found.timeIntervalSince(expected)) < 0.000_001)
        } else {
            #expect(readDate(string) == nil)
        }
        let components = try #require(DatabaseDateComponents.fromDatabaseValue(string.databaseValue))
        #expect(components.format == format.1)
        #expect(components.dateComponents.timeZone?.secondsFromGMT() == suffix.1.map { $0 * 60 })
    }

    @Test("A text without a zone is in UTC, and Dates are written in UTC with milliseconds", .behaviour(42))
    func utcUnlessSaid() throws {
        #expect(readDate("2015-07-22 12:00") == readDate("2015-07-22T12:00:00.000Z"))
        #expect(readDate("2015-07-22 12:00+02:00") == readDate("2015-07-22 10:00"))
        #expect(try dateText(utc(2015, 7, 22, 12, 30, 45, milliseconds: 67)) == "2015-07-22 12:30:45.067")
        #expect(readDate("1970-01-01")?.timeIntervalSince1970 == 0)
        #expect(readDate("2001-01-01")?.timeIntervalSinceReferenceDate == 0)
    }

    @Test(
        "What is no date as a whole reads as nil", .behaviour(42),
        arguments: [
            "", "2", "now", "2015", "2015-07", "2015-07-2", "2015-7-22", "15-07-22", "2015/07/22", "20150722",
            "2015-07-22 ", "2015-07-22T", "2015-07-22  12:00", "2015-07-22t12:00", "2015-07-22_12:00",
            "2015-07-22 1", "2015-07-22 12", "2015-07-22 12:", "2015-07-22 12:0", "2015-07-22 12:00:",
            "2015-07-22 12:00:0", "2015-07-22 12:00:00.", "2015-07-22 12:00:00.Z", "2015-07-22 12:00:00,000",
            "2015-07-22 12:00:00.12x", "2015-07-22 12:00:00.x12", "2015-07-22 12:00:00.1x2",
            "2015-07-22 12:00:00.000 ", "2015-07-22 12:00:00.000ZZ", "2015-07-22 12:00:00.000Z ",
            "2015-07-22 12:00:00.000z", "2015-07-22 12:00:00.000 UTC", "2015-07-22 12:00 ",
            "2015-07-22 12:00x",
            "2015-07-22 12:00+", "2015-07-22 12:00+2", "2015-07-22 12:00+02", "2015-07-22 12:00+0200",
            "2015-07-22 12:00+02:0", "2015-07-22 12:00+02:60", "2015-07-22 12:00+15:00",
            "2015-07-22 12:00+-2:00",
            "2015-07-22 12:00-+02:00", "2015-07-22 12:00 +02:00Z", "2015-07-22 12:00+02:00:00",
            "2015-00-22", "2015-13-22", "2015-07-00", "2015-07-32", "2015-04-31", "2015-06-31", "2015-09-31",
            "2015-11-31", "2015-02-29", "1900-02-29", "2100-02-29", "2000-02-30", "2015-02-30", "2015-99-99",
            "2015-07-22 24:00", "2015-07-22 12:60", "2015-07-22 12:00:60", "2015-07-22 99:99:99.999",
            "24:00", "12:60", "12:00:60", "1:00", "12:0", "12:", "12:00:", "12:00:00.", "12:00 ", " 12:00",
            " 2015-07-22", "+2015-07-22", "-2015-07-22", "-001-07-22", "12015-07-22", "2015-07-22\n",
            "2015-07-22\0", "2015-07-22 12:00\0", "2015-07-22 12:00:00.000\0", "\02015-07-22",
            "2015-07-22\0 12:00",
            "2015-07-22 12:00:00.00\0", "12:00\0", "２０１５-07-22", "2015-07-2２", "2015‑07‑22",
            "2015-07-22 12:00é",
            "2015-07-22 12:00:00.00０", "2015-07-22\u{A0}12:00", "2457225.5", "1437523200", "::::::::::",
            "----------", "2015-07-22 12:00:00.00/", "2015-07-22 12:00:00.00:", "2015-07-22 12:00:00./00",
            "/015-07-22", ":015-07-22",
        ])
    func malformed(_ string: String) {
        #expect(readDate(string) == nil)
        #expect(DatabaseDateComponents.fromDatabaseValue(string.databaseValue) == nil)
    }

    @Test("Bytes that are not UTF-8, and no bytes at all, read as nil", .behaviour(42))
    func notUTF8() {
        for high in UInt8(128)...255 {
            for index in 0..<23 {
                var bytes = Array("2015-07-22 12:00:00.000".utf8)
                bytes[index] = high
                #expect(bytes.withUnsafeBufferPointer { Date(databaseText: $0) } == nil)
            }
        }
        #expect(Date(databaseText: UnsafeBufferPointer(start: nil, count: 0)) == nil)
    }

    @Test("Each byte is looked at: in no place is one taken that does not belong there", .behaviour(42))
    func everyByte() {
        let models = ["2015-07-22 12:00:00.000", "2015-07-22T12:00:00", "2015-07-22 12:00", "2015-07-22"]
        for model in models.map({ Array($0.utf8) }) {
            for index in model.indices {
                for byte in UInt8.min...UInt8.max {
                    var bytes = model
                    bytes[index] = byte
                    let found = bytes.withUnsafeBufferPointer { Date(databaseText: $0) }
                    #expect((found != nil) == Self.isDate(bytes), "\(bytes) at \(index)")
                }
            }
        }
    }

    @Test("The two ways that read a text agree", .behaviour(42), arguments: [1, 2, 3] as [UInt64])
    func twoRoads(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var found = 0
        for _ in 0..<50_000 {
            // Near enough to a date that about a third of them are.
            func random(_ bound: Int, _ width: Int) -> String {
                let digits = String(Int.random(in: 0...bound, using: &generator))
                return String(repeating: "0", count: max(0, width - digits.count)) + digits
            }
            var bytes = Array(
                """
                \(random(9999, 4))-\(random(13, 2))-\(random(31, 2)) \
                \(random(24, 2)):\(random(60, 2)):\(random(60, 2)).\(random(999, 3))
                """.utf8)
            if Bool.random(using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] &+= [1, 0xFF, 10, 0x80, 0x10].randomElement(using: &generator) ?? 1
            }
            bytes.withUnsafeBufferPointer { bytes in
                let short = DateText(written: bytes)
                let long = DateText(anyFormat: bytes)
                if short != nil { found += 1 }
                // The short way reads one format alone.
                let isAccepted = short == long || (short == nil && bytes[10] == UInt8(ascii: "T"))
                #expect(isAccepted, "seed \(seed), \(Array(bytes))")
            }
        }
        #expect(found > 10_000)
    }

    /// Whether these bytes are a date, found out in the slow way.
    private static func isDate(_ bytes: [UInt8]) -> Bool {
        func number(_ range: Range<Int>, _ bounds: ClosedRange<Int>) -> Bool {
            let digits = bytes[range]
            guard digits.allSatisfy({ (48...57).contains($0) }) else { return false }
            return bounds.contains(digits.reduce(0) { $0 * 10 + Int($1) - 48 })
        }
        guard number(0..<4, 0...9999), bytes[4] == 45, number(5..<7, 1...12), bytes[7] == 45 else {
            return false
        }
        let shortMonths: Set = ["04", "06", "09", "11"]
        let month = String(decoding: bytes[5..<7], as: UTF8.self)
        let last = month == "02" ? 28 : shortMonths.contains(month) ? 30 : 31
        guard number(8..<10, 1...last) else { return false }
        if bytes.count == 10 { return true }
        guard bytes[10] == 32 || bytes[10] == 84, number(11..<13, 0...23), bytes[13] == 58 else {
            return false
        }
        guard number(14..<16, 0...59) else { return false }
        if bytes.count == 16 { return true }
        guard bytes[16] == 58, number(17..<19, 0...59) else { return false }
        if bytes.count == 19 { return true }
        guard bytes[19] == 46, number(20..<22, 0...99) else { return false }
        return number(22..<23, 0...9) || bytes[22] == UInt8(ascii: "Z")
    }

    @Test(
        "Mutated texts read as nil or as a value, and never trap", .behaviour(42),
        arguments: [1, 2, 3, 4] as [UInt64])
    func mutations(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789-:. TZ+z\0é/".utf8) + [0xFF, 0x80]
        for _ in 0..<20_000 {
            let model = try #require(Self.formats.randomElement(using: &generator)).0
            let suffix = try #require(Self.suffixes.randomElement(using: &generator)).0
            var bytes = Array((model + suffix).utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
                let index = bytes.indices.randomElement(using: &generator) ?? 0
                let byte = alphabet.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = byte
                case 1: bytes.insert(byte, at: index)
                case 2: bytes.remove(at: index)
                default: bytes.removeSubrange(index...)
                }
            }
            // In memory of their own, of just their size, where a sanitizer sees a read past the
            // end.
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            defer { copy.deallocate() }
            _ = copy.initialize(from: bytes)
            let (text, date) = (
                DateText(UnsafeBufferPointer(copy)), Date(databaseText: UnsafeBufferPointer(copy))
            )
            #expect((date != nil) == (text.map { !$0.format.isTimeAlone } ?? false), "seed \(seed), \(bytes)")
            if let date, Self.isInFormat(date) {
                // Each date that was read is written, and then read as itself.
                let written = try #require(dateText(date), "seed \(seed), \(bytes)")
                let again = try #require(readDate(written), "seed \(seed), \(bytes)")
                #expect(abs(again.timeIntervalSince(date)) < 0.000_55, "seed \(seed), \(bytes)")
                #expect(dateText(again) == written, "seed \(seed), \(bytes)")
            }
        }
    }

    private static func isInFormat(_ date: Date) -> Bool {
        date.timeIntervalSince1970 >= -62_167_219_200 && date.timeIntervalSince1970 < 253_402_300_799.999
    }
}
