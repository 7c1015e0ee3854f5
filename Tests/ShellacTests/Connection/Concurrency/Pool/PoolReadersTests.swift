import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: readers", .behaviour(80))
struct PoolReadersTests {
    private let file: TemporaryDatabase
    private let pool: DatabasePool

    init() throws {
        file = try TemporaryDatabase()
        pool = try file.pool()
        try pool.write { db in try db.insert("Arthur") }
    }

    /// A way to try to write by a reader.
    enum Attempt: String, CaseIterable, Codable, Sendable {
        case insert, returning, createTable, userVersion, journalMode, vacuum, reindex, analyze
        case temporaryTable, afterQueryOnly, begunImmediate, inSavepoint, cte, writableSchema, foreignKeys

        var sql: String {
            switch self {
            case .insert: "INSERT INTO player (name) VALUES ('nobody')"
            case .returning: "DELETE FROM player RETURNING id"
            case .createTable: "CREATE TABLE nothing (a)"
            case .userVersion: "PRAGMA user_version = 7"
            case .journalMode: "PRAGMA journal_mode = delete"
            case .vacuum: "VACUUM"
            case .reindex: "REINDEX"
            case .analyze: "ANALYZE"
            case .temporaryTable: "CREATE TEMP TABLE own (a)"
            case .afterQueryOnly: "PRAGMA query_only = 0; DELETE FROM player"
            case .begunImmediate: "COMMIT; BEGIN IMMEDIATE; DELETE FROM player; COMMIT"
            case .inSavepoint: "SAVEPOINT s; DELETE FROM player; RELEASE s"
            case .cte: "WITH n AS (SELECT 1) DELETE FROM player"
            case .writableSchema: "PRAGMA writable_schema = 1; DELETE FROM sqlite_master"
            case .foreignKeys: "PRAGMA query_only = 0; PRAGMA foreign_keys = 0; UPDATE player SET id = 9"
            }
        }
    }

    @Test(
        "Nothing that a reader runs writes to the file, in a transaction or without one",
        arguments: Attempt.allCases,
        [false, true])
    func writing(attempt: Attempt, isUnsafe: Bool) async throws {
        func state() throws -> [String] {
            try pool.inDatabase { db in
                try String.fetchAll(
                    db, sql: "SELECT name FROM player UNION ALL SELECT name FROM sqlite_master")
                    + Int.fetchAll(db, sql: "PRAGMA user_version").map { "\($0)" }
            }
        }
        let before = try state()
        let error = databaseError {
            if isUnsafe {
                try pool.unsafeRead { db in try db.execute(sql: attempt.sql) }
            } else {
                try pool.read { db in try db.execute(sql: attempt.sql) }
            }
        }
        // SQLite answers an attempt to change the journal mode with the mode that there is.
        #expect(error != nil || attempt == .journalMode)
        #expect(try state() == before)
        let mode = try pool.inDatabase { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
        try await expectAllPlaces(of: pool)
    }

    @Test("What readOnly lets through, SQLite's own opening refuses")
    func openedReadOnly() throws {
        try pool.read { db in
            #expect(sqlite3_db_readonly(db.pointer, "main") == 1)
            #expect(
                sqlite3_exec(db.pointer, "PRAGMA query_only = 0; DELETE FROM player", nil, nil, nil)
                    == SQLITE_READONLY)
        }
        #expect(try pool.names() == ["Arthur"])
    }

    @Test("A reader does not write to a database that it attaches, and no transaction of it is left open")
    func attached() async throws {
        let other = try TemporaryDatabase()
        let error = databaseError {
            try pool.unsafeRead { db in
                try db.execute(sql: "ATTACH ? AS other", arguments: [other.path])
                try db.execute(sql: "INSERT INTO other.player (name) VALUES ('nobody')")
            }
        }
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(try other.queue().names() == [])
        try await expectAllPlaces(of: pool)
    }

    @Test("A reader is no destination of a backup, and runs no checkpoint")
    func backupAndCheckpoint() throws {
        let other = try DatabaseQueue.withPlayers()
        let backup = databaseError {
            try other.inDatabase { source in try pool.unsafeRead { db in try source.backup(to: db) } }
        }
        #expect(backup?.resultCode == .SQLITE_READONLY)
        let checkpoint = databaseError { try pool.unsafeRead { db in _ = try db.checkpoint() } }
        #expect(checkpoint?.resultCode == .SQLITE_READONLY)
        #expect(try pool.names() == ["Arthur"])
    }

    // MARK: - Functions

