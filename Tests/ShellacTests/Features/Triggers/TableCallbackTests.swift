import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Table-wide callbacks")
struct TableCallbackTests {
    private let queue: DatabaseQueue
    private let heard = Recorder<String>()

    init() throws {
        queue = try DatabaseQueue.withHeroes()
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE log (id INTEGER PRIMARY KEY, text)")
            try db.execute(sql: "PRAGMA recursive_triggers = ON")
        }
    }

    /// Keeps the changes that a callback receives.
    @Sendable private func hear(_ db: Database, _ change: TableChange) throws {
        func text(_ row: Row?) throws -> String {
            guard let row else { return "nil" }
            let (id, name): (Int64, String) = (try row["id"], try row["name"])
            return "\(id) \(name)"
        }
        heard.record("\(change.kind): \(try text(change.old)) -> \(try text(change.new))")
    }

    @Test("It hears of each row, whoever writes it, with old and new values", arguments: RecordStyle.allCases)
    func everyWriter(style: RecordStyle) throws { try everyWriter(style.hero) }

    private func everyWriter<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue.after(.insert, .update, .delete, on: Hero.self, perform: hear)
        let hero = Hero("a")
        try queue.write { db in
            try hero.insert(db)
            hero.name = "b"
            try hero.updateChanges(db)
            try db.execute(sql: "INSERT INTO hero (name, score) VALUES ('c', 1), ('d', 2)")
            try db.execute(sql: "UPDATE hero SET name = name || '!' WHERE id > 1")
            try hero.delete(db)
            try db.execute(sql: "DELETE FROM hero")
        }
        #expect(
            heard.elements == [
                "insert: nil -> 1 a", "update: 1 a -> 1 b", "insert: nil -> 2 c", "insert: nil -> 3 d",
                "update: 2 c -> 2 c!", "update: 3 d -> 3 d!", "delete: 1 b -> nil", "delete: 2 c! -> nil",
                "delete: 3 d! -> nil",
            ])
    }

    @Test("It hears of cascades, and only of the columns and events that it asked for")
    func filters() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE list (id INTEGER PRIMARY KEY);
                    CREATE TABLE item (id INTEGER PRIMARY KEY, name, list REFERENCES list ON DELETE CASCADE);
                    INSERT INTO list VALUES (1);
                    INSERT INTO item VALUES (1, 'x', 1);
                    """)
        }
        try queue.after(.update(of: "name"), .delete, on: "item", perform: hear)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO item VALUES (2, 'y', 1)")
            try db.execute(sql: "UPDATE item SET list = 1")
            try db.execute(sql: "UPDATE item SET NAME = 'z' WHERE id = 2")
            try db.execute(sql: "DELETE FROM list")
        }
        #expect(heard.elements == ["update: 2 y -> 2 z", "delete: 1 x -> nil", "delete: 2 z -> nil"])
    }

    private struct Refusal: Error, Equatable { let id: Int64 }

    @Test(
        "What it throws fails the statement, which is undone, with that very error",
        arguments: RecordStyle.allCases)
    func throwing(style: RecordStyle) throws { try throwing(style.hero) }

    private func throwing<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue.after(.insert, on: Hero.self) { db, change in
            let id: Int64 = try #require(change.new)["id"]
            try db.execute(sql: "INSERT INTO log (text) VALUES ('seen')")
            if id == 3 { throw Refusal(id: id) }
        }
        try queue.write { db in
            #expect(throws: Refusal(id: 3)) {
                try db.execute(
                    sql: "INSERT INTO hero (id, name, score) VALUES (1, 'a', 0), (2, 'b', 0), (3, 'c', 0)")
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") == 0)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM log") == 0)
            let hero = Hero("c")
            hero.id = 3
            #expect(throws: Refusal(id: 3)) { try hero.insert(db) }
            #expect(hero.hasDatabaseChanges)
            // The connection is usable, and the transaction open.
            try db.execute(sql: "INSERT INTO hero (name, score) VALUES ('d', 0)")
        }
        #expect(try queue.inDatabase { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM log") } == 1)
    }

    @Test(
        "It may write to other tables and to its own, and lastInsertedRowID survives",
        arguments: RecordStyle.allCases)
    func writing(style: RecordStyle) throws { try writing(style.hero) }

    private func writing<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue.after(.insert, on: Hero.self) { db, change in
            let row = try #require(change.new)
            let (id, score): (Int64, Int) = (try row["id"], try row["score"])
            try db.execute(sql: "INSERT INTO log (id, text) VALUES (?, 'x')", arguments: [id + 500])
            if score > 0 {
                try db.execute(
                    sql: "INSERT INTO hero (name, score) VALUES (hex(randomblob(8)), ?)",
                    arguments: [score - 1])
            }
        }
        let hero = Hero("parent")
        hero.score = 3
        try queue.inDatabase { db in
            try hero.insert(db)
            #expect(hero.id == 1)
            #expect(db.lastInsertedRowID == 1)
            #expect(db.changesCount == 1)
            #expect(try Int.fetchAll(db, sql: "SELECT score FROM hero ORDER BY id") == [3, 2, 1, 0])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM log") == 4)
        }
    }

    @Test(
        "Nested more than 32 deep, it throws a sentence, and all is undone", arguments: RecordStyle.allCases)
    func depth(style: RecordStyle) throws { try depth(style.hero) }

    private func depth<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue.after(.insert, on: Hero.self) { db, change in
            try db.execute(sql: "INSERT INTO hero (name, score) VALUES (hex(randomblob(8)), 0)")
        }
        try queue.inDatabase { db in
            let error = databaseError { try Hero("a").insert(db) }
            #expect(error?.message?.contains("nested more than 32 deep") == true)
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") == 0)
        }
    }

    @Test(
        "Transactions, savepoints and schema changes throw a sentence in it",
        arguments: [
            "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "CREATE TABLE x (y)", "DROP TABLE log", "method",
            "add", "remove", "transaction",
        ], RecordStyle.allCases)
    func forbidden(what: String, style: RecordStyle) throws { try forbidden(style.hero, what: what) }

    private func forbidden<Hero: HeroRecord>(_: Hero.Type, what: String) throws {
        let messages = Recorder<String>()
        let other = try queue.after(.delete, on: "log") { _, _ in }
        try queue.after(.insert, on: Hero.self) { db, change in
            do {
                switch what {
                case "method": try db.inSavepoint { .commit }
                case "transaction": try db.inTransaction { .commit }
                case "add": try db.after(.insert, on: "log") { _, _ in }
                case "remove": try db.remove(other)
                default: try db.execute(sql: what)
                }
                messages.record("nothing was thrown")
            } catch let error as DatabaseError {
                messages.record(error.message ?? "")
            }
            try db.execute(sql: "INSERT INTO log (text) VALUES ('goes on')")
        }
        try queue.write { db in try Hero("a").insert(db) }
        try queue.inDatabase { db in try Hero("b").insert(db) }
        #expect(messages.elements.count == 2)
        #expect(
            messages.elements.allSatisfy { $0.hasPrefix("a table-wide callback cannot ") },
            "\(messages.elements)")
        try queue.inDatabase { db in
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") == 2)
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM log") == 2)
            #expect(!db.isInsideTransaction)
        }
    }

    @Test("Wide tables pass their values in several calls", arguments: [63, 64, 127, 128, 250, 400])
    func wide(count: Int) throws {
        let names = (0..<count).map { "c\($0)" }
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE wide (\(names.joined(separator: ", ")))")
        }
        let sums = Recorder<Int>()
        try queue.after(.update, on: "wide") { db, change in
            for row in [change.old, change.new] {
                let values = try #require(row).databaseValues.compactMap { Int.fromDatabaseValue($0) }
                #expect(values.count == count)
                sums.record(values.reduce(0, +))
            }
        }
        try queue.write { db in
            try db.execute(
                sql: "INSERT INTO wide VALUES (\(names.indices.map(String.init).joined(separator: ",")))")
            try db.execute(sql: "UPDATE wide SET c\(count - 1) = 0")
        }
        let all = count * (count - 1) / 2
        #expect(sums.elements == [all, all - (count - 1)])
    }

    @Test(
        "Removed, it hears no more; suspended, it hears nothing in the scope; others go on",
        arguments: RecordStyle.allCases)
    func removedAndSuspended(style: RecordStyle) throws { try removedAndSuspended(style.hero) }

    private func removedAndSuspended<Hero: HeroRecord>(_: Hero.Type) throws {
        let token = try queue.after(.insert, on: Hero.self, perform: hear)
        let other = Recorder<Int>()
        try queue.after(.insert, on: Hero.self) { _, _ in other.record(1) }
        try queue.write { db in
            try db.withoutTableCallbacks { try Hero("a").insert(db) }
            try Hero("b").insert(db)
        }
        #expect(heard.elements == ["insert: nil -> 2 b"])
        try queue.remove(token)
        try queue.remove(token)
        try queue.write { db in try Hero("c").insert(db) }
        #expect(heard.elements.count == 1)
        #expect(other.elements.count == 2)
    }

    @Test("A stamp trigger's own UPDATE is an event like any other, but no callback", .behaviour(39))
    func stampsAreNoCallback() throws {
        let memos = try MemoDatabase()
        let changes = Recorder<String>()
        let spy = ObserverSpy()
        memos.queue.add(transactionObserver: spy)
        try memos.queue.after(.insert, .update, on: Memo.self) { _, change in
            let row = try #require(change.new)
            changes.record("\(change.kind) \(try row["score"] as Int)")
        }
        try memos.queue.write { db in
            try db.execute(sql: "INSERT INTO memo (title, score) VALUES ('a', 1)")
        }
        try memos.later { db in
            try db.execute(sql: "UPDATE memo SET score = 2, title = 'b'")
            #expect(try db.memoStamps() == "0 1 1")
            // The program's own update of a stamp is one.
            try db.execute(sql: "UPDATE memo SET updatedAt = ?", arguments: [minute(9)])
        }
        #expect(changes.elements == ["insert 1", "update 2", "update 2"])
        let events = spy.log.filter { $0.contains("memo") }
        #expect(events.prefix(2) == ["insert memo 1", "update memo 1"])
        #expect(events.count >= 5)
    }

    @Test("A statement that fails while a stamp is being written leaves callbacks in order", .behaviour(39))
    func failureWhileStamping() throws {
        let memos = try MemoDatabase()
        let changes = Recorder<String>()
        try memos.queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE UPDATE OF updatedAt ON memo WHEN NEW.score = 13
                    BEGIN SELECT RAISE(ABORT, 'unlucky'); END
                    """)
        }
        try memos.queue.after(.update, on: Memo.self) { _, change in changes.record("\(change.kind)") }
        try memos.queue.write { db in try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')") }
        try memos.later { db in
            #expect(databaseError { try db.execute(sql: "UPDATE memo SET score = 13") } != nil)
            _ = changes.removeAll()
            try db.execute(sql: "UPDATE memo SET score = 14")
        }
        #expect(changes.elements == ["update"])
    }

    @Test(
        "last_insert_rowid() survives a trigger that inserts elsewhere: the record has its own id",
        .behaviour(39), arguments: RecordStyle.allCases)
    func lastInsertRowID(style: RecordStyle) throws { try lastInsertRowID(style.hero) }

    private func lastInsertRowID<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TRIGGER t AFTER INSERT ON hero BEGIN INSERT INTO log (id) VALUES (NEW.id + 100); END"
            )
            let hero = Hero("a")
            try hero.insert(db)
            #expect(hero.id == 1)
            #expect(db.lastInsertedRowID == 1)
        }
    }

    @Test("It follows the schema: a table that is dropped and made again, new columns, a rollback of these")
    func schema() throws {
        let rows = Recorder<[String]>()
        try queue.after(.insert, on: PairHero.self) { _, change in
            rows.record(Array(try #require(change.new).columnNames))
        }
        func insert(_ db: Database) throws {
            try db.execute(sql: "INSERT INTO hero (name, score) VALUES (hex(randomblob(8)), 0)")
        }
        try queue.inTransaction { db in
            try insert(db)
            try db.execute(sql: "ALTER TABLE hero ADD COLUMN cape")
            try insert(db)
            try db.execute(sql: "DROP TABLE hero")
            try db.execute(sql: "CREATE TABLE hero (name, score)")
            try insert(db)
            return .rollback
        }
        try queue.inDatabase(insert)
        #expect(
            rows.elements == [
                ["id", "name", "score"], ["id", "name", "score", "cape"], ["name", "score"],
                ["id", "name", "score"],
            ])
    }

    @Test(
        "It stays when the C interface rolls back the transaction in which it was added",
        arguments: [
            "INSERT INTO hero (name, score) VALUES ('a', 0)",
            "BEGIN IMMEDIATE; INSERT INTO hero (name, score) VALUES ('a', 0); COMMIT",
        ])
    func addingRolledBackUnheard(sql: String) throws {
        let rows = Recorder<[String]>()
        try queue.inDatabase { db in
            let connection = try #require(db.sqliteConnection)
            #expect(sqlite3_exec(connection, "BEGIN", nil, nil, nil) == SQLITE_OK)
            try db.after(.insert, on: PairHero.self) { _, change in
                rows.record(Array(try #require(change.new).columnNames))
            }
            try db.execute(sql: "ALTER TABLE hero ADD COLUMN cape")
            #expect(sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
        }
        try queue.inDatabase { db in
            // (The C interface does not make triggers agree with the schema.)
            let connection = try #require(db.sqliteConnection)
            #expect(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
        }
        #expect(rows.elements == [["id", "name", "score"]])
    }

    @Test("A record saved by it goes back with the statement that fails", arguments: RecordStyle.allCases)
    func records(style: RecordStyle) throws { try records(style.hero) }

    private func records<Hero: HeroRecord>(_: Hero.Type) throws {
        nonisolated(unsafe) let saved = Hero("saved")
        try queue.after(.delete, on: Hero.self) { db, change in
            try saved.insert(db)
            throw TestError(1)
        }
        try queue.write { db in
            try db.execute(sql: "INSERT INTO hero (name, score) VALUES ('a', 0)")
            #expect(throws: TestError(1)) { try db.execute(sql: "DELETE FROM hero") }
        }
        #expect(saved.id == nil)
        #expect(saved.hasDatabaseChanges)
    }

    @Test("A callback keeps a table from being empty", arguments: RecordStyle.allCases)
    func neverEmpty(style: RecordStyle) throws { try neverEmpty(style.hero) }

    private func neverEmpty<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue.after(.delete, on: Hero.self) { db, _ in
            if try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM hero") == 0 { try Hero("Nobody").insert(db) }
        }
        try queue.write { db in
            try Hero("a").insert(db)
            try db.execute(sql: "DELETE FROM hero")
            #expect(try String.fetchAll(db, sql: "SELECT name FROM hero") == ["Nobody"])
        }
    }

    @Test(
        "Views, virtual tables, unknown tables and columns are refused with a sentence",
        arguments: RecordStyle.allCases)
    func refused(style: RecordStyle) throws { try refused(style.hero) }

    private func refused<Hero: HeroRecord>(_: Hero.Type) throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: "CREATE VIEW glance AS SELECT * FROM hero; CREATE VIRTUAL TABLE search USING fts5(body)")
        }
        for (table, event, message) in [
            ("glance", TriggerEvent.insert, "it is a view"), ("search", .insert, "it is a virtual table"),
            ("nobody", .insert, "no such table"), ("hero", .update(of: "nope"), "it has no column nope"),
        ] {
            let error = databaseError { try queue.after(event, on: table) { _, _ in } }
            #expect(error?.message?.contains(message) == true, "\(error as Any)")
        }
        try queue.inDatabase { db in
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM temp.sqlite_master") == 0)
            try Hero("a").insert(db)
        }
    }
}
