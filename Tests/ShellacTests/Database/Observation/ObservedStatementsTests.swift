import Shellac
import TestSupport
import Testing

@Suite("Statements that fail, cascade and truncate, observed")
struct ObservedStatementsTests {
    /// A queue with players 1 Arthur, 2 Barbara; pets that die with their owner; and functions.
    private func makeQueue() throws -> (DatabaseQueue, ObserverSpy) {
        try DatabaseQueue.withSpy(
            """
            INSERT INTO player (name) VALUES ('Arthur'), ('Barbara');
            CREATE TABLE pet (id INTEGER PRIMARY KEY, owner REFERENCES player ON DELETE CASCADE);
            INSERT INTO pet (owner) VALUES (1), (1), (2);
            CREATE TABLE log (id INTEGER PRIMARY KEY, text);
            """)
    }

    /// A statement that fails after its first rows, and its events in a transaction and alone.
    struct Failure: Sendable {
        let sql: String
        var setup = ""
        var told: [String] = []
    }

    static let failures = [
        Failure(sql: "INSERT INTO player (name) VALUES ('C'), ('D'), ('Arthur')"),
        Failure(sql: "INSERT INTO pet (owner) VALUES (1), (99)"),
        Failure(sql: "UPDATE player SET name = 'X'"),
        Failure(sql: "INSERT INTO log (text) SELECT boom(value) FROM json_each('[1, 2, 3]')"),
        Failure(
            sql: "INSERT INTO log (text) VALUES ('a'), ('b')",
            setup: """
                CREATE TRIGGER t AFTER INSERT ON log WHEN NEW.text = 'b'
                BEGIN SELECT RAISE(ABORT, 'no'); END
                """),
        Failure(
            sql: "INSERT INTO log (text) VALUES ('a'), ('b')",
            setup: """
                CREATE TRIGGER t AFTER INSERT ON log WHEN NEW.text = 'b'
                BEGIN SELECT RAISE(FAIL, 'no'); END
                """, told: ["insert log 1", "insert log 2"]),
        Failure(
            sql: "INSERT OR FAIL INTO player (name) VALUES ('C'), ('D'), ('Arthur'), ('E')",
            told: ["insert player 3", "insert player 4"]),
        Failure(
            sql: "INSERT OR FAIL INTO player (name) VALUES ('Arthur'), ('C')"),
    ]

