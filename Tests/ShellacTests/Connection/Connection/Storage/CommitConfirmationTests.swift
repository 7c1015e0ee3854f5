import CSQLite
import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

@Suite("Commits that the storage is asked for", .behaviour(107))
struct CommitConfirmationTests {
    /// The places where SQLite commits.
    enum Place: String, CaseIterable, Codable {
        case write, commit, end, release, statement, returning, returningToItsEnd, forgottenCursor, orFail
        case createTable, alterTable, dropTable, pragma, vacuum, interface, script, savepointInside

        /// Commits something. The storage is taken over in the middle of it.
        func run(on taken: TakenOver) throws {
            let queue = taken.queue
            let fence = { taken.storage.fenceAtNextWrite() }
            func execute(_ sql: String) throws {
                try queue.inDatabase { db in
                    fence()
                    try db.execute(sql: sql)
                }
            }
            let insert = "INSERT INTO player (name) VALUES ('Barbara')"
            switch self {
            case .write:
                try queue.write { db in
                    try db.execute(sql: insert)
                    fence()
                }
            case .commit: try execute("BEGIN; \(insert); COMMIT")
            case .end: try execute("BEGIN IMMEDIATE; \(insert); END TRANSACTION")
            case .release: try execute("SAVEPOINT a; SAVEPOINT b; \(insert); RELEASE b; RELEASE a")
            case .savepointInside:
                try queue.inDatabase { db in
                    fence()
                    try db.inSavepoint {
                        try db.execute(sql: insert)
                        return .commit
                    }
                }
            case .statement: try execute(insert)
            case .script: try execute("SELECT 1; \(insert); SELECT 2")
            case .returning:
                try queue.inDatabase { db in
                    fence()
                    _ = try Int.fetchOne(db, sql: insert + " RETURNING id")
                }
            case .returningToItsEnd:
                try queue.inDatabase { db in
                    fence()
                    _ = try Int.fetchAll(db, sql: insert + " RETURNING id")
                }
            case .forgottenCursor:
                var cursor: AnyObject?
                defer { withExtendedLifetime(cursor) {} }
                try queue.inDatabase { db in
                    fence()
                    let rows = try Row.fetchCursor(db, sql: insert + ", ('Craig') RETURNING id")
                    _ = try rows.next()
                    cursor = rows
                }
            case .orFail: try execute("INSERT OR FAIL INTO player (name) VALUES ('Barbara'), ('Arthur')")
            case .createTable: try execute("CREATE TABLE t (a)")
            case .alterTable: try execute("ALTER TABLE player ADD COLUMN a")
            case .dropTable: try execute("DROP TABLE player")
            case .pragma: try execute("PRAGMA user_version = 5")
            case .vacuum: try execute("VACUUM")
            case .interface:
                try queue.inDatabase { db in
                    fence()
                    sqlite3_exec(db.sqliteConnection, insert, nil, nil, nil)
                }
            }
        }
    }

