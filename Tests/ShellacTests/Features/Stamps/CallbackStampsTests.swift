import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Callbacks beside stamps")
struct CallbackStampsTests {
    private let clock = StampClock()
    private let queue: DatabaseQueue
    private let heard = Recorder<String>()

    init() throws {
        queue = try DatabaseQueue(configuration: clock.configuration())
        let heard = heard
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (id INTEGER PRIMARY KEY, n, v DEFAULT 0, created,
                        updated CHECK (n <> 13 OR updated IS NULL));
                    INSERT INTO a (id, n) VALUES (1, 1), (2, 1);
                    """)
            try db.register(DatabaseStamps(created: "created", updated: "updated"), on: "a")
            try db.after(.update, on: "a") { _, change in
                let row = try #require(change.new)
                let (id, n, v): (Int, Int, Int) = (try row["id"], try row["n"], try row["v"])
                heard.record("\(id): \(n) \(v)")
            }
        }
    }

    private func run(_ sql: String) throws -> [String] {
        clock.advance()
        try queue.inDatabase { db in try db.execute(sql: sql) }
        // (Undone writes may have been reported.)
        return heard.removeAll().filter { !$0.contains(": 13 ") }
    }

    @Test(
        "What a stamp writes is not heard; what the program's triggers write meanwhile is, also to the very row",
        .behaviour(39)
    )
    func triggersOfTheProgram() throws {
        #expect(try run("UPDATE a SET n = 2") == ["1: 2 0", "2: 2 0"])
        _ = try run(
            "CREATE TRIGGER other AFTER UPDATE OF updated ON a WHEN NEW.id = 1 BEGIN UPDATE a SET v = v + 1 WHERE id = 2; END"
        )
        #expect(try Set(run("UPDATE a SET n = 3 WHERE id = 1")) == ["1: 3 0", "2: 2 1"])
        _ = try run(
            """
            DROP TRIGGER other;
            CREATE TRIGGER same AFTER UPDATE OF updated ON a WHEN NEW.v = 0 BEGIN UPDATE a SET v = 5 WHERE id = NEW.id; END
            """)
        #expect(try Set(run("UPDATE a SET n = 4 WHERE id = 1")) == ["1: 4 0", "1: 4 5"])
        #expect(try run("UPDATE a SET updated = 'explicit' WHERE id = 1") == ["1: 4 5"])
    }

    @Test(
        "A stamp that fails, and is passed over in silence by a function or a callback, leaves callbacks as they are",
        .behaviour(39)
    )
    func swallowed() throws {
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("f", argumentCount: 0) { [unowned db] _ in
                    // The stamp does not fit the new row.
                    try? db.withoutStamps { try db.execute(sql: "UPDATE a SET updated = NULL WHERE id = 1") }
                    try? db.execute(sql: "UPDATE a SET n = 13, updated = NULL WHERE id = 1")
                    return nil
                })
            _ = try String.fetchOne(db, sql: "SELECT f()")
            heard.removeAll()
            #expect(try db.integers("SELECT n FROM a") == [1, 1])
        }
        #expect(try run("UPDATE a SET n = 3 WHERE id = 2") == ["2: 3 0"])
        #expect(try run("UPDATE a SET n = 3 WHERE id = 1") == ["1: 3 0"])
        // The same inside of the stamps of another row, which go on.
        _ = try run(
            "CREATE TEMP TRIGGER t AFTER UPDATE OF updated ON a WHEN NEW.id = 2 BEGIN SELECT f(); END")
        #expect(try run("UPDATE a SET n = 4 WHERE id = 2").filter { $0.hasPrefix("2") } == ["2: 4 0"])
        #expect(try run("UPDATE a SET n = 5").filter { $0.hasPrefix("2") } == ["2: 5 0"])
    }

    @Test(
        "Of the rows that REPLACE deletes, callbacks hear where recursive triggers are on",
        arguments: [false, true])
    func replace(isRecursive: Bool) throws {
        let heard = heard
        try queue.inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE u (id INTEGER PRIMARY KEY, u UNIQUE); INSERT INTO u VALUES (1, 'x')")
            try db.execute(sql: "PRAGMA recursive_triggers = \(isRecursive)")
            try db.after(.insert, .delete, on: "u") { _, change in
                let id: Int = try #require(change.new ?? change.old)["id"]
                heard.record("\(change.kind) \(id)")
            }
        }
        let expected = ["insert 7"] + (isRecursive ? ["delete 1"] : [])
        #expect(try Set(run("INSERT OR REPLACE INTO u VALUES (7, 'x')")) == Set(expected))
    }

    @Test(
        "Callbacks hear of updates by tables' keys, of all kinds",
        arguments: [
            "CREATE TABLE k (a TEXT COLLATE NOCASE, b, n, updated, PRIMARY KEY (b, a)) WITHOUT ROWID",
            "CREATE TABLE k (a TEXT PRIMARY KEY, b, n, updated, rowid, oid)",
            "CREATE TABLE k (a INTEGER PRIMARY KEY DESC, b, n, updated)",
        ])
    func keys(_ sql: String) throws {
        let heard = heard
        try queue.inDatabase { db in
            try db.execute(sql: sql)
            try db.register(DatabaseStamps(updated: "updated"), on: "k")
            try db.after(.update, .update(of: "updated"), on: "k") { _, change in
                let n: Int? = try #require(change.new)["n"]
                heard.record("\(n ?? -1)")
            }
            try db.execute(sql: "INSERT INTO k (a, b, n) VALUES (1, 'A', 0), (2, 'b', 0)")
        }
        #expect(heard.removeAll() == [])
        #expect(try run("UPDATE k SET n = n + 1") == ["1", "1"])
        #expect(try run("UPDATE k SET a = a + 5, n = 2") == ["2", "2"])
        #expect(try run("UPDATE k SET n = 3, updated = 'x' WHERE b = 'b'") == ["3", "3"])
        let stamps = try queue.inDatabase { try String.fetchAll($0, sql: "SELECT updated FROM k ORDER BY b") }
        #expect(stamps == [minute(2), "x"])
    }
}
