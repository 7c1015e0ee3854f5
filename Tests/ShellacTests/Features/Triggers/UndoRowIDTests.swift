import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Undo of rows with odd ids")
struct UndoRowIDTests {
    private static let schema = """
        CREATE TABLE plain (id INTEGER PRIMARY KEY, n);
        CREATE TABLE stamped (id INTEGER PRIMARY KEY, n, createdAt, updatedAt);
        CREATE TABLE heard (id INTEGER PRIMARY KEY, n);
        CREATE TABLE loose (n);
        CREATE TABLE unique1 (id INTEGER PRIMARY KEY, n, u UNIQUE);
        """
    static let tables = ["plain", "stamped", "heard", "loose", "unique1"]

    private func fixture(withTemporaryTriggers: Bool) throws -> UndoFixture {
        let fixture = try UndoFixture(schema: Self.schema, tables: Self.tables)
        try fixture.queue.inDatabase { db in
            try db.register(DatabaseStamps(created: "createdAt", updated: "updatedAt"), on: "stamped")
            try db.after(.insert, on: "heard") { db, change in
                let id: Int64 = try #require(change.new)["id"]
                try db.execute(sql: "UPDATE heard SET n = n || '!' WHERE id = ?", arguments: [id])
            }
            if withTemporaryTriggers {
                for table in Self.tables {
                    try db.execute(
                        sql: """
                            CREATE TEMP TRIGGER "\(table) of the program" AFTER INSERT ON main.\(table)
                            BEGIN UPDATE \(table) SET n = n || '?' WHERE _rowid_ = NEW._rowid_; END
                            """)
                }
            }
        }
        return fixture
    }

    @Test(
        "An insertion, whether SQLite finds the id or not, is undone to no row, and one that replaces to the old row",
        arguments: tables, [true, false])
    func insertions(table: String, withTemporaryTriggers: Bool) throws {
        let fixture = try fixture(withTemporaryTriggers: withTemporaryTriggers)
        var states = [try fixture.dump()]
        let (min, max) = (Int64.min, Int64.max)
        for sql in [
            "INSERT INTO \(table) (_rowid_, n) VALUES (-1, 'a')",
            "INSERT OR REPLACE INTO \(table) (_rowid_, n) VALUES (-1, 'b')",
            "INSERT INTO \(table) (n) VALUES ('c')",
            "INSERT INTO \(table) (_rowid_, n) VALUES (1, 'd'), (\(min), 'e'), (NULL, 'f')",
            "INSERT OR REPLACE INTO \(table) (_rowid_, n) VALUES (0, 'g'), (\(min), 'h'), (NULL, 'i')",
            "DELETE FROM \(table) WHERE _rowid_ = 2; INSERT INTO \(table) (n) VALUES ('j')",
            "UPDATE OR REPLACE \(table) SET _rowid_ = -1 WHERE _rowid_ = 0",
            "DELETE FROM \(table) WHERE _rowid_ = -1; INSERT INTO \(table) (n) VALUES ('k'), ('l')",
            "INSERT INTO \(table) (_rowid_, n) VALUES (\(max), 'm')",
            "INSERT INTO \(table) (n) VALUES ('by chance'), ('by chance')",
            "INSERT OR REPLACE INTO \(table) (_rowid_, n) VALUES (\(max), 'o'), (-1, 'p'), (NULL, 'by chance')",
            "UPDATE \(table) SET n = 'q' WHERE _rowid_ = 1; INSERT OR REPLACE INTO \(table) (_rowid_, n) VALUES (1, 'r')",
            "INSERT OR REPLACE INTO \(table) (_rowid_, n) SELECT _rowid_, 's' FROM \(table)",
        ] {
            try fixture.write(sql)
            states.append(try fixture.dump())
            #expect(fixture.undo.undoCount == states.count - 1, "\(sql)")
        }
        for index in states.indices.dropLast().reversed() {
            #expect(try fixture.undo.undo())
            try #require(try fixture.dump() == states[index], "undo to \(index)")
        }
        for index in states.indices.dropFirst() {
            #expect(try fixture.undo.redo())
            try #require(try fixture.dump() == states[index], "redo to \(index)")
        }
    }

