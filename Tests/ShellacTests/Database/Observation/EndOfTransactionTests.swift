import TestSupport
import Testing

@testable import Shellac

@Suite("The end of a transaction, as told")
struct EndOfTransactionTests {
    /// The action of the first observer in didCommit or didRollback.
    enum Second: CaseIterable, Sendable {
        case commit, rollback, failure, autocommit, savepoint, raw

        func run(_ db: Database) throws {
            switch self {
            case .commit, .rollback:
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO player VALUES (200, 'second')")
                    return self == .commit ? .commit : .rollback
                }
            case .failure:
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO player VALUES (200, 'second')")
                    throw TestError(1)
                }
            case .autocommit: try db.execute(sql: "INSERT INTO player VALUES (200, 'second')")
            case .savepoint:
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO player VALUES (200, 'second')")
                    return .commit
                }
            case .raw: try db.execute(sql: "BEGIN; INSERT INTO player VALUES (200, 'second'); END")
            }
        }

        var isCommitted: Bool { self != .rollback && self != .failure }
    }

    @Test(
        "Every observer hears of the end of a transaction before it hears of the next one",
        arguments: Second.allCases, [true, false])
    func order(second: Second, isFirstCommitted: Bool) throws {
        let (queue, first) = try DatabaseQueue.withSpy()
        let recorder = Recorder<String>()
        let behind = ObserverSpy()
        queue.add(transactionObserver: behind)
        let observation = DatabaseRegionObservation(tracking: DatabaseRegion(table: "player")).start(
            in: queue, onError: { _ in },
            onChange: { db in
                let names = try? db.names()
                recorder.record("changed \(names ?? []) \(db.isInsideTransaction)")
            })
        defer { observation.cancel() }
        let once = ObserverSpy()
        queue.add(transactionObserver: once, extent: .nextTransaction)
        var isDone = false
        let react = { (db: Database) in
            if isDone { return }
            isDone = true
            try? second.run(db)
            #expect(!db.isInsideTransaction)
        }
        first.onCommit = react
        first.onRollback = react
        try queue.inTransaction { db in
            try db.execute(sql: "INSERT INTO player VALUES (5, 'first')")
            db.afterNextTransaction { db in
                recorder.record("hook \(db.isInsideTransaction)")
            } onRollback: { db in
                recorder.record("undone \(db.isInsideTransaction)")
            }
            return isFirstCommitted ? .commit : .rollback
        }
        let end = isFirstCommitted ? ["willCommit", "didCommit"] : ["didRollback"]
        let own = ["insert player 5"] + end
        let next =
            ["insert player 200"] + (second.isCommitted ? ["willCommit", "didCommit"] : ["didRollback"])
        #expect(first.log == own + next)
        #expect(behind.log == own + next)
        #expect(once.log == own)
        let names = isFirstCommitted ? ["first"] : []
        let changes =
            (isFirstCommitted ? ["changed \(names) false"] : [])
            + [isFirstCommitted ? "hook false" : "undone false"]
            + (second.isCommitted ? ["changed \(names + ["second"]) false"] : [])
        #expect(recorder.elements == changes)
    }

    @Test("Observers that all open transactions when they hear of the end take turns")
    func turns() throws {
        let queue = try DatabaseQueue.withPlayers()
        let recorder = Recorder<String>()
        let spies = (0..<3).map { number in
            let spy = ObserverSpy()
            var rest = 2
            spy.onCommit = { db in
                guard rest > 0 else { return }
                rest -= 1
                // (It may be notified again before its transaction begins.)
                let name = "\(number) \(rest)"
                try? db.inTransaction {
                    try db.insert(name)
                    return .commit
                }
                recorder.record(name)
            }
            queue.add(transactionObserver: spy)
            return spy
        }
        try queue.write { db in try db.insert("Arthur") }
        // Seven transactions, of which each observer was notified one after the other.
        for spy in spies {
            #expect(spy.log == (1...7).flatMap { ["insert player \($0)", "willCommit", "didCommit"] })
        }
        #expect(recorder.elements.count == 6)
        try queue.write { db in try db.insert("Barbara") }
        #expect(spies[2].log.suffix(3) == ["insert player 8", "willCommit", "didCommit"])
    }

    @Test("A transaction that is vetoed by one behind is rolled back for whoever opened it in didCommit")
    func veto() throws {
        let (queue, first) = try DatabaseQueue.withSpy()
        let behind = ObserverSpy()
        queue.add(transactionObserver: behind)
        var ids: [Int64] = []
        behind.onChange = { ids.append($0.rowID) }
        behind.onWillCommit = { if ids == [200] { throw TestError(7) } }
        behind.onCommit = { _ in ids = [] }
        behind.onRollback = { _ in ids = [] }
        var isDone = false
        first.onCommit = { db in
            if isDone { return }
            isDone = true
            #expect(throws: TestError(7)) { try Second.commit.run(db) }
        }
        try queue.write { db in try db.execute(sql: "INSERT INTO player VALUES (5, 'first')") }
        #expect(try queue.names() == ["first"])
        #expect(behind.log.suffix(3) == ["insert player 200", "willCommit", "didRollback"])
    }

    @Test("An observer removed by another one in didCommit hears nothing more, also of the present end")
    func removedMeanwhile() throws {
        for extent in [TransactionObservationExtent.observerLifetime, .nextTransaction, .databaseLifetime] {
            let (queue, first) = try DatabaseQueue.withSpy()
            let behind = ObserverSpy()
            queue.add(transactionObserver: behind, extent: extent)
            first.onCommit = { db in db.remove(transactionObserver: behind) }
            try queue.write { db in try db.insert("Arthur") }
            #expect(behind.log == ["insert player 1", "willCommit"])
        }
    }

    @Test(
        "What is kept of statements does not hold an observer whose extent has ended, or that was removed",
        .behaviour(51)
    )
    func freed() throws {
        let queue = try DatabaseQueue.withPlayers()
        for extent in [TransactionObservationExtent.nextTransaction, .databaseLifetime] {
            weak var gone: ObserverSpy?
            try queue.write { db in
                let spy = ObserverSpy()
                gone = spy
                db.add(transactionObserver: spy, extent: extent)
                let sql = "INSERT INTO player (name) VALUES (?)"
                try db.cachedStatement(sql: sql).execute(arguments: ["\(extent)"])
                #expect(spy.log.count == 1)
            }
            if let held = gone { queue.remove(transactionObserver: held) }
            #expect(gone == nil, "\(extent)")
        }
    }

    /// The notification in which the last observer removes itself, or adds another one.
    enum Place: CaseIterable, Sendable {
        case asked, changed, told, willCommit, didCommit, loneWillCommit

        /// Inserts a player, and has an observer run a function here.
        func insert(
            into queue: DatabaseQueue, heardBy spy: ObserverSpy, running body: @escaping () -> Void
        ) throws {
            switch self {
            case .asked:
                spy.filter = { _ in
                    body()
                    return true
                }
            case .changed, .told: spy.onChange = { _ in body() }
            case .willCommit, .loneWillCommit: spy.onWillCommit = body
            case .didCommit: spy.onCommit = { _ in body() }
            }
            if self == .loneWillCommit { return try queue.inDatabase { db in try db.insert("Arthur") } }
            try queue.write { db in
                // Changes in a savepoint are notified at the COMMIT.
                if self == .told { try db.execute(sql: "SAVEPOINT s") }
                try db.insert("Arthur")
            }
        }
    }

    @Test(
        "The last observer removes itself at any time, and later ones hear everything",
        arguments: Place.allCases)
    func leaving(place: Place) throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        let remove = { queue.remove(transactionObserver: spy) }
        try place.insert(into: queue, heardBy: spy, running: remove)
        let later = ObserverSpy()
        queue.add(transactionObserver: later)
        for number in 2...4 {
            try queue.write { db in try db.insert("\(number)") }
            #expect(later.removeAll() == ["insert player \(number)", "willCommit", "didCommit"])
        }
        try queue.inDatabase { db in try db.insert("5") }
        #expect(later.log == ["insert player 5", "willCommit", "didCommit"])
    }

    @Test(
        "An observer added when the transaction is about to end hears of the next one",
        arguments: Place.allCases)
    func joining(place: Place) throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        let (late, once) = (ObserverSpy(), ObserverSpy())
        var isDone = false
        let add = {
            if isDone { return }
            isDone = true
            queue.add(transactionObserver: late)
            queue.add(transactionObserver: once, extent: .nextTransaction)
        }
        try place.insert(into: queue, heardBy: spy, running: add)
        let hears = place == .asked || place == .changed || place == .told
        #expect(late.removeAll() == (hears ? ["willCommit", "didCommit"] : []))
        #expect(once.removeAll() == (hears ? ["willCommit", "didCommit"] : []))
        try queue.write { db in try db.insert("Barbara") }
        let told = ["insert player 2", "willCommit", "didCommit"]
        #expect(late.log == told)
        #expect(once.log == (hears ? [] : told))
    }

    @Test(
        "An observer added in a willCommit whose commit SQLite refuses hears of the transaction that goes on")
    func refused() throws {
        let (queue, spy) = try DatabaseQueue.withSpy(
            "CREATE TABLE c (p REFERENCES player DEFERRABLE INITIALLY DEFERRED)")
        let late = ObserverSpy()
        var isDone = false
        spy.onWillCommit = {
            if isDone { return }
            isDone = true
            queue.add(transactionObserver: late)
        }
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN; INSERT INTO c VALUES (1)")
            #expect(databaseError { try db.execute(sql: "COMMIT") } != nil)
            #expect(late.log == [])
            try db.execute(sql: "INSERT INTO player VALUES (1, 'Arthur'); COMMIT")
        }
        #expect(late.log == ["insert player 1", "willCommit", "didCommit"])
    }

    @Test("A ROLLBACK beside a statement whose rows are pending is told once, and what follows is told")
    func pendingRows() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN")
            let cursor = try String.fetchCursor(
                db, sql: "INSERT INTO player (name) VALUES ('Arthur'), ('Barbara') RETURNING name")
            _ = try cursor.next()
            try db.execute(sql: "ROLLBACK")
            #expect(spy.removeAll() == ["didRollback"])
            _ = thrownError { while (try cursor.next()) != nil {} }
            #expect(spy.log == [])
            try db.inTransaction {
                try db.insert("Craig")
                return .commit
            }
            #expect(spy.log == ["insert player 1", "willCommit", "didCommit"])
        }
    }

    @Test("Each of several statements tells those who asked for its changes, run after run")
    func severalAudiences() throws {
        let (queue, players) = try DatabaseQueue.withSpy("CREATE TABLE team (id INTEGER PRIMARY KEY)")
        let teams = ObserverSpy()
        queue.add(transactionObserver: teams)
        players.filter = { $0.tableName == "player" }
        teams.filter = { $0.tableName == "team" }
        try queue.write { db in
            let player = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (random())")
            let team = try db.makeStatement(sql: "INSERT INTO team DEFAULT VALUES")
            for _ in 1...3 {
                try player.execute()
                try team.execute()
            }
        }
        #expect(players.log == (1...3).map { "insert player \($0)" } + ["willCommit", "didCommit"])
        #expect(teams.log == (1...3).map { "insert team \($0)" } + ["willCommit", "didCommit"])
    }

    @Test("A change that nobody wants does not bring up a hidden one that was told before", .behaviour(53))
    func hiddenBesideUnwanted() throws {
        let (queue, _) = try DatabaseQueue.withSpy(
            """
            CREATE TABLE log (id INTEGER PRIMARY KEY);
            INSERT INTO player VALUES (1, 'Arthur');
            CREATE TRIGGER logs AFTER INSERT ON player BEGIN
                INSERT INTO log (id) VALUES (NULL);
                DELETE FROM player WHERE id = 99;
            END;
            """)
        let spy = ObserverSpy()
        spy.filter = { $0.tableName == "player" }
        try queue.add(transactionObserver: spy, options: .rowValues)
        try queue.write { db in try db.execute(sql: "REPLACE INTO player VALUES (1, 'Barbara')") }
        #expect(spy.log == ["insert player 1", "willCommit", "didCommit"])
    }

    @Test("notifyChanges in a read-only access tells nobody")
    func notifyInRead() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        let recorder = Recorder<String>()
        let observation = DatabaseRegionObservation(tracking: DatabaseRegion(table: "player")).start(
            in: queue, onError: { _ in }, onChange: { _ in recorder.record("changed") })
        try queue.read { db in try db.notifyChanges(in: DatabaseRegion(table: "player")) }
        try queue.write { db in
            try db.readOnly { try db.notifyChanges(in: DatabaseRegion(table: "player")) }
        }
        #expect(spy.log == ["willCommit", "didCommit"])
        #expect(recorder.elements == [])
        observation.cancel()
    }
}
