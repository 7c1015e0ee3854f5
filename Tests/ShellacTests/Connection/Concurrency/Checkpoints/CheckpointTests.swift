import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("A checkpoint that a program asks for")
struct CheckpointTests {
    typealias Mode = Database.CheckpointMode

    @Test(
        "Each mode copies all where nobody is in the way, and tells how much it was", arguments: Mode.allCases
    )
    func modes(mode: Mode) throws {
        let file = try LoggedFile()
        let pool = try file.pool { $0.checkpoints = .none }
        try pool.write { db in try db.addFrames(50) }
        let logSize = file.logSize
        let frames = try pool.walStatus.frameCount
        #expect(frames >= 50)
        let result = try pool.writeWithoutTransaction { db in try db.checkpoint(mode) }
        let status = try pool.walStatus
        switch mode {
        case .passive, .full, .restart:
            #expect(result == (frames, frames))
            #expect((status.frameCount, status.checkpointedFrameCount) == (frames, frames))
            #expect(file.logSize == logSize)
        case .truncate:
            #expect(result == (0, 0))
            #expect((status.frameCount, status.checkpointedFrameCount) == (0, 0))
            #expect(file.logSize == 0)
        }
        try #expect(pool.read { db in try db.itemCount() } == 50)
    }

    /// The ways to name the database of a checkpoint.
    enum Name: String, CaseIterable, Codable {
        case main, attached, all

        var name: String? {
            switch self {
            case .main: "main"
            case .attached: "other one"
            case .all: nil
            }
        }
    }

