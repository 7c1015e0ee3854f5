import CSQLite
import TestSupport
import Testing

@testable import Shellac

@Suite("A transaction that SQLite ends by itself")
struct LostTransactionTests {
    /// Something inside of which the transaction is lost.
    enum Loss: String, CaseIterable, Sendable {
        /// A statement that only reads.
        case reading
        /// A statement that only reads, whose rows are read one by one.
        case cursor
        /// A statement that reads, inside of the function of another one that reads, which goes on.
        case nestedReading
        /// A statement that reads, inside of the function of one that writes, which goes on.
        case readingInsideWriting
        /// A statement that writes, inside of the function of another one, which goes on.
        case nestedWriting
        /// A statement that writes.
        case writing
        /// A trigger of a statement that writes.
        case raise

        static let spills = "SELECT spills() FROM player"
        static let conflict = "INSERT OR ROLLBACK INTO player (id, name) VALUES (1, 'Arthur')"

        func run(_ db: Database) throws {
            switch self {
            case .reading: _ = try Row.fetchAll(db, sql: Self.spills)
            case .cursor:
                let cursor = try String.fetchCursor(
                    db, sql: "SELECT 'a' UNION ALL \(Self.spills)")
                while (try cursor.next()) != nil {}
            case .nestedReading: _ = try Row.fetchAll(db, sql: "SELECT swallows(?)", arguments: [Self.spills])
            case .readingInsideWriting:
                try db.execute(
                    sql: "UPDATE player SET name = swallows(?) WHERE id = 1", arguments: [Self.spills])
            case .nestedWriting:
                try db.execute(
                    sql: "UPDATE player SET name = swallows(?) WHERE id = 1", arguments: [Self.conflict])
            case .writing: try db.execute(sql: Self.conflict)
            case .raise: try db.execute(sql: "UPDATE player SET name = 'refused' WHERE id = 1")
            }
        }

        var resultCode: ResultCode {
            switch self {
            case .reading, .cursor, .nestedReading, .readingInsideWriting: .SQLITE_IOERR
            case .nestedWriting, .writing, .raise: .SQLITE_CONSTRAINT
            }
        }
    }

    private func makeQueue() throws -> (DatabaseQueue, ObserverSpy) {
        let (queue, spy) = try DatabaseQueue.withSpy(
            """
            INSERT INTO player VALUES (1, 'Arthur');
            CREATE TRIGGER refuses AFTER UPDATE ON player WHEN NEW.name = 'refused'
            BEGIN SELECT RAISE(ROLLBACK, 'refused'); END;
            """)
        try queue.inDatabase { db in
            // The error of a sorter that finds a full disk ends the transaction.
            sqlite3_create_function_v2(
                db.sqliteConnection, "spills", 0, SQLITE_UTF8, nil,
                { context, _, _ in sqlite3_result_error_code(context, SQLITE_IOERR) }, nil, nil, nil)
            try db.add(
                function: DatabaseFunction("swallows", argumentCount: 1) { [unowned db] values in
                    let error = thrownError {
                        _ = try Row.fetchAll(db, sql: String.fromDatabaseValue(values[0]) ?? "")
                    }
                    #expect(error != nil)
                    // Nothing runs on by accident.
                    let next = thrownError { try db.execute(sql: "INSERT INTO player VALUES (50, 'lost')") }
                    #expect(next as? DatabaseError == error as? DatabaseError)
                    return "swallowed".databaseValue
                })
        }
        spy.removeAll()
        return (queue, spy)
    }

