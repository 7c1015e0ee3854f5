import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Table definitions")
struct TableDefinitionTests {
    /// The SQL of a table's definition, which is executed.
    private func sql(
        _ name: String = "t", _ options: TableOptions = [], before: String = "",
        _ body: @escaping (TableDefinition) throws -> Void
    ) throws -> [String] {
        var executed: [String] = []
        try inDatabase { db in
            try db.execute(sql: before)
            executed = try db.executedSQL { try db.create(table: name, options: options, body: body) }
        }
        return executed
    }

    @Test("A table with dates is created as it was declared")
    func seed() throws {
        let executed = try sql("player") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("creationDate", .datetime).notNull()
            t.column("modificationDate", .datetime).notNull()
            t.column("name", .text).notNull()
            t.column("score", .integer).notNull()
        }
        #expect(
            executed == [
                #"CREATE TABLE "player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "creationDate" DATETIME NOT NULL, "#
                    + #""modificationDate" DATETIME NOT NULL, "name" TEXT NOT NULL, "score" INTEGER NOT NULL)"#
            ])
    }

    @Test("each type is spelled as SQLite knows it")
    func types() throws {
        let types: [(Database.ColumnType?, String)] = [
            (.text, " TEXT"), (.integer, " INTEGER"), (.double, " DOUBLE"), (.real, " REAL"),
            (.numeric, " NUMERIC"), (.boolean, " BOOLEAN"), (.blob, " BLOB"), (.date, " DATE"),
            (.datetime, " DATETIME"), (.any, " ANY"), (.jsonText, " TEXT"), (nil, ""),
            (Database.ColumnType(sql: "DECIMAL(10, 2)"), " DECIMAL(10, 2)"),
            (Database.ColumnType(rawValue: ""), ""),
        ]
        for (type, text) in types {
            #expect(try sql { $0.column("a", type) } == [#"CREATE TABLE "t" ("a"\#(text))"#])
        }
    }

    @Test("each table option adds its words")
    func options() throws {
        func one(_ options: TableOptions) throws -> String? {
            try sql("t", options) { $0.primaryKey("a", .text) }.first
        }
        let body = #"("a" TEXT PRIMARY KEY NOT NULL)"#
        #expect(try one([]) == #"CREATE TABLE "t" \#(body)"#)
        #expect(try one(.ifNotExists) == #"CREATE TABLE IF NOT EXISTS "t" \#(body)"#)
        #expect(try one(.temporary) == #"CREATE TEMPORARY TABLE "t" \#(body)"#)
        #expect(try one(.withoutRowID) == #"CREATE TABLE "t" \#(body) WITHOUT ROWID"#)
        guard Features.versionNumber >= 3_037_000 else { return }
        #expect(try one(.strict) == #"CREATE TABLE "t" \#(body) STRICT"#)
        #expect(
            try one([.temporary, .ifNotExists, .strict, .withoutRowID])
                == #"CREATE TEMPORARY TABLE IF NOT EXISTS "t" \#(body) STRICT, WITHOUT ROWID"#)
    }

    @Test("table options have their effect")
    func optionEffects() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "t") { $0.column("a", .text).indexed() }
            try db.create(table: "t", options: .ifNotExists) { $0.column("a").indexed() }
            #expect(try db.columns(in: "t").map(\.type) == ["TEXT"])
            #expect(
                message { try db.create(table: "T") { $0.column("b") } }?.contains("already exists") == true)

            try db.create(table: "t", options: .temporary) { t in t.column("b").indexed() }
            #expect(try db.indexes(on: "t", in: "temp").map(\.name) == ["t_on_b"])
            #expect(try db.indexes(on: "t", in: "main").map(\.name) == ["t_on_a"])

            try db.create(table: "w", options: .withoutRowID) { $0.primaryKey("a", .integer) }
            #expect(try !db.primaryKey("w").tableHasRowID)
            #expect(
                message { try db.create(table: "x", options: .withoutRowID) { $0.column("a") } }
                    == "PRIMARY KEY missing on table x")
            guard Features.versionNumber >= 3_037_000 else { return }
            try db.create(table: "s", options: .strict) { $0.column("a", .integer) }
            expectError("cannot store TEXT value in INTEGER column s.a") {
                try db.execute(sql: "INSERT INTO s VALUES ('x')")
            }
            #expect(
                message { try db.create(table: "x", options: .strict) { $0.column("a", .boolean) } }
                    == #"unknown datatype for x.a: "BOOLEAN""#)
        }
    }

    @Test("each column constraint adds its words")
    func constraints() throws {
        func column(_ define: @escaping (ColumnDefinition) -> Void) throws -> String {
            let executed = try sql(before: "CREATE TABLE other (id INTEGER PRIMARY KEY, code UNIQUE)") {
                define($0.column("a", .text))
                $0.column("b")
            }
            return String(
                executed[0].dropFirst(#"CREATE TABLE "t" ("a" TEXT "#.count).dropLast(#", "b")"#.count))
        }
        #expect(try column { $0.primaryKey() } == "PRIMARY KEY")
        #expect(try column { $0.primaryKey(onConflict: .fail) } == "PRIMARY KEY ON CONFLICT FAIL")
        #expect(try column { $0.notNull() } == "NOT NULL")
        #expect(try column { $0.notNull(onConflict: .rollback) } == "NOT NULL ON CONFLICT ROLLBACK")
        #expect(try column { $0.unique() } == "UNIQUE")
        #expect(try column { $0.unique(onConflict: .replace) } == "UNIQUE ON CONFLICT REPLACE")
        #expect(try column { $0.unique(onConflict: .abort) } == "UNIQUE ON CONFLICT ABORT")
        #expect(try column { $0.unique(onConflict: .ignore) } == "UNIQUE ON CONFLICT IGNORE")
        #expect(try column { $0.check(sql: "a > 1").check(sql: "a < 9") } == "CHECK (a > 1) CHECK (a < 9)")
        #expect(try column { $0.collate(.nocase) } == #"COLLATE "NOCASE""#)
        #expect(try column { $0.collate("rtrim") } == #"COLLATE "rtrim""#)
        #expect(try column { $0.defaults(to: "it's") } == "DEFAULT 'it''s'")
        #expect(try column { $0.defaults(to: -1) } == "DEFAULT -1")
        #expect(try column { $0.defaults(to: Int?.none) } == "DEFAULT NULL")
        #expect(try column { $0.defaults(to: "a\0b") } == "DEFAULT (CAST(x'610062' AS TEXT))")
        #expect(try column { $0.defaults(sql: "CURRENT_TIMESTAMP") } == "DEFAULT (CURRENT_TIMESTAMP)")
        #expect(try column { $0.generatedAs(sql: "b + 1") } == "GENERATED ALWAYS AS (b + 1) VIRTUAL")
        #expect(try column { $0.generatedAs(sql: "b", .stored) } == "GENERATED ALWAYS AS (b) STORED")
        #expect(try column { $0.references("other") } == #"REFERENCES "other""#)
        #expect(try column { $0.references("other", column: "code") } == #"REFERENCES "other"("code")"#)
        #expect(
            try column { $0.references("other", onDelete: .setNull, onUpdate: .setDefault, deferred: true) }
                == #"REFERENCES "other" ON DELETE SET NULL ON UPDATE SET DEFAULT DEFERRABLE INITIALLY DEFERRED"#
        )
        #expect(
            try column { $0.references("other", onDelete: .cascade, onUpdate: .restrict) }
                == #"REFERENCES "other" ON DELETE CASCADE ON UPDATE RESTRICT"#)
        #expect(
            try column {
                $0.references("other").collate(.binary).defaults(to: 1).check(sql: "a").unique().notNull()
            } == #"NOT NULL UNIQUE CHECK (a) DEFAULT 1 COLLATE "BINARY" REFERENCES "other""#)
    }

    @Test("column constraints have their effect")
    func constraintEffects() throws {
        try inDatabase { db in
            try db.create(table: "t") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull().unique().collate(.nocase)
                t.column("ignored", .text).unique(onConflict: .ignore)
                t.column("score", .integer).notNull().defaults(to: 10).check(sql: "score >= 0")
                t.column("twice", .integer).generatedAs(sql: "score * 2", .stored)
            }
            try db.execute(sql: "INSERT INTO t (name, ignored) VALUES ('Arthur', 'x'), ('Barbara', 'x')")
            #expect(
                try Row.fetchAll(db, sql: "SELECT name, score, twice FROM t").map(\.description).count == 1)
            #expect(try Int.fetchOne(db, sql: "SELECT twice FROM t") == 20)
            let failures = [
                "INSERT INTO t (name) VALUES (NULL)": "NOT NULL constraint failed: t.name",
                "INSERT INTO t (name) VALUES ('ARTHUR')": "UNIQUE constraint failed: t.name",
                "INSERT INTO t (name, score) VALUES ('C', -1)": "CHECK constraint failed: score >= 0",
                "INSERT INTO t (id, name) VALUES (1, 'C')": "UNIQUE constraint failed: t.id",
            ]
            for (sql, text) in failures { #expect(message { try db.execute(sql: sql) } == text) }
        }
    }

    @Test("a default value is inserted as it was given")
    func defaultValues() throws {
        try inDatabase { db in
            let values: [DatabaseValue] = [
                .null, 0, 1, -1, DatabaseValue(.int64(.max)), DatabaseValue(.int64(.min)), 0.1, -1.5, 1e300,
                DatabaseValue(.double(.infinity)), DatabaseValue(.double(-.infinity)),
                0.30000000000000004, "", "it's", "a\0b", "\"",
                "😀", "CAST", "'; DROP TABLE t; --", DatabaseValue(.blob(Data([] as [UInt8]))),
                DatabaseValue(.blob(Data([0, 255] as [UInt8]))),
                DatabaseValue(.double(.nan)), true, "1", -0.5, DatabaseValue(.double(1e15)),
            ]
            try db.create(table: "t") { t in
                for (index, value) in values.enumerated() { t.column("c\(index)").defaults(to: value) }
            }
            try db.execute(sql: "INSERT INTO t DEFAULT VALUES")
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM t"))
            for (index, value) in values.enumerated() {
                #expect(try row[index] as DatabaseValue == value, "\(value.debugDescription)")
            }
        }
    }

    @Test("primary keys are declared in each way")
    func primaryKeys() throws {
        #expect(
            try sql { $0.autoIncrementedPrimaryKey("id", onConflict: .replace) }
                == [#"CREATE TABLE "t" ("id" INTEGER PRIMARY KEY ON CONFLICT REPLACE AUTOINCREMENT)"#])
        #expect(
            try sql { $0.primaryKey("id", .integer) } == [#"CREATE TABLE "t" ("id" INTEGER PRIMARY KEY)"#])
        #expect(
            try sql { $0.primaryKey("id", .blob, onConflict: .ignore).notNull(onConflict: .fail) }
                == [#"CREATE TABLE "t" ("id" BLOB PRIMARY KEY ON CONFLICT IGNORE NOT NULL ON CONFLICT FAIL)"#]
        )
        let composite = try sql { t in
            t.primaryKey(onConflict: .replace) {
                t.column("a", .text)
                t.column("b", .integer)
            }
            t.column("c")
        }
        #expect(
            composite == [
                #"CREATE TABLE "t" ("a" TEXT NOT NULL, "b" INTEGER NOT NULL, "c", PRIMARY KEY ("a", "b") ON CONFLICT REPLACE)"#
            ])
        let named = try sql { t in
            t.column("a")
            t.column("b")
            t.check(sql: "a < b")
            t.primaryKey(["b", "a"], onConflict: .fail)
        }
        #expect(
            named == [#"CREATE TABLE "t" ("a", "b", PRIMARY KEY ("b", "a") ON CONFLICT FAIL, CHECK (a < b))"#]
        )
        try inDatabase { db in
            let error = message {
                try db.create(table: "t") { t in
                    t.primaryKey("a", .text)
                    t.primaryKey("b", .text)
                }
            }
            #expect(error == #"table "t" has more than one primary key"#)
            try db.create(table: "n") { $0.primaryKey("a", .text) }
            #expect(
                message { try db.execute(sql: "INSERT INTO n VALUES (NULL)") }
                    == "NOT NULL constraint failed: n.a")
        }
    }

    @Test("table constraints and columns as SQL stand in their place")
    func tableConstraints() throws {
        let executed = try sql { t in
            t.constraint(sql: "CONSTRAINT positive CHECK (a > 0)")
            t.uniqueKey(["a", "b"])
            t.uniqueKey(["b"], onConflict: .ignore)
            t.foreignKey(["a", "b"], references: "other")
            t.foreignKey(
                ["a"], references: "o\"ther", columns: ["x"], onDelete: .cascade, onUpdate: .setNull,
                deferred: true)
            t.column("a")
            t.column(sql: "b TEXT DEFAULT 'x'")
        }
        #expect(
            executed == [
                #"CREATE TABLE "t" ("a", b TEXT DEFAULT 'x', CONSTRAINT positive CHECK (a > 0), UNIQUE ("a", "b"), "#
                    + #"UNIQUE ("b") ON CONFLICT IGNORE, FOREIGN KEY ("a", "b") REFERENCES "other", "#
                    + #"FOREIGN KEY ("a") REFERENCES "o""ther"("x") ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED)"#
            ])
    }

    @Test("indexed columns get an index, all or nothing, and unique ones do not need it")
    func indexed() throws {
        let executed = try sql("a b") { t in
            t.column("x").indexed()
            t.column("y").unique().indexed()
        }
        #expect(
            executed == [
                "BEGIN IMMEDIATE TRANSACTION", #"CREATE TABLE "a b" ("x", "y" UNIQUE)"#,
                #"CREATE INDEX "a b_on_x" ON "a b"("x")"#, "COMMIT TRANSACTION",
            ])
        #expect(
            try sql("t", .ifNotExists) { $0.column("x").indexed() }.contains(
                #"CREATE INDEX IF NOT EXISTS "t_on_x" ON "t"("x")"#))
        // A temporary table of the same name does not get the index.
        #expect(
            try sql("t", before: "CREATE TEMP TABLE t (x)") { $0.column("x").indexed() }.contains(
                #"CREATE INDEX "main"."t_on_x" ON "t"("x")"#))
        try inDatabase { db in
            try db.execute(sql: "CREATE TABLE other (a); CREATE INDEX t_on_x ON other(a)")
            expectError("index t_on_x already exists") {
                try db.create(table: "t") { $0.column("x").indexed() }
            }
            #expect(try !db.tableExists("t"))
            try db.inTransaction {
                expectError("index t_on_x already exists") {
                    try db.create(table: "t") { $0.column("x").indexed() }
                }
                try db.create(table: "u") { $0.column("x").indexed() }
                return .commit
            }
            #expect(try !db.tableExists("t"))
            #expect(try db.indexes(on: "u").count == 1)
        }
    }

    @Test("any name is a table's and a column's", arguments: hostileNames)
    func names(_ name: String) throws {
        try inDatabase { db in
            try db.execute(sql: "CREATE TABLE safe (a)")
            try db.create(table: name) { t in
                t.column(name, .text).unique().defaults(to: name)
                t.column("other").indexed().references(name, column: name)
                t.uniqueKey([name, "other"])
            }
            #expect(try db.columns(in: name).map(\.name) == [name, "other"])
            #expect(try db.foreignKeys(on: name).map(\.destinationColumns) == [[name]])
            try db.execute(sql: "INSERT INTO \(name.quotedDatabaseIdentifier) DEFAULT VALUES")
            #expect(try String.fetchOne(db, sql: "SELECT * FROM \(name.quotedDatabaseIdentifier)") == name)
            try db.alter(table: name) { t in
                t.add(column: name + "2", .text)
                t.rename(column: name + "2", to: name + "3")
            }
            try db.rename(table: name, to: name + "4")
            #expect(try db.columns(in: name + "4").map(\.name) == [name, "other", name + "3"])
            try db.drop(table: name + "4")
            #expect(try db.tableNames() == ["safe"])
        }
    }

    @Test("what SQLite refuses is SQLite's error, with the SQL, and SQL cannot add a statement")
    func errors() throws {
        try inDatabase { db in
            try db.execute(sql: "CREATE TABLE safe (a)")
            let calls: [(Database) throws -> Void] = [
                { try $0.create(table: "t") { _ in } },
                {
                    try $0.create(table: "t") {
                        $0.column("a")
                        $0.column("A")
                    }
                },
                { try $0.create(table: "t") { $0.column("a").generatedAs(sql: "b") } },
                { try $0.create(table: "sqlite_t") { $0.column("a") } },
                {
                    try $0.create(table: "t") {
                        $0.column("a", Database.ColumnType(sql: "TEXT); DROP TABLE safe; --"))
                    }
                },
                { try $0.create(table: "t") { $0.column("a").check(sql: "1)); DROP TABLE safe; --") } },
                { try $0.create(table: "t") { $0.column("a").primaryKey(autoincrement: true) } },
                { try $0.create(table: "a\0b") { $0.column("a") } },
                {
                    try $0.create(table: "t") {
                        $0.uniqueKey(["x"])
                        $0.column("a")
                    }
                },
                { try $0.drop(table: "t") }, { try $0.rename(table: "t", to: "u") },
                { try $0.drop(view: "safe") },
                { try $0.drop(index: "safe") }, { try $0.drop(trigger: "safe") },
                { try $0.alter(table: "safe") { $0.drop(column: "a") } },
                { try $0.alter(table: "safe") { $0.add(column: "b").unique() } },
                { try $0.alter(table: "t") { $0.add(column: "b") } },
                { try $0.create(index: "i", on: "t", columns: ["a"]) },
                { try $0.create(index: "i", on: "safe", columns: ["b"]) },
                { try $0.create(index: "i", on: "safe", columns: []) },
                { try $0.create(virtualTable: "t", using: "nothing") },
                { try $0.create(virtualTable: "t", using: "fts5") },
                { try $0.create(view: "v", as: "SELECT 1; DROP TABLE safe") },
                { try $0.create(view: "v", as: "nonsense") },
            ]
            for (index, call) in calls.enumerated() {
                do {
                    try call(db)
                    Issue.record("call \(index) does not throw")
                } catch let error as DatabaseError {
                    #expect(error.sql?.isEmpty == false, "call \(index)")
                    #expect(error.message?.isEmpty == false, "call \(index)")
                }
            }
            #expect(try db.tableNames() == ["safe"])
            #expect(try db.columns(in: "safe").map(\.name) == ["a"])
            // The error of the body reaches the caller, and nothing is created.
            struct Stop: Error {}
            #expect(throws: Stop.self) { try db.create(table: "t") { _ in throw Stop() } }
            #expect(throws: Stop.self) { try db.alter(table: "safe") { _ in throw Stop() } }
            try db.alter(table: "safe") { _ in }
        }
        let queue = try DatabaseQueue()
        expectError("attempt to write in a read-only access") {
            try queue.read { db in try db.create(table: "t") { $0.column("a") } }
        }
    }
}
