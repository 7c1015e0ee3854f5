import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Undo and changes of the schema")
struct DatabaseUndoSchemaTests {
    private let fixture: UndoFixture

    init() throws {
        fixture = try UndoFixture(
            schema: """
                CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b);
                CREATE TABLE loose (a);
                INSERT INTO t VALUES (1, 'one', 1), (2, 'two', 2);
                """, tables: ["t", "loose"])
    }

    /// Runs a body, and returns why it has dropped the groups.
    private func noticing(_ fixture: UndoFixture? = nil, _ body: () throws -> Void) rethrows -> [String] {
        let notices = (fixture ?? self.fixture).undo.shared.notices
        let count = notices.withLock(\.count)
        try body()
        return notices.withLock { Array($0[count...]) }
    }

    @Test("The log says why groups were dropped")
    func log() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let fixture = try UndoFixture(schema: "CREATE TABLE t (a)", tables: ["t"])
            try fixture.write("INSERT INTO t VALUES (1)")
            try fixture.write("DROP TABLE t")
            #expect(
                log.elements == ["the changes of t can no longer be undone: the table t no longer exists"])
            #expect(fixture.undo.lastNotice == log.elements[0])
        }
    }

    @Test("Groups survive the addition of columns, whose values come and go with the rows")
    func addedColumns() throws {
        try fixture.write("UPDATE t SET a = 'uno' WHERE id = 1; INSERT INTO t VALUES (3, 'three', 3)")
        let heard = try noticing {
            try fixture.write(
                "ALTER TABLE t ADD COLUMN c DEFAULT 'x'; UPDATE t SET c = 'y'; CREATE INDEX i ON t (c)")
        }
        #expect(heard == [])
        // The migration is no group.
        #expect(fixture.undo.undoCount == 1)
        try fixture.write("UPDATE t SET c = 'z' WHERE id = 3")
        let end = try fixture.dump()
        try fixture.undo.undo()
        try fixture.undo.undo()
        try fixture.queue.inDatabase { db in
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM t").map {
                $0.databaseValues.map(\.description)
            }
            #expect(rows == [["1", "one", "1", "y"], ["2", "two", "2", "y"]])
        }
        try fixture.undo.redo()
        try fixture.undo.redo()
        #expect(try fixture.dump() == end)
    }

    @Test(
        "Groups are dropped, with a notice, when columns or the table are dropped, renamed or changed",
        arguments: [
            ("ALTER TABLE t DROP COLUMN b", "columns of the table t"),
            ("ALTER TABLE t RENAME COLUMN b TO c", "columns of the table t"),
            ("ALTER TABLE t RENAME TO u", "the table t no longer exists"),
            ("DROP TABLE t", "the table t no longer exists"),
            ("DROP TABLE t; CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b)", "table t"),
            ("DROP TABLE t; CREATE VIEW t AS SELECT 1", "the table t no longer exists"),
        ], [true, false])
    func incompatible(_ change: (sql: String, notice: String), inTransaction: Bool) throws {
        try fixture.write("UPDATE t SET a = 'uno' WHERE id = 1")
        try fixture.write("INSERT INTO loose VALUES (1)")
        try fixture.undo.undo()
        #expect(fixture.undo.canUndo && fixture.undo.canRedo)
        let heard = try noticing {
            if inTransaction { try fixture.write(change.sql) } else { try fixture.execute(change.sql) }
        }
        #expect(heard.count == 1)
        #expect(heard.first?.contains(change.notice) == true, "\(heard)")
        #expect(!fixture.undo.canUndo && !fixture.undo.canRedo)
        #expect(try !fixture.undo.undo())
        // The remaining tables are still recorded.
        try fixture.write("INSERT INTO loose VALUES (2)")
        #expect(try fixture.undo.undo())
        #expect(try fixture.queue.inDatabase { try $0.integers("SELECT a FROM loose") } == [])
    }

    @Test("A rollback of the change gives the groups back, and a table that is there again is recorded again")
    func rollbacks() throws {
        try fixture.write("UPDATE t SET a = 'uno' WHERE id = 1")
        let heard = noticing {
            try? fixture.queue.write { db in
                try db.execute(sql: "DROP TABLE t")
                throw Boom()
            }
        }
        #expect(heard == [])
        #expect(fixture.undo.undoCount == 1)
        try fixture.write("UPDATE t SET a = 'due' WHERE id = 2")
        try fixture.undo.undo()
        try fixture.undo.undo()
        #expect(
            try fixture.queue.inDatabase { try String.fetchAll($0, sql: "SELECT a FROM t") } == [
                "one", "two",
            ])
        _ = try noticing { try fixture.write("DROP TABLE t") }
        try fixture.write(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b); INSERT INTO t VALUES (5, 'five', 5)")
        #expect(!fixture.undo.canUndo)
        try fixture.write("DELETE FROM t")
        #expect(try fixture.undo.undo())
        #expect(try fixture.queue.inDatabase { try $0.integers("SELECT id FROM t") } == [5])
    }

    @Test("Groups survive a table that is built anew, by hand or by us")
    func rebuilds() throws {
        try fixture.write("UPDATE t SET a = 'uno' WHERE id = 1")
        let heard = try noticing {
            try fixture.write(
                """
                CREATE TABLE t2 (id INTEGER PRIMARY KEY, a TEXT, b, c CHECK (c IS NULL));
                INSERT INTO t2 (id, a, b) SELECT id, a, b FROM t; DROP TABLE t; ALTER TABLE t2 RENAME TO t
                """)
        }
        #expect(heard == [])
        try fixture.write("UPDATE t SET a = 'due' WHERE id = 2")
        #expect(fixture.undo.undoCount == 2)
        try fixture.undo.undo()
        try fixture.undo.undo()
        #expect(
            try fixture.queue.inDatabase { try String.fetchAll($0, sql: "SELECT a FROM t") } == [
                "one", "two",
            ])
    }

    @Test("VACUUM drops the groups of tables without an INTEGER PRIMARY KEY, and of those alone")
    func vacuum() throws {
        try fixture.write("INSERT INTO loose VALUES (1), (2); DELETE FROM loose WHERE a = 1")
        var heard = try noticing {
            try fixture.queue.vacuum()
            let hasUndone = try fixture.undo.undo()
            #expect(!hasUndone)
        }
        #expect(heard.count == 1 && heard.first?.contains("VACUUM") == true, "\(heard)")
        try fixture.write("UPDATE t SET a = 'uno' WHERE id = 1")
        heard = try noticing {
            try fixture.queue.vacuum()
            try fixture.undo.undo()
        }
        #expect(heard == [])
        // One that comes between a change and the end of the access.
        try fixture.write("DELETE FROM loose")
        try fixture.undo.removeAll()
        _ = try noticing {
            try fixture.queue.inDatabase { db in
                try db.execute(sql: "INSERT INTO loose VALUES (1), (2), (3)")
                try db.execute(sql: "DELETE FROM loose WHERE a = 1")
                try db.execute(sql: "VACUUM")
            }
        }
        #expect(!fixture.undo.canUndo)
    }

    @Test("Another connection's changes of the schema are noticed")
    func otherConnections() throws {
        let file = try TemporaryDatabase()
        let fixture = try UndoFixture(path: file.path, schema: "SELECT 1", tables: ["player"])
        let other = try file.queue()
        try fixture.write("INSERT INTO player VALUES (1, 'a')")
        try other.inDatabase { db in try db.execute(sql: "ALTER TABLE player ADD COLUMN score") }
        try fixture.write("UPDATE player SET score = 5")
        #expect(fixture.undo.undoCount == 2)
        try other.inDatabase { db in try db.execute(sql: "ALTER TABLE player RENAME COLUMN name TO title") }
        let heard = try noticing(fixture) {
            let hasUndone = try fixture.undo.undo()
            #expect(!hasUndone)
        }
        #expect(heard.count == 1)
        #expect(!fixture.undo.canUndo)
    }
}
