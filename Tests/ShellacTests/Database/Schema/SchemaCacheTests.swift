import TestSupport
import Testing

@testable import Shellac

@Suite("The schema cache")
struct SchemaCacheTests {
    private func columns(_ db: Database, _ table: String = "t") throws -> [String]? {
        try db.tableExists(table) ? db.columns(in: table).map(\.name) : nil
    }

    @Test("what has been asked is not asked again inside a transaction")
    func reuse() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            _ = try db.primaryKey("t")
            let generation = try db.schemaGeneration
            let executed = SQLSpy()
            db.trace(executed.trace)
            for _ in 1...3 {
                #expect(try db.primaryKey("T").columns == ["rowid"])
                #expect(try db.columns(in: "t").count == 1)
                #expect(try db.tableExists("t"))
                #expect(try db.schemaGeneration == generation)
                try db.execute(sql: "INSERT INTO t VALUES (1)")
            }
            db.trace(nil)
            #expect(executed.sql.filter { $0.contains("PRAGMA") || $0.contains("sqlite_master") } == [])
        }
        // In the next transaction, and outside of one, the version alone is read.
        try queue.inDatabase { db in
            let executed = SQLSpy()
            db.trace(executed.trace)
            try db.inTransaction { () throws in
                for _ in 1...3 { #expect(try columns(db) == ["a"]) }
                return .commit
            }
            _ = try db.primaryKey("t")
            _ = try db.primaryKey("t")
            db.trace(nil)
            let version = "PRAGMA \"main\".schema_version"
            #expect(executed.sql.filter { $0.hasPrefix("PRAGMA") } == [version, version, version])
        }
    }

    @Test(
        "a table created, changed and dropped by this connection is seen at once, in and out of transactions")
    func ownChanges() throws {
        try inDatabase { db in
            for isInside in [false, true] {
                if isInside { try db.beginTransaction() }
                #expect(try columns(db) == nil)
                try db.execute(sql: "CREATE TABLE t (a)")
                #expect(try columns(db) == ["a"])
                try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
                #expect(try columns(db) == ["a", "b"])
                try db.execute(sql: "ALTER TABLE t RENAME COLUMN b TO c")
                #expect(try columns(db) == ["a", "c"])
                #expect(try db.indexes(on: "t").isEmpty)
                try db.execute(sql: "CREATE INDEX i ON t(a)")
                #expect(try db.indexes(on: "t").count == 1)
                try db.execute(sql: "ALTER TABLE t RENAME TO u")
                #expect(try columns(db) == nil)
                #expect(try db.indexes(on: "u").count == 1)
                try db.execute(sql: "DROP TABLE u")
                #expect(try columns(db, "u") == nil)
                if isInside { try db.commit() }
            }
        }
    }

    @Test("a table whose creation was rolled back is forgotten, also when another one takes its place")
    func rollback() throws {
        try inDatabase { db in
            try db.execute(sql: "CREATE TABLE other (x)")
            for name in ["a", "b", "c"] {
                let generation = try db.schemaGeneration
                try db.inTransaction {
                    try db.execute(sql: "CREATE TABLE t (\(name))")
                    #expect(try columns(db) == [name])
                    #expect(try db.schemaGeneration != generation)
                    return .rollback
                }
                #expect(try columns(db) == nil)
            }
            // The versions of the schema are the same ones each time.
            try db.beginTransaction()
            try db.execute(sql: "CREATE TABLE t (a)")
            #expect(try columns(db) == ["a"])
            try db.rollback()
            try db.execute(sql: "CREATE TABLE t (b)")
            #expect(try columns(db) == ["b"])
        }
    }

    @Test(
        "a savepoint that is rolled back takes its tables along, temporary ones too", arguments: ["", "TEMP"])
    func savepoints(_ temporary: String) throws {
        try inDatabase { db in
            try db.execute(sql: "SAVEPOINT a; CREATE \(temporary) TABLE t (a); SAVEPOINT b")
            #expect(try columns(db) == ["a"])
            try db.execute(sql: "DROP TABLE t")
            #expect(try columns(db) == nil)
            try db.execute(sql: "CREATE \(temporary) TABLE t (b); ROLLBACK TO B")
            #expect(try columns(db) == ["a"])
            try db.execute(sql: "ROLLBACK TO a")
            #expect(try columns(db) == nil)
            try db.execute(sql: "CREATE \(temporary) TABLE t (c); RELEASE a")
            #expect(try columns(db) == ["c"])
            try db.inTransaction {
                try db.execute(sql: "DROP TABLE t")
                #expect(try columns(db) == nil)
                return .rollback
            }
            #expect(try columns(db) == ["c"])
        }
    }

    @Test("a schema change that fails, or that a failing statement takes along, leaves nothing behind")
    func failures() throws {
        try inDatabase { db in
            expectError("integer overflow") {
                try db.execute(sql: "CREATE TABLE t AS SELECT abs(-9223372036854775808) AS a")
            }
            #expect(try columns(db) == nil)

            // SQLite rolls back by itself.
            try db.execute(sql: "CREATE TABLE u (a UNIQUE ON CONFLICT ROLLBACK); INSERT INTO u VALUES (1)")
            let lost = message {
                try db.inTransaction {
                    try db.execute(sql: "CREATE TABLE t (a)")
                    #expect(try columns(db) == ["a"])
                    expectError("UNIQUE constraint failed: u.a") {
                        try db.execute(sql: "INSERT INTO u VALUES (1)")
                    }
                    #expect(message { _ = try db.tableExists("t") } == "UNIQUE constraint failed: u.a")
                    return .commit
                }
            }
            #expect(lost == "UNIQUE constraint failed: u.a")
            #expect(try columns(db) == nil)

            // A function changes the schema inside a statement, which then fails.
            try db.add(
                function: DatabaseFunction("create_t", argumentCount: 0) { [unowned db] _ in
                    try db.execute(sql: "CREATE TABLE t (a)")
                    return try db.tableExists("t")
                })
            expectError("UNIQUE constraint failed: u.a") {
                try db.execute(sql: "INSERT INTO u SELECT create_t() UNION ALL SELECT 1 UNION ALL SELECT 1")
            }
            let isThere =
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE name = 't'") == 1
            #expect(try db.tableExists("t") == isThere)
        }
    }

    @Test(
        "another connection's change is seen in the next transaction, and at once outside of one",
        arguments: [JournalMode.wal, .delete])
    func otherConnection(_ mode: JournalMode) throws {
        try withTwoConnections(journalMode: mode) { here, there in
            try here.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
            try here.read { (db) throws in #expect(try columns(db) == ["a"]) }
            try there.write { db in
                #expect(try columns(db) == ["a"])
                try db.execute(sql: "ALTER TABLE t ADD COLUMN b; CREATE TABLE u (a)")
                #expect(try columns(db) == ["a", "b"])
            }
            try here.read { (db) throws in
                #expect(try columns(db) == ["a", "b"])
                #expect(try db.tableExists("u"))
            }
            try here.inDatabase { db in
                let generation = try db.schemaGeneration
                #expect(try columns(db) == ["a", "b"])
                try there.write { db in try db.execute(sql: "ALTER TABLE t DROP COLUMN b; DROP TABLE u") }
                #expect(try db.primaryKey("t").columns == ["rowid"])
                #expect(try columns(db) == ["a"])
                #expect(try db.schemaGeneration != generation)
                #expect(try !db.tableExists("u"))
            }
        }
    }

    @Test("inside a transaction the schema is that of the transaction's state of the database")
    func isolation() throws {
        try withTwoConnections { here, there in
            try here.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
            try here.read { (db) throws in
                #expect(try columns(db) == ["a"])
                try there.write { db in try db.execute(sql: "DROP TABLE t; CREATE TABLE u (a)") }
                #expect(try columns(db) == ["a"])
                #expect(try !db.tableExists("u"))
                #expect(try Row.fetchAll(db, sql: "SELECT * FROM t").isEmpty)
            }
            try here.read { (db) throws in
                #expect(try columns(db) == nil)
                #expect(try db.tableExists("u"))
            }
        }
    }

    @Test("an attached database that nobody asked for is not locked")
    func attachedIsNotRead() throws {
        try withTwoConnections(journalMode: .delete) { here, there in
            try there.write { db in try db.execute(sql: "CREATE TABLE u (a)") }
            try inDatabase { db in
                try db.execute(sql: "CREATE TABLE t (a); ATTACH ? AS aux", arguments: [there.path])
                try there.inDatabase { other in
                    try other.inTransaction(.exclusive) { () throws in
                        #expect(try columns(db) == ["a"])
                        expectError("database is locked") { try db.tableExists("u") }
                        return .rollback
                    }
                }
                #expect(try db.tableExists("u"))
                try there.write { db in try db.execute(sql: "DROP TABLE u") }
                #expect(try !db.tableExists("u"))
            }
        }
    }

    @Test("vacuum, a backup over the database, and a closed database are noticed")
    func otherWays() throws {
        let queue = try DatabaseQueue()
        let source = try DatabaseQueue()
        try source.write { db in try db.execute(sql: "CREATE TABLE t (fromSource)") }
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            #expect(try columns(db) == ["a"])
            try db.execute(sql: "VACUUM")
            #expect(try columns(db) == ["a"])
        }
        try source.backup(to: queue)
        try queue.inDatabase { (db) throws in #expect(try columns(db) == ["fromSource"]) }
    }
}