    @Test(
        "A transaction lost inside any statement is told as a rollback at once", .behaviour(102),
        arguments: Loss.allCases
    )
    func told(loss: Loss) throws {
        let (queue, spy) = try makeQueue()
        let recorder = Recorder<String>()
        let observation = DatabaseRegionObservation(tracking: DatabaseRegion(table: "player")).start(
            in: queue, onError: { _ in }, onChange: { _ in recorder.record("changed") })
        let paused = ObserverSpy()
        paused.onChange = { _ in paused.stopObservingDatabaseChangesUntilNextTransaction() }
        queue.add(transactionObserver: paused)
        weak var next: ObserverSpy?
        let error = databaseError {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO player VALUES (10, 'lost')")
                try db.execute(sql: "SAVEPOINT s; INSERT INTO player VALUES (11, 'held')")
                let once = ObserverSpy()
                next = once
                once.onRollback = { _ in recorder.record("next rolled back") }
                db.add(transactionObserver: once, extent: .nextTransaction)
                db.afterNextTransaction { _ in
                    recorder.record("committed")
                } onRollback: { db in
                    recorder.record("rolled back \(db.isInsideTransaction)")
                    // The database can be used.
                    try? db.execute(sql: "INSERT INTO player VALUES (20, 'after')")
                }
                let first = databaseError { try loss.run(db) }
                #expect(first?.resultCode.primaryResultCode == loss.resultCode)
                #expect(recorder.removeAll() == ["next rolled back", "rolled back false", "changed"])
                let told = ["insert player 10", "didRollback", "insert player 20", "willCommit", "didCommit"]
                #expect(spy.removeAll() == told)
                #expect(paused.removeAll() == told)
                let second = databaseError { _ = try db.names() }
                #expect(second == first)
            }
        }
        #expect(error?.resultCode.primaryResultCode == loss.resultCode)
        #expect(next == nil)
        #expect(spy.log == [])
        // An unrelated transaction notifies nothing of the lost one.
        try queue.write { db in try db.execute(sql: "CREATE TABLE u (a); INSERT INTO u VALUES (1)") }
        #expect(spy.removeAll() == ["insert u 1", "willCommit", "didCommit"])
        #expect(recorder.elements == [])
        try queue.write { db in try db.insert("Barbara") }
        #expect(paused.log.suffix(3) == ["insert player 21", "willCommit", "didCommit"])
        #expect(recorder.elements == ["changed"])
        observation.cancel()
        #expect(try queue.names() == ["Arthur", "after", "Barbara"])
    }

    @Test(
        "What is lost inside of a statement whose function added the first observer is told", .behaviour(102))
    func addedInside() throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        let spy = ObserverSpy()
        nonisolated(unsafe) let added = spy  // used inside of the access alone
        try queue.inDatabase { db in
            try db.insert("Arthur")
            try db.add(
                function: DatabaseFunction("adds", argumentCount: 1) { [unowned db] values in
                    db.afterNextTransaction { _ in
                        recorder.record("committed")
                    } onRollback: { _ in
                        recorder.record("rolled back")
                    }
                    db.add(transactionObserver: added)
                    return values[0]
                })
        }
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                try db.execute(sql: "INSERT OR ROLLBACK INTO player (name) SELECT adds('Arthur')")
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        #expect(recorder.elements == ["rolled back"])
        #expect(spy.removeAll() == ["didRollback"])
        try queue.write { db in try db.insert("Barbara") }
        #expect(recorder.elements == ["rolled back"])
        #expect(spy.log == ["insert player 2", "willCommit", "didCommit"])
    }

    @Test(
        "A transaction lost in a read-only access is told to functions that wait for its end alone",
        .behaviour(102))
    func readOnly() throws {
        let (queue, spy) = try makeQueue()
        let recorder = Recorder<String>()
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { db in
                db.afterNextTransaction { _ in
                    recorder.record("committed")
                } onRollback: { _ in
                    recorder.record("rolled back")
                }
                try Loss.reading.run(db)
            }
        }
        #expect(error?.resultCode == .SQLITE_IOERR)
        #expect(recorder.elements == ["rolled back"])
        #expect(spy.log == [])
    }

    @Test(
        "A statement outside of a transaction that is undone inside of its function throws the first error",
        .behaviour(45),
        arguments: [Loss.nestedWriting, .readingInsideWriting])
    func autocommit(loss: Loss) throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            let error = databaseError { try loss.run(db) }
            #expect(error?.resultCode.primaryResultCode == loss.resultCode)
            #expect(
                error?.message
                    == (loss == .nestedWriting ? "UNIQUE constraint failed: player.id" : "disk I/O error"))
            #expect(spy.log == [])
            // The statement was a transaction of its own: the next one runs.
            #expect(try db.names() == ["Arthur"])
            try db.insert("Barbara")
        }
        #expect(spy.log == ["insert player 2", "willCommit", "didCommit"])
    }

    @Test(
        "A statement outside of a transaction whose rows are pending is undone by another one's ROLLBACK",
        .behaviour(45))
    func pending() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inDatabase { db in
            try db.insert("Arthur")
            spy.removeAll()
            let cursor = try String.fetchCursor(
                db, sql: "INSERT INTO player (name) VALUES ('Barbara'), ('Craig') RETURNING name")
            #expect(try cursor.next() == "Barbara")
            let first = databaseError {
                try db.execute(sql: "INSERT OR ROLLBACK INTO player (name) VALUES ('Arthur')")
            }
            #expect(first?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            let second = databaseError { while (try cursor.next()) != nil {} }
            #expect(second == first)
            #expect(try db.names() == ["Arthur"])
            #expect(spy.log == [])
            try db.insert("Daniel")
        }
        #expect(spy.log == ["insert player 2", "willCommit", "didCommit"])
    }

    @Test("A nested statement that fails alone does not undo the one around it", .behaviour(45))
    func harmless() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inDatabase { db in
            try db.insert("Arthur")
            spy.removeAll()
            try db.add(
                function: DatabaseFunction("tries", argumentCount: 1) { [unowned db] values in
                    #expect(databaseError { try db.insert("Arthur") } != nil)
                    #expect(databaseError { try db.execute(sql: "ROLLBACK") } != nil)
                    return values[0]
                })
            try db.execute(sql: "UPDATE player SET name = tries('Barbara')")
            #expect(try db.names() == ["Barbara"])
        }
        #expect(spy.log == ["update player 1", "willCommit", "didCommit"])
    }
}