    @Test(
        "A commit that the storage refuses is told by nobody", arguments: Place.allCases,
        TakenOver.Mode.allCases)
    func refusal(place: Place, mode: TakenOver.Mode) throws {
        let taken = try TakenOver(mode)
        let spy = ObserverSpy()
        taken.queue.add(transactionObserver: spy)
        var ends: [String] = []
        try taken.queue.inDatabase { db in
            db.afterNextTransaction(
                onCommit: { _ in ends.append("commit") }, onRollback: { _ in ends.append("rollback") })
        }
        let error = try #require(databaseError { try place.run(on: taken) })
        #expect(error.leavesOutcomeUnknown, "\(error)")
        #expect(error.resultCode == .SQLITE_IOERR)
        #expect(
            error.message
                == "a commit to test could not be confirmed, and its outcome is unknown: another machine "
                + "may have taken the database over. Close the database, and check what it contains before "
                + "you write that again")
        #expect(!spy.log.contains("didCommit"), "\(spy.log)")
        if place != .vacuum, place != .interface {
            #expect(spy.log.last == "didRollback", "\(spy.log)")
            #expect(ends == ["rollback"])
        } else {
            #expect(ends == [])
        }
        try expectRefusal(of: taken.queue, error)
        // The file has what it had: what was acknowledged by the storage is lost.
        try #expect(taken.namesOnDisk() == ["Arthur"])
    }

    /// Each access throws the error, until the queue is closed.
    private func expectRefusal(of queue: DatabaseQueue, _ error: DatabaseError) throws {
        var bodies = 0
        for _ in 1...2 {
            let reading = databaseError { try queue.read { _ in bodies += 1 } }
            #expect(reading == error)
            let writing = databaseError { try queue.write { _ in bodies += 1 } }
            #expect(writing == error)
            let other = databaseError { try queue.inDatabase { _ in bodies += 1 } }
            #expect(other == error)
        }
        #expect(bodies == 0)
        try queue.close()
        let closed = databaseError { try queue.read { _ in } }
        #expect(closed?.message == "the database test is closed")
    }

    @Test(
        "What the storage still has is committed and told", arguments: Place.allCases, TakenOver.Mode.allCases
    )
    func confirmation(place: Place, mode: TakenOver.Mode) throws {
        let taken = try TakenOver(mode)
        let spy = ObserverSpy()
        taken.queue.add(transactionObserver: spy)
        // The storage is not taken over at all.
        let reads = taken.storage.reads {
            do { try place.run(on: Unfenced(taken).taken) } catch { #expect(place == .orFail) }
        }
        #expect(!reads.isEmpty)
        if place != .vacuum, place != .interface { #expect(spy.log.last == "didCommit", "\(spy.log)") }
        #expect(!spy.log.contains("didRollback"))
        if place == .dropTable { return }
        try #expect(taken.queue.names().first == "Arthur")
        try taken.queue.close()
    }

    /// Storage that is never taken over, whichever machine asks for it.
    private struct Unfenced {
        let taken: TakenOver
        init(_ taken: TakenOver) {
            self.taken = taken
            taken.storage.isImmune = true
        }
    }

    // MARK: - What is read

    private func reads(_ mode: TakenOver.Mode, _ sql: String) throws -> [FaultyStorage.Read] {
        let taken = try TakenOver(mode)
        return try taken.storage.reads { try taken.queue.inDatabase { db in try db.execute(sql: sql) } }
    }

    @Test("In WAL mode the header of the last frame is read, and nothing else", arguments: [1, 300])
    func lastFrame(count: Int) throws {
        let taken = try TakenOver(.logAlone)
        let log = taken.file.path + "-wal"
        for _ in 1...3 {
            let reads = try taken.storage.reads {
                try taken.queue.write { db in
                    for _ in 1...count {
                        try db.insert(UUID().uuidString + String(repeating: " ", count: 999))
                    }
                }
            }
            let size = try #require(FileIdentity.size(log))
            // (SQLite reads whole pages, when it copies the log.)
            #expect(
                reads.filter { $0.file == .log && $0.count < 512 && $0.count != 8 } == [
                    .init(file: .log, count: 24, offset: size - 4096 - 24)
                ])
            #expect(reads.filter { $0.file == .main && $0.count < 512 } == [])
        }
    }

    @Test(
        "The last frame is read, too, where SQLite commits as a statement is reset, or by a backup",
        arguments: [Place.returning, .forgottenCursor, .interface, nil])
    func lastFrameOfReset(place: Place?) throws {
        let taken = try TakenOver(.logAlone)
        taken.storage.isImmune = true
        let source = try DatabaseQueue.withPlayers()
        let reads = try taken.storage.reads {
            if let place { try place.run(on: taken) } else { try source.backup(to: taken.queue) }
        }
        let size = try #require(FileIdentity.size(taken.file.path + "-wal"))
        #expect(
            reads.filter { $0.file == .log && $0.count < 512 } == [
                .init(file: .log, count: 24, offset: size - 4096 - 24)
            ])
    }

    @Test("After the log was begun anew, its last frame is in the middle of its file")
    func restartedLog() throws {
        let taken = try TakenOver(.logAlone)
        try taken.queue.write { db in
            for _ in 1...300 { try db.insert(UUID().uuidString + String(repeating: " ", count: 999)) }
        }
        let size = try #require(FileIdentity.size(taken.file.path + "-wal"))
        try taken.queue.inDatabase { db in _ = try db.checkpoint(.restart) }
        let reads = try taken.storage.reads { try taken.queue.write { db in try db.insert("Barbara") } }
        let frame = try #require(reads.first { $0.file == .log })
        #expect(frame.offset < size / 4 && (frame.offset - 32) % 4120 == 0)
        #expect(reads.filter { $0.file == .log }.count == 1)
    }

    @Test(
        "Where the journal is kept it is read, and the main file anyway",
        arguments: [(TakenOver.Mode.persistAlone, [FaultyStorage.File.journal, .main])])
    func journal(mode: TakenOver.Mode, files: [FaultyStorage.File]) throws {
        let reads = try reads(mode, "INSERT INTO player (name) VALUES ('Barbara')")
        let small = reads.filter { $0.offset == 0 && ($0.count == 16 || $0.count == 32) }
        #expect(small.map(\.file) == files)
    }

    @Test(
        "A statement that reads is not followed by a question, nor is one that writes to temporary tables alone"
    )
    func onlyCommits() throws {
        let taken = try TakenOver(.logAlone)
        let reads = try taken.storage.reads {
            _ = try taken.queue.names()
            try taken.queue.inDatabase { db in
                try db.execute(
                    sql: "CREATE TEMP TABLE x (a); INSERT INTO x VALUES (1); BEGIN; SELECT 1; ROLLBACK")
                try db.execute(sql: "BEGIN; INSERT INTO x VALUES (2); COMMIT")
            }
        }
        #expect(reads.filter { $0.file == .log } == [])
    }

    @Test("A rollback is not confirmed, and goes on")
    func rollback() throws {
        let taken = try TakenOver(.logAlone)
        let reads = try taken.storage.reads {
            try taken.queue.inDatabase { db in
                try db.inTransaction {
                    try db.insert("Barbara")
                    return .rollback
                }
            }
        }
        #expect(reads.filter { $0.file == .log } == [])
        try #expect(taken.queue.names() == ["Arthur"])
    }

    @Test("A database that confirms nothing asks nothing, and is told what the storage says", .behaviour(108))
    func withoutConfirmation() throws {
        let taken = try TakenOver(.logAlone) { $0.verifiesCommits = false }
        try taken.queue.inDatabase { db in
            #expect(db.hooks.confirmation == nil)
            // (The place of the file is looked at, whatever is confirmed.)
            #expect(db.hooks.commit == .place)
            #expect(db.owed == [])
            let isObstructed = db.access.isObstructed
            #expect(!isObstructed)
        }
        let reads = try taken.storage.reads { try taken.queue.write { db in try db.insert("Barbara") } }
        #expect(reads.filter { $0.count == 24 } == [])
        taken.storage.fenceAtNextWrite()
        // This is what confirmations are for: it is reported as committed, and lost.
        try taken.queue.write { db in try db.insert("Craig") }
        try taken.queue.close()
        try #expect(taken.namesOnDisk() == ["Arthur", "Barbara"])
    }
}
