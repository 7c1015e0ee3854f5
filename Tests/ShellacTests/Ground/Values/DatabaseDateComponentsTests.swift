import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Date components")
struct DatabaseDateComponentsTests {
    typealias Format = DatabaseDateComponents.Format

    static let texts: [(Format, String)] = [
        (.YMD, "1973-09-18"), (.YMD_HM, "1973-09-18 01:02"), (.YMD_HMS, "1973-09-18 01:02:03"),
        (.YMD_HMSS, "1973-09-18 01:02:03.456"), (.HM, "01:02"), (.HMS, "01:02:03"), (.HMSS, "01:02:03.456"),
    ]

    static let all = DateComponents(
        year: 1973, month: 9, day: 18, hour: 1, minute: 2, second: 3, nanosecond: 456_000_000)

    static func stored(_ components: DateComponents, _ format: Format) -> String? {
        String.fromDatabaseValue(DatabaseDateComponents(components, format: format).databaseValue)
    }

    static func read(_ text: String) -> DatabaseDateComponents? {
        DatabaseDateComponents.fromDatabaseValue(text.databaseValue)
    }

    @Test("Components are written in their format", .behaviour(42), arguments: texts)
    func writing(_ format: Format, _ text: String) {
        #expect(Self.stored(Self.all, format) == text)
    }

    @Test(
        "Components are read with the format found, and have the components of it", .behaviour(42),
        arguments: texts)
    func reading(_ format: Format, _ text: String) throws {
        for text in [text, text.replacing(" ", with: "T")] {
            let found = try #require(Self.read(text))
            #expect(found.format == format)
            let (components, hasDay) = (found.dateComponents, ![.HM, .HMS, .HMSS].contains(format))
            #expect(components.year == (hasDay ? 1973 : nil))
            #expect(components.month == (hasDay ? 9 : nil))
            #expect(components.day == (hasDay ? 18 : nil))
            #expect(components.hour == (format == .YMD ? nil : 1))
            #expect(components.minute == (format == .YMD ? nil : 2))
            #expect(components.second == ([.YMD, .YMD_HM, .HM].contains(format) ? nil : 3))
            #expect(components.nanosecond == ([.YMD_HMSS, .HMSS].contains(format) ? 456_000_000 : nil))
            #expect(components.timeZone == nil)
        }
    }

    @Test(
        "Missing components are zero, a missing month or day is the first one", .behaviour(42),
        arguments: Format.allCases
    )
    func missing(_ format: Format) {
        let texts: [Format: String] = [
            .YMD: "0000-01-01", .YMD_HM: "0000-01-01 00:00", .YMD_HMS: "0000-01-01 00:00:00",
            .YMD_HMSS: "0000-01-01 00:00:00.000", .HM: "00:00", .HMS: "00:00:00", .HMSS: "00:00:00.000",
        ]
        #expect(Self.stored(DateComponents(), format) == texts[format])
    }

    @Test("The time zone is read, and is not written", .behaviour(42))
    func zones() throws {
        let found = try #require(Self.read("12:30-02:30"))
        #expect(found.dateComponents.timeZone?.secondsFromGMT() == -9000)
        #expect(found.databaseValue == "12:30")
    }

    @Test("Components out of their bounds are stored as NULL", .behaviour(43), arguments: Format.allCases)
    func outOfBounds(_ format: Format) {
        let hasDay = ![Format.HM, .HMS, .HMSS].contains(format)
        let hasTime = format != .YMD
        let hasSecond = ![Format.YMD, .YMD_HM, .HM].contains(format)
        let hasFraction = [Format.YMD_HMSS, .HMSS].contains(format)
        let cases: [(WritableKeyPath<DateComponents, Int?>, [Int], Bool)] = [
            (\.year, [Int.min, -1, 10_000, .max - 1], hasDay),
            (\.month, [Int.min, -1, 0, 13, .max - 1], hasDay),
            (\.day, [Int.min, -1, 0, 31, .max - 1], hasDay), (\.hour, [Int.min, -1, 24, .max - 1], hasTime),
            (\.minute, [Int.min, -1, 60, .max - 1], hasTime),
            (\.second, [Int.min, -1, 60, .max - 1], hasSecond),
            (\.nanosecond, [Int.min, -1, 1_000_000_000, .max - 1], hasFraction),
        ]
        // Foundation takes Int.max for a missing component.
        for (component, values, isWritten) in cases {
            for value in values {
                var components = Self.all
                components[keyPath: component] = value
                // Components that the format does not write are not judged.
                #expect((Self.stored(components, format) == nil) == isWritten, "\(value)")
            }
        }
    }

