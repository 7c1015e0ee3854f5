import CSQLite
import Shellac
import TestSupport
import Testing

@Suite("Transaction observers")
struct TransactionObserverTests {
    @Test("Changes are told in order, then the commit")
    func commit() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inTransaction { db in
            try db.insert("Arthur")
            #expect(spy.log == ["insert player 1"])
            try db.execute(sql: "UPDATE player SET name = 'Barbara'")
            #expect(spy.log == ["insert player 1", "update player 1"])
            return .commit
        }
        #expect(spy.log == ["insert player 1", "update player 1", "willCommit", "didCommit"])
    }

    @Test("A rollback is told")
    func rollback() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inTransaction { db in
            try db.insert("Arthur")
            try db.execute(sql: "UPDATE player SET name = 'Barbara'")
            return .rollback
        }
        #expect(spy.log == ["insert player 1", "update player 1", "didRollback"])
        spy.removeAll()
        #expect(throws: TestError(1)) { try queue.write { _ in throw TestError(1) } }
        #expect(spy.log == ["didRollback"])
    }

    @Test("A statement outside of a transaction gives didChange, willCommit, didCommit", .behaviour(47))
    func autocommit() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inDatabase { db in
            try db.insert("Arthur")
            #expect(spy.removeAll() == ["insert player 1", "willCommit", "didCommit"])
            try db.execute(sql: "UPDATE player SET name = 'Barbara'")
            #expect(spy.removeAll() == ["update player 1", "willCommit", "didCommit"])
            let ids = try Int.fetchAll(
                db, sql: "INSERT INTO player (name) VALUES ('Craig'), ('David') RETURNING id")
            #expect(ids == [2, 3])
            #expect(spy.removeAll() == ["insert player 2", "insert player 3", "willCommit", "didCommit"])
        }
    }

    @Test("Changes on hold because of a savepoint are told when it is released", .behaviour(46))
    func savepoints() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inTransaction { db in
            try db.insert("Arthur")
            try db.execute(sql: "SAVEPOINT foo")
            try db.execute(sql: "UPDATE player SET name = 'B'")
            try db.execute(sql: "UPDATE player SET name = 'C'")
            #expect(spy.log == ["insert player 1"])
            try db.execute(sql: "RELEASE SAVEPOINT foo")
            #expect(spy.log == ["insert player 1", "update player 1", "update player 1"])
            try db.execute(sql: "SAVEPOINT foo")
            try db.execute(sql: "UPDATE player SET name = 'D'")
            try db.execute(sql: "ROLLBACK TO SAVEPOINT foo")
            #expect(spy.log == ["insert player 1", "update player 1", "update player 1"])
            return .commit
        }
        #expect(
            spy.log == ["insert player 1", "update player 1", "update player 1", "willCommit", "didCommit"])
    }

    @Test(
        "An error thrown by databaseWillCommit rolls back, is told as a rollback, and reaches the caller",
        .behaviour(47))
    func veto() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        spy.onWillCommit = { throw TestError(1) }
        #expect(throws: TestError(1)) { try queue.write { db in try db.insert("Arthur") } }
        #expect(spy.removeAll() == ["insert player 1", "willCommit", "didRollback"])
        #expect(throws: TestError(1)) { try queue.inDatabase { db in try db.insert("Arthur") } }
        #expect(spy.removeAll() == ["insert player 1", "willCommit", "didRollback"])
        #expect(throws: TestError(1)) {
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN; INSERT INTO player (name) VALUES ('A'); COMMIT")
            }
        }
        #expect(spy.removeAll() == ["insert player 1", "willCommit", "didRollback"])
        #expect(try queue.names() == [])
        spy.onWillCommit = nil
        try queue.write { db in try db.insert("Arthur") }
        #expect(spy.log == ["insert player 1", "willCommit", "didCommit"])
        #expect(try queue.inDatabase { db in try db.isUsable() })
    }

    @Test("A veto at the release of an outermost savepoint rolls back", .behaviour(46))
    func vetoAtRelease() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        spy.onWillCommit = { throw TestError(1) }
        try queue.inDatabase { db in
            try db.execute(sql: "SAVEPOINT a; INSERT INTO player (name) VALUES ('A'); SAVEPOINT b; RELEASE b")
            #expect(spy.log == [])
            #expect(throws: TestError(1)) { try db.execute(sql: "RELEASE A") }
            #expect(spy.log == ["insert player 1", "willCommit", "didRollback"])
            #expect(!db.isInsideTransaction)
            #expect(try db.names() == [])
            spy.onWillCommit = nil
            spy.removeAll()
            try db.execute(sql: "SAVEPOINT a; INSERT INTO player (name) VALUES ('A'); RELEASE a")
            #expect(spy.log == ["insert player 1", "willCommit", "didCommit"])
            #expect(try db.isUsable())
        }
    }

    @Test(
        "The first veto is thrown, later observers are not asked, and all hear of the rollback",
        .behaviour(47))
    func vetoOfMany() throws {
        let (queue, first) = try DatabaseQueue.withSpy()
        let second = ObserverSpy()
        queue.add(transactionObserver: second)
        first.onWillCommit = { throw TestError(1) }
        second.onWillCommit = { throw TestError(2) }
        #expect(throws: TestError(1)) { try queue.write { db in try db.insert("Arthur") } }
        #expect(first.log == ["insert player 1", "willCommit", "didRollback"])
        #expect(second.log == ["insert player 1", "didRollback"])
    }

    @Test("An empty transaction is told of, and a read-only access is not", .behaviour(47))
    func empty() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.write { _ in }
        #expect(spy.removeAll() == ["willCommit", "didCommit"])
        try queue.inDatabase { db in try db.execute(sql: "BEGIN DEFERRED; COMMIT") }
        #expect(spy.removeAll() == ["willCommit", "didCommit"])
        _ = try queue.read { db in try db.names() }
        #expect(spy.removeAll() == [])
        _ = try queue.inDatabase { db in try db.names() }
        #expect(spy.removeAll() == [])
    }

    @Test("A commit that SQLite refuses leaves the transaction open, and may be tried again", .behaviour(47))
    func refusedCommit() throws {
        let (queue, spy) = try DatabaseQueue.withSpy(
            "CREATE TABLE pet (id INTEGER PRIMARY KEY, owner REFERENCES player DEFERRABLE INITIALLY DEFERRED)"
        )
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN; INSERT INTO pet (owner) VALUES (1)")
            expectError("FOREIGN KEY constraint failed (the transaction is still open)") {
                try db.execute(sql: "COMMIT")
            }
            #expect(spy.removeAll() == ["insert pet 1", "willCommit"])
            try db.insert("Arthur")
            try db.execute(sql: "COMMIT")
            #expect(spy.removeAll() == ["insert player 1", "willCommit", "didCommit"])
            // A statement outside of a transaction is refused before observers are asked.
            expectError("FOREIGN KEY constraint failed") {
                try db.execute(sql: "INSERT INTO pet (owner) VALUES (9)")
            }
            #expect(spy.removeAll() == [])
        }
        expectError("FOREIGN KEY constraint failed") {
            try queue.write { db in try db.execute(sql: "INSERT INTO pet (owner) VALUES (9)") }
        }
        #expect(spy.removeAll() == ["insert pet 2", "willCommit", "didRollback"])
    }

    @Test(
        "A transaction that SQLite ends by itself is rolled back, and its observers may use the database",
        .behaviour(45))
    func lost() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        spy.onRollback = { db in
            spy.note("\((try? db.names()) ?? ["unusable"])")
            try? db.inTransaction {
                try db.insert("Zoe")
                return .commit
            }
        }
        expectError("UNIQUE constraint failed: player.name") {
            try queue.write { db in
                try db.insert("Arthur")
                try? db.execute(sql: "INSERT OR ROLLBACK INTO player (name) VALUES ('Arthur')")
                #expect(
                    spy.log == [
                        "insert player 1", "didRollback", "[]", "insert player 1", "willCommit", "didCommit",
                    ])
                try db.insert("Barbara")
            }
        }
        #expect(spy.log.count == 6)
        #expect(try queue.names() == ["Zoe"])
    }

    @Test(
        "An observer that wants no changes hears of commits and rollbacks, and no hook is installed",
        .behaviour(50))
    func uninterested() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        spy.filter = { _ in false }
        try queue.write { db in
            try db.insert("Arthur")
            let connection = try #require(db.sqliteConnection)
            #expect(sqlite3_update_hook(connection, nil, nil) == nil)
            #expect(sqlite3_commit_hook(connection, nil, nil) == nil)
        }
        #expect(spy.log == ["willCommit", "didCommit"])
        #expect(spy.questions == [.insert(tableName: "player")])
    }

    @Test("The hooks go with the last observer", .behaviour(50))
    func hooks() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inDatabase { db in
            try db.insert("Arthur")
            db.remove(transactionObserver: spy)
            try db.insert("Barbara")
            let connection = try #require(db.sqliteConnection)
            #expect(sqlite3_update_hook(connection, nil, nil) == nil)
            #expect(sqlite3_commit_hook(connection, nil, nil) == nil)
        }
        #expect(spy.log == ["insert player 1", "willCommit", "didCommit"])
    }

    @Test("The hooks go with the statement that finds the only observer freed", .behaviour(50, 51))
    func hooksOfFreedObserver() throws {
        let queue = try DatabaseQueue.withPlayers()
        var spy: ObserverSpy? = ObserverSpy()
        if let spy { queue.add(transactionObserver: spy) }
        try queue.inDatabase { db in
            try db.insert("Arthur")
            #expect(spy?.log == ["insert player 1", "willCommit", "didCommit"])
            spy = nil
            try db.insert("Barbara")
            let connection = try #require(db.sqliteConnection)
            #expect(sqlite3_update_hook(connection, nil, nil) == nil)
            #expect(sqlite3_commit_hook(connection, nil, nil) == nil)
        }
    }

    @Test(
        "Observers are asked for the kinds and the columns that a statement names, once a statement and transaction",
        .behaviour(50)
    )
    func questions() throws {
        let (queue, spy) = try DatabaseQueue.withSpy(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, a, b, c);
            INSERT INTO item (a) VALUES (1), (2), (3);
            """)
        spy.filter = { kind in
            if case .update(_, let columns) = kind { columns.contains("a") } else { false }
        }
        try queue.write { db in
            for _ in 0..<2 { try db.execute(sql: "UPDATE item SET b = 1, c = 2") }
            try db.execute(sql: "UPDATE item SET a = 1, b = 2 WHERE id = 2")
            try db.execute(sql: "DELETE FROM item WHERE id = 3")
        }
        let update = DatabaseEventKind.update(tableName: "item", columnNames: ["b", "c"])
        #expect(
            spy.questions == [
                update, update, .update(tableName: "item", columnNames: ["a", "b"]),
                .delete(tableName: "item"),
            ])
        #expect(spy.log == ["update item 2", "willCommit", "didCommit"])
    }

    @Test(
        "An observer may change its mind with the transaction, and a cached statement hears of it",
        .behaviour(50))
    func otherMind() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        for isWanted in [false, true, false] {
            spy.filter = { _ in isWanted }
            try queue.write { db in
                let statement = try db.cachedStatement(sql: "INSERT INTO player (name) VALUES (?)")
                try statement.execute(arguments: ["A\(isWanted)\(spy.log.count)"])
                spy.filter = { _ in !isWanted }
                try statement.execute(arguments: ["B\(isWanted)\(spy.log.count)"])
            }
        }
        #expect(spy.questions.count == 3)
        let end = ["willCommit", "didCommit"]
        #expect(spy.log == end + ["insert player 3", "insert player 4"] + end + end)
    }

    @Test(
        "Outside of a transaction, an observer is asked for each run, also of one that changes nothing",
        .behaviour(50))
    func askedAlone() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inDatabase { db in
            let statement = try db.cachedStatement(sql: "UPDATE player SET name = ?")
            for _ in 0..<3 { try statement.execute(arguments: ["A"]) }
        }
        let question = DatabaseEventKind.update(tableName: "player", columnNames: ["name"])
        #expect(spy.questions == [question, question, question])
    }

    @Test("Events say their database, are values, and kinds print as words")
    func event() throws {
        let (queue, spy) = try DatabaseQueue.withSpy("CREATE TEMP TABLE scratch (a)")
        var events: [DatabaseEvent] = []
        spy.onChange = { events.append($0.copy()) }
        try queue.write { db in
            try db.insert("Arthur")
            try db.execute(sql: "INSERT INTO SCRATCH VALUES (1); DELETE FROM scratch WHERE a = 1")
        }
        #expect(events.map(\.databaseName) == ["main", "temp", "temp"])
        #expect(events.map(\.tableName) == ["player", "scratch", "scratch"])
        #expect(events.map { "\($0.kind)" } == ["insert", "insert", "delete"])
        #expect(events.map(\.rowID) == [1, 1, 1])
    }

    @Test("The default methods want all, and do nothing")
    func defaults() throws {
        final class Silent: TransactionObserver {}
        let queue = try DatabaseQueue.withPlayers()
        let observer = Silent()
        queue.add(transactionObserver: observer)
        #expect(observer.observes(eventsOfKind: .insert(tableName: "player")))
        try queue.write { db in try db.insert("Arthur") }
        #expect(throws: TestError(1)) { try queue.write { _ in throw TestError(1) } }
        #expect(try queue.names() == ["Arthur"])
    }

    @Test("A record has its state back when its observer hears of the rollback")
    func records() throws {
        final class Player: Record {
            var id: Int64?
            override class var databaseTableName: String { "player" }
            override func updateFromRow(_ row: Row) throws {
                if row.hasColumn("id") { id = try row["id"] }
                try super.updateFromRow(row)
            }
            override func encode(to container: inout PersistenceContainer) throws {
                container["id"] = id
                container["name"] = "Arthur"
            }
        }
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inTransaction { db in
            let player = Player()
            spy.onRollback = { _ in spy.note("\(player.id == nil) \(player.hasDatabaseChanges)") }
            try player.insert(db)
            #expect(player.id == 1)
            return .rollback
        }
        #expect(spy.log == ["insert player 1", "didRollback", "true true"])
    }
}
