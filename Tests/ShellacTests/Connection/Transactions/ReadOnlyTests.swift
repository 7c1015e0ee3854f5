import TestSupport
import Testing

@testable import Shellac

@Suite("Read-only scopes")
struct ReadOnlyTests {
    /// A way to get a read-only scope.
    enum Scope: String, CaseIterable {
        case read, readOnly, readOnlyInWrite, reentrantWriteInRead

        func run<T>(_ queue: DatabaseQueue, _ body: (Database) throws -> T) throws -> T {
            switch self {
            case .read: try queue.read(body)
            case .readOnly: try queue.inDatabase { db in try db.readOnly { try body(db) } }
            case .readOnlyInWrite: try queue.write { db in try db.readOnly { try body(db) } }
            case .reentrantWriteInRead: try queue.read { _ in try queue.unsafeReentrantWrite(body) }
            }
        }
    }

    static let writingSQL = [
        "INSERT INTO player (name) VALUES ('Arthur')",
        "INSERT INTO player (name) VALUES ('Arthur') RETURNING id",
        "INSERT OR IGNORE INTO player (name) VALUES ('Arthur')",
        "REPLACE INTO player (id, name) VALUES (1, 'Arthur')",
        "INSERT INTO player (name) VALUES ('Arthur') ON CONFLICT (name) DO NOTHING",
        "WITH a AS (SELECT 'x') INSERT INTO player (name) SELECT * FROM a",
        "UPDATE player SET name = 'Barbara'",
        "UPDATE player SET name = 'Barbara' WHERE 0",
        "DELETE FROM player",
        "CREATE TABLE other (a)",
        "CREATE TABLE IF NOT EXISTS player (a)",
        "CREATE TEMP TABLE other (a)",
        "CREATE INDEX i ON player (name)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON player BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
        "ALTER TABLE player ADD COLUMN age",
        "ALTER TABLE player RENAME TO person",
        "DROP TABLE player",
        "REINDEX player",
        "ANALYZE",
        "INSERT INTO temp.scratch VALUES (1)",
        "DELETE FROM scratch",
        "PRAGMA user_version = 7",
        "PRAGMA application_id = 7",
        "PRAGMA journal_mode = MEMORY",
        "BEGIN IMMEDIATE",
        "BEGIN EXCLUSIVE TRANSACTION",
        "VACUUM",
    ]

