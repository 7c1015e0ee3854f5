import Shellac
import TestSupport
import Testing

@Suite("Statements that nobody observes")
struct QuietStatementsTests {
    /// Players are observed; logs are not.
    private func makeQueue() throws -> (DatabaseQueue, ObserverSpy) {
        let (queue, spy) = try DatabaseQueue.withSpy("CREATE TABLE log (id INTEGER PRIMARY KEY, text UNIQUE)")
        spy.filter = { $0.tableName == "player" }
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("adds", argumentCount: 1) { [unowned db] values in
                    try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [values[0]])
                    return values[0]
                })
        }
        spy.removeAll()
        return (queue, spy)
    }

    @Test(
        "An observed statement inside of an unobserved one is told when that has ended, if it stands",
        .behaviour(48))
    func nested() throws {
        let (queue, spy) = try makeQueue()
        try queue.inTransaction { db in
            try db.execute(sql: "INSERT INTO log (text) VALUES (adds('a'))")
            #expect(spy.removeAll() == ["insert player 1"])
            expectError("UNIQUE constraint failed: player.name") {
                try db.execute(
                    sql: "INSERT INTO log (text) SELECT adds(value) FROM json_each('[\"b\", \"a\"]')")
            }
            // The events are the changes that last.
            let told = spy.removeAll().filter { $0.hasPrefix("insert") }.count
            #expect(try db.names().count == 1 + told)
            try db.execute(sql: "UPDATE log SET text = 'x'")
            #expect(spy.removeAll() == [])
            return .commit
        }
        #expect(spy.removeAll() == ["willCommit", "didCommit"])
    }

    @Test(
        "When SQLite ends the transaction in an unobserved statement, the rollback is told once",
        .behaviour(45))
    func lost() throws {
        let (queue, spy) = try makeQueue()
        expectError("UNIQUE constraint failed: log.text") {
            try queue.inTransaction { db in
                try db.execute(sql: "INSERT INTO log (text) VALUES ('a')")
                try db.execute(sql: "INSERT OR ROLLBACK INTO log (text) VALUES ('a')")
                return .commit
            }
        }
        #expect(spy.removeAll() == ["didRollback"])
        try queue.write { db in try db.insert("Arthur") }
        #expect(spy.removeAll() == ["insert player 1", "willCommit", "didCommit"])
    }

    @Test("Observers come and go inside of an unobserved statement", .behaviour(50))
    func comingAndGoing() throws {
        let (queue, spy) = try makeQueue()
        let late = ObserverSpy()
        // The function runs inside of the access, as the observers do.
        nonisolated(unsafe) let (leaving, coming) = (spy, late)
        try queue.inTransaction { db in
            try db.add(
                function: DatabaseFunction("swaps", argumentCount: 0) { [unowned db] _ in
                    db.remove(transactionObserver: leaving)
                    db.add(transactionObserver: coming)
                    return 1
                })
            try db.execute(sql: "INSERT INTO log (text) VALUES (swaps())")
            try db.insert("Arthur")
            return .commit
        }
        #expect(spy.removeAll() == [])
        #expect(late.removeAll() == ["insert player 1", "willCommit", "didCommit"])
        queue.remove(transactionObserver: late)
        try queue.write { db in try db.insert("Barbara") }
        #expect(late.removeAll() == [])
    }

    @Test("More than sixty-four kinds of changes are asked for, each answer kept apart", .behaviour(50))
    func manyKinds() throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            for number in 0..<70 {
                try db.execute(sql: "CREATE TABLE t\(number) (a)")
                try db.execute(
                    sql:
                        "CREATE TRIGGER g\(number) AFTER INSERT ON log BEGIN INSERT INTO t\(number) VALUES (1); END"
                )
            }
            spy.removeAll()
            for wanted in ["t0", "t69", "log", "t63"] {
                spy.filter = { $0.tableName == wanted }
                try db.execute(sql: "INSERT INTO log (text) VALUES ('\(wanted)')")
                #expect(spy.removeAll().first?.hasPrefix("insert \(wanted) ") == true)
            }
        }
    }
}
