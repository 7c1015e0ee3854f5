import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Texts")
struct TextsTests {
    static let texts = [
        "", "a", "Arthur", "'", "''", "\"", "it's", "\0", "a\0b", "\0a", "a\0", "\0\0", "é", "e\u{301}", "😀",
        "👨‍👩‍👧‍👦", "'\u{301}", "\u{301}", "\u{FEFF}x", "\u{FFFD}", "\r\n", "\u{2028}", "\u{10FFFF}",
        "fifteen bytes!!", "sixteen bytes!!!", String(repeating: "long ", count: 10_000),
    ]

    @Test(
        "Texts round-trip byte by byte, empty and with NUL inside", .behaviour(43), arguments: texts,
        ["", "UTF-16"])
    func roundTrip(_ text: String, _ encoding: String) throws {
        try DatabaseQueue().writeWithoutTransaction { db in
            if !encoding.isEmpty { try db.execute(sql: "PRAGMA encoding = '\(encoding)'") }
            for column in ["", "TEXT", "BLOB"] {
                let sql = try db.store([text], column: column)
                for way in ReadingWay.allCases {
                    let read = try #require(try db.read(String.self, by: way, sql: sql))
                    #expect(Array(read.utf8) == Array(text.utf8), "\(way)")
                    let piece = try #require(try db.read(Substring.self, by: way, sql: sql))
                    #expect(Array(piece.utf8) == Array(text.utf8), "\(way)")
                }
                #expect(try String.fetchOne(db, sql: "SELECT typeof(v) FROM stored") == "text")
            }
        }
    }

