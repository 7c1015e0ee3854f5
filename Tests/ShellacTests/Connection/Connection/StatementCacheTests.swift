import TestSupport
import Testing

@testable import Shellac

@Suite("The statement cache")
struct StatementCacheTests {
    static func queue(capacity: Int = 128) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.statementCacheCapacity = capacity
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
        }
        return queue
    }

    /// A statement that is seen to be freed.
    private struct Kept {
        weak var statement: Statement?
        init(_ db: Database, _ sql: String) throws { statement = try db.cachedStatement(sql: sql) }
    }

    @Test("The same SQL gives the same statement")
    func same() throws {
        try Self.queue().inDatabase { db in
            let first = try db.cachedStatement(sql: "SELECT a FROM t").sqliteStatement
            let second = try db.cachedStatement(sql: "SELECT a FROM t").sqliteStatement
            #expect(first == second)
            #expect(db.statementCache.count == 1)
        }
    }

    @Test("SQL is compared byte by byte")
    func bytes() throws {
        try Self.queue().inDatabase { db in
            try #expect(String.fetchOne(db, sql: "SELECT 'é'")?.utf8.count == 2)
            try #expect(String.fetchOne(db, sql: "SELECT 'e\u{301}'")?.utf8.count == 3)
            try #expect(String.fetchOne(db, sql: "select 'é'")?.utf8.count == 2)
            #expect(db.statementCache.count == 3)
        }
    }

    @Test("The statement used the longest time ago goes first", arguments: [1, 2, 3, 4, 7])
    func leastRecentlyUsed(capacity: Int) throws {
        try Self.queue(capacity: capacity).inDatabase { db in
            var kept: [Kept] = []
            for number in 0..<capacity { kept.append(try Kept(db, "SELECT \(number)")) }
            #expect(kept.allSatisfy { $0.statement != nil })
            #expect(db.statementCache.count == capacity)
            // Number 0 becomes the one used last.
            _ = try db.cachedStatement(sql: "SELECT 0")
            _ = try Kept(db, "SELECT 'one more'")
            #expect(db.statementCache.count == capacity)
            #expect((kept[0].statement == nil) == (capacity == 1))
            if capacity > 1 { #expect(kept[1].statement == nil) }
            for number in kept.indices.dropFirst(2) { #expect(kept[number].statement != nil) }
        }
    }

    @Test("The cache never holds more than its capacity", arguments: [-1, 0, 1, 2, 128])
    func capacity(_ capacity: Int) throws {
        try Self.queue(capacity: capacity).inDatabase { db in
            for number in 0..<300 {
                try #expect(Int.fetchOne(db, sql: "SELECT \(number)") == number)
                #expect(db.statementCache.count <= max(1, capacity))
            }
        }
    }

    @Test("Two cursors of one SQL run at once", arguments: [1, 128])
    func nestedCursors(capacity: Int) throws {
        try Self.queue(capacity: capacity).inDatabase { db in
            let sql = "SELECT a FROM t WHERE a >= ?"
            var pairs: [[Int]] = []
            let outer = try Int.fetchCursor(db, sql: sql, arguments: [1])
            while let a = try outer.next() {
                let inner = try Int.fetchCursor(db, sql: sql, arguments: [2])
                while let b = try inner.next() { pairs.append([a, b]) }
                try #expect(Int.fetchOne(db, sql: sql, arguments: [3]) == 3)
                try #expect(Int.fetchAll(db, sql: sql, arguments: [2]) == [2, 3])
                try db.execute(sql: sql, arguments: [1])
            }
            #expect(pairs == [[1, 2], [1, 3], [2, 2], [2, 3], [3, 2], [3, 3]])
            try #expect(Int.fetchAll(db, sql: sql, arguments: [1]) == [1, 2, 3])
        }
    }

    @Test("A statement that is thrown out while it runs goes on")
    func evictedWhileRunning() throws {
        try Self.queue(capacity: 1).inDatabase { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT a FROM t")
            try #expect(cursor.next() == 1)
            try #expect(Int.fetchOne(db, sql: "SELECT 'x' = 'x'") == 1)
            db.releaseMemory()
            try #expect(Array(cursor) == [2, 3])
        }
    }

    @Test("releaseMemory lets go of the statements that nobody uses")
    func releaseMemory() throws {
        let queue = try Self.queue()
        try queue.inDatabase { db in
            let kept = try Kept(db, "SELECT a FROM t")
            #expect(kept.statement != nil)
            db.releaseMemory()
            #expect(kept.statement == nil)
            #expect(db.statementCache.count == 0)
            #expect(StatementTests.statements(db) == [])
            try #expect(db.isUsable())
        }
        queue.releaseMemory()
        try #expect(queue.read { db in try db.integers("SELECT a FROM t") } == [1, 2, 3])
    }

    // MARK: - Schema changes

    private static func dictionary(_ db: Database) throws -> [String: Int]? {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM t ORDER BY 1") else { return nil }
        return try Dictionary(uniqueKeysWithValues: row.columnNames.map { ($0, try row[$0]) })
    }

    @Test("SELECT * sees the columns of the table as it is now")
    func schemaChanges() throws {
        try Self.queue().inDatabase { db in
            try #expect(Self.dictionary(db) == ["a": 1, "b": 10])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN c DEFAULT 100")
            try #expect(Self.dictionary(db) == ["a": 1, "b": 10, "c": 100])
            try db.execute(sql: "ALTER TABLE t RENAME COLUMN b TO bb")
            try #expect(Self.dictionary(db) == ["a": 1, "bb": 10, "c": 100])
            try db.execute(sql: "ALTER TABLE t DROP COLUMN bb")
            try #expect(Self.dictionary(db) == ["a": 1, "c": 100])
            try db.execute(sql: "DROP TABLE t")
            let error = try #require(throws: DatabaseError.self) { try Self.dictionary(db) }
            #expect(error.resultCode == .SQLITE_ERROR)
            #expect(error.message == "no such table: t")
            #expect(error.sql == "SELECT * FROM t ORDER BY 1")
            try db.execute(sql: "CREATE TABLE t (x, a, b); INSERT INTO t VALUES (7, 8, 9)")
            try #expect(Self.dictionary(db) == ["x": 7, "a": 8, "b": 9])
            try db.execute(sql: "DROP TABLE t; CREATE VIEW t AS SELECT 5 AS v")
            try #expect(Self.dictionary(db) == ["v": 5])
            try #expect(db.isUsable())
        }
    }

    @Test("Schema changes of another connection are seen, too")
    func schemaChangesElsewhere() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"))
        let other = try DatabaseQueue(path: folder.path("a.sqlite"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
        }
        try #expect(queue.read(Self.dictionary) == ["a": 1, "b": 2])
        try other.write { db in try db.execute(sql: "ALTER TABLE t ADD COLUMN c DEFAULT 3") }
        try #expect(queue.read(Self.dictionary) == ["a": 1, "b": 2, "c": 3])
        try other.write { db in
            try db.execute(sql: "DROP TABLE t; CREATE TABLE t (b, a); INSERT INTO t VALUES (1, 2)")
        }
        try #expect(queue.read(Self.dictionary) == ["b": 1, "a": 2])
    }

    @Test("A cursor names the columns that its rows have, also before its first step")
    func columnNamesAfterSchemaChange() throws {
        try Self.queue().inDatabase { db in
            let sql = "SELECT * FROM t"
            try #expect(Row.fetchCursor(db, sql: sql).columnNames == ["a", "b"])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN c")
            let cursor = try Row.fetchCursor(db, sql: sql)
            _ = try cursor.next()
            #expect(cursor.columnNames == ["a", "b", "c"])
            try db.execute(sql: "CREATE INDEX i ON t (a)")
            try #expect(cursor.next()?.count == 3)
        }
    }

    @Test("A kept INSERT runs after the schema has changed, with its arguments")
    func insertAfterSchemaChange() throws {
        try Self.queue().inDatabase { db in
            let insert = try db.cachedStatement(sql: "INSERT INTO t (a, b) VALUES (?, ?)")
            try insert.execute(arguments: [4, 40])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN c DEFAULT 5; CREATE UNIQUE INDEX i ON t (b)")
            let error = try #require(throws: DatabaseError.self) { try insert.execute() }
            #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(error.arguments == [4, 40])
            try insert.execute(arguments: [5, 50])
            try #expect(db.integers("SELECT c FROM t WHERE a = 5") == [5])
        }
    }

    @Test("An error at the first step after a schema change keeps SQLite's message")
    func messageAfterSchemaChange() throws {
        try Self.queue().inDatabase { db in
            try db.execute(sql: "CREATE UNIQUE INDEX i ON t (b)")
            let sql = "INSERT INTO t (a, b) VALUES (?, ?)"
            try db.cachedStatement(sql: sql).execute(arguments: [4, 40])
            for change in ["ALTER TABLE t ADD COLUMN c", "CREATE TABLE u (a)", "CREATE TEMP TABLE v (a)"] {
                try db.execute(sql: change)
                let error = try #require(throws: DatabaseError.self) {
                    try db.cachedStatement(sql: sql).execute(arguments: [5, 40])
                }
                #expect(error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
                #expect(error.message == "UNIQUE constraint failed: t.b")
                #expect(error.sql == sql)
            }
            try #expect(db.integers("SELECT a FROM t") == [1, 2, 3, 4])
        }
    }
}
