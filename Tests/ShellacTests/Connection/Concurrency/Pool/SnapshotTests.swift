import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Snapshots", .behaviour(81))
struct SnapshotTests {
    private let file: TemporaryDatabase
    private let pool: DatabasePool

    init() throws {
        file = try TemporaryDatabase()
        pool = try file.pool()
        try pool.write { db in try db.insert("Arthur") }
    }

    /// The kinds of accesses that keep a state.
    enum Kind: String, CaseIterable, Codable, Sendable {
        case one, several, ofPath

        func make(_ pool: DatabasePool) throws -> DatabaseSnapshotReader {
            switch self {
            case .one: try pool.makeSnapshot()
            case .several: try pool.makeSnapshotPool(readerCount: 3)
            case .ofPath: try DatabaseSnapshotPool(path: pool.path, configuration: pool.configuration)
            }
        }
    }

    @Test("A snapshot sees the database as it was, whatever is written meanwhile", arguments: Kind.allCases)
    func state(kind: Kind) async throws {
        let first = try kind.make(pool)
        try await pool.write { db in
            try db.insert("Barbara")
            try db.execute(sql: "ALTER TABLE player ADD COLUMN score")
        }
        let second = try kind.make(pool)
        try await pool.write { db in try db.execute(sql: "DROP TABLE player") }
        for _ in 1...6 {
            let old = try await first.read { db in try (db.names(), db.columns(in: "player").count) }
            let new = try await second.read { db in (try db.names(), try db.columns(in: "player").count) }
            #expect(old == (["Arthur"], 2))
            #expect(new == (["Arthur", "Barbara"], 3))
            try await #expect(first.unsafeRead { db in try db.names() } == ["Arthur"])
            try #expect(first.unsafeReentrantRead { db in try db.names() } == ["Arthur"])
        }
        let heard = Recorder<[String]>()
        first.asyncRead { result in heard.record((try? result.get().names()) ?? []) }
        first.asyncUnsafeRead { result in heard.record((try? result.get().names()) ?? []) }
        try await waitUntil { heard.elements.count == 2 }
        #expect(heard.elements == [["Arthur"], ["Arthur"]])
        expectError("no such table: player") { try pool.read { db in try db.names() } }
    }

    @Test(
        "All connections of a snapshot pool see the same state, beside writes without a pause, also of other pools",
        arguments: ["same", "other", "readonly"])
    func sameState(maker: String) async throws {
        let (file, pool) = (file, pool)
        try await onThread {
            let isDone = Gate()
            let writing = RunningThread {
                var count = 0
                while !isDone.isOpen {
                    try pool.write { db in try db.insert(UUID().uuidString) }
                    count += 1
                }
                return count
            }
            let snapshotMaker =
                maker == "same" ? pool : try file.pool { $0.readonly = maker == "readonly" }
            for _ in 1...30 {
                let snapshots = try snapshotMaker.makeSnapshotPool(readerCount: 4)
                let (counts, end) = (Recorder<Int>(), Gate())
                let readers = (0..<4).map { _ in
                    RunningThread {
                        try snapshots.read { db in
                            counts.record(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? -1)
                            try end.wait()
                        }
                    }
                }
                try sleepUntil { counts.elements.count == 4 }
                end.open()
                for reader in readers { try reader.join() }
                #expect(Set(counts.elements).count == 1)
                try snapshots.close()
            }
            isDone.open()
            try #expect(writing.join() > 0)
        }
    }

    @Test(
        "A snapshot is one transaction: what would end it is refused, and it goes on",
        arguments: [
            "COMMIT", "END", "ROLLBACK", "BEGIN", "PRAGMA query_only = 0; DELETE FROM player", "VACUUM",
            "COMMIT; BEGIN",
        ])
    func refused(sql: String) throws {
        let snapshot = try pool.makeSnapshot()
        try pool.write { db in try db.insert("Barbara") }
        let isWrite = sql == "VACUUM" || sql.contains("DELETE")
        let refusal =
            isWrite
            ? "attempt to write in a read-only access"
            : "a snapshot is one transaction, which ends with the snapshot: use savepoints inside of it"
        expectError(refusal) { try snapshot.read { db in try db.execute(sql: sql) } }
        try #expect(snapshot.read { db in try db.names() } == ["Arthur"])
        try #expect(snapshot.read { db in db.isInsideTransaction })
    }