    @Test("What a failed statement has undone is not told", .behaviour(48), arguments: failures)
    func failure(failure: Failure) throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("boom", argumentCount: 1) { values in
                    if values[0] == 2.databaseValue { throw TestError(2) }
                    return values[0]
                })
            if !failure.setup.isEmpty { try db.execute(sql: failure.setup) }
            spy.removeAll()
            try db.inTransaction {
                #expect(throws: (any Error).self) { try db.execute(sql: failure.sql) }
                return .rollback
            }
            #expect(spy.removeAll() == failure.told + ["didRollback"])
            #expect(throws: (any Error).self) { try db.execute(sql: failure.sql) }
            // One that fails with FAIL commits what it has done.
            let isFail = failure.sql.contains("OR FAIL") || failure.setup.contains("FAIL")
            #expect(spy.removeAll() == (isFail ? failure.told + ["willCommit", "didCommit"] : []))
            #expect(try db.isUsable())
        }
    }

    @Test("A statement that a function runs inside of another is told with it", .behaviour(48))
    func nested() throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("note", argumentCount: 1) { [unowned db] values in
                    try db.execute(sql: "INSERT INTO log (text) VALUES (?)", arguments: [values[0]])
                    return values[0]
                })
            let sql = "INSERT INTO player (name) SELECT note(value) FROM json_each('[\"C\", \"D\"]')"
            try db.execute(sql: sql)
            let told = ["insert log 1", "insert player 3", "insert log 2", "insert player 4"]
            #expect(spy.removeAll() == told + ["willCommit", "didCommit"])
        }
    }

    @Test(
        "What nested statements did is dropped with a failed statement that undid it, and told otherwise",
        .behaviour(48))
    func nestedFailure() throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("note", argumentCount: 1) { [unowned db] values in
                    try db.execute(sql: "INSERT INTO log (text) VALUES (?)", arguments: [values[0]])
                    return values[0]
                })
            try db.inTransaction {
                // Many rows: SQLite undoes all.
                expectError("UNIQUE constraint failed: player.name") {
                    try db.execute(
                        sql:
                            "INSERT INTO player (name) SELECT note(value) FROM json_each('[\"C\", \"Arthur\"]')"
                    )
                }
                let isUndone = try db.integers("SELECT COUNT(*) FROM log") == [0]
                #expect(spy.log.isEmpty == isUndone)
                spy.removeAll()
                // One row: there is nothing to undo, and the function's changes stay.
                expectError("UNIQUE constraint failed: player.name") {
                    try db.execute(sql: "INSERT INTO player (name) VALUES (note('Arthur'))")
                }
                #expect(try db.integers("SELECT COUNT(*) FROM log") == [1])
                #expect(spy.removeAll() == ["insert log 1"])
                return .commit
            }
        }
    }

    @Test("Cascades are told, and the changes of SQLite's own tables are not", .behaviour(49))
    func cascades() throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)")
            spy.removeAll()
            try db.execute(sql: "DELETE FROM player WHERE id = 1")
            #expect(
                spy.removeAll().sorted() == [
                    "delete pet 1", "delete pet 2", "delete player 1", "didCommit", "willCommit",
                ])
            try db.execute(sql: "INSERT INTO counted DEFAULT VALUES")
            #expect(spy.removeAll() == ["insert counted 1", "willCommit", "didCommit"])
        }
        #expect(!spy.questions.contains { $0.tableName.hasPrefix("sqlite_") })
    }

    @Test("A column-level filter and a table-level filter hear of what triggers do", .behaviour(49))
    func triggers() throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER t AFTER UPDATE ON player
                    BEGIN INSERT INTO log (text) VALUES (NEW.name); END
                    """)
            spy.removeAll()
            spy.filter = { $0.tableName == "log" }
            try db.execute(sql: "UPDATE player SET name = 'Craig' WHERE id = 1")
        }
        #expect(spy.log == ["insert log 1", "willCommit", "didCommit"])
    }

    @Test(
        "DELETE without WHERE tells each row, also by a statement prepared before", .behaviour(49),
        arguments: [true, false])
    func truncation(isPreparedBefore: Bool) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            let spy = ObserverSpy()
            let early = try db.makeStatement(sql: "DELETE FROM player")
            for _ in 0..<2 {
                for name in ["A", "B"] { try db.insert(name) }
                db.add(transactionObserver: spy)
                try (isPreparedBefore ? early : db.makeStatement(sql: "DELETE FROM player")).execute()
                #expect(db.changesCount == 2)
                #expect(spy.removeAll() == ["delete player 1", "delete player 2", "willCommit", "didCommit"])
                db.remove(transactionObserver: spy)
                try db.insert("C")
                try early.execute()
                #expect(spy.removeAll() == [])
                #expect(try db.names() == [])
            }
        }
    }

    @Test("DELETE without WHERE inside of a trigger tells each row", .behaviour(49))
    func truncationByTrigger() throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM pet; END")
            spy.removeAll()
            try db.execute(sql: "INSERT INTO log (text) VALUES ('x')")
        }
        let told = ["insert log 1", "delete pet 1", "delete pet 2", "delete pet 3"]
        #expect(spy.log == told + ["willCommit", "didCommit"])
    }

    @Test("A DROP of an observed table drops it", .behaviour(49), arguments: ["TABLE", "VIEW"])
    func drop(what: String) throws {
        let (queue, spy) = try makeQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE VIEW v AS SELECT * FROM log;
                    CREATE TRIGGER t INSTEAD OF DELETE ON v BEGIN DELETE FROM log WHERE id = OLD.id; END
                    """)
            let drop = try db.makeStatement(sql: what == "TABLE" ? "DROP TABLE log" : "DROP VIEW v")
            let name = what == "TABLE" ? "log" : "v"
            try db.execute(sql: "INSERT INTO log (text) VALUES ('x')")
            spy.removeAll()
            try db.execute(sql: "DELETE FROM \(name)")
            #expect(spy.removeAll() == ["delete log 1", "willCommit", "didCommit"])
            try drop.execute()
            #expect(
                try Int.fetchOne(
                    db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE name = ?", arguments: [name]) == 0)
        }
    }

    @Test(
        "Statements whose rows are read one by one tell at their end, in the order of their changes",
        .behaviour(48))
    func interleaved() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        try queue.inDatabase { db in
            do {
                let rows = try Int.fetchCursor(
                    db, sql: "INSERT INTO player (name) VALUES ('A'), ('B') RETURNING id")
                #expect(try rows.next() == 1)
                try db.execute(sql: "DELETE FROM player WHERE id = 1")
                #expect(spy.log == [])
                while try rows.next() != nil {}
            }
            #expect(
                spy.removeAll() == [
                    "insert player 1", "insert player 2", "delete player 1", "willCommit", "didCommit",
                ])
            do {
                let rows = try Int.fetchCursor(
                    db, sql: "INSERT INTO player (name) VALUES ('C'), ('D') RETURNING id")
                _ = try rows.next()
            }
            #expect(spy.removeAll() == ["insert player 3", "insert player 4", "willCommit", "didCommit"])
        }
    }
}
