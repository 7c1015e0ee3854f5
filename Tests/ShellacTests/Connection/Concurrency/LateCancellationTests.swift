import TestSupport
import Testing

@testable import Shellac

/// Cancels the access that holds the connection while a commit goes on.
private final class CancellingObserver: TransactionObserver {
    unowned let database: Database

    init(_ database: Database) { self.database = database }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { database.access.cancel() }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}

/// SQLite calls its progress handler after each thousand instructions of a statement, and counts
/// those of its former runs. So it calls the handler for some of these many runs when they have
/// just taken effect.
@Suite("A cancellation that comes during a commit")
struct LateCancellationTests {
    private static let runs = 700

    /// Runs a function many times, each in an access that is cancelled during its commit.
    private func commitMany(_ body: (Database, Int) throws -> Void) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            let observer = CancellingObserver(db)
            db.add(transactionObserver: observer)
            defer { db.remove(transactionObserver: observer) }
            for run in 1...Self.runs {
                db.beginCancellation()
                let error = thrownError { try body(db, run) }
                let isStopped = db.access.isStopped
                #expect(isStopped)
                db.endCancellation()
                try #require(error == nil, "run \(run)")
                try #require(Int.fetchOne(db, sql: "SELECT count(*) FROM player") == run)
            }
            #expect(!db.isInsideTransaction)
        }
    }

    @Test("A transaction that is committed is not reported as cancelled")
    func commit() throws {
        try commitMany { db, run in
            try db.inTransaction {
                try db.insert("player \(run)")
                return .commit
            }
        }
    }

    @Test("A savepoint that commits is not reported as cancelled")
    func savepoint() throws {
        try commitMany { db, run in
            try db.execute(sql: "SAVEPOINT outer")
            try db.insert("player \(run)")
            try db.execute(sql: "RELEASE outer")
        }
    }

    @Test("A statement of its own that has taken effect is not reported as cancelled")
    func statement() throws { try commitMany { db, run in try db.insert("player \(run)") } }
}