    @Test("The end of its transaction is refused by a sentence, and savepoints work")
    func savepoints() throws {
        let snapshot = try pool.makeSnapshot()
        for end in [
            { (db: Database) in try db.commit() }, { try $0.rollback() }, { try $0.execute(sql: "COMMIT") },
        ] {
            let error = databaseError { try snapshot.read(end) }
            #expect(
                error?.message?.contains(
                    "a snapshot is one transaction, which ends with the snapshot: use savepoints inside of it"
                ) == true)
        }
        try snapshot.read { db in
            try db.inSavepoint {
                let names = try db.names()
                #expect(names == ["Arthur"])
                return .rollback
            }
            try db.execute(sql: "SAVEPOINT s; SELECT 1; ROLLBACK TO s; RELEASE s")
        }
        try #expect(snapshot.read { db in try db.names() } == ["Arthur"])
    }

    @Test(
        "An error, an interrupt and a cancellation in the middle leave a snapshot as it was",
        arguments: Kind.allCases)
    func errors(kind: Kind) async throws {
        let started = Gate()
        let pool = try file.pool { configuration in
            configuration.prepareDatabase { db in
                try db.add(
                    function: DatabaseFunction("started", argumentCount: 0) { _ in
                        started.open()
                        return 1
                    })
                try db.add(function: .pause)
            }
        }
        let snapshot = try kind.make(pool)
        try await pool.write { db in try db.insert("Barbara") }
        #expect(throws: TestError(1)) { try snapshot.read { _ in throw TestError(1) } }
        expectError("no such table: nowhere") {
            try snapshot.read { db in try db.execute(sql: "SELECT * FROM nowhere") }
        }
        #expect(throws: TestError(2)) {
            try snapshot.read { db in
                try db.execute(sql: "SAVEPOINT left")
                let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player")
                _ = try cursor.next()
                throw TestError(2)
            }
        }
        let long =
            "WITH RECURSIVE n(i) AS (SELECT started() UNION ALL SELECT i + pause() FROM n LIMIT 30000000) SELECT COUNT(*) FROM n"
        let task = Task { try await snapshot.read { db in try db.execute(sql: long) } }
        try await waitUntil { started.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let interrupted = databaseError {
            try snapshot.read { db in
                let cursor = try Int.fetchCursor(db, sql: long)
                try onOtherThread { snapshot.interrupt() }
                try db.execute(sql: "SELECT 1")
                db.interrupt()
                _ = cursor
            }
        }
        #expect(interrupted == nil || interrupted?.resultCode == .SQLITE_INTERRUPT)
        for _ in 1...4 { try await #expect(snapshot.read { db in try db.names() } == ["Arthur"]) }
        try await snapshot.close()
        try await pool.close()
    }

    @Test("A snapshot attaches nothing, and reads what its connection attached by preparation")
    func attach() throws {
        let other = try TemporaryDatabase()
        let snapshot = try pool.makeSnapshot()
        let error = databaseError {
            try snapshot.read { db in
                try db.execute(
                    sql: "ATTACH ? AS other; INSERT INTO other.player (name) VALUES ('nobody')",
                    arguments: [other.path])
            }
        }
        #expect(error != nil)
        #expect(try other.queue().names() == [])
        try #expect(snapshot.read { db in try db.names() } == ["Arthur"])
    }

    @Test("A closed snapshot says so, and is closed once more without harm", arguments: Kind.allCases)
    func closed(kind: Kind) async throws {
        let snapshot = try kind.make(pool)
        try await snapshot.close()
        try await snapshot.close()
        let error = databaseError { _ = try snapshot.read { db in try db.names() } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "the database test is closed")
        let asynchronous = await #expect(throws: DatabaseError.self) {
            try await snapshot.read { db in try db.names() }
        }
        #expect(asynchronous?.resultCode == .SQLITE_MISUSE)
        let heard = Recorder<Bool>()
        snapshot.asyncRead { result in heard.record((try? result.get()) == nil) }
        try await waitUntil { heard.elements == [true] }
        snapshot.interrupt()
        try await pool.close()
    }

    @Test("Many threads may close a snapshot while others read: all of them end", arguments: Kind.allCases)
    func closedByMany(kind: Kind) async throws {
        for _ in 1...20 {
            let snapshot = try kind.make(pool)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        try await onThread {
                            if number % 3 == 0 { return try snapshot.close() }
                            let error = databaseError { _ = try snapshot.read { db in try db.names() } }
                            #expect(error == nil || error?.resultCode == .SQLITE_MISUSE)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try await pool.close()
    }

    @Test("A snapshot that keeps a statement in use is not closed, and stays as it is")
    func closeInUse() throws {
        let snapshot = try pool.makeSnapshot()
        try pool.write { db in try db.insert("Barbara") }
        var statement: Statement? = try snapshot.read { db in try db.makeStatement(sql: "SELECT 1") }
        let error = databaseError { try snapshot.close() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        expectError(containing: "the pool test cannot be closed: a snapshot, test.snapshot.1,") {
            try pool.close()
        }
        withExtendedLifetime(statement) {}
        statement = nil
        let names = try snapshot.read { db in try db.names() }
        #expect(names == ["Arthur"])
        try snapshot.close()
        try pool.close()
    }

    @Test(
        "A snapshot pool of which one reader keeps a statement in use stays as it is, whichever that is",
        .behaviour(103))
    func closePoolInUse() throws {
        for inUse in 0..<2 {
            let snapshot = try pool.makeSnapshotPool(readerCount: 2)
            try pool.write { db in try db.insert("Barbara \(inUse)") }
            var kept: [Statement?] = [nil, nil]
            // Both readers, as one reads inside of the access of the other.
            try snapshot.read { db in
                kept[0] = try db.makeStatement(sql: "SELECT 1")
                kept[1] = try onOtherThread {
                    try snapshot.read { db in try db.makeStatement(sql: "SELECT 2") }
                }
            }
            kept[1 - inUse] = nil
            let error = databaseError { try snapshot.close() }
            #expect(error?.resultCode == .SQLITE_BUSY)
            try snapshot.read { first in
                let expected = inUse == 0 ? ["Arthur"] : ["Arthur", "Barbara 0"]
                #expect(try first.names() == expected)
                let names = try onOtherThread { try snapshot.read { db in try db.names() } }
                #expect(names == expected)
            }
            expectError(containing: "the pool test cannot be closed: a snapshot pool, test.snapshots.") {
                try pool.close()
            }
            withExtendedLifetime(kept) {}
            kept = []
            try snapshot.close()
            #expect(
                databaseError { _ = try snapshot.read { db in try db.names() } }?.resultCode == .SQLITE_MISUSE
            )
        }
        try pool.close()
    }

    @Test("Closing a snapshot inside of a read of it stops the program, with a sentence")
    func closeInside() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let snapshot = try file.pool().makeSnapshot()
            try snapshot.read { _ in try snapshot.close() }
        }
        result.expectSentence(
            "was closed inside of a read of it, and closing waits for the read. Close it after the read.")
    }

    @Test("A snapshot outlives its pool, and a pool that is closed makes none")
    func lifetime() throws {
        var other: DatabasePool? = try file.pool()
        let snapshot = try other?.makeSnapshot()
        other = nil
        try pool.write { db in try db.insert("Barbara") }
        try #expect(snapshot?.read { db in try db.names() } == ["Arthur"])
        try pool.close()
        #expect(databaseError { _ = try pool.makeSnapshot() }?.message == "the database test is closed")
        #expect(databaseError { _ = try pool.makeSnapshotPool() }?.message == "the database test is closed")
    }

    @Test("A snapshot pool of a path needs a file that has a write-ahead log")
    func paths() throws {
        let folder = try TemporaryFolder()
        let missing = databaseError { _ = try DatabaseSnapshotPool(path: folder.path("missing.sqlite")) }
        #expect(missing?.resultCode == .SQLITE_CANTOPEN)
        #expect(!FileManager.default.fileExists(atPath: folder.path("missing.sqlite")))
        let path = folder.path("queue.sqlite")
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in try db.execute(sql: "CREATE TABLE player (name)") }
        let withoutLog = databaseError { _ = try DatabaseSnapshotPool(path: path) }
        #expect(withoutLog?.message?.contains("use a DatabaseQueue") == true, "\(withoutLog as Any)")
    }

    @Test("A pool that only reads makes snapshots, and pools of them")
    func readonly() async throws {
        let readonly = try file.pool { $0.readonly = true }
        let one = try readonly.makeSnapshot()
        let several = try readonly.makeSnapshotPool(readerCount: 2)
        try await pool.write { db in try db.insert("Barbara") }
        try await #expect(one.read { db in try db.names() } == ["Arthur"])
        for _ in 1...4 { try await #expect(several.read { db in try db.names() } == ["Arthur"]) }
        try await #expect(readonly.read { db in try db.names() } == ["Arthur", "Barbara"])
    }

    @Test("A snapshot reads on while the log is copied and begun anew")
    func checkpoint() throws {
        let snapshot = try pool.makeSnapshot()
        try pool.write { db in try db.insert("Barbara") }
        let error = databaseError {
            try pool.inDatabase { db in
                try db.execute(sql: "PRAGMA busy_timeout = 1")
                try db.checkpoint(.truncate)
            }
        }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try pool.inDatabase { db in try db.checkpoint(.passive) }
        try #expect(snapshot.read { db in try db.names() } == ["Arthur"])
        try snapshot.close()
        try pool.inDatabase { db in try db.checkpoint(.truncate) }
    }
}
