import TestSupport
import Testing

@testable import Shellac

/// The version of the schema is read at the beginning of each transaction, by a statement that is
/// kept for it.
@Suite struct SchemaVersionTests {
    private func columns(_ db: Database) throws -> [String]? {
        try db.tableExists("t") ? db.columns(in: "t").map(\.name) : nil
    }

    @Test("A look at the version that is refused waits once, names its SQL, and leaves the connection usable")
    func busy() throws {
        let folder = try TemporaryFolder()
        let calls = Lock(0)
        var configuration = Configuration()
        configuration.journalMode = .delete
        configuration.busyMode = .callback { _ in
            calls.withLock { $0 += 1 }
            return false
        }
        let here = try DatabaseQueue(path: folder.path("test.sqlite"), configuration: configuration)
        let there = try DatabaseQueue(path: folder.path("test.sqlite"))
        try here.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try here.read { (db) throws in #expect(try columns(db) == ["a"]) }
        try there.inDatabase { other in
            try other.inTransaction(.exclusive) { () throws in
                try other.execute(sql: "ALTER TABLE t ADD COLUMN b")
                try here.inDatabase { db in
                    calls.withLock { $0 = 0 }
                    let error = databaseError { _ = try columns(db) }
                    #expect(error?.resultCode == .SQLITE_BUSY)
                    #expect(error?.sql == "PRAGMA \"main\".schema_version")
                    #expect(calls.withLock { $0 } == 1)
                    expectError("database is locked") {
                        try db.inTransaction(.deferred) { () throws in
                            #expect(try columns(db) == ["a"])
                            return .commit
                        }
                    }
                    #expect(!db.isInsideTransaction)
                }
                return .commit
            }
        }
        try here.write { db in
            #expect(try columns(db) == ["a", "b"])
            try db.execute(sql: "INSERT INTO t VALUES (1, 2)")
        }
    }

    @Test("A cancelled access does not read the version, and the next one does")
    func cancelled() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try await queue.read { (db) throws in #expect(try columns(db) == ["a"]) }
        let task = Task {
            try await queue.writeWithoutTransaction { db in
                withUnsafeCurrentTask { $0?.cancel() }
                db.cancel()
                _ = try columns(db)
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await queue.write { (db) throws in #expect(try columns(db) == ["a"]) }
    }

    @Test("The kept statement does not keep the connection open, nor do its unfinished runs")
    func closing() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("test.sqlite"))
        let statement = try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            #expect(try columns(db) == ["a"])
            return try db.makeStatement(sql: "SELECT 1")
        }
        // Closing fails, and what it has already let go of is made anew.
        #expect(databaseError { try queue.close() }?.resultCode == .SQLITE_BUSY)
        try queue.inDatabase { db in
            #expect(try columns(db) == ["a"])
            try db.inTransaction { () throws in
                #expect(try columns(db) == ["a"])
                expectError(containing: "cannot be closed: a statement is still in use") { try db.close() }
                try db.execute(sql: "ALTER TABLE t ADD COLUMN b")
                #expect(try columns(db) == ["a", "b"])
                return .rollback
            }
            #expect(try columns(db) == ["a"])
            withExtendedLifetime(statement) {}
        }
    }

    @Test("Attached databases are looked at, each for itself")
    func attached() throws {
        try withTwoConnections { here, there in
            let folder = try TemporaryFolder()
            let third = try DatabaseQueue(path: folder.path("third.sqlite"))
            try third.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            try here.inDatabase { db in
                try db.execute(sql: "ATTACH ? AS aux", arguments: [third.path])
                for (count, column) in ["b", "c", "d"].enumerated() {
                    try db.inTransaction { () throws in
                        #expect(try columns(db)?.count == count + 1)
                        return .commit
                    }
                    try third.write { try $0.execute(sql: "ALTER TABLE t ADD COLUMN \(column)") }
                }
                try there.write { try $0.execute(sql: "CREATE TABLE t (main)") }
                #expect(try columns(db) == ["main"])
                try db.execute(sql: "DETACH aux")
            }
        }
    }
}