    @Test("A default value takes the place of a key that is NULL, also one that is written as a name")
    func defaultKeys() throws {
        let fixture = try UndoFixture(
            schema: """
                CREATE TABLE t (k TEXT NOT NULL ON CONFLICT REPLACE DEFAULT k PRIMARY KEY, n) WITHOUT ROWID;
                CREATE TABLE u (id INTEGER PRIMARY KEY, n, k TEXT NOT NULL ON CONFLICT REPLACE DEFAULT "n" UNIQUE);
                INSERT INTO t VALUES ('k', 1); INSERT INTO u VALUES (1, 1, 'n');
                """, tables: ["t", "u"])
        let start = try fixture.dump()
        try fixture.write(
            "INSERT OR REPLACE INTO t VALUES (NULL, 2); INSERT OR REPLACE INTO u VALUES (2, 2, NULL)")
        #expect(
            try fixture.queue.inDatabase { try $0.integers("SELECT n FROM t UNION ALL SELECT n FROM u") } == [
                2, 2,
            ])
        try fixture.undo.undo()
        #expect(try fixture.dump() == start)
    }

    @Test(
        "Unique indexes that name their table, on expressions and of some rows, are recorded",
        arguments: [
            "CREATE UNIQUE INDEX i ON a(n) WHERE a.n > 3",
            "CREATE UNIQUE INDEX i ON a(n) WHERE \"a\" . \"n\" > 3.5 -- c",
            "CREATE UNIQUE INDEX i ON a(abs(n)) WHERE main.a.n > 3",
            "CREATE UNIQUE INDEX i ON a(abs(n) DESC /* c */)",
            "CREATE UNIQUE INDEX i ON a(n + 0 desc, 1)",
        ])
    func indexes(_ sql: String) throws {
        let fixture = try UndoFixture(
            schema: "CREATE TABLE a(id INTEGER PRIMARY KEY, u, n); INSERT INTO a VALUES (1, 'x', 5); " + sql,
            tables: ["a"])
        let start = try fixture.dump()
        try fixture.write("INSERT OR REPLACE INTO a(u, n) VALUES ('y', 5)")
        let middle = try fixture.dump()
        #expect(try fixture.queue.inDatabase { try $0.integers("SELECT id FROM a") } == [2])
        try fixture.write("INSERT INTO a(u, n) VALUES ('z', 6); UPDATE OR REPLACE a SET n = 5 WHERE u = 'z'")
        #expect(try fixture.queue.inDatabase { try $0.integers("SELECT id FROM a") } == [3])
        try fixture.undo.undo()
        #expect(try fixture.dump() == middle)
        try fixture.undo.undo()
        #expect(try fixture.dump() == start)
    }

    @Test("Where the triggers do not compile, recording does not begin, and writing goes on")
    func notCompiling() throws {
        let file = try TemporaryDatabase()
        // An old program has taken a text in double quotes for one.
        try file.queue { $0.acceptsDoubleQuotedStringLiterals = true }.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE a(id INTEGER PRIMARY KEY, n); CREATE UNIQUE INDEX i ON a(n) WHERE n > \"abc\""
            )
        }
        let queue = try file.queue()
        let error = databaseError { _ = try DatabaseUndo(queue, tables: ["a"]) }
        #expect(
            error?.message?.contains(
                "the changes of a cannot be undone: the triggers that would record them do not compile: no such column: abc"
            ) == true, "\(error as Any)")
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO a(n) VALUES (1)")
            #expect(
                try db.integers("SELECT COUNT(*) FROM temp.sqlite_master WHERE name LIKE 'shellac%'") == [0])
        }
    }
}