    @Test("The bounds themselves are written", .behaviour(43))
    func bounds() {
        let last = DateComponents(
            year: 9999, month: 12, day: 31, hour: 23, minute: 59, second: 59, nanosecond: 999_999_999)
        #expect(Self.stored(last, .YMD_HMSS) == "9999-12-31 23:59:59.999")
        #expect(Self.stored(DateComponents(year: 2000, month: 2, day: 29), .YMD) == "2000-02-29")
        #expect(Self.stored(DateComponents(year: 2001, month: 2, day: 29), .YMD) == nil)
        #expect(Self.stored(DateComponents(month: 2, day: 29), .YMD) == "0000-02-29")
    }

    @Test("The nanosecond is rounded to the millisecond", .behaviour(42))
    func nanoseconds() throws {
        #expect(Self.stored(DateComponents(nanosecond: 122_999_906), .HMSS) == "00:00:00.123")
        #expect(Self.stored(DateComponents(nanosecond: 123_000_025), .HMSS) == "00:00:00.123")
        #expect(Self.stored(DateComponents(nanosecond: 999_500_000), .HMSS) == "00:00:00.999")
        #expect(Self.read("00:00:00.1234567899")?.dateComponents.nanosecond == 123_456_789)
        #expect(Self.read("00:00:00.1")?.dateComponents.nanosecond == 100_000_000)
    }

    @Test("Components that are written and read are the same", .behaviour(43), arguments: Format.allCases)
    func roundTrip(_ format: Format) throws {
        let seed: UInt64 = 42
        var generator = SeededGenerator(seed: seed)
        func random(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &generator) }
        for _ in 0..<2_000 {
            let year = random(0...9999)
            let month = random(1...12)
            let components = DateComponents(
                year: year, month: month, day: random(1...CivilDate.length(ofMonth: month, year: year)),
                hour: random(0...23), minute: random(0...59), second: random(0...59),
                nanosecond: random(0...999) * 1_000_000)
            let text = try #require(Self.stored(components, format), "seed \(seed), \(components)")
            let found = try #require(Self.read(text), "seed \(seed), \(text)")
            #expect(found.format == format, "seed \(seed), \(text)")
            #expect(found.databaseValue == text.databaseValue, "seed \(seed), \(text)")
            #expect(Self.read(text) == found, "seed \(seed), \(text)")
            if format == .YMD_HMSS { #expect(found.dateComponents == components, "seed \(seed), \(text)") }
        }
    }

    @Test("Components are a text in JSON, too", .behaviour(44), arguments: texts)
    func codable(_ format: Format, _ text: String) throws {
        let components = [DatabaseDateComponents(Self.all, format: format)]
        let json = try JSONEncoder().encode(components)
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(text)\"]")
        let decoded = try JSONDecoder().decode([DatabaseDateComponents].self, from: json)
        #expect(decoded.map(\.databaseValue) == components.map(\.databaseValue))
        #expect(decoded.map(\.format) == [format])
    }

    @Test("JSON that is no date, and components out of their bounds, throw", .behaviour(44))
    func notCodable() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([DatabaseDateComponents].self, from: Data("[\"today\"]".utf8))
        }
        #expect(throws: EncodingError.self) {
            try JSONEncoder().encode([DatabaseDateComponents(DateComponents(hour: 24), format: .HM)])
        }
    }

    @Test("Numbers, NULL and blobs are no components")
    func notTexts() {
        for value: DatabaseValue in [0, 1.5, .null, Data("12:00".utf8).databaseValue] {
            #expect(DatabaseDateComponents.fromDatabaseValue(value) == nil)
        }
    }
}
