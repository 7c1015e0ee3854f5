import TestSupport
import Testing

@testable import Shellac

/// "Making Other Kinds Of Table Schema Changes" in the SQLite documentation's "ALTER TABLE", by its
/// effect.
@Suite("A table is rebuilt")
struct RebuildTests {
    /// Players with all that can depend on a table: indexes, triggers, views, foreign keys into it,
    /// and out of it.
    static let players = """
        CREATE TABLE team (id INTEGER PRIMARY KEY);
        CREATE TABLE player (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, points TEXT, teamId REFERENCES team(id),
            captainId REFERENCES player(id) ON DELETE CASCADE);
        CREATE TABLE medal (playerId REFERENCES player(id) ON DELETE CASCADE);
        CREATE TABLE fine (playerId NOT NULL REFERENCES Player ON DELETE RESTRICT);
        CREATE TABLE log (text);
        CREATE INDEX byName ON player(name COLLATE NOCASE DESC);
        CREATE UNIQUE INDEX IF NOT EXISTS main."by ""points" ON player(points, upper(name)) WHERE points <> '';
        CREATE VIEW hero AS SELECT id, name FROM player WHERE points > 10;
        CREATE VIEW superhero AS SELECT * FROM hero;
        CREATE TRIGGER inserted AFTER INSERT ON player BEGIN INSERT INTO log VALUES ('inserted ' || new.name); END;
        CREATE TRIGGER "delet;ed" AFTER DELETE ON player BEGIN INSERT INTO log VALUES ('deleted ' || old.name); END;
        CREATE TRIGGER updated AFTER UPDATE OF name, teamId ON player WHEN new.name <> old.name
            BEGIN INSERT INTO log VALUES ('renamed ' || new.name); END;
        CREATE TRIGGER heroic INSTEAD OF DELETE ON hero BEGIN DELETE FROM player WHERE id = old.id; END;
        CREATE TRIGGER elsewhere AFTER DELETE ON team BEGIN UPDATE player SET name = 'lonely'; END;
        CREATE TEMP TRIGGER passing BEFORE DELETE ON main.player BEGIN INSERT INTO log VALUES ('passing'); END;
        INSERT INTO team VALUES (1);
        INSERT INTO player VALUES (3, 'Arthur', '12', 1, NULL), (7, 'Barbara', '5', 1, 3), (20, 'Craig', NULL, NULL, 7);
        DELETE FROM player WHERE id = 20;
        INSERT INTO medal VALUES (3), (3), (7);
        INSERT INTO fine VALUES (7);
        DELETE FROM log;
        """

    private func rebuild(
        _ db: Database, copying: [String: SQL] = ["score": "CAST(points AS INTEGER)"]
    ) throws {
        try db.rebuild(table: "PLAYER", copying: copying) { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull().defaults(to: "")
            t.column("score", .integer).check(sql: "score >= 0")
            t.column("points", .text)
            t.column("added", .integer).defaults(to: 5)
            t.column("double", .integer).generatedAs(sql: "score * 2")
            t.belongsTo("team", indexed: false)
            t.belongsTo("captain", inTable: "player", onDelete: .cascade)
        }
    }

    private func inDatabaseOfPlayers(_ body: (Database) throws -> Void) throws {
        try inDatabase { db in
            try db.execute(sql: Self.players)
            try body(db)
        }
    }

    /// All that the databases of a connection hold.
    private func contents(_ db: Database) throws -> [[DatabaseValue]] {
        try ["sqlite_master", "sqlite_temp_master", "player", "medal", "fine", "log", "sqlite_sequence"]
            .flatMap {
                let columns =
                    $0.hasPrefix("sqlite_") && $0 != "sqlite_sequence"
                    ? "type, name, tbl_name, sql" : "rowid, *"
                return try Row.fetchAll(db, sql: "SELECT \(columns) FROM \($0)").map {
                    Array($0.databaseValues)
                }
            }
    }

    // MARK: - What stays

