import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Our triggers follow the schema, and what was registered does not follow transactions")
struct TriggersFollowSchemaTests {
    private let file: TemporaryDatabase
    private let queue: DatabaseQueue
    private let other: DatabaseQueue
    private let heard = Recorder<String>()

    init() throws {
        file = try TemporaryDatabase()
        queue = try DatabaseQueue(path: file.path, configuration: StampClock().configuration())
        other = try file.queue()
        try other.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (id INTEGER PRIMARY KEY, n, x, updated);
                    CREATE TABLE o (y);
                    INSERT INTO a (n) VALUES (1);
                    """)
        }
    }

    enum Kind: CaseIterable { case callback, undo, stamps, all }

    private func register(_ kind: Kind) throws -> DatabaseUndo? {
        let heard = heard
        if kind == .callback || kind == .all {
            try queue.after(.update, on: "a") { _, change in
                heard.record(try #require(change.new).columnNames.joined(separator: " "))
            }
        }
        if kind == .stamps || kind == .all {
            try queue.register(
                DatabaseStamps(updated: "updated").stamping("x", onUpdateOf: "n"), on: "a")
        }
        return kind == .undo || kind == .all ? try DatabaseUndo(queue, tables: ["a"]) : nil
    }

    @Test(
        "After another connection's change of the schema, statements outside of transactions run, and tables can be altered",
        .behaviour(37),
        arguments: Kind.allCases,
        [
            "ALTER TABLE a RENAME COLUMN n TO m", "ALTER TABLE a DROP COLUMN n", "DROP TABLE a",
            "ALTER TABLE a RENAME TO b",
        ])
    func otherConnection(kind: Kind, sql: String) throws {
        for isAltered in [false, true] { try Self().runAndAlter(kind, after: sql, isAltered: isAltered) }
    }

    private func runAndAlter(_ kind: Kind, after sql: String, isAltered: Bool) throws {
        let undo = try register(kind)
        try other.inDatabase { db in try db.execute(sql: sql) }
        try queue.inDatabase { db in
            if isAltered { try db.execute(sql: "ALTER TABLE o ADD COLUMN z") }
            if sql.contains("COLUMN") {
                try db.execute(sql: "UPDATE a SET updated = NULL")
                try db.execute(sql: "INSERT INTO a DEFAULT VALUES")
                try db.execute(sql: "DELETE FROM a WHERE id > 1")
                if kind == .stamps || kind == .all {
                    try db.execute(sql: "UPDATE a SET id = id")
                    #expect(try String.fetchOne(db, sql: "SELECT updated FROM a") == minute(0))
                    heard.removeAll()
                    try db.execute(sql: "UPDATE a SET updated = NULL")
                }
            }
            try db.execute(sql: "ALTER TABLE o RENAME COLUMN y TO yy")
        }
        if kind == .callback || kind == .all, sql.contains("COLUMN") {
            let names = sql.contains("DROP") ? "id x updated" : "id m x updated"
            #expect(heard.removeAll() == [names])
        }
        withExtendedLifetime(undo) {}
    }

    @Test(
        "A statement that fails for its own reasons fails once, with its own error, also after a change of the schema"
    )
    func ownReasons() throws {
        _ = try register(.callback)
        let calls = Recorder<Int>()
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("f", argumentCount: 0) { _ in
                    calls.record(1)
                    throw Boom()
                })
        }
        try other.inDatabase { try $0.execute(sql: "ALTER TABLE a ADD COLUMN more") }
        let thrown = thrownError { try queue.inDatabase { try $0.execute(sql: "UPDATE a SET n = f()") } }
        #expect(thrown as? Boom == Boom())
        #expect(calls.removeAll().count == 1)
        let error = databaseError { try queue.inDatabase { try $0.execute(sql: "UPDATE a SET nope = 1") } }
        #expect(error?.message == "no such column: nope")
    }

    /// Statements that fail after they have called the user's code, with the code of triggers that
    /// do not fit.
    @Test(
        "What a failing statement has called is called once, also after a change of the schema",
        arguments: ["function", "callback", "SQLite"], [false, true])
    func calledOnce(whoFails: String, isRecorded: Bool) throws {
        let calls = Recorder<Int>()
        let refusal = DatabaseError(message: "refused")
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("f", argumentCount: 0) { _ in
                    calls.record(1)
                    if whoFails == "function" { throw refusal }
                    return 1
                })
            try db.after(.update, on: "a") { _, _ in
                calls.record(2)
                if whoFails == "callback" { throw refusal }
            }
        }
        // (What is recorded elsewhere does not matter here.)
        let undo = isRecorded ? try DatabaseUndo(queue, tables: ["o"]) : nil
        try other.inDatabase { db in
            try db.execute(sql: "ALTER TABLE a ADD COLUMN more; INSERT INTO a (n) VALUES (2)")
        }
        let sql = "UPDATE a SET n = f()" + (whoFails == "SQLite" ? ", x = iif(id = 2, json('{'), 1)" : "")
        let error = databaseError { try queue.inDatabase { try $0.execute(sql: sql) } }
        #expect(error?.message == (whoFails == "SQLite" ? "malformed JSON" : "refused"))
        let called = calls.removeAll()
        let expected = ["function": [1], "callback": [1, 2], "SQLite": [1, 2, 1]]
        #expect(called == expected[whoFails])
        #expect(try queue.inDatabase { try Int.fetchOne($0, sql: "SELECT SUM(n) FROM a") } == 3)
        withExtendedLifetime(undo) {}
    }

    @Test(
        "Undo records what a statement outside of a transaction writes to a column that another connection has added"
    )
    func addedColumn() throws {
        let undo = try DatabaseUndo(queue, tables: ["a"])
        for number in 1...3 {
            try other.inDatabase { try $0.execute(sql: "ALTER TABLE a ADD COLUMN c\(number) DEFAULT 0") }
            try queue.inDatabase { try $0.execute(sql: "UPDATE a SET c\(number) = 1") }
        }
        func values() throws -> [DatabaseValue] {
            try queue.inDatabase {
                try Row.fetchOne($0, sql: "SELECT c1, c2, c3 FROM a")?.databaseValues ?? []
            }
        }
        for expected in [[1, 1, 0], [1, 0, 0], [0, 0, 0]] {
            #expect(try undo.undo())
            #expect(try values() == expected.map(\.databaseValue))
        }
    }

    @Test(
        "What is registered in a transaction that is rolled back is there, at once and later", .behaviour(39),
        arguments: ["ROLLBACK", "ROLLBACK TO s", "lost"])
    func rolledBack(how: String) throws {
        let heard = heard
        try queue.inDatabase { db in
            func register() throws {
                try db.register(DatabaseStamps(updated: "updated"), on: "a")
                try db.after(.update, on: "a") { _, _ in heard.record("heard") }
            }
            switch how {
            case "lost":
                try? db.inTransaction {
                    try register()
                    try db.execute(sql: "CREATE TABLE c (d UNIQUE); INSERT INTO c VALUES (1)")
                    try db.execute(sql: "INSERT OR ROLLBACK INTO c VALUES (1)")
                    return .commit
                }
            case "ROLLBACK":
                try db.inTransaction {
                    try register()
                    return .rollback
                }
            default:
                try db.execute(sql: "BEGIN; SAVEPOINT s")
                try register()
                try db.execute(sql: how)
                try db.execute(sql: "UPDATE a SET n = 8")
                #expect(heard.removeAll() == ["heard"])
                try db.execute(sql: "COMMIT")
            }
            try db.execute(sql: "UPDATE a SET n = 2")
            #expect(heard.removeAll() == ["heard"])
            #expect(try String.fetchOne(db, sql: "SELECT updated FROM a") == minute(0))
        }
        try queue.inDatabase { try $0.execute(sql: "UPDATE a SET n = 3") }
        #expect(heard.removeAll() == ["heard"])
    }

    @Test("What is removed in a transaction that is rolled back is gone", .behaviour(39))
    func removedAndRolledBack() throws {
        let heard = heard
        let callback = try queue.after(.update, on: "a") { _, _ in heard.record("heard") }
        try queue.register(DatabaseStamps(updated: "updated"), on: "a")
        try queue.inTransaction { db in
            try db.remove(callback)
            try db.register(DatabaseStamps(), on: "a")
            return .rollback
        }
        try queue.inDatabase { db in
            try db.execute(sql: "UPDATE a SET n = 2")
            #expect(try String.fetchOne(db, sql: "SELECT updated FROM a") == nil)
            #expect(try db.integers("SELECT COUNT(*) FROM temp.sqlite_master") == [0])
        }
        #expect(heard.elements == [])
    }

    @Test(
        "While a temporary table or view hides a table, that one is not stamped, can be written, and is heard of",
        .behaviour(37),
        arguments: [
            "CREATE TEMP TABLE a AS SELECT * FROM main.a", "CREATE TEMP TABLE A (x)",
            "CREATE TEMP VIEW a AS SELECT 1 AS n",
            "CREATE TEMP TABLE other (x); ALTER TABLE other RENAME TO a",
        ])
    func hidden(sql: String) throws {
        let kind = sql.contains("VIEW") ? "VIEW" : "TABLE"
        let undo = try register(.all)
        func stamps(_ db: Database) throws -> [String?] {
            try String?.fetchAll(db, sql: "SELECT updated FROM main.a ORDER BY id")
        }
        try queue.inDatabase { db in
            try db.inTransaction {
                try db.execute(sql: sql)
                try db.execute(sql: "UPDATE main.a SET n = 2")
                #expect(try stamps(db) == [nil])
                return .rollback
            }
            heard.removeAll()
            try db.execute(sql: sql)
            try db.execute(sql: "UPDATE main.a SET n = 3; INSERT INTO main.a (n) VALUES (4)")
            #expect(try stamps(db) == [nil, nil])
            #expect(heard.removeAll().count == 1)
            if sql.contains("AS SELECT *") {
                #expect(try db.integers("SELECT COUNT(*) FROM temp.a WHERE updated IS NOT NULL") == [0])
            }
            try db.execute(sql: "DROP \(kind) temp.a; UPDATE a SET n = 5")
            #expect(try stamps(db) == [minute(0), minute(0)])
        }
        while try undo?.undo() == true {}
        #expect(try other.inDatabase { try $0.integers("SELECT n FROM a") } == [1])
    }

    @Test("The log says that a temporary table keeps a table from being stamped", .behaviour(37))
    func hiddenLog() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let queue = try DatabaseQueue()
            try queue.inDatabase { db in
                try db.execute(sql: "CREATE TABLE a (n, updated)")
                try db.register(DatabaseStamps(updated: "updated"), on: "a")
                try db.execute(sql: "CREATE TEMP TABLE a (x); CREATE TEMP TABLE b (x)")
                #expect(
                    log.elements == [
                        "the table a is not stamped while a temporary table or view of the same name hides it "
                            + "from the triggers that stamp it"
                    ])
            }
        }
    }

    @Test("A temporary trigger of the program may have a name that begins as ours do")
    func names() throws {
        let undo = try register(.all)
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE log (n);
                    CREATE TEMP TRIGGER "shellac stamps my own" AFTER UPDATE OF n ON a BEGIN INSERT INTO log VALUES (NEW.n); END;
                    CREATE TABLE unrelated (x);
                    """)
            try db.execute(sql: "UPDATE a SET n = 5")
            #expect(try db.integers("SELECT n FROM log") == [5])
            // If it has the very name of ours, the error says so.
            try db.register(DatabaseStamps(), on: "a")
            try db.execute(sql: "CREATE TABLE fresh (n, updated)")
            try db.execute(
                sql:
                    "CREATE TEMP TRIGGER \"shellac stamps fresh insert\" AFTER INSERT ON fresh BEGIN SELECT 1; END"
            )
            let error = databaseError { try db.register(DatabaseStamps(updated: "updated"), on: "fresh") }
            #expect(
                error?.message?.contains("has a name that a trigger of Shellac needs") == true,
                "\(error as Any)")
            #expect(try db.isUsable())
        }
        withExtendedLifetime(undo) {}
    }
}