    @Test("What prepareDatabase adds reaches every connection, and what is added to one is its own")
    func functions() async throws {
        let file = try TemporaryDatabase()
        let pool = try file.pool { configuration in
            configuration.maximumReaderCount = 3
            configuration.prepareDatabase { db in
                try db.add(function: DatabaseFunction("seven", argumentCount: 0) { _ in 7 })
                try db.add(
                    collation: DatabaseCollation("backwards") {
                        $0 == $1 ? .orderedSame : $0 < $1 ? .orderedDescending : .orderedAscending
                    })
            }
        }
        let sql = "SELECT seven() FROM (SELECT 1 AS a) ORDER BY a COLLATE backwards"
        let (inside, end) = (Recorder<Int?>(), Gate())
        let tasks = (0..<3).map { _ in
            Task {
                try await onThread {
                    try pool.read { db in
                        inside.record(try Int.fetchOne(db, sql: sql))
                        try end.wait()
                    }
                }
            }
        }
        try await waitUntil { inside.elements.count == 3 }
        end.open()
        for task in tasks { try await task.value }
        #expect(inside.elements == [7, 7, 7])
        let written = try await pool.write { db in try Int.fetchOne(db, sql: sql) }
        #expect(written == 7)
        let snapshot = try pool.makeSnapshot()
        let kept = try await snapshot.read { db in try Int.fetchOne(db, sql: sql) }
        #expect(kept == 7)

        try await pool.write { db in
            try db.add(function: DatabaseFunction("eight", argumentCount: 0) { _ in 8 })
            let own = try Int.fetchOne(db, sql: "SELECT eight()")
            #expect(own == 8)
        }
        let error = databaseError {
            try pool.inDatabase { _ in try pool.read { db in try db.execute(sql: "SELECT eight()") } }
        }
        #expect(error?.message == "no such function: eight")
    }

    @Test("A reader whose preparation throws gives its place back", arguments: [1, 3])
    func failingPreparation(count: Int) async throws {
        let fails = Shared(false)
        let attempts = Recorder<Bool>()
        let folder = file.folder
        let pool = try file.pool { configuration in
            configuration.maximumReaderCount = count
            configuration.prepareDatabase { db in
                let failing = fails.value
                attempts.record(failing)
                if failing { throw TestError(3) }
            }
        }
        pool.invalidateReadOnlyConnections()
        fails.withLock { $0 = true }
        let openFiles = try openFileCount(in: folder)
        for _ in 0..<10 {
            #expect(throws: TestError(3)) { try pool.read { _ in } }
            await #expect(throws: TestError(3)) { try await pool.read { _ in } }
            let heard = Recorder<(any Error)?>()
            pool.asyncRead { result in heard.record(thrownError { _ = try result.get() }) }
            try await waitUntil { heard.elements.count == 1 }
            #expect(heard.elements.first as? TestError == TestError(3))
            try pool.inDatabase { _ in
                pool.spawnConcurrentRead { result in heard.record(thrownError { _ = try result.get() }) }
            }
            #expect(heard.elements.last as? TestError == TestError(3))
            #expect(throws: TestError(3)) { _ = try pool.makeSnapshot() }
            #expect(throws: TestError(3)) { _ = try pool.makeSnapshotPool() }
        }
        #expect(attempts.elements.count { $0 } == 60)
        // Nothing was left open.
        #expect(try openFileCount(in: folder) == openFiles)
        fails.withLock { $0 = false }
        try await expectAllPlaces(of: pool)
        #expect(pool.opening.group.livingNames == [])
        try await pool.close()
    }

    private func openFileCount(in folder: URL) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
            let path = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/\(descriptor)")
            return path?.contains(folder.lastPathComponent) == true
        }
    }

    // MARK: - The schema

    @Test("A schema change is seen by all readers, with what they have prepared and kept")
    func schema() async throws {
        let sql = "SELECT * FROM player ORDER BY id"
        let pool = try file.pool { $0.maximumReaderCount = 3 }
        func seenByAll() async throws -> Set<[String]> {
            let (seen, end) = (Recorder<[String]>(), Gate())
            let tasks = (0..<3).map { _ in
                Task {
                    try await onThread {
                        try pool.read { db in
                            let names = try Row.fetchOne(db, sql: sql).map { Array($0.columnNames) } ?? []
                            seen.record(names + (try db.columns(in: "player").map(\.name)))
                            try end.wait()
                        }
                    }
                }
            }
            try await waitUntil { seen.elements.count == 3 }
            end.open()
            for task in tasks { try await task.value }
            return Set(seen.elements)
        }
        #expect(try await seenByAll() == [["id", "name", "id", "name"]])
        try await pool.write { db in try db.execute(sql: "ALTER TABLE player ADD COLUMN score") }
        #expect(try await seenByAll() == [["id", "name", "score", "id", "name", "score"]])
        try await pool.write { db in try db.execute(sql: "ALTER TABLE player RENAME COLUMN name TO title") }
        #expect(try await seenByAll() == [["id", "title", "score", "id", "title", "score"]])
        // A read that has begun keeps the schema that it sees.
        let before = try await pool.read { db in
            let before = try Row.fetchOne(db, sql: sql).map { Array($0.columnNames) } ?? []
            try onOtherThread {
                try pool.write { db in try db.execute(sql: "ALTER TABLE player DROP COLUMN score") }
            }
            let after = try Row.fetchOne(db, sql: sql).map { Array($0.columnNames) } ?? []
            #expect(after == before)
            return before
        }
        #expect(before == ["id", "title", "score"])
        #expect(try await seenByAll() == [["id", "title", "id", "title"]])
    }

    @Test("Triggers of ours exist on the writer alone")
    func triggers() throws {
        let sql = "SELECT COUNT(*) FROM temp.sqlite_master WHERE type = 'trigger'"
        try pool.write { db in
            try db.execute(sql: "CREATE TEMP TRIGGER told AFTER INSERT ON main.player BEGIN SELECT 1; END")
        }
        let counts = try [
            pool.inDatabase { db in try Int.fetchOne(db, sql: sql) },
            pool.read { db in try Int.fetchOne(db, sql: sql) },
        ]
        #expect(counts == [1, 0])
    }
}
