import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Programs that follow a journal, its limits, and processes that are killed.
@Suite("Following and keeping a journal")
struct JournalFollowingTests {
    @Test(
        "Entries of this connection and of others come once, in order", .behaviour(132),
        .timeLimit(.minutes(10)))
    func following() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let pool = try file.pool()
        let other = try file.queue { $0.busyMode = .timeout(5) }
        try pool.keepJournal(of: .all)
        try other.keepJournal(of: .all)
        let writing = Task {
            for number in 0..<20 {
                let writer: any DatabaseWriter = number % 2 == 0 ? pool : other
                try await writer.write { db in try db.insert("\(number)") }
            }
        }
        var names: [String] = []
        for try await entry in pool.journal(after: 1, pollingEvery: .milliseconds(5)) {
            names += entry.changeset.map { $0.finalValues[1]?.description ?? "" }
            if names.count == 20 { break }
        }
        try await writing.value
        #expect(names == (0..<20).map { "\($0)" })
        let task = Task { try await pool.journal(after: 21).first { _ in true } }
        task.cancel()
        #expect(try await task.value == nil)
    }

    @Test("A follower learns that entries were deleted before it read them", .behaviour(132))
    func lateFollower() async throws {
        let queue = try JournalCaptureTests.journaled()
        for name in ["a", "b", "c"] { try await queue.write { db in try db.insert(name) } }
        try await queue.write { db in try db.execute(sql: "DELETE FROM shellac_journal WHERE seq < 4") }
        await #expect(throws: JournalError.noEntry(3)) {
            _ = try await queue.journal(after: 2).first { _ in true }
        }
        #expect(try await queue.journal().first { _ in true }?.number == 4)
    }

    @Test(
        "Old entries are deleted, and the last one stays",
        arguments: [
            (JournalRetention.entries(5), 5...36), (.days(1), 1...32), (.bytes(100), 1...36),
            (.ever, 102...102),
            (.entries(0), 1...32),
        ] as [(JournalRetention, ClosedRange<Int>)])
    func retention(retention: JournalRetention, counts: ClosedRange<Int>) throws {
        var configuration = Configuration()
        let now = Shared(0.0)
        configuration.transactionClock = .custom { _ in
            Date(
                timeIntervalSince1970: now.withLock {
                    $0 += 86_401
                    return $0
                })
        }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in try db.createPlayers() }
        try queue.keepJournal(of: .all, for: retention)
        for number in 0..<100 { try queue.write { db in try db.insert("\(number)") } }
        try queue.inDatabase { db in
            try db.insert("last")
            #expect(db.changesCount == 1)
        }
        let numbers = try queue.read { db in try db.journalEntries().map(\.number) }
        #expect(counts.contains(numbers.count), "\(numbers)")
        #expect(numbers.last == 102 && numbers == Array((numbers.first ?? 0)...102))
        #expect(try queue.verifyJournal() == numbers.first)
    }

    /// `SHELLAC_JOURNAL_KILLS` says how often the process is killed.
    @Test(
        "After a process was killed, the journal leads from the tables back to their first state",
        .behaviour(128))
    func killed() async throws { try await onThread { try self.kill() } }

    private func kill() throws {
        var generator = SeededGenerator(seed: UInt64(environmentNumber("SHELLAC_KILLS_SEED") ?? 1))
        for round in 0..<(environmentNumber("SHELLAC_JOURNAL_KILLS") ?? 3) {
            let file = try TemporaryDatabase(journalMode: round % 2 == 0 ? .wal : .delete)
            let sql = "SELECT id, name FROM item"
            let first = try file.queue().inDatabase { db in
                try db.execute(
                    sql: """
                        CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, name NOT NULL);
                        CREATE TABLE done (number INTEGER);
                        INSERT INTO done VALUES (0);
                        INSERT INTO item (name)
                            WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'item ' || i FROM n;
                        """)
                return try Row.fetchAll(db, sql: sql)
            }
            let process = try WritingProcess(path: file.path, steps: "journal")
            let steps = Int.random(in: 1...12, using: &generator)
            try sleepUntil { process.acknowledgedCount >= steps }
            usleep(UInt32(Int.random(in: 0...8000, using: &generator)))
            try process.kill()
            let queue = try file.queue()
            #expect(try queue.verifyJournal() == 1, "\(round)")
            let past = try queue.asOf(1).read { db in try Row.fetchAll(db, sql: sql) }
            #expect(past == first, "\(round)")
            let (done, count) = try queue.read { db in
                (
                    try Int.fetchOne(db, sql: "SELECT number FROM done") ?? 0,
                    try db.journalEntries().count - 1
                )
            }
            // A step has a transaction and a single statement.
            #expect(count == 2 * done || count == 2 * done - 1, "\(round): \(done) steps, \(count) entries")
        }
    }
}