    @Test("Databases are copied by their names, and all of them by none", arguments: Name.allCases)
    func names(name: Name) throws {
        let (file, other) = (try LoggedFile(), try LoggedFile())
        let pool = try file.pool { $0.checkpoints = .none }
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS \"other one\"", arguments: [other.path])
            try db.execute(sql: "PRAGMA \"other one\".journal_mode = wal")
            try db.execute(
                sql: """
                    INSERT INTO main.item (content) VALUES (zeroblob(4000));
                    INSERT INTO "other one".item (content) VALUES (zeroblob(4000));
                    """)
            #expect(file.logSize != 0 && other.logSize != 0)
            try db.checkpoint(.truncate, on: name.name)
            #expect((file.logSize == 0) == (name != .attached))
            #expect((other.logSize == 0) == (name != .main))
        }
    }

    @Test("A name that no database has is an error that says it")
    func unknownName() throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        for name in ["nothing", "main.item", "é"] {
            let error = databaseError {
                try pool.writeWithoutTransaction { db in _ = try db.checkpoint(on: name) }
            }
            #expect(error?.resultCode == .SQLITE_ERROR)
            #expect(
                error?.message == "a checkpoint of \(name) of test failed: unknown database: \(name)",
                "\(name)")
        }
        try pool.write { db in try db.addFrames(1) }
    }

    @Test("A database without a log has nothing to copy, on a queue and in memory", arguments: Mode.allCases)
    func noLog(mode: Mode) throws {
        let file = try LoggedFile()
        for queue in [try DatabaseQueue(path: file.path), try DatabaseQueue()] {
            for name in ["main", "temp", nil] {
                try queue.inDatabase { db in
                    let result = try db.checkpoint(mode, on: name)
                    #expect(result == (-1, -1))
                }
            }
        }
    }

    @Test("A queue copies the log of its file", arguments: Mode.allCases)
    func queue(mode: Mode) throws {
        let file = try LoggedFile()
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        try queue.inDatabase { db in
            try db.addFrames(20)
            let (frames, copied) = try db.checkpoint(mode)
            #expect(frames == copied)
            #expect((frames == 0) == (mode == .truncate))
        }
    }

    @Test("Inside of a transaction, and where nothing may be written, it is refused with a sentence")
    func refusals() throws {
        let file = try LoggedFile()
        let pool = try file.pool { $0.allowsUnsafeTransactions = true }
        func expect(
            _ code: ResultCode, _ reason: String, _ access: (_ body: (Database) throws -> Void) throws -> Void
        ) {
            let error = databaseError { try access { db in _ = try db.checkpoint() } }
            #expect(error?.resultCode == code)
            #expect(
                error?.message
                    == "a checkpoint of main of test \(reason): call it in writeWithoutTransaction")
        }
        expect(.SQLITE_LOCKED, "cannot run inside of a transaction") { body in try pool.write { try body($0) }
        }
        expect(.SQLITE_LOCKED, "cannot run inside of a transaction") { body in
            try pool.writeWithoutTransaction { db in
                try db.inSavepoint {
                    try body(db)
                    return .commit
                }
            }
        }
        expect(.SQLITE_LOCKED, "cannot run inside of a transaction") { body in
            try pool.writeWithoutTransaction { db in
                try db.beginTransaction(.deferred)
                defer { try? db.rollback() }
                try body(db)
            }
        }
        expect(.SQLITE_READONLY, "writes to the file") { body in try pool.read { try body($0) } }
        try pool.writeWithoutTransaction { db in
            expect(.SQLITE_READONLY, "writes to the file") { body in try db.readOnly { try body(db) } }
        }
        let snapshot = try pool.makeSnapshot()
        expect(.SQLITE_READONLY, "writes to the file") { body in try snapshot.read { try body($0) } }
        expect(.SQLITE_READONLY, "writes to the file") { body in try pool.unsafeRead { try body($0) } }
        try pool.writeWithoutTransaction { db in _ = try db.checkpoint() }
    }

    @Test(
        "Beside a reader who stays, those that wait throw SQLITE_BUSY after their time, and tell how much is copied",
        .behaviour(82), arguments: Mode.allCases, [true, false])
    func busy(mode: Mode, waits: Bool) async throws {
        let file = try LoggedFile()
        let pool = try file.pool {
            $0.checkpoints = .none
            $0.busyMode = waits ? .timeout(0.02) : .immediateError
        }
        try await pool.write { db in try db.addFrames(30) }
        let before = try pool.walStatus.frameCount
        let reading = try await LongAccess.reading(pool)
        try await pool.write { db in try db.addFrames(30) }
        let after = try pool.walStatus.frameCount
        do {
            let result = try await pool.writeWithoutTransaction { db in try db.checkpoint(mode) }
            #expect(mode == .passive)
            #expect(result == (after, before))
        } catch let error as DatabaseError {
            #expect(mode != .passive)
            #expect(error.resultCode == .SQLITE_BUSY)
            let message = error.message ?? ""
            #expect(message.hasPrefix("a checkpoint of main of test failed: database is locked"))
            #expect(message.hasSuffix(": \(before) of \(after) frames are copied"))
            #expect(message.contains("another connection has kept its lock for") == waits)
        }
        // Nothing is in the way of a writer, and nothing is lost.
        try await pool.write { db in try db.addFrames(1) }
        try await reading.release()
        try await pool.writeWithoutTransaction { db in try #expect(db.checkpoint(mode).walFrameCount >= 0) }
        try await #expect(pool.read { db in try db.itemCount() } == 61)
    }

    @Test("One that waits ends when its task is cancelled", .behaviour(82))
    func cancelled() async throws {
        let file = try LoggedFile()
        let pool = try file.pool {
            $0.checkpoints = .none
            $0.busyMode = .timeout(600)
        }
        try await pool.write { db in try db.addFrames(30) }
        let reading = try await LongAccess.reading(pool)
        try await pool.write { db in try db.addFrames(30) }
        let begun = Gate()
        let task = Task {
            try await pool.writeWithoutTransaction { db in
                begun.open()
                try db.checkpoint(.full)
            }
        }
        try await waitUntil { begun.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await pool.write { db in try db.addFrames(1) }
        try await reading.release()
        try await pool.writeWithoutTransaction { db in
            let (frames, copied) = try db.checkpoint(.full)
            #expect(frames == copied)
        }
    }

    @Test("A closed database says that it is closed")
    func closed() throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        try pool.writeWithoutTransaction { db in
            _ = try db.checkpoint()
        }
        try pool.close()
        let error = databaseError { try pool.writeWithoutTransaction { db in _ = try db.checkpoint() } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "the database test is closed")
    }
}