    @Test("by SQLite's own procedure, statement by statement")
    func procedure() throws {
        try inDatabaseOfPlayers { db throws in
            let definition = { (t: TableDefinition) in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text)
                t.column("points", .text)
                t.column("teamId")
            }
            let executed = try db.executedSQL { try db.rebuild(table: "player", body: definition) }
            #expect(
                executed.filter { !$0.hasPrefix("SELECT") } == [
                    "BEGIN IMMEDIATE TRANSACTION",
                    #"CREATE TABLE "main"."new_player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT, "points" TEXT, "teamId")"#,
                    #"INSERT OR ABORT INTO "main"."new_player" ("id", "name", "points", "teamId") SELECT "id", "name", "points", "teamId" FROM "main"."player""#,
                    #"DROP TABLE "main"."player""#, #"ALTER TABLE "main"."new_player" RENAME TO "player""#,
                    #"UPDATE "main".sqlite_sequence SET seq = ? WHERE name = ? AND seq < ?"#,
                    #"CREATE INDEX "main".byName ON player(name COLLATE NOCASE DESC)"#,
                    #"CREATE UNIQUE INDEX "main"."by ""points" ON player(points, upper(name)) WHERE points <> ''"#,
                    #"CREATE TRIGGER "main".inserted AFTER INSERT ON player BEGIN INSERT INTO log VALUES ('inserted ' || new.name); END"#,
                    #"CREATE TRIGGER "main"."delet;ed" AFTER DELETE ON player BEGIN INSERT INTO log VALUES ('deleted ' || old.name); END"#,
                    "CREATE TRIGGER \"main\".updated AFTER UPDATE OF name, teamId ON player WHEN new.name <> old.name\n"
                        + "    BEGIN INSERT INTO log VALUES ('renamed ' || new.name); END",
                    #"CREATE TRIGGER "temp".passing BEFORE DELETE ON main.player BEGIN INSERT INTO log VALUES ('passing'); END"#,
                    "COMMIT TRANSACTION",
                ])
        }
    }

    @Test(
        "its rows, indexes, triggers, views and foreign keys stay, in and outside of a transaction",
        arguments: [false, true])
    func everything(inTransaction: Bool) throws {
        try inDatabaseOfPlayers { db throws in
            let before = try String.fetchAll(
                db,
                sql:
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT IN ('player') UNION ALL "
                    + "SELECT sql FROM sqlite_temp_master")
            if inTransaction {
                try db.inTransaction { () throws in
                    try db.execute(sql: "UPDATE player SET points = '11' WHERE id = 3")
                    try rebuild(db)
                    // It is as it was meanwhile.
                    #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
                    expectError("FOREIGN KEY constraint failed") {
                        try db.execute(sql: "INSERT INTO fine VALUES (99)")
                    }
                    try db.execute(sql: "UPDATE player SET points = '12' WHERE id = 3")
                    return .commit
                }
            } else {
                try rebuild(db)
            }
            #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
            #expect(try Bool.fetchOne(db, sql: "PRAGMA legacy_alter_table") == false)
            let after = try String.fetchAll(
                db,
                sql:
                    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT IN ('player') UNION ALL "
                    + "SELECT sql FROM sqlite_temp_master")
            #expect(
                Set(after)
                    == Set(before + [#"CREATE INDEX "player_on_captainId" ON "player"("captainId")"#]))

            // No row went, and no trigger ran.
            #expect(
                try Row.fetchAll(db, sql: "SELECT rowid, * FROM player").map { Array($0.databaseValues) } == [
                    [3, 3, "Arthur", inTransaction ? 11 : 12, "12", 5, inTransaction ? 22 : 24, 1, .null],
                    [7, 7, "Barbara", 5, "5", 5, 10, 1, 3],
                ])
            #expect(try db.integers("SELECT playerId FROM medal") == [3, 3, 7])
            #expect(try db.integers("SELECT playerId FROM fine") == [7])
            #expect(try String.fetchAll(db, sql: "SELECT * FROM log") == [])
            #expect(try String.fetchAll(db, sql: "SELECT name FROM superhero") == ["Arthur", "Barbara"])

            // All is alive: the next id, the views, the triggers, and the foreign keys.
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Dora')")
            #expect(db.lastInsertedRowID == 21)
            try db.execute(
                sql: "UPDATE player SET name = 'Eve' WHERE id = 21; DELETE FROM hero WHERE id = 21")
            try db.execute(sql: "DELETE FROM player WHERE id = 21")
            expectError("FOREIGN KEY constraint failed") {
                try db.execute(sql: "DELETE FROM player WHERE id = 7")
            }
            try db.execute(sql: "DELETE FROM fine; DELETE FROM player WHERE id = 3")
            #expect(try db.integers("SELECT playerId FROM medal") == [])
            #expect(
                try String.fetchAll(db, sql: "SELECT text FROM log") == [
                    "inserted Dora", "renamed Eve", "passing", "deleted Eve", "passing", "passing",
                    "deleted Barbara", "deleted Arthur",
                ])
        }
    }

    @Test("a rebuild that is rolled back leaves everything as it was")
    func rolledBack() throws {
        try inDatabaseOfPlayers { db throws in
            let before = try contents(db)
            try db.inTransaction { () throws in
                try db.inSavepoint { () throws in
                    try rebuild(db)
                    return .rollback
                }
                #expect(try contents(db) == before)
                try rebuild(db)
                try rebuild(db, copying: [:])
                return .rollback
            }
            #expect(try contents(db) == before)
        }
    }

    @Test(
        "in a migration of either kind", arguments: [DatabaseMigrator.ForeignKeyChecks.deferred, .immediate])
    func migration(checks: DatabaseMigrator.ForeignKeyChecks) throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in try db.execute(sql: Self.players) }
        func migrator(_ name: String, last sql: String) -> DatabaseMigrator {
            var migrator = DatabaseMigrator()
            migrator.registerMigration(name, foreignKeyChecks: checks) { db in
                try self.rebuild(db)
                try db.execute(sql: sql)
            }
            return migrator
        }
        let before = try queue.inDatabase { db in try contents(db) }
        #expect(throws: DatabaseError.self) {
            try migrator("a", last: "INSERT INTO medal VALUES (99)").migrate(queue)
        }
        try queue.inDatabase { db throws in
            #expect(try contents(db) == before)
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
        }
        try migrator("a", last: "INSERT INTO medal VALUES (7)").migrate(queue)
        try queue.inDatabase { db throws in
            #expect(try db.integers("SELECT playerId FROM medal") == [3, 3, 7, 7])
            #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
            #expect(try db.columns(in: "player").map(\.name).contains("score"))
        }
    }

    @Test(
        "SQLite's rule that this works around: DROP TABLE deletes the rows that refer to it, deferred or not")
    func dropTable() throws {
        try inDatabaseOfPlayers { db throws in
            try db.execute(sql: "DELETE FROM fine")
            try db.inTransaction { () throws in
                try db.execute(
                    sql: "PRAGMA foreign_keys = 0; PRAGMA defer_foreign_keys = 1; DROP TABLE player")
                #expect(try db.integers("SELECT COUNT(*) FROM medal") == [0])
                return .rollback
            }
        }
    }

    // MARK: - Where

    @Test("in an attached and in the temporary database, beside tables of the same name")
    func schemas() throws {
        try inDatabase { db throws in
            try db.execute(sql: "ATTACH ':memory:' AS \"aux db\"")
            for schema in ["main", "temp", "\"aux db\""] {
                try db.execute(
                    sql: """
                        CREATE TABLE \(schema).t (id INTEGER PRIMARY KEY, a);
                        CREATE TABLE \(schema).child (t REFERENCES t ON DELETE CASCADE);
                        CREATE INDEX \(schema).i ON t(a);
                        CREATE TRIGGER \(schema).tr AFTER INSERT ON t BEGIN DELETE FROM child; END;
                        INSERT INTO \(schema).t VALUES (1, 'x');
                        INSERT INTO \(schema).child VALUES (1);
                        """)
            }
            for schema in ["aux db", "temp", "main"] {
                let list =
                    "SELECT type, name, tbl_name FROM \(schema.quotedDatabaseIdentifier).sqlite_master ORDER BY 1, 2"
                let before = try Row.fetchAll(db, sql: list)
                try db.rebuild(table: "t", in: schema) { t in
                    t.column("a", .text).notNull()
                    t.primaryKey("id", .integer)
                }
                #expect(try Row.fetchAll(db, sql: list) == before)
                #expect(try db.columns(in: "t", in: schema).map(\.name) == ["a", "id"])
                #expect(try db.integers("SELECT t FROM \(schema.quotedDatabaseIdentifier).child") == [1])
            }
            #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
        }
    }

    @Test(
        "names that break SQL which does not quote them break no rebuild",
        arguments: hostileNames)
    func hostile(name: String) throws {
        try inDatabase { db throws in
            try db.create(table: name) { t in
                t.primaryKey("id", .integer)
                t.column(name)
            }
            try db.create(index: "i" + name, on: name, columns: [name])
            try db.execute(sql: "INSERT INTO \(name.quotedDatabaseIdentifier) VALUES (4, 'x')")
            try db.rebuild(table: name) { t in
                t.column(name, .text)
                t.autoIncrementedPrimaryKey("id")
            }
            #expect(try db.indexes(on: name).map(\.columns) == [[name]])
            #expect(try db.integers("SELECT id FROM \(name.quotedDatabaseIdentifier)") == [4])
        }
    }
}
