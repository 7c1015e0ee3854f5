import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

/// A file with a log, all of whose frames are copied, and connections to it: see ``LogResetGuard``.
private struct ResetFile {
    /// The program that a connection belongs to.
    enum Program: String, CaseIterable, Codable {
        case foreign, queue, pool
    }

    let file: TemporaryDatabase
    let storage = FaultyStorage()
    private let first: ForeignConnection
    private let count = Shared(0)

    init() throws {
        file = try TemporaryDatabase(journalMode: .wal)
        first = try ForeignConnection(path: file.path)
        try first.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); CREATE INDEX i ON t (x)")
    }

    private static let insertion = "INSERT INTO t (x) VALUES (hex(randomblob(300)))"

    /// The number of rows that were committed.
    var committedCount: Int { count.value }

    /// Makes a function that commits a row.
    func insertion(by program: Program) throws -> @Sendable () throws -> Void {
        let insert: @Sendable () throws -> Void
        switch program {
        case .foreign:
            let connection = try ForeignConnection(path: file.path)
            insert = { try connection.execute(Self.insertion) }
        case .queue:
            let queue = try file.queue { $0.checkpoints = .none }
            insert = { try queue.inDatabase { db in try db.execute(sql: Self.insertion) } }
        case .pool:
            let pool = try file.pool { $0.checkpoints = .none }
            insert = { try pool.write { db in try db.execute(sql: Self.insertion) } }
        }
        return { [count] in
            try insert()
            count.withLock { $0 += 1 }
        }
    }

    /// Makes a function that copies the log, and can run an intruder in the middle.
    func checkpoint(by program: Program) throws -> () throws -> Void {
        switch program {
        case .foreign:
            let connection = try ForeignConnection(path: file.path, vfs: storage.name)
            return { _ = try? connection.checkpoint() }
        case .queue:
            let queue = try file.queue {
                $0.checkpoints = .none
                $0.vfs = storage.name
            }
            return { try queue.inDatabase { db in _ = try? db.checkpoint() } }
        case .pool:
            let pool = try file.pool {
                $0.checkpoints = .none
                $0.vfs = storage.name
            }
            return { try pool.writeWithoutTransaction { db in _ = try? db.checkpoint() } }
        }
    }

    /// Copies all of the log, as a third program does.
    @discardableResult
    func copy() throws -> (frames: Int, copied: Int) { try first.checkpoint() }

    /// Returns the number of rows that a new connection finds, or nil if it finds no database.
    func foundCount() throws -> Int? {
        let connection = try ForeignConnection(path: file.path)
        return try? connection.integer("SELECT COUNT(*) FROM t NOT INDEXED")
    }
}

@Suite(
    "SQLite's WAL-reset fault", .behaviour(117),
    .enabled(if: Features.hasLogResetFault, "the running SQLite has no such fault"))
struct LogResetGuardTests {
    /// Lets a writer reset the log in the middle of a checkpoint, and another one after the frames
    /// have grown. Returns how many rows were committed, and how many are found.
    private func reset(
        by writer: ResetFile.Program, inCheckpointBy copier: ResetFile.Program
    ) throws -> (committed: Int, found: Int?) {
        let file = try ResetFile()
        let checkpoint = try file.checkpoint(by: copier)
        let insert = try file.insertion(by: writer)
        for _ in 1...60 { try insert() }
        let (frames, copied) = try file.copy()
        try #require(frames == copied && frames > 100)
        let (isMet, failure) = (Shared(false), Shared<(any Error)?>(nil))
        file.storage.inNextCheckpoint {
            isMet.withLock { $0 = true }
            do { try insert() } catch { failure.withLock { $0 = error } }
        }
        try checkpoint()
        if let error = failure.value { throw error }
        try #require(isMet.value)
        for _ in 1...10 { try insert() }
        try file.copy()
        try insert()
        return try (file.committedCount, file.foundCount())
    }

    @Test("Two programs without Shellac lose rows by it, which shows that these tests meet it")
    func foreign() throws {
        let (committed, found) = try reset(by: .foreign, inCheckpointBy: .foreign)
        #expect(committed == 72)
        #expect(found != committed)
    }

