import Foundation
import Shellac
import TestSupport
import Testing

private enum Color: Int, CaseIterable, DatabaseValueConvertible { case red, white, rose }
private enum Grape: String, CaseIterable, DatabaseValueConvertible {
    case merlot, syrah
    case none = ""
}
private enum Tiny: UInt8, CaseIterable, DatabaseValueConvertible {
    case zero
    case top = 255
}
private enum Level: Double, CaseIterable, DatabaseValueConvertible {
    case low = 0.5
    case high = 1
}

// Types that are Codable, too, store their raw value and not JSON.
private enum CodableColor: Int, CaseIterable, Codable, DatabaseValueConvertible {
    case red = 7
    case white
}
private enum CodableGrape: String, CaseIterable, Codable, DatabaseValueConvertible { case merlot, syrah }

private struct Name: RawRepresentable, Hashable, DatabaseValueConvertible { var rawValue: String }
private struct CodableName: RawRepresentable, Codable, Hashable, DatabaseValueConvertible {
    var rawValue: String
}
private struct Flags: OptionSet, Hashable, DatabaseValueConvertible { var rawValue: Int }
private struct CodableFlags: OptionSet, Codable, Hashable, DatabaseValueConvertible { var rawValue: UInt8 }
private struct Instant: RawRepresentable, Hashable, DatabaseValueConvertible { var rawValue: Date }
private struct Wrapped: RawRepresentable, Hashable, DatabaseValueConvertible { var rawValue: Name }
private struct Even: RawRepresentable, Hashable, DatabaseValueConvertible {
    var rawValue: Int
    init?(rawValue: Int) {
        guard rawValue.isMultiple(of: 2) else { return nil }
        self.rawValue = rawValue
    }
}

/// Values that wrap a raw value, with what the database holds for them.
struct RawType: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let check: @Sendable (Database) throws -> Void

    init<Value: DatabaseValueConvertible & RawRepresentable & Hashable & Sendable & SendableMetatype>(
        _ values: [Value], stored: [DatabaseValue]
    ) {
        testDescription = "\(Value.self)"
        check = { db in
            #expect(values.map(\.databaseValue) == stored)
            for (value, expected) in zip(values, stored) {
                let sql = try db.store([value])
                #expect(try DatabaseValue.fetchOne(db, sql: sql) == expected)
                for way in ReadingWay.allCases {
                    #expect(try db.read(Value.self, by: way, sql: sql) == value, "\(way)")
                }
            }
        }
    }
}

@Suite("Raw values")
struct RawValuesTests {
    static let types: [RawType] = [
        .init(Color.allCases, stored: [0, 1, 2]), .init(Grape.allCases, stored: ["merlot", "syrah", ""]),
        .init(Tiny.allCases, stored: [0, 255]), .init(Level.allCases, stored: [0.5, 1.0]),
        .init(CodableColor.allCases, stored: [7, 8]),
        .init(CodableGrape.allCases, stored: ["merlot", "syrah"]),
        .init([Name(rawValue: ""), Name(rawValue: "a\0b")], stored: ["", "a\0b"]),
        .init([CodableName(rawValue: "Arthur")], stored: ["Arthur"]),
        .init([Flags(rawValue: 5), []], stored: [5, 0]), .init([CodableFlags(rawValue: 255)], stored: [255]),
        .init(
            [Instant(rawValue: Date(timeIntervalSince1970: 0))],
            stored: ["1970-01-01 00:00:00.000"]),
        .init([Wrapped(rawValue: Name(rawValue: "x"))], stored: ["x"]),
    ]

    @Test(
        "Enums and structs with raw values round-trip as their raw values", .behaviour(44), arguments: types)
    func roundTrip(_ type: RawType) throws {
        try DatabaseQueue().write(type.check)
    }

    @Test("A raw value that no case has throws", .behaviour(44), arguments: ReadingWay.allCases)
    func unknown(_ way: ReadingWay) throws {
        try DatabaseQueue().read { db throws in
            for literal in ["3", "-1", "1.5", "'0'", "'red'", "x''", "9223372036854775807", "1e300"] {
                let error = #expect(throws: RowDecodingError.self, "\(literal)") {
                    try db.read(Color.self, by: way, sql: "SELECT \(literal) AS v")
                }
                #expect(error?.reason == .valueMismatch)
            }
            #expect(throws: RowDecodingError.self) {
                try db.read(CodableGrape.self, by: way, sql: "SELECT '\"merlot\"' AS v")
            }
            #expect(throws: RowDecodingError.self) {
                try db.read(Tiny.self, by: way, sql: "SELECT 256 AS v")
            }
            #expect(try db.read(Even.self, by: way, sql: "SELECT 2 AS v") == Even(rawValue: 2))
            #expect(throws: RowDecodingError.self) { try db.read(Even.self, by: way, sql: "SELECT 3 AS v") }
            #expect(try db.read(Color.self, by: way, sql: "SELECT 1.0 AS v") == .white)
        }
    }
}
