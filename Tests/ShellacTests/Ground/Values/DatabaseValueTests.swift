import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Database values")
struct DatabaseValueTests {
    /// No two of these are equal.
    static let distinct: [DatabaseValue] = [
        .null, 0, 1, -1, 0.0, 1.0, 1.5, "", "1", "1.0", "NULL", "a", "A", "a\0", "é", "e\u{301}", "x''",
        Data().databaseValue, Data([0]).databaseValue, Data("a".utf8).databaseValue,
        Data("1".utf8).databaseValue, Double.infinity.databaseValue, (-Double.infinity).databaseValue,
        Int64.max.databaseValue, Double(Int64.max).databaseValue,
    ]

    @Test("Values are equal when SQLite stores the same: 1 is not 1.0, é composed is not é decomposed")
    func equality() {
        for (i, a) in Self.distinct.enumerated() {
            for (j, b) in Self.distinct.enumerated() {
                #expect((a == b) == (i == j), "\(a.debugDescription), \(b.debugDescription)")
            }
        }
        #expect(Set(Self.distinct + Self.distinct).count == Self.distinct.count)
        #expect((0.0 as DatabaseValue) == -0.0)
        #expect((0.0 as DatabaseValue).hashValue == (-0.0 as DatabaseValue).hashValue)
        #expect(Data([7, 1]).dropFirst().databaseValue == Data([1]).databaseValue)
        #expect("xé".dropFirst().databaseValue == "é")
    }

    @Test("Values are equal exactly where SQLite's IS and typeof say so")
    func equalityInSQL() throws {
        try DatabaseQueue().read { db in
            for a in Self.distinct {
                for b in Self.distinct {
                    let same = try Bool.fetchOne(
                        db, sql: "SELECT ?1 IS ?2 AND typeof(?1) = typeof(?2)", arguments: [a, b])
                    #expect(same == (a == b), "\(a.debugDescription), \(b.debugDescription)")
                }
            }
        }
    }

    @Test("Literals make values")
    func literals() {
        let values: [DatabaseValue] = [.null, 1, -9_223_372_036_854_775_808, 1.5, "a", true, false]
        #expect(
            values.map(\.storage) == [
                .null, .int64(1), .int64(.min), .double(1.5), .string("a"), .int64(1), .int64(0),
            ])
        #expect(values.map(\.isNull) == [true, false, false, false, false, false, false])
    }

    @Test("Values describe themselves to people, and to SQLite")
    func descriptions() {
        let expected: [(DatabaseValue, String, String)] = [
            (.null, "NULL", "NULL"), (1, "1", "1"), (1.0, "1.0", "1.0"), (1.5, "1.5", "1.5"),
            ("Arthur", "Arthur", "'Arthur'"), ("it's", "it's", "'it''s'"), ("'", "'", "''''"), ("", "", "''"),
            (Data([0xC0, 0xFF, 0xEE]).databaseValue, "Data(3 bytes)", "x'C0FFEE'"),
            (Data().databaseValue, "Data(0 bytes)", "x''"),
            (Double.infinity.databaseValue, "inf", "9e999"),
            ((-Double.infinity).databaseValue, "-inf", "-9e999"),
            ("a\0", "a\0", "CAST(x'6100' AS TEXT)"),
        ]
        for (value, description, literal) in expected {
            #expect(value.description == description)
            #expect(value.debugDescription == literal)
        }
    }

    /// Texts that end a literal too early, if anything does.
    static let quotes = [
        "'", "''", "'''", "'\u{301}", "'\u{200D}", "x'\u{FE0F}y", "\u{301}'", "\r\n'\r\n", "'--", "\"",
        "\"\u{301}",
        "'\u{301} OR 1 --", "é'é", "👩'🏽",
    ]

    @Test("The literal of a text is that text in SQL, whatever stands behind a quote", arguments: quotes)
    func quotedLiterals(_ text: String) throws {
        try DatabaseQueue().read { db throws in
            let value = text.databaseValue
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT \(value.sqlLiteral)") == value)
        }
    }

    @Test("A quoted identifier is that name in SQL, whatever stands behind a quote", arguments: quotes)
    func quotedIdentifiers(_ name: String) throws {
        try DatabaseQueue().read { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 1 AS \(name.quotedDatabaseIdentifier)"))
            #expect(row.columnNames.map { Array($0.utf8) } == [Array(name.utf8)])
        }
    }

    @Test("The literal of any value is that value in SQL", arguments: [1, 2, 3] as [UInt64])
    func literalRoundTrip(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let values = Self.distinct + (0..<3000).map { _ in DatabaseValue.random(using: &generator) }
        try DatabaseQueue().read { db in
            for value in values {
                let statement = try db.makeStatement(sql: "SELECT \(value.sqlLiteral)")
                let found = try #require(try DatabaseValue.fetchAll(statement).first)
                #expect(found.isClose(to: value), "seed \(seed): \(value.sqlLiteral) is \(found)")
            }
        }
    }

    @Test("Any value that is bound comes back as it was", arguments: [1, 2, 3] as [UInt64])
    func boundRoundTrip(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let values = Self.distinct + (0..<3000).map { _ in DatabaseValue.random(using: &generator) }
        try DatabaseQueue().write { db in
            let sql = try db.store(values)
            #expect(try DatabaseValue.fetchAll(db, sql: sql) == values, "seed \(seed)")
            #expect(try Row.fetchAll(db, sql: sql).map { try $0["v"] } == values, "seed \(seed)")
        }
    }
}

extension DatabaseValue {
    fileprivate static func random(using generator: inout SeededGenerator) -> DatabaseValue {
        switch Int.random(in: 0...5, using: &generator) {
        case 0:
            let integer = Int64(bitPattern: generator.next())
            return (integer >> Int64.random(in: 0...63, using: &generator)).databaseValue
        case 1: return Double(bitPattern: generator.next()).databaseValue
        case 2: return (Double(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 64).databaseValue
        case 3:
            let scalars: [Unicode.Scalar] = [
                "'", "\"", "\0", "a", "é", "\u{301}", "😀", "\n", "\r", "\u{200D}",
            ]
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                text.append(scalars.randomElement(using: &generator) ?? "a")
            }
            return String(text).databaseValue
        default:
            return Data(
                (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
            ).databaseValue
        }
    }

    /// Whether the values are equal, but for the last digit of a real number: SQLite reads a
    /// decimal literal with an error of that size.
    fileprivate func isClose(to other: DatabaseValue) -> Bool {
        guard case .double(let a) = storage, case .double(let b) = other.storage else { return self == other }
        return a == b || abs(a / b - 1) < 1e-14
    }
}
