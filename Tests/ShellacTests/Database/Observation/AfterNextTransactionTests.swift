import Shellac
import TestSupport
import Testing

@Suite("After the next transaction")
struct AfterNextTransactionTests {
    /// Registers functions that keep what happens.
    private func register(_ db: Database, _ name: String, _ recorder: Recorder<String>) {
        db.afterNextTransaction { db in
            recorder.record("\(name) committed \(db.isInsideTransaction)")
        } onRollback: { db in
            recorder.record("\(name) rolled back \(db.isInsideTransaction)")
        }
    }

    @Test("The function runs once, after the commit", .behaviour(54), arguments: [true, false])
    func commit(isEmpty: Bool) throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        try queue.write { db in
            register(db, "a", recorder)
            register(db, "b", recorder)
            if !isEmpty { try db.insert("Arthur") }
            #expect(recorder.elements == [])
        }
        #expect(recorder.elements == ["a committed false", "b committed false"])
        try queue.write { db in try db.insert("Barbara") }
        #expect(recorder.elements.count == 2)
    }

    @Test("After a rollback, the other function runs", .behaviour(54))
    func rollback() throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        #expect(throws: TestError(1)) {
            try queue.write { db in
                register(db, "a", recorder)
                throw TestError(1)
            }
        }
        #expect(recorder.elements == ["a rolled back false"])
    }

    @Test(
        "Registered in a savepoint that is rolled back, it is dropped, though the transaction commits",
        .behaviour(54))
    func savepoint() throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        try queue.write { db in
            register(db, "before", recorder)
            try db.inSavepoint {
                register(db, "undone", recorder)
                try db.inSavepoint {
                    register(db, "inner", recorder)
                    return .commit
                }
                #expect(recorder.elements == [])
                return .rollback
            }
            #expect(recorder.removeAll() == ["undone rolled back true", "inner rolled back true"])
            try db.execute(sql: "SAVEPOINT x")
            register(db, "kept", recorder)
            try db.execute(sql: "SAVEPOINT y")
            register(db, "y", recorder)
            try db.execute(sql: "ROLLBACK TO Y")
            register(db, "y again", recorder)
            try db.execute(sql: "RELEASE X")
            #expect(recorder.removeAll() == ["y rolled back true"])
        }
        #expect(
            recorder.elements == [
                "before committed false", "kept committed false", "y again committed false",
            ])
    }

    @Test(
        "Registered outside of a transaction, it waits for the next one, or a statement outside of one",
        .behaviour(54))
    func outside() throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        try queue.inDatabase { db in
            register(db, "a", recorder)
            _ = try db.names()
            expectError("NOT NULL constraint failed: player.name") {
                try db.execute(sql: "INSERT INTO player (name) VALUES (NULL)")
            }
            #expect(recorder.elements == [])
            try db.insert("Arthur")
            #expect(recorder.removeAll() == ["a committed false"])
            register(db, "b", recorder)
            try db.execute(sql: "BEGIN; ROLLBACK")
            #expect(recorder.removeAll() == ["b rolled back false"])
        }
    }

    @Test(
        "It runs at the end of a read-only access, and after a veto the rollback's function runs",
        .behaviour(54))
    func readAndVeto() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        let recorder = Recorder<String>()
        try queue.read { db in register(db, "a", recorder) }
        #expect(recorder.removeAll() == ["a committed false"])
        #expect(spy.log == [])
        spy.onWillCommit = { throw TestError(1) }
        #expect(throws: TestError(1)) { try queue.write { db in register(db, "b", recorder) } }
        #expect(recorder.elements == ["b rolled back false"])
    }

    @Test("The function may write, and register another", .behaviour(54))
    func chain() throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        try queue.write { db in
            db.afterNextTransaction { db in
                try? db.insert("Arthur")
                register(db, "second", recorder)
                try? db.inTransaction { .commit }
            }
        }
        #expect(recorder.elements == ["second committed false"])
        #expect(try queue.names() == ["Arthur"])
    }

    @Test("What it holds is freed when it has run", .behaviour(54))
    func freed() throws {
        let queue = try DatabaseQueue.withPlayers()
        weak var gone: ObserverSpy?
        try queue.write { db in
            let held = ObserverSpy()
            gone = held
            db.afterNextTransaction { _ in held.note("done") }
        }
        #expect(gone == nil)
    }
}
