import TestSupport
import Testing

@testable import Shellac

@Suite("The row ids of a rebuilt table")
struct RebuildRowIDTests {
    @Test("row ids stay, whatever the primary key was and becomes")
    func rowIDs() throws {
        let old = [
            "a", "a TEXT PRIMARY KEY", "a, id INTEGER PRIMARY KEY", "a, id INTEGER PRIMARY KEY AUTOINCREMENT",
            "a, rowid, oid",
        ]
        let new: [(TableDefinition) -> Void] = [
            { t in t.column("a") },
            { t in t.primaryKey("a", .text) },
            { t in
                t.column("a")
                t.primaryKey("id", .integer)
            },
            { t in
                t.autoIncrementedPrimaryKey("key")
                t.column("a")
            },
            { t in
                t.column("rowid")
                t.column("_rowid_")
                t.column("a")
            },
        ]
        for old in old {
            for (index, new) in new.enumerated() {
                try inDatabase { db throws in
                    try db.execute(
                        sql:
                            "CREATE TABLE t (\(old)); INSERT INTO t (_rowid_, a) VALUES (5, 'x'), (2, 'y'), (9, 'z')"
                    )
                    try db.rebuild(table: "t", body: new)
                    let name = index == 4 ? "oid" : "rowid"
                    #expect(
                        try Row.fetchAll(db, sql: "SELECT \(name), a FROM t ORDER BY 1").map {
                            Array($0.databaseValues)
                        }
                            == [[2, "y"], [5, "x"], [9, "z"]], "\(old), \(index)")
                }
            }
        }
    }

    @Test("to a table without row ids and back, and to a strict one")
    func options() throws {
        try inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES ('x', '1'), ('y', '2')")
            try db.rebuild(table: "t", options: [.withoutRowID, .strict, .temporary, .ifNotExists]) { t in
                t.column("b", .integer)
                t.primaryKey("a", .text)
            }
            #expect(
                try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master")
                    == #"CREATE TABLE "t" ("b" INTEGER, "a" TEXT PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID"#
            )
            #expect(try db.integers("SELECT b FROM t ORDER BY a") == [1, 2])
            try db.rebuild(table: "t") { t in
                t.column("a")
                t.column("b")
            }
            #expect(try db.integers("SELECT rowid + b FROM t ORDER BY a") == [2, 4])
        }
    }

    @Test("the last id of an AUTOINCREMENT key stays, with no row left, and goes with the key")
    func autoincrement() throws {
        try inDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a);
                    INSERT INTO t VALUES (40, 1); DELETE FROM t;
                    """)
            try db.rebuild(table: "t") { t in t.autoIncrementedPrimaryKey("id") }
            #expect(try db.integers("SELECT seq FROM sqlite_sequence") == [40])
            try db.rebuild(table: "t") { t in t.primaryKey("id", .integer) }
            #expect(try db.integers("SELECT seq FROM sqlite_sequence") == [])
            try db.execute(sql: "INSERT INTO t VALUES (50)")
            try db.rebuild(table: "t") { t in t.autoIncrementedPrimaryKey("id") }
            #expect(try db.integers("SELECT seq FROM sqlite_sequence") == [50])
        }
    }
}