    @Test("An empty text is a text, and not NULL", .behaviour(43), arguments: ReadingWay.allCases)
    func empty(_ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            let sql = try db.store([""], column: "TEXT NOT NULL")
            #expect(try db.read(DatabaseValue.self, by: way, sql: sql) == "")
            #expect(try db.read(String.self, by: way, sql: sql)?.isEmpty == true)
            let emptyPiece = "abc".prefix(0)
            #expect(try db.read(Substring.self, by: way, sql: db.store([emptyPiece])) == "")
        }
    }

    @Test(
        "Invalid UTF-8 is repaired on reading", .behaviour(43),
        arguments: [
            ("ff41", "\u{FFFD}A"), ("41ff", "A\u{FFFD}"), ("c3", "\u{FFFD}"), ("41c328", "A\u{FFFD}("),
            ("eda080", "\u{FFFD}\u{FFFD}\u{FFFD}"), ("f09f98", "\u{FFFD}"), ("c080", "\u{FFFD}\u{FFFD}"),
            ("00ff00", "\0\u{FFFD}\0"),
        ])
    func repaired(_ bytes: String, _ text: String) throws {
        try DatabaseQueue().read { db throws in
            for way in ReadingWay.allCases {
                let sql = "SELECT CAST(x'\(bytes)' AS TEXT) AS v"
                #expect(try db.read(String.self, by: way, sql: sql) == text, "\(way)")
                #expect(try db.read(DatabaseValue.self, by: way, sql: sql) == text.databaseValue, "\(way)")
            }
        }
    }

    @Test(
        "A number and a blob read as no text", .behaviour(44), arguments: ReadingWay.allCases,
        ["1", "1.5", "x'41'", "x''"])
    func noText(_ way: ReadingWay, _ literal: String) throws {
        try DatabaseQueue().read { db in
            let sql = "SELECT \(literal) AS v"
            #expect(throws: RowDecodingError.self) { try db.read(String.self, by: way, sql: sql) }
            #expect(throws: RowDecodingError.self) { try db.read(Substring.self, by: way, sql: sql) }
            #expect(throws: RowDecodingError.self) { try db.read(URL.self, by: way, sql: sql) }
        }
    }

    @Test("A piece of a text is stored alone", .behaviour(44))
    func pieces() throws {
        try DatabaseQueue().write { db throws in
            let piece = "Arthur and Barbara".dropFirst(11)
            #expect(try String.fetchOne(db, sql: db.store([piece])) == "Barbara")
        }
    }

    @Test(
        "URLs round-trip as their texts", .behaviour(44), arguments: ReadingWay.allCases,
        [
            "http://example.com", "https://user:pass@example.com:8080/a/b?q=%20x&r=1#f",
            "file:///tmp/a%20b", "mailto:arthur@example.com", "relative/path?x", "https://example.com/%C3%A9",
        ])
    func urls(_ way: ReadingWay, _ text: String) throws {
        try DatabaseQueue().write { db in
            let url = try #require(URL(string: text))
            let sql = try db.store([url], column: "TEXT")
            #expect(try db.read(URL.self, by: way, sql: sql) == url)
            #expect(try String.fetchOne(db, sql: sql) == text)
        }
    }

    @Test("A relative URL is stored with its base", .behaviour(44))
    func relativeURL() throws {
        let url = try #require(URL(string: "b", relativeTo: URL(string: "http://a.com/")))
        #expect(url.databaseValue == "http://a.com/b")
        #expect(URL.fromDatabaseValue("") == nil)
    }

    // MARK: - Decimal

    static let decimalTexts = [
        "0", "1", "-1", "0.1", "-0.1", "3.14159265358979323846", "99999999999999999999999999999999999999",
        "0.00000000000000000000000000000000000001", "-12345678901234567890.123456789012345678",
        "340282366920938463463374607431768211455", "1000000", "1200.34",
    ]

    @Test("Decimals of 38 digits round-trip as their texts", .behaviour(44), arguments: decimalTexts)
    func decimals(_ text: String) throws {
        try DatabaseQueue().write { db in
            let decimal = try #require(Decimal(string: text))
            for column in ["", "TEXT", "BLOB"] {
                let sql = try db.store([decimal], column: column)
                #expect(try String.fetchOne(db, sql: sql) == text)
                for way in ReadingWay.allCases {
                    #expect(try db.read(Decimal.self, by: way, sql: sql) == decimal, "\(way)")
                }
            }
        }
    }

    @Test("The greatest and the smallest decimals round-trip", .behaviour(44))
    func extremeDecimals() throws {
        try DatabaseQueue().write { db throws in
            for decimal in [
                Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude, .pi,
            ] {
                #expect(try Decimal.fetchOne(db, sql: db.store([decimal])) == decimal, "\(decimal)")
            }
        }
    }

    @Test("A decimal that is not a number is stored as NULL", .behaviour(43))
    func decimalNaN() { #expect(Decimal.nan.databaseValue == .null) }

    @Test("Random decimals round-trip", .behaviour(44), arguments: [1, 2, 3] as [UInt64])
    func randomDecimals(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let digits = (0..<Int.random(in: 1...38, using: &generator)).map { _ in
                "\(Int.random(in: 0...9, using: &generator))"
            }
            let exponent = Int.random(in: -60...60, using: &generator)
            let text = "\(Bool.random(using: &generator) ? "-" : "")\(digits.joined())e\(exponent)"
            guard let decimal = Decimal(string: text) else { continue }
            #expect(Decimal.fromDatabaseValue(decimal.databaseValue) == decimal, "seed \(seed): \(text)")
            #expect(Decimal.fromDatabaseValue(text.databaseValue) == decimal, "seed \(seed): \(text)")
        }
    }

    @Test(
        "A text that is no number as a whole reads as no decimal", .behaviour(44),
        arguments: [
            "", " ", "abc", "12abc", "1st", "12 ", " 12", "12\0", "1,5", "1.2.3", "--1", "+-1", "-", ".",
            "e5",
            "1e", "1e+", "1e5x", "0x10", "NaN", "inf", "Infinity", "١٢", "1_000", "1e400", "-1e400",
        ])
    func noDecimal(_ text: String) { #expect(Decimal.fromDatabaseValue(text.databaseValue) == nil) }

    @Test(
        "A text that is a number reads as a decimal", .behaviour(44),
        arguments: [
            ("1", 1), ("+1", 1), ("-1", -1), ("007", 7), ("5.", 5), (".5", 0.5), ("1e3", 1000),
            ("1E+3", 1000),
            ("15e-1", 1.5), ("-0", 0), ("0.10", 0.1),
        ] as [(String, Decimal)])
    func otherDecimals(_ text: String, _ decimal: Decimal) {
        #expect(Decimal.fromDatabaseValue(text.databaseValue) == decimal)
    }

    @Test(
        "Any real number reads as a decimal close to it, or as none", .behaviour(44),
        arguments: [1, 2] as [UInt64])
    func randomReals(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let wrong = (0..<5000).map { _ in Double(bitPattern: generator.next()) }.filter { double in
            guard let decimal = Decimal.fromDatabaseValue(double.databaseValue) else { return false }
            let again = Double("\(decimal)") ?? .nan
            return !(abs(again - double) <= abs(double) * 1e-14)
        }
        #expect(wrong.prefix(5) == [], "seed \(seed): \(wrong.count) wrong")
    }

    @Test("Numbers read as decimals", .behaviour(44), arguments: ReadingWay.allCases)
    func decimalNumbers(_ way: ReadingWay) throws {
        try DatabaseQueue().read { db in
            for (literal, expected) in [
                ("7", "7"), ("-9223372036854775808", "-9223372036854775808"), ("1.5", "1.5"), ("0.1", "0.1"),
                ("-2.0", "-2"), ("1234.5678", "1234.5678"),
            ] {
                let decimal = try db.read(Decimal.self, by: way, sql: "SELECT \(literal) AS v")
                #expect(decimal == Decimal(string: expected), "\(literal)")
            }
            for literal in ["9e999", "-9e999", "1e300", "x'31'"] {
                let error = #expect(throws: RowDecodingError.self, "\(literal)") {
                    try db.read(Decimal.self, by: way, sql: "SELECT \(literal) AS v")
                }
                #expect(error?.reason == .valueMismatch)
            }
        }
    }
}
