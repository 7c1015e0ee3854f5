import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("SQL literals")
struct SQLTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let literal: SQL
        let sql: String
        let arguments: StatementArguments
        init(_ literal: SQL, _ sql: String, _ arguments: StatementArguments = []) {
            (self.literal, self.sql, self.arguments) = (literal, sql, arguments)
        }
        var testDescription: String { sql }
    }

    static let cases: [Case] = {
        let name = "O'Brien"
        let nothing: String? = nil
        let some: Int? = 7
        let condition: SQL = "a = \(1) OR b = \(2)"
        let none: [SQL] = []
        let any: (any DatabaseValueConvertible)? = 1.5
        return [
            Case("SELECT 1", "SELECT 1"), Case("", ""),
            Case("SELECT \(name)", "SELECT ?", ["O'Brien"]),
            Case(
                "SELECT \(1), \(2.5), \(true), \(nothing), \(some), \(any)", "SELECT ?, ?, ?, ?, ?, ?",
                [1, 2.5, 1, nil, 7, 1.5]),
            Case("SELECT \(nil), \(DatabaseValue.null)", "SELECT ?, ?", [nil, nil]),
            Case("SELECT \([1, 2, 3])", "SELECT (?,?,?)", [1, 2, 3]),
            Case("SELECT \([Int]())", "SELECT ()"),
            Case("SELECT \(["a", nil])", "SELECT (?,?)", ["a", nil]),
            Case("SELECT \(1...3)", "SELECT (?,?,?)", [1, 2, 3]),
            Case("SELECT \([1, 2, 3].lazy.map { $0 * 2 })", "SELECT (?,?,?)", [2, 4, 6]),
            Case("SELECT \(Data([1, 2]))", "SELECT ?", [Data([1, 2])]),
            Case("SELECT \("abc"[...])", "SELECT ?", ["abc"]),
            Case("SELECT \([Data([1]), Data()])", "SELECT (?,?)", [Data([1]), Data()]),
            Case("SELECT * FROM \(identifier: "my table")", "SELECT * FROM \"my table\""),
            Case("SELECT \(identifier: "a\"b"), \(identifier: "")", "SELECT \"a\"\"b\", \"\""),
            Case(
                "SELECT \(0) WHERE \(condition) AND \(3)", "SELECT ? WHERE a = ? OR b = ? AND ?",
                [0, 1, 2, 3]),
            Case(
                "\([condition, "c", condition].joined(separator: " AND "))",
                "a = ? OR b = ? AND c AND a = ? OR b = ?", [1, 2, 1, 2]),
            Case(none.joined(separator: ","), ""),
            Case("SELECT \(sql: "?, ?", arguments: [1, 2]), \(3)", "SELECT ?, ?, ?", [1, 2, 3]),
            Case("SELECT \(1)" + ", \(2)", "SELECT ?, ?", [1, 2]),
        ]
    }()

    @Test("What is interpolated is bound, quoted or inserted", arguments: cases)
    func interpolation(_ test: Case) {
        #expect(test.literal.sql == test.sql)
        #expect(test.literal.arguments == test.arguments)
    }

    @Test("A literal is executed and fetched from with its values")
    func execution() throws {
        let spy = SQLSpy()
        try DatabaseQueue(configuration: spy.configuration()).inDatabase { db in
            try db.execute(literal: "CREATE TABLE \(identifier: "my table") (a, b)")
            try db.execute(
                literal:
                    "INSERT INTO \(identifier: "my table") VALUES (\(1), \("x")); INSERT INTO [my table] VALUES (\(2), \(Data()))"
            )
            let query: SQL = "SELECT a FROM [my table] WHERE a IN \([2, 1]) ORDER BY a"
            spy.removeAll()
            try #expect(Int.fetchAll(db, literal: query) == [1, 2])
            #expect(spy.sql == ["SELECT a FROM [my table] WHERE a IN (?,?) ORDER BY a"])
            try #expect(Int.fetchAll(db, literal: "SELECT a FROM [my table] WHERE a IN \([Int]())") == [])
            try #expect(
                Int.fetchAll(db, literal: "SELECT a FROM [my table] WHERE a NOT IN \([Int]())") == [1, 2])
            let statement = try db.cachedStatement(literal: query)
            try #expect(Int.fetchAll(statement) == [1, 2])
            let error = try #require(throws: DatabaseError.self) { try db.execute(literal: "SELECT ?, \(1)") }
            #expect(error.message == "wrong number of arguments: 1 for 2 parameters")
            try #expect(db.isUsable())
        }
    }

    /// Pieces that hostile texts are made of: quotes, and characters that join the one before them.
    static let pieces = [
        "\"", "'", "`", "[", "]", ";", "--", "/*", "*/", "?", ":a", "\\", "%", " ", "\n", "\r\n", "é",
        "e\u{301}",
        "\u{301}", "\u{200D}", "\u{FE0F}", "😀", "👩‍👩‍👧", "DROP TABLE t", "x", "\u{20E3}", "🇫", "\u{1F3FB}",
    ]

    @Test("Hostile values and names stay what they are", arguments: [1, 2, 3] as [UInt64])
    func hostile(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            for round in 0..<400 {
                let count = Int.random(in: 1...6, using: &generator)
                let text = (0..<count).compactMap { _ in Self.pieces.randomElement(using: &generator) }
                    .joined()
                let comment: Comment =
                    "seed \(seed), round \(round), \(text.unicodeScalars.map { String($0.value, radix: 16) })"
                let row = try? Row.fetchOne(db, literal: "SELECT \(text) AS \(identifier: text), 2 AS two")
                let value = row?.databaseValues.first
                #expect(value == text.databaseValue, comment)
                #expect(
                    row?.columnNames.map { Array($0.utf8) } == [Array(text.utf8), Array("two".utf8)], comment)
                try #expect(db.integers("SELECT a FROM t") == [1], comment)
            }
        }
    }

    @Test(
        "A quote that a combining character follows is still a quote",
        arguments: ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}"])
    func combining(_ mark: String) throws {
        let hostile = "t\"\(mark); DROP TABLE t; --"
        #expect("'\(mark)".quotedDatabaseLiteral.utf8.elementsEqual("'''\(mark)'".utf8))
        #expect("\"\(mark)".quotedDatabaseIdentifier.utf8.elementsEqual("\"\"\"\(mark)\"".utf8))
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            try? db.execute(literal: "SELECT * FROM \(identifier: hostile)")
            try #expect(db.integers("SELECT COUNT(*) FROM sqlite_master WHERE name = 't'") == [1])
        }
    }

    @Test("A name with a NUL executes nothing")
    func nul() throws {
        try DatabaseQueue().inDatabase { db in
            let error = try #require(throws: DatabaseError.self) {
                try db.execute(literal: "CREATE TABLE \(identifier: "a\0b") (c)")
            }
            #expect(error.message == "there is a NUL character in the SQL")
            try #expect(db.integers("SELECT COUNT(*) FROM sqlite_master") == [0])
            try #expect(String.fetchOne(db, literal: "SELECT \("a\0b")") == "a\0b")
        }
    }

    @Test(
        "A literal may leave its parameters to be bound later, and cannot have values, too",
        arguments: [true, false])
    func parameters(isCached: Bool) throws {
        try DatabaseQueue().inDatabase { db in
            func prepare(_ literal: SQL) throws -> Statement {
                isCached ? try db.cachedStatement(literal: literal) : try db.makeStatement(literal: literal)
            }
            let statement = try prepare("SELECT ? + :b")
            #expect(try Int.fetchOne(statement, arguments: [1, 2]) == 3)
            try statement.setArguments([3, 4])
            #expect(try Int.fetchOne(statement) == 7)
            #expect(try Int.fetchOne(prepare("SELECT \(5)")) == 5)
            // Nothing is left of the previous use of the statement.
            let unbound = #expect(throws: DatabaseError.self) { try prepare("SELECT ? + :b").execute() }
            #expect(unbound?.message == "wrong number of arguments: 0 for 2 parameters")
            let mixed = #expect(throws: DatabaseError.self) { try prepare("SELECT ?, \(1)") }
            #expect(mixed?.message == "wrong number of arguments: 1 for 2 parameters")
        }
    }
}
