import Foundation
import Shellac
import TestSupport
import Testing

/// A type whose values are in a column, read in all ways.
struct ConvertibleType: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The result of each way for the first row of a query: a value, nil for NULL, or an error's
    /// reason.
    let readings: @Sendable (Database, String) throws -> [(ReadingWay, String)]
    /// Whether a query's first row has the same value as its database value, stored again.
    let isStable: @Sendable (Database, String) throws -> Bool

    init<Value: DatabaseValueConvertible & Hashable & SendableMetatype>(_ type: Value.Type) {
        testDescription = "\(type)"
        readings = { db, sql in
            try ReadingWay.allCases.map { way in
                do {
                    let value = try db.read(Value.self, by: way, sql: sql)
                    return (way, value.map { "\(String(reflecting: $0)) #\($0.hashValue)" } ?? "nil")
                } catch let error as RowDecodingError {
                    return (way, "\(error.reason)")
                }
            }
        }
        isStable = { db, sql in
            guard let value = try? Value.fetchOne(db, sql: sql) else { return true }
            return try Value.fetchOne(db, sql: "SELECT ?", arguments: [value])?.databaseValue
                == value.databaseValue
        }
    }

    static let all: [ConvertibleType] = [
        .init(Int.self), .init(Int64.self), .init(Int32.self), .init(Int16.self), .init(Int8.self),
        .init(UInt.self), .init(UInt64.self), .init(UInt32.self), .init(UInt16.self), .init(UInt8.self),
        .init(Bool.self), .init(Double.self), .init(Float.self), .init(Decimal.self), .init(String.self),
        .init(Substring.self), .init(URL.self), .init(Data.self), .init(UUID.self), .init(Date.self),
        .init(DatabaseDateComponents.self), .init(DatabaseValue.self), .init(Grape.self),
        .init(Vintage.self), .init(Tasting.self), .init(Celsius.self),
    ]
}

private enum Grape: String, DatabaseValueConvertible {
    case merlot, abc
    case twelve = "12"
}

private struct Vintage: RawRepresentable, Hashable, DatabaseValueConvertible { var rawValue: Int16 }

private struct Tasting: Codable, Hashable, DatabaseValueConvertible { var score: Int? }

/// A type that knows the long way only.
private struct Celsius: Hashable, DatabaseValueConvertible {
    var degrees: Double
    var databaseValue: DatabaseValue { degrees.databaseValue }
    static func fromDatabaseValue(_ value: DatabaseValue) -> Celsius? {
        Double.fromDatabaseValue(value).map(Celsius.init(degrees:))
    }
}

@Suite("Values in one column")
struct DatabaseValueConvertibleTests {
    static let stored = [
        "NULL", "0", "1", "-1", "12", "127", "128", "255", "256", "-129", "32767", "65535", "65536",
        "2147483647", "2147483648", "4294967296", "9007199254740993", "9223372036854775807",
        "-9223372036854775808", "9223372036854775808", "0.0", "-0.0", "1.0", "1.5", "-1.0", "255.0",
        "1e10", "9.3e18", "1e300", "-1e300", "1e-300", "9e999", "-9e999", "''", "'0'", "'12'", "'1st'",
        "'12.5'", "' 12'", "'-1e3'", "'abc'", "'merlot'", "'MERLOT'", "x''", "x'00'", "x'3132'",
        "x'616263'", "x'00112233445566778899AABBCCDDEEFF'", "x'00112233445566778899AABBCCDDEE'",
        "zeroblob(16)", "'00112233-4455-6677-8899-AABBCCDDEEFF'",
        "'00112233-4455-6677-8899-aabbccddeeff'", "'00112233-4455-6677-8899-AABBCCDDEEFF0'",
        "CAST(x'30303131323233332D343435352D363637372D383839392D41414242434344444545464600' AS TEXT)",
        "'2015-07-22'", "'2015-07-22 01:02'", "'2015-07-22 01:02:03'", "'2015-07-22T01:02:03.456'",
        "'2015-07-22 01:02:03.456+02:00'", "'2015-07-22 01:02:03Z'", "'01:02'", "'01:02:03'",
        "'01:02:03.456'", "'2015-02-30'", "'24:00'", "CURRENT_TIMESTAMP", "CAST(x'ff41' AS TEXT)",
        "CAST(x'41ff' AS TEXT)", "CAST(x'EDA080' AS TEXT)", "CAST(x'410042' AS TEXT)", "CAST(x'00' AS TEXT)",
        "'http://example.com/é?q=1'", "'not a url'", "'{\"score\":7}'", "'{}'", "'{\"score\":\"7\"}'",
        "x'7B7D'", "'e' || char(769)", "'😀'",
    ]

