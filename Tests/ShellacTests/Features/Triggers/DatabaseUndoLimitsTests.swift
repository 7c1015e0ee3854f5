import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Where undo ends")
struct DatabaseUndoLimitsTests {
    private func refusal(
        _ schema: String, _ tables: [String], limit: Int? = nil,
        _ prepare: (Database) throws -> Void = { _ in }
    ) throws -> String {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: schema)
            try prepare(db)
        }
        let error = databaseError { _ = try DatabaseUndo(queue, tables: tables, limit: limit) }
        try queue.inDatabase { db in
            #expect(try db.isUsable())
            let count = try Int.fetchOne(
                db, sql: "SELECT COUNT(*) FROM temp.sqlite_master WHERE name LIKE 'shellac%'")
            #expect(count == 0)
        }
        return error?.message ?? "no error"
    }

    @Test("Tables that cannot be recorded are refused with a sentence, and nothing is left behind")
    func refusals() throws {
        let table = "CREATE TABLE t (id INTEGER PRIMARY KEY); "
        #expect(try refusal(table, ["t", "u"]).contains("no such table: main.u"))
        #expect(try refusal(table + "CREATE VIEW v AS SELECT * FROM t", ["v"]).contains("it is a view"))
        #expect(try refusal("CREATE VIRTUAL TABLE f USING fts5(a)", ["f"]).contains("it is a virtual table"))
        #expect(try refusal(table, ["sqlite_schema"]).contains("it belongs to SQLite"))
        #expect(
            try refusal(table, ["t"]) { try $0.execute(sql: "CREATE TEMP TABLE t (a)") }.contains("hides it"))
        #expect(
            try refusal("CREATE TABLE t (rowid, oid, _rowid_)", ["t"]).contains(
                "use all names of the row id"))
        #expect(try refusal(table, []).contains("no table was named"))
        #expect(try refusal(table, ["t"], limit: 0).contains("limit of 1 or more"))
        let columns = (0...990).map { "c\($0)" }.joined(separator: ", ")
        #expect(try refusal("CREATE TABLE t (\(columns))", ["t"]).contains("more than 990 columns"))
        for action in ["ON DELETE CASCADE", "ON DELETE SET NULL", "ON UPDATE SET DEFAULT"] {
            let message = try refusal(table + "CREATE TABLE u (t REFERENCES T \(action))", ["t"])
            #expect(message.contains("name u among the tables"), "\(action)")
        }
        #expect(
            try refusal(table + "CREATE TABLE u (t REFERENCES t ON DELETE RESTRICT)", ["t"]) == "no error")
    }

    @Test("It begins outside of transactions, also inside of an access")
    func beginning() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in
            let error = databaseError { _ = try DatabaseUndo(queue, tables: ["player"]) }
            #expect(error?.message?.contains("cannot begin inside of a transaction") == true)
        }
        let undo = try queue.inDatabase { db in
            let undo = try DatabaseUndo(queue, tables: ["player"])
            try db.insert("a")
            return undo
        }
        #expect(undo.undoCount == 1)
        try queue.close()
        #expect(databaseError { try undo.undo() }?.resultCode == .SQLITE_MISUSE)
        #expect(databaseError { try undo.removeAll() }?.resultCode == .SQLITE_MISUSE)
        #expect(
            databaseError { _ = try DatabaseUndo(queue, tables: ["player"]) }?.resultCode == .SQLITE_MISUSE)
        let readonly = try TemporaryDatabase()
        let reading = try readonly.queue { $0.readonly = true }
        let idle = try DatabaseUndo(reading, tables: ["player"])
        #expect(try !idle.undo())
    }

    // MARK: - Conflicts

    /// Whether undo throws a conflict, and leaves everything as it was.
    private func conflict(
        _ fixture: UndoFixture, redo: Bool = false, _ comment: Comment
    ) throws -> DatabaseUndoConflict {
        let dump = try fixture.dump()
        let counts = [fixture.undo.undoCount, fixture.undo.redoCount]
        let error = #expect(throws: DatabaseUndoConflict.self, comment) {
            _ = redo ? try fixture.undo.redo() : try fixture.undo.undo()
        }
        #expect(try fixture.dump() == dump, comment)
        #expect([fixture.undo.undoCount, fixture.undo.redoCount] == counts, comment)
        #expect(try fixture.queue.inDatabase { try $0.isUsable() }, comment)
        return try #require(error)
    }

    private static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team REFERENCES team ON DELETE CASCADE);
        CREATE TABLE badge (id INTEGER PRIMARY KEY, player REFERENCES player);
        """

    @Test("Changes of another connection are in the way: nothing is undone, and all can be later")
    func otherConnections() throws {
        let file = try TemporaryDatabase()
        let fixture = try UndoFixture(
            path: file.path, schema: "DROP TABLE player; " + Self.schema, tables: ["team", "player"])
        let other = try file.queue()
        func elsewhere(_ sql: String) throws { try other.inDatabase { try $0.execute(sql: sql) } }
        try fixture.write("INSERT INTO team VALUES (1, 'x'), (2, 'y')")
        // Updated.
        try elsewhere("UPDATE team SET name = 'z' WHERE id = 2")
        #expect(try conflict(fixture, "updated").key == ["id": 2.databaseValue])
        try elsewhere("UPDATE team SET name = 'y' WHERE id = 2")
        // Deleted.
        try elsewhere("DELETE FROM team WHERE id = 1")
        #expect(try conflict(fixture, "deleted").tableName == "team")
        try elsewhere("INSERT INTO team VALUES (1, 'x')")
        // A row that depends on one: it would go by a cascade, or be left without its parent.
        try elsewhere("INSERT INTO player VALUES (1, 'a', 1)")
        #expect(
            try conflict(fixture, "depends").underlyingError?.extendedResultCode
                == .SQLITE_CONSTRAINT_FOREIGNKEY)
        #expect(try fixture.queue.inDatabase { try $0.integers("SELECT id FROM player") } == [1])
        try elsewhere("DELETE FROM player")
        try fixture.undo.undo()
        // A row in the place of one, and one that has taken its unique value.
        try elsewhere("INSERT INTO team VALUES (1, 'q')")
        #expect(try conflict(fixture, redo: true, "place").key == ["id": 1.databaseValue])
        try elsewhere("UPDATE team SET id = 7, name = 'x'")
        let taken = try conflict(fixture, redo: true, "unique")
        #expect(taken.underlyingError?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        #expect(taken.description.contains("cannot redo: the row of team with id: 1 cannot be written"))
        try elsewhere("DELETE FROM team")
        try fixture.undo.redo()
        #expect(try fixture.queue.inDatabase { try $0.integers("SELECT id FROM team") } == [1, 2])
    }

    @Test("A table that is not recorded, and refers to a row, holds it")
    func foreignKeys() throws {
        let fixture = try UndoFixture(schema: Self.schema, tables: ["team", "player"])
        try fixture.write("INSERT INTO player VALUES (1, 'a', NULL)")
        try fixture.write("INSERT INTO badge VALUES (1, 1)")
        #expect(fixture.undo.undoCount == 1)
        #expect(try conflict(fixture, "badge").tableName == nil)
        // A new cascade from there would take along rows that are not recorded.
        try fixture.write(
            "DELETE FROM badge; CREATE TABLE medal (player REFERENCES player ON DELETE CASCADE)")
        let error = databaseError { try fixture.undo.undo() }
        #expect(error?.message?.contains("name medal among the tables") == true)
        try fixture.write("DROP TABLE medal")
        #expect(try fixture.undo.undo())
    }

    @Test("A database that is busy throws, and the groups remain")
    func busy() throws {
        let file = try TemporaryDatabase()
        let fixture = try UndoFixture(path: file.path, schema: "SELECT 1", tables: ["player"])
        try fixture.write("INSERT INTO player VALUES (1, 'a')")
        let hold = try SecondProcess(path: file.path, lock: .immediate)
        #expect(databaseError { try fixture.undo.undo() }?.resultCode == .SQLITE_BUSY)
        #expect(fixture.undo.undoCount == 1)
        hold.release()
        #expect(try fixture.undo.undo())
        #expect(fixture.undo.redoCount == 1)
    }

    // MARK: - Triggers of the program

    @Test(
        "Triggers of the program run, so that a full-text index follows, and what they date again is overruled"
    )
    func programTriggers() throws {
        let fixture = try UndoFixture(
            schema: """
                CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, changedAt);
                CREATE TABLE log (id INTEGER PRIMARY KEY, text);
                CREATE VIRTUAL TABLE search USING fts5(text, content = 'note', content_rowid = 'id');
                CREATE TRIGGER i AFTER INSERT ON note BEGIN
                    INSERT INTO search (rowid, text) VALUES (NEW.id, NEW.text); END;
                CREATE TRIGGER d AFTER DELETE ON note BEGIN
                    INSERT INTO search (search, rowid, text) VALUES ('delete', OLD.id, OLD.text); END;
                CREATE TRIGGER u AFTER UPDATE OF text ON note BEGIN
                    INSERT INTO search (search, rowid, text) VALUES ('delete', OLD.id, OLD.text);
                    INSERT INTO search (rowid, text) VALUES (NEW.id, NEW.text); END;
                CREATE TRIGGER c AFTER UPDATE ON note BEGIN
                    UPDATE note SET changedAt = random() WHERE id = NEW.id;
                    INSERT INTO log (text) VALUES (NEW.text); END;
                """, tables: ["note", "log"])
        func found(_ word: String) throws -> [Int?] {
            try fixture.queue.inDatabase { db in
                try db.execute(sql: "INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
                return try db.integers("SELECT rowid FROM search WHERE search MATCH '\(word)' ORDER BY rowid")
            }
        }
        let start = try fixture.dump()
        try fixture.write("INSERT INTO note (text) VALUES ('red'), ('green')")
        let middle = try fixture.dump()
        try fixture.write("UPDATE note SET text = 'blue' WHERE id = 2; DELETE FROM note WHERE id = 1")
        let end = try fixture.dump()
        #expect(try found("blue") == [2])
        try fixture.undo.undo()
        #expect(try fixture.dump() == middle)
        #expect(try found("green") == [2] && found("red") == [1] && found("blue") == [])
        try fixture.undo.undo()
        #expect(try fixture.dump() == start)
        #expect(try found("red") == [])
        try fixture.undo.redo()
        #expect(try fixture.dump() == middle)
        try fixture.undo.redo()
        #expect(try fixture.dump() == end)
        #expect(try found("blue") == [2] && found("red") == [])
    }

    @Test(
        "A trigger that refuses keeps undo from running, with its error, and callbacks and stamps are not asked"
    )
    func refusingTriggers() throws {
        let fixture = try UndoFixture(
            schema: """
                CREATE TABLE t (id INTEGER PRIMARY KEY, a);
                CREATE TRIGGER r BEFORE DELETE ON t WHEN OLD.id = 1 BEGIN SELECT RAISE(ABORT, 'never'); END;
                CREATE TRIGGER x BEFORE DELETE ON t WHEN OLD.id = 2 BEGIN SELECT RAISE(ROLLBACK, 'not ever'); END;
                """, tables: ["t"])
        let calls = Recorder<TableChange.Kind>()
        try fixture.queue.after(.insert, .delete, on: "t") { _, change in calls.record(change.kind) }
        try fixture.write("INSERT INTO t VALUES (3, 3)")
        #expect(calls.removeAll() == [.insert])
        #expect(try fixture.undo.undo())
        #expect(try fixture.undo.redo())
        #expect(calls.elements == [])
        try fixture.write("INSERT INTO t VALUES (1, 1)")
        #expect(try conflict(fixture, "abort").underlyingError?.message?.contains("never") == true)
        try fixture.write("INSERT INTO t VALUES (2, 2)")
        let dump = try fixture.dump()
        expectError("not ever") { try fixture.undo.undo() }
        #expect(try fixture.dump() == dump)
        #expect(fixture.undo.undoCount == 3)
        #expect(try fixture.queue.inDatabase { try $0.isUsable() })
    }
}