    @Test("A statement that writes throws SQLITE_READONLY", arguments: Scope.allCases, writingSQL)
    func writes(scope: Scope, sql: String) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            try db.insert("Zoe")
            try db.execute(sql: "CREATE TEMP TABLE scratch (a)")
        }
        let error = #expect(throws: DatabaseError.self) {
            try scope.run(queue) { db in try db.execute(sql: sql) }
        }
        #expect(error?.extendedResultCode == .SQLITE_READONLY)
        #expect(
            error?.description
                == "SQLite error 8: attempt to write in a read-only access - while executing `\(sql)`")
        #expect(try queue.names() == ["Zoe"])
        try queue.inDatabase { db in #expect(!db.isInsideTransaction && !db.isReadOnlyScope) }
    }

    @Test("A statement that writes throws SQLITE_READONLY however it is run")
    func ways() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            let statement = try db.makeStatement(
                sql: "INSERT INTO player (name) VALUES ('Arthur') RETURNING name")
            func check(_ body: () throws -> Void) {
                let error = #expect(throws: DatabaseError.self) { try db.readOnly(body) }
                #expect(error?.resultCode == .SQLITE_READONLY)
            }
            check { try statement.execute() }
            check { _ = try String.fetchOne(statement) }
            check { _ = try String.fetchAll(statement) }
            check { _ = try String.fetchSet(statement) }
            check { _ = try String.fetchCursor(statement).next() }
            check { _ = try Row.fetchAll(db, sql: "DELETE FROM player RETURNING *") }
            check { try db.beginTransaction(.immediate) }
            check { try db.inTransaction(.exclusive) { .commit } }
            // The statement is as good as before.
            try statement.execute()
            #expect(try db.names() == ["Arthur"])
        }
    }

    @Test(
        "A statement that writes nothing runs", arguments: Scope.allCases,
        [
            "SELECT * FROM player", "WITH a AS (SELECT 1) SELECT * FROM a", "VALUES (1)",
            "PRAGMA user_version",
            "PRAGMA table_info(player)", "SELECT * FROM sqlite_master", "PRAGMA integrity_check",
            "SAVEPOINT a; RELEASE a", "SAVEPOINT a; ROLLBACK TO a; RELEASE a",
            "EXPLAIN QUERY PLAN SELECT * FROM player", "EXPLAIN QUERY PLAN DELETE FROM player",
            "EXPLAIN UPDATE player SET name = ''",
        ])
    func reads(scope: Scope, sql: String) throws {
        let queue = try DatabaseQueue.withPlayers()
        try scope.run(queue) { db in try db.execute(sql: sql) }
    }

    @Test("Transactions and savepoints work in a read-only scope, as deferred ones")
    func transactions() throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try queue.inDatabase { db in
            try db.readOnly {
                try db.inTransaction {
                    try other.write { db in try db.insert("Arthur") }
                    #expect(try db.names() == ["Arthur"])
                    return .commit
                }
                try db.inSavepoint {
                    try other.write { db in try db.insert("Barbara") }
                    return .rollback
                }
                try db.beginTransaction()
                try db.rollback()
            }
        }
        #expect(try queue.names() == ["Arthur", "Barbara"])
    }

    @Test("The end of a read-only scope allows writing again, also after a throw, and the outermost decides")
    func nested() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in
            func insert(_ name: String) -> ResultCode? {
                do {
                    try db.insert(name)
                    return nil
                } catch { return (error as? DatabaseError)?.resultCode }
            }
            #expect(insert("Arthur") == nil)
            let error = thrownError {
                try db.readOnly {
                    #expect(insert("nobody") == .SQLITE_READONLY)
                    #expect(throws: TestError(2)) {
                        try db.readOnly {
                            #expect(insert("nobody") == .SQLITE_READONLY)
                            throw TestError(2)
                        }
                    }
                    #expect(insert("nobody") == .SQLITE_READONLY)
                    throw TestError(1)
                }
            }
            #expect(error as? TestError == TestError(1))
            #expect(insert("Barbara") == nil)
            let count = db.readOnly { 7 }
            #expect(count == 7)
            #expect(insert("Craig") == nil)
        }
        #expect(try queue.names() == ["Arthur", "Barbara", "Craig"])
    }

    @Test("The write that a read has refused leaves nothing behind for the next access")
    func restored() throws {
        let queue = try DatabaseQueue.withPlayers()
        expectError("attempt to write in a read-only access") {
            try queue.read { db in try db.insert("nobody") }
        }
        try queue.write { db in try db.insert("Arthur") }
        #expect(try queue.names() == ["Arthur"])
    }

    @Test("A read-only scope holds for what SQL functions execute")
    func function() throws {
        let queue = try DatabaseQueue.withPlayers { configuration in
            configuration.prepareDatabase { db in
                try db.add(
                    function: DatabaseFunction("add_player", argumentCount: 0) { [unowned db] _ in
                        try db.insert("Arthur")
                        return nil
                    })
            }
        }
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { db in _ = try Row.fetchOne(db, sql: "SELECT add_player()") }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(error?.sql == "INSERT INTO player (name) VALUES (?)")
        #expect(try queue.names() == [])
    }

    @Test("A read sees one state of the database, whatever others write meanwhile")
    func oneState() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let (queue, other) = (try file.queue(), try file.queue())
        try other.write { db in try db.insert("Arthur") }
        try queue.read { db in
            #expect(try db.names() == ["Arthur"])
            try other.write { db in try db.insert("Barbara") }
            #expect(try db.names() == ["Arthur"])
            #expect(db.isInsideTransaction)
        }
        #expect(try queue.read { db in try db.names() } == ["Arthur", "Barbara"])
    }

    @Test("A database opened for reading only reads, and refuses to write")
    func readonlyConfiguration() throws {
        let file = try TemporaryDatabase()
        try file.queue().write { db in try db.insert("Arthur") }
        let queue = try file.queue { $0.readonly = true }
        #expect(try queue.read { db in try db.names() } == ["Arthur"])
        let error = #expect(throws: DatabaseError.self) { try queue.write { db in try db.insert("Barbara") } }
        #expect(
            error?.description == "SQLite error 8: attempt to write a readonly database - "
                + "while executing `INSERT INTO player (name) VALUES (?)`")
        #expect(try queue.names() == ["Arthur"])
    }

    /// PRAGMAs that do something without an argument, and are refused if they write.
    static let actingPragmas: Set = ["incremental_vacuum", "optimize"]

    @Test("A PRAGMA that only asks can be asked in a read", arguments: [JournalMode.default, .wal])
    func pragmas(mode: JournalMode) throws {
        let file = try TemporaryDatabase(journalMode: mode)
        let queue = try file.queue()
        let names = try queue.read { db in try String.fetchAll(db, sql: "SELECT name FROM pragma_pragma_list")
        }
        #expect(names.contains("journal_mode") && names.contains("wal_checkpoint"))
        for name in names where !Self.actingPragmas.contains(name) {
            #expect(throws: Never.self, "PRAGMA \(name)") {
                try queue.read { db in try db.execute(sql: "PRAGMA \(name)") }
                try queue.read { db in try db.execute(sql: "PRAGMA main.\(name)") }
            }
        }
        #expect(
            try queue.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
                == (mode == .wal ? "wal" : "delete"))
        #expect(try queue.read { db in try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint") }?.count == 3)
        try queue.write { db in try db.insert("Arthur") }
    }

    @Test(
        "A PRAGMA that sets what the file holds is refused in a read",
        arguments: [
            "journal_mode = TRUNCATE", "main.journal_mode = MEMORY", "journal_mode(PERSIST)",
            "user_version = 7",
            "application_id = 7", "auto_vacuum = FULL", "encoding = 'UTF-16'",
        ])
    func settingPragmas(sql: String) throws {
        let file = try TemporaryDatabase()
        let queue = try file.queue()
        func state() throws -> [DatabaseValue] {
            try ["journal_mode", "user_version", "application_id", "auto_vacuum", "encoding"].map { name in
                try queue.read { db in try DatabaseValue.fetchOne(db, sql: "PRAGMA \(name)") } ?? .null
            }
        }
        let before = try state()
        _ = try? queue.read { db in try db.execute(sql: "PRAGMA \(sql)") }
        #expect(try state() == before)
    }
}
