import TestSupport
import Testing

@testable import Shellac

@Suite("Fetching, from SQL, statements and literals")
struct FetchingFromStatementsTests {
    /// The sources that rows are fetched from.
    enum Source: String, CaseIterable, Sendable, Codable {
        case sql, statement, cachedStatement, boundStatement, literal, literalStatement

        func all(_ db: Database, _ low: Int) throws -> [Int] {
            switch self {
            case .sql: try Int.fetchAll(db, sql: Self.query, arguments: [low])
            case .literal: try Int.fetchAll(db, literal: Self.literal(low))
            default: try Int.fetchAll(statement(db, low), arguments: arguments(low))
            }
        }

        func set(_ db: Database, _ low: Int) throws -> Set<Int> {
            switch self {
            case .sql: try Int.fetchSet(db, sql: Self.query, arguments: [low])
            case .literal: try Int.fetchSet(db, literal: Self.literal(low))
            default: try Int.fetchSet(statement(db, low), arguments: arguments(low))
            }
        }

        func one(_ db: Database, _ low: Int) throws -> Int? {
            switch self {
            case .sql: try Int.fetchOne(db, sql: Self.query, arguments: [low])
            case .literal: try Int.fetchOne(db, literal: Self.literal(low))
            default: try Int.fetchOne(statement(db, low), arguments: arguments(low))
            }
        }

        func cursor(_ db: Database, _ low: Int) throws -> DatabaseCursor<Int> {
            switch self {
            case .sql: try Int.fetchCursor(db, sql: Self.query, arguments: [low])
            case .literal: try Int.fetchCursor(db, literal: Self.literal(low))
            default: try Int.fetchCursor(statement(db, low), arguments: arguments(low))
            }
        }

        static let query = "SELECT a FROM t WHERE a >= ? ORDER BY a"
        static func literal(_ low: Int) -> SQL { "SELECT a FROM t WHERE a >= \(low) ORDER BY a" }

        private func statement(_ db: Database, _ low: Int) throws -> Statement {
            switch self {
            case .literalStatement: return try db.makeStatement(literal: Self.literal(low))
            case .cachedStatement: return try db.cachedStatement(sql: Self.query)
            default:
                let statement = try db.makeStatement(sql: Self.query)
                if self == .boundStatement { try statement.setArguments([low]) }
                return statement
            }
        }

        private func arguments(_ low: Int) -> StatementArguments? {
            self == .literalStatement || self == .boundStatement ? nil : [low]
        }
    }

    @Test("Every source gives the same", arguments: Source.allCases)
    func sources(_ source: Source) throws {
        try StatementTests.queue().inDatabase { db in
            try db.execute(sql: "INSERT INTO t VALUES (3)")
            try #expect(source.all(db, 2) == [2, 3, 3])
            try #expect(source.set(db, 2) == [2, 3])
            try #expect(source.one(db, 2) == 2)
            try #expect(Array(source.cursor(db, 2)) == [2, 3, 3])
            try #expect(source.all(db, 9) == [])
            try #expect(source.set(db, 9) == [])
            try #expect(source.one(db, 9) == nil)
            try #expect(source.cursor(db, 9).isEmpty())
            #expect(db.lastBegun == nil)
        }
    }

    @Test(
        "A statement that gives no row is executed once",
        arguments: ["fetchAll", "fetchOne", "fetchSet", "cursor"])
    func withoutRows(_ way: String) throws {
        try StatementTests.queue().inDatabase { db in
            let sql = "INSERT INTO t VALUES (9)"
            switch way {
            case "fetchAll": try #expect(Int.fetchAll(db, sql: sql) == [])
            case "fetchOne": try #expect(Int.fetchOne(db, sql: sql) == nil)
            case "fetchSet": try #expect(Int.fetchSet(db, sql: sql) == [])
            default: try #expect(Int.fetchCursor(db, sql: sql).next() == nil)
            }
            try #expect(db.integers("SELECT a FROM t") == [1, 2, 3, 9])
        }
    }

    @Test("fetchOne runs a statement that writes to its end")
    func returningOne() throws {
        try StatementTests.queue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE log (a)")
            try db.execute(
                sql: "CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END")
            let first = try Int.fetchOne(db, sql: "INSERT INTO t VALUES (4), (5), (6) RETURNING a * 10")
            #expect(first == 40)
            #expect(db.changesCount == 3)
            #expect(db.lastBegun == nil)
            #expect(!db.isInsideTransaction)
            try #expect(db.integers("SELECT a FROM t") == [1, 2, 3, 4, 5, 6])
            try #expect(db.integers("SELECT a FROM log") == [4, 5, 6])
            try #expect(Int.fetchAll(db, sql: "UPDATE t SET a = -a WHERE a > 4 RETURNING a") == [-5, -6])
            #expect(db.changesCount == 2)
            try #expect(Int.fetchSet(db, sql: "DELETE FROM t WHERE a < 0 RETURNING a") == [-5, -6])
            try #expect(db.integers("SELECT a FROM t") == [1, 2, 3, 4])
        }
    }

    @Test(
        "A commit that fails at the end of a RETURNING outside of a transaction is thrown",
        arguments: [true, false])
    func returningThatCannotCommit(one: Bool) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE p (id INTEGER PRIMARY KEY);
                    CREATE TABLE c (p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
                    """)
            let sql = "INSERT INTO c VALUES (1) RETURNING p"
            let error = try #require(throws: DatabaseError.self) {
                if one { _ = try Int.fetchOne(db, sql: sql) } else { _ = try Int.fetchAll(db, sql: sql) }
            }
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(error.message == "FOREIGN KEY constraint failed")
            #expect(error.sql == sql)
            try #expect(db.integers("SELECT p FROM c") == [])
            try #expect(db.isUsable())
        }
    }

    @Test("A value that does not convert ends the fetch, and the connection is usable")
    func mismatch() throws {
        try StatementTests.queue().inDatabase { db in
            try db.execute(sql: "INSERT INTO t VALUES ('x')")
            let sql = "\n  SELECT a FROM t;"
            let error = try #require(throws: RowDecodingError.self) { try Int.fetchAll(db, sql: sql) }
            #expect(error.reason == .valueMismatch)
            #expect(error.sql == "SELECT a FROM t")
            #expect(db.lastBegun == nil)
            #expect(throws: RowDecodingError.self) { try Int.fetchSet(db, sql: sql) }
            let cursor = try Int.fetchCursor(db, sql: sql)
            try #expect([cursor.next(), cursor.next(), cursor.next()] == [1, 2, 3])
            #expect(throws: RowDecodingError.self) { try cursor.next() }
            try #expect(cursor.next() == nil)
            try #expect(db.isUsable())
        }
    }
}
