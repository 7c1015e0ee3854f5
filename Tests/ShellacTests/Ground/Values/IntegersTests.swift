import Shellac
import TestSupport
import Testing

/// An integer type, with its bounds as the database holds them.
struct IntegerType: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Stores the bounds and some integers between them, and reads them back.
    let roundTrip: @Sendable (Database, ReadingWay, String) throws -> Bool
    /// Reads one integer or real number.
    let read: @Sendable (Database, ReadingWay, String) throws -> Int64?
    let minimum: Int64
    let maximum: Int64

    init<Value: DatabaseValueConvertible & FixedWidthInteger & SendableMetatype & Sendable>(
        _ type: Value.Type
    ) {
        testDescription = "\(type)"
        minimum = Int64(clamping: Value.min)
        maximum = Int64(clamping: Value.max)
        let values: [Value] = [
            Value(minimum), Value(minimum) + 1, 0, 1, Value(maximum / 2), Value(maximum) - 1, Value(maximum),
        ]
        roundTrip = { db, way, column in
            try values.allSatisfy { value in
                let sql = try db.store([value], column: column)
                return try db.read(Value.self, by: way, sql: sql) == value
                    && DatabaseValue.fetchOne(db, sql: sql) == DatabaseValue(.int64(Int64(value)))
            }
        }
        read = { db, way, literal in
            try db.read(Value.self, by: way, sql: "SELECT \(literal) AS v").map { Int64(clamping: $0) }
        }
    }

    static let all: [IntegerType] = [
        .init(Int.self), .init(Int64.self), .init(Int32.self), .init(Int16.self), .init(Int8.self),
        .init(UInt.self), .init(UInt64.self), .init(UInt32.self), .init(UInt16.self), .init(UInt8.self),
    ]
}

@Suite("Integers")
struct IntegersTests {
    @Test(
        "Integers of every width round-trip at their bounds", .behaviour(43), arguments: IntegerType.all,
        ["", "INTEGER", "NUMERIC", "BLOB", "INTEGER PRIMARY KEY", "BOOLEAN"])
    func roundTrip(_ type: IntegerType, _ column: String) throws {
        try DatabaseQueue().write { db throws in
            for way in ReadingWay.allCases {
                #expect(try type.roundTrip(db, way, column), "\(way)")
            }
        }
    }

    @Test(
        "An overflow throws, and never traps", .behaviour(43), arguments: IntegerType.all, ReadingWay.allCases
    )
    func overflow(_ type: IntegerType, _ way: ReadingWay) throws {
        try DatabaseQueue().read { db in
            var outside = ["1e300", "-1e300", "9e999", "-9e999", "1.9e19", "-9.3e18", "0.5"]
            if type.maximum < .max || type.minimum < 0 { outside.append("9223372036854775808") }
            if type.minimum > .min { outside += ["\(type.minimum - 1)", "\(type.minimum - 1).0"] }
            if type.maximum < .max { outside += ["\(type.maximum + 1)", "\(type.maximum + 1).0"] }
            for literal in outside {
                let error = #expect(throws: RowDecodingError.self, "\(literal)") {
                    try type.read(db, way, literal)
                }
                #expect(error?.reason == .valueMismatch)
            }
        }
    }

    @Test(
        "A real number that is whole reads as the integer", .behaviour(43), arguments: IntegerType.all,
        ReadingWay.allCases)
    func wholeReals(_ type: IntegerType, _ way: ReadingWay) throws {
        try DatabaseQueue().read { db throws in
            for integer in [0, 1, 127] as [Int64] {
                #expect(try type.read(db, way, "\(integer).0") == integer)
            }
            #expect(try type.read(db, way, "-0.0") == 0)
            if type.maximum < 1 << 53 {
                #expect(try type.read(db, way, "\(type.minimum).0") == type.minimum)
                #expect(try type.read(db, way, "\(type.maximum).0") == type.maximum)
            }
        }
    }

    @Test("-2⁶³ as a real number is an integer of 64 bits, 2⁶³ is none", .behaviour(43))
    func greatReals() {
        let limit: DatabaseValue = 9_223_372_036_854_775_808.0
        #expect(Int64.fromDatabaseValue(-9_223_372_036_854_775_808.0) == .min)
        #expect(Int64.fromDatabaseValue(limit) == nil)
        #expect(Int.fromDatabaseValue(limit) == nil)
        #expect(UInt64.fromDatabaseValue(-1) == nil)
    }

    @Test(
        "Booleans are 0 and 1, and every number but 0 reads as true", .behaviour(44),
        arguments: ReadingWay.allCases
    )
    func booleans(_ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            let sql = try db.store([true, false])
            #expect(try DatabaseValue.fetchAll(db, sql: sql) == [1, 0])
            #expect(try Bool.fetchAll(db, sql: sql) == [true, false])
            for (literal, expected) in [
                ("TRUE", true), ("FALSE", false), ("-1", true), ("2", true), ("0.0", false), ("-0.0", false),
                ("0.1", true), ("9e999", true), ("-9223372036854775808", true),
            ] {
                #expect(try db.read(Bool.self, by: way, sql: "SELECT \(literal) AS v") == expected)
            }
            for literal in ["'1'", "'true'", "x'01'", "''"] {
                #expect(throws: RowDecodingError.self, "\(literal)") {
                    try db.read(Bool.self, by: way, sql: "SELECT \(literal) AS v")
                }
            }
        }
    }

    @Test(
        "An unsigned integer that was read from a real number never traps when it is stored again",
        .behaviour(43))
    func unsignedFromReal() async {
        await #expect(processExitsWith: .success) {
            crashWithoutBacktrace()
            try DatabaseQueue().read { db in
                let sql = "SELECT 9223372036854775808"  // a real number, as the literal is too great
                guard let value = try? UInt64.fetchOne(db, sql: sql) else { return }
                _ = try DatabaseValue.fetchOne(db, sql: "SELECT ?", arguments: [value])
            }
        }
    }

    @Test(
        "Unsigned integers above Int64.max round-trip, and sort behind all others", .behaviour(43),
        arguments: ReadingWay.allCases)
    func unsigned(_ way: ReadingWay) throws {
        let great: [UInt64] = [1 << 63, 1 << 63 + 1, .max - 1, .max, 0xFF00_FF00_FF00_FF00]
        try DatabaseQueue().write { db in
            for integer in great {
                for column in ["", "INTEGER", "TEXT", "NUMERIC"] {
                    let sql = try db.store([integer], column: column)
                    #expect(try db.read(UInt64.self, by: way, sql: sql) == integer)
                    #expect(try db.read(UInt.self, by: way, sql: sql) == UInt(integer))
                    for type in IntegerType.all where !type.testDescription.hasPrefix("UInt6") {
                        guard type.testDescription != "UInt" else { continue }
                        #expect(throws: RowDecodingError.self) {
                            _ = try type.read(db, way, "x'\(String(integer, radix: 16))'")
                        }
                    }
                }
            }
            _ = try db.store(great + [7, 0, UInt64(Int64.max)])
            let sorted = try UInt64.fetchAll(db, sql: "SELECT v FROM stored ORDER BY v")
            #expect(sorted == sorted.sorted())
            for literal in [
                "x''", "x'00'", "x'0000000000000001'", "x'7FFFFFFFFFFFFFFF'", "zeroblob(9)", "'8bytes!!'",
            ] {
                #expect(throws: RowDecodingError.self, "\(literal)") {
                    try db.read(UInt64.self, by: way, sql: "SELECT \(literal) AS v")
                }
            }
        }
    }
}