    @Test(
        "No row is lost where one of both, who writes or who copies, is ours",
        arguments: [
            (.queue, .foreign), (.pool, .foreign), (.foreign, .queue), (.foreign, .pool), (.queue, .queue),
            (.pool, .pool), (.pool, .queue), (.queue, .pool),
        ] as [(ResetFile.Program, ResetFile.Program)])
    fileprivate func ours(writer: ResetFile.Program, copier: ResetFile.Program) throws {
        let (committed, found) = try reset(by: writer, inCheckpointBy: copier)
        #expect(committed == 72)
        #expect(found == committed)
    }

    @Test("A log that is copied is still reset by the next one who writes", arguments: Writer.allCases)
    func reset(writer: Writer) throws {
        let file = try ResetFile()
        let insert = try file.insertion(by: writer == .pool ? .pool : .queue)
        for _ in 1...60 { try insert() }
        let before = try file.copy().frames
        try insert()
        let after = try file.copy()
        #expect(after.frames < before)
        #expect(after.copied == after.frames)
        try #expect(file.foundCount() == 61)
    }

    @Test(
        "A checkpoint that finds the index of the log destroyed makes it anew, and copies the log",
        arguments: Database.CheckpointMode.allCases)
    func recovery(mode: Database.CheckpointMode) throws {
        let file = try ResetFile()
        let insert = try file.insertion(by: .foreign)
        for _ in 1...60 { try insert() }
        let queue = try file.file.queue { $0.checkpoints = .none }
        try queue.inDatabase { db in
            _ = try db.integers("SELECT COUNT(*) FROM t")
            let index = try FileHandle(forWritingTo: URL(filePath: file.file.path + "-shm"))
            try index.write(contentsOf: Data(count: 96))
            try index.close()
            let (frames, copied) = try db.checkpoint(mode)
            #expect(frames == copied)
            #expect(mode == .truncate ? frames == 0 : frames > 100)
        }
        try #expect(file.foundCount() == 60)
    }

    @Test("A connection that is closed and opened again is guarded each time")
    func reopened() throws {
        let file = try ResetFile()
        for round in 1...3 {
            let insert = try file.insertion(by: .queue)
            try insert()
            try file.copy()
            try #expect(file.foundCount() == round)
        }
    }

    /// `SHELLAC_LOG_RESET_SECONDS=600` goes on for so long, and prints how much was done.
    @Test(
        "Beside a process that copies the log without a pause, each row that was committed is there",
        .timeLimit(.minutes(60)), arguments: Writer.allCases)
    func stress(writer: Writer) async throws { try await onThread { try stressNow(writer) } }

    private func stressNow(_ kind: Writer) throws {
        let told = environmentNumber("SHELLAC_LOG_RESET_SECONDS")
        let file = try TemporaryDatabase(journalMode: .wal)
        let writer = try kind.open(file) {
            // A connection that finds the header half written takes the lock of writers.
            $0.busyMode = .timeout(60)
            $0.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        }
        try writer.write { db in try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)") }
        let process = try CopyingProcess(path: file.path)
        let end = ContinuousClock.now + .seconds(told ?? 1)
        var (count, largest) = (0, 0)
        repeat {
            for _ in 1...2_000 {
                try writer.write { db in
                    try db.execute(sql: "INSERT INTO t (x) VALUES ('some text of a row')")
                }
            }
            count += 2_000
            largest = max(largest, FileIdentity.size(file.path + "-wal") ?? 0)
            try #require(
                ForeignConnection(path: file.path).integer("SELECT COUNT(*) FROM t NOT INDEXED") == count)
        } while ContinuousClock.now < end
        let checkpoints = process.finish()
        try #expect(
            writer.read { db in try String.fetchAll(db, sql: "PRAGMA integrity_check") } == ["ok"])
        #expect(checkpoints > 0)
        if told != nil {
            print(
                "\(kind): \(count) commits, \(checkpoints) foreign checkpoints, the log had \(largest) bytes")
        }
    }
}

@Suite("SQLite's versions")
struct SQLiteVersionTests {
    @Test(
        "The versions that have the WAL-reset fault are known", .behaviour(117),
        arguments: [
            (3_006_023, false), (3_007_000, true), (3_035_000, true), (3_040_001, true), (3_044_005, true),
            (3_044_006, false), (3_044_010, false), (3_045_000, true), (3_050_006, true), (3_050_007, false),
            (3_051_000, true), (3_051_002, true), (3_051_003, false), (3_052_000, false), (3_053_004, false),
        ])
    func logResetFault(version: Int, hasFault: Bool) {
        #expect(Features.hasLogResetFault(in: version) == hasFault)
    }
}
