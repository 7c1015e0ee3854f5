import Shellac
import TestSupport
import Testing

@Suite("Closing an observed database")
struct RefusedClosingTests {
    /// The hooks of SQLite that the connection has when it is closed.
    enum Moment: CaseIterable, Sendable {
        /// None: there was no observer of a change.
        case fresh
        /// The commit hook, after a statement outside of a transaction.
        case autocommit
        /// The update hook, after a transaction.
        case transaction
        /// The pre-update hook, too.
        case values
    }

    @Test(
        "A close() that throws leaves observers, hooks and waiting functions as they were", .behaviour(103),
        arguments: Moment.allCases)
    func refused(at moment: Moment) throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        weak var held: ObserverSpy?
        if moment == .values {
            let observer = ObserverSpy()
            try queue.add(
                transactionObserver: observer, extent: .databaseLifetime,
                options: [.rowValues, .hiddenChanges])
            held = observer
        } else {
            let observer = ObserverSpy()
            queue.add(transactionObserver: observer, extent: .databaseLifetime)
            held = observer
        }
        switch moment {
        case .fresh: break
        case .autocommit: try queue.inDatabase { db in try db.insert("Arthur") }
        case .transaction, .values: try queue.write { db in try db.insert("Arthur") }
        }
        let recorder = Recorder<String>()
        var kept: Statement?
        try queue.inDatabase { db in
            kept = try db.makeStatement(sql: "SELECT 1")
            db.afterNextTransaction { _ in recorder.record("committed") }
        }
        for _ in 1...2 {
            let error = #expect(throws: DatabaseError.self) { try queue.close() }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(error?.message?.hasSuffix("cannot be closed: a statement is still in use") == true)
            #expect(error?.sql == "SELECT 1")
        }
        spy.removeAll()
        held?.removeAll()
        let next = moment == .fresh ? 1 : 2
        try queue.inDatabase { db in try db.insert("Barbara") }
        let told = ["insert player \(next)", "willCommit", "didCommit"]
        #expect(spy.log == told)
        #expect(held?.log == told)
        #expect(recorder.elements == ["committed"])
        try queue.write { db in
            try db.execute(sql: "REPLACE INTO player (id, name) VALUES (\(next), 'Craig')")
        }
        #expect(spy.log == told + told)
        kept = nil
        try queue.close()
        #expect(held == nil)
        #expect(kept == nil)
    }

    @Test("An observer that is freed by close() finds the database closed", .behaviour(103))
    func freed() throws {
        final class Observer: TransactionObserver {
            let queue: DatabaseQueue
            let recorder: Recorder<String>
            init(_ queue: DatabaseQueue, _ recorder: Recorder<String>) {
                (self.queue, self.recorder) = (queue, recorder)
            }
            deinit {
                queue.remove(transactionObserver: ObserverSpy())
                let error = #expect(throws: DatabaseError.self) {
                    try queue.unsafeReentrantWrite { db in try db.execute(sql: "SELECT 1") }
                }
                recorder.record(error?.message ?? "")
            }
        }
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        queue.add(transactionObserver: Observer(queue, recorder), extent: .databaseLifetime)
        try queue.write { db in try db.insert("Arthur") }
        try queue.close()
        #expect(recorder.elements.map { $0.hasSuffix("is closed") } == [true])
    }

    @Test("A statement that outlives the last access to a database tells nobody when it is finalized")
    func abandoned() throws {
        let recorder = Recorder<String>()
        var queue: DatabaseQueue? = try DatabaseQueue.withPlayers()
        let spy = ObserverSpy()
        spy.onChange = { _ in recorder.record("change") }
        queue?.add(transactionObserver: spy)
        var cursor: DatabaseCursor<String>?
        try queue?.inDatabase { db in
            try db.insert("Arthur")
            // A statement outside of a transaction that returns rows commits when it is reset or
            // finalized.
            cursor = try String.fetchCursor(
                db, sql: "INSERT INTO player (name) VALUES ('Barbara'), ('Craig') RETURNING name")
            _ = try cursor?.next()
        }
        queue = nil
        cursor = nil
        #expect(recorder.elements == ["change", "change", "change"])
    }
}