    @Test(
        "All ways from a column to a value agree", .behaviour(43), arguments: ConvertibleType.all,
        ["", "PRAGMA encoding = 'UTF-16'"])
    func ways(_ type: ConvertibleType, _ setUp: String) throws {
        try DatabaseQueue().writeWithoutTransaction { db in
            try db.execute(sql: setUp)
            for stored in Self.stored where setUp.isEmpty || !stored.contains("AS TEXT") {
                // It must not move on from one way to the next.
                let literal =
                    stored == "CURRENT_TIMESTAMP"
                    ? try #require(try DatabaseValue.fetchOne(db, sql: "SELECT \(stored)")).debugDescription
                    : stored
                let sql = "SELECT \(literal) AS v"
                let readings = try type.readings(db, sql)
                let expected = readings.first { $0.0 == .fetchAll }?.1
                for (way, reading) in readings {
                    let isOne = way == .fetchOne && literal == "NULL"
                    let isNull = isOne || way.isOptional && expected == "unexpectedNull"
                    #expect(reading == (isNull ? "nil" : expected), "\(way) of \(literal)")
                }
                #expect(try type.isStable(db, sql), "\(literal), stored again")
            }
        }
    }

    @Test(
        "A row that a query stored in a table reads as the expression did", .behaviour(43),
        arguments: ConvertibleType.all
    )
    func table(_ type: ConvertibleType) throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE stored (v)")
            for literal in Self.stored {
                try db.execute(sql: "DELETE FROM stored; INSERT INTO stored VALUES (\(literal))")
                let stored = try type.readings(db, "SELECT v FROM stored").map(\.1)
                // CURRENT_TIMESTAMP may have moved on.
                guard literal != "CURRENT_TIMESTAMP" else { continue }
                #expect(try stored == type.readings(db, "SELECT \(literal) AS v").map(\.1), "\(literal)")
            }
        }
    }

    @Test(
        "What a type accepts of the values of other types", .behaviour(44),
        arguments: [
            ("1.0", true, true, true, false, false), ("1.5", false, true, true, false, false),
            ("1", true, true, true, false, false), ("1e300", false, true, true, false, false),
            ("9e999", false, true, true, false, false), ("'12'", false, false, false, true, true),
            ("'1st'", false, false, false, true, true), ("''", false, false, false, true, true),
            ("x''", false, false, false, false, true), ("x'3132'", false, false, false, false, true),
        ])
    func accepted(
        _ literal: String, _ int: Bool, _ double: Bool, _ bool: Bool, _ string: Bool, _ data: Bool
    ) throws {
        try DatabaseQueue().read { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT \(literal)"))
            #expect(((try? row[0] as Int) != nil) == int)
            #expect(((try? row[0] as Double) != nil) == double)
            #expect(((try? row[0] as Bool) != nil) == bool)
            #expect(((try? row[0] as String) != nil) == string)
            #expect(((try? row[0] as Data) != nil) == data)
        }
    }

    @Test("A type of one's own is stored and read as it says, on every way", arguments: ReadingWay.allCases)
    func custom(_ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            let sql = try db.store([Celsius(degrees: 36.5)])
            #expect(try DatabaseValue.fetchOne(db, sql: sql) == 36.5)
            #expect(try db.read(Celsius.self, by: way, sql: sql) == Celsius(degrees: 36.5))
        }
    }

    @Test("Optionals are stored as their value or as NULL, and fetched with their NULLs", .behaviour(44))
    func optionals() throws {
        try DatabaseQueue().write { db in
            let sql = try db.store([1, nil, 3] as [Int?])
            #expect(try Int?.fetchAll(db, sql: sql) == [1, nil, 3])
            #expect(try Int?.fetchSet(db, sql: sql) == [1, nil, 3])
            #expect(try Array(Int?.fetchCursor(db, sql: sql)) == [1, nil, 3])
            #expect(try Int?.fetchAll(db, sql: sql).map(\.databaseValue) == [1, .null, 3])
            #expect(Int?.fromDatabaseValue("a") == nil)
            #expect(Int?.fromDatabaseValue(.null) == .some(.none))
            #expect(throws: RowDecodingError.self) { try Int?.fetchAll(db, sql: "SELECT 'a'") }
        }
    }
}
