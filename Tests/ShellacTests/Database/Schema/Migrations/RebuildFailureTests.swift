import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("A rebuild that cannot be")
struct RebuildFailureTests {
    /// Expects that a rebuild of the players throws, and changes nothing.
    private func expectRefusal(
        _ sentence: String, before sql: String = "", table: String = "player", copying: [String: SQL] = [:],
        location: SourceLocation = #_sourceLocation, _ body: (TableDefinition) throws -> Void
    ) throws {
        for isInside in [false, true] {
            try inDatabase { db throws in
                try db.execute(sql: RebuildTests.players + sql)
                let list = """
                    SELECT type, name, sql FROM sqlite_master UNION ALL SELECT type, name, sql FROM sqlite_temp_master
                    UNION ALL SELECT id, name, points FROM player UNION ALL SELECT playerId, 0, 0 FROM medal
                    """
                let before = try Row.fetchAll(db, sql: list)
                func refusal() -> String? {
                    message { try db.rebuild(table: table, copying: copying, body: body) }
                }
                if isInside {
                    try db.inTransaction { () throws in
                        #expect(refusal() == sentence, sourceLocation: location)
                        #expect(try Row.fetchAll(db, sql: list) == before, sourceLocation: location)
                        return .commit
                    }
                } else {
                    #expect(refusal() == sentence, sourceLocation: location)
                }
                #expect(try Row.fetchAll(db, sql: list) == before, sourceLocation: location)
                #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true, sourceLocation: location)
                #expect(try Bool.fetchOne(db, sql: "PRAGMA legacy_alter_table") == false)
                #expect(try db.isUsable())
            }
        }
    }

    private func columns(_ names: String..., in t: TableDefinition) {
        t.autoIncrementedPrimaryKey("id")
        for name in names { t.column(name) }
    }

    private func broken(_ list: String) -> String {
        "the table player cannot be rebuilt, since this would no longer work: \(list). Drop it first, and "
            + "create another one afterwards"
    }

    // MARK: - What stands upon the table

    @Test("an index on a column that goes is named")
    func index() throws {
        try expectRefusal(broken("the index byName (no such column: name)")) {
            columns("points", "teamId", in: $0)
        }
    }

    @Test("views, and triggers wherever they stand, are named, when they use a column that goes")
    func views() throws {
        let drop = "DROP INDEX byName; DROP INDEX \"by \"\"points\"; DROP TRIGGER updated;"
        try expectRefusal(
            broken(
                "the view hero (no such column: points), the view superhero (no such column: points)"),
            before: drop
        ) { columns("name", "teamId", in: $0) }
        try expectRefusal(
            broken(
                "the trigger elsewhere (no such column: name), the trigger inserted (no such column: new.name), "
                    + "the trigger delet;ed (no such column: old.name)"),
            before: drop + "DROP VIEW superhero; DROP VIEW hero;"
        ) { columns("points", in: $0) }
    }

    @Test("a trigger that waits for the update of a column that goes would never fire, and is named")
    func updateOf() throws {
        try expectRefusal(broken("the trigger updated (no such column: teamId)")) {
            columns("points", "name", in: $0)
        }
        for (end, isSaid) in [
            ("ON main.t", true), ("on [a b] /* */ . \"t\"", true), ("ON main", false), ("BEGIN", false),
        ] {
            #expect(TriggerHeading(sql: "CREATE TRIGGER t INSERT \(end) BEGIN").saysDatabase == isSaid)
        }
        func updated(_ sql: String) -> [String] { TriggerHeading(sql: sql).updatedColumns }
        #expect(updated("CREATE TRIGGER t AFTER INSERT ON t BEGIN UPDATE t SET a = 1 WHERE b; END") == [])
        #expect(updated("CREATE TRIGGER t UPDATE ON t BEGIN SELECT 1; END") == [])
        #expect(
            updated(
                "CREATE TRIGGER \"UPDATE OF x ON y\" INSTEAD OF update/* OF */of--,\n a, \"b \"\"ON\" ,`ON`,é_1 on t"
            )
                == ["a", "b \"ON", "ON", "é_1"])
        #expect(
            updated("CREATE TRIGGER t AFTER UPDATE OF \"ON\",\n[b c] , 'd''e' ON t BEGIN SELECT 1; END") == [
                "ON", "b c", "d'e",
            ])
        #expect(updated("CREATE TRIGGER t AFTER UPDATE OF a") == ["a"])
        #expect(updated("CREATE TRIGGER t AFTER UPDATE OF \"a") == ["a"])
        #expect(updated("") == [])
    }

    @Test(
        "a temporary trigger whose table has been hidden by another would go over to that one, and is named")
    func hidden() throws {
        try inDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE t (a);
                    CREATE TEMP TRIGGER said AFTER INSERT ON main.t BEGIN SELECT 1; END;
                    CREATE TEMP TRIGGER unsaid AFTER INSERT ON t BEGIN SELECT 1; END;
                    """)
            try db.rebuild(table: "t") { $0.column("a", .blob) }
            try db.execute(sql: "CREATE TEMP TABLE t (a)")
            let sentence = { (name: String, table: String) in
                "the table \(table) cannot be rebuilt, since this would no longer work: the trigger "
                    + "\(name) (another table \(table) hides this one). Drop it first, and create another one "
                    + "afterwards"
            }
            #expect(
                message { try db.rebuild(table: "t", in: "main") { $0.column("a", .text) } }
                    == sentence("unsaid", "t"))
            try db.drop(trigger: "unsaid")
            try db.rebuild(table: "t", in: "main") { $0.column("a", .text) }
            #expect(try db.triggerExists("said", in: "temp"))
        }
    }

    @Test("what was broken before does not matter")
    func brokenBefore() throws {
        try inDatabase { db throws in
            try db.execute(
                sql: RebuildTests.players + """
                    CREATE VIEW wrongView AS SELECT missing FROM player;
                    CREATE TRIGGER wrong AFTER INSERT ON team BEGIN INSERT INTO nowhere VALUES (1); END;
                    CREATE TRIGGER right AFTER INSERT ON team BEGIN INSERT INTO log VALUES (1); END;
                    """)
            try db.rebuild(table: "player") { columns("name", "points", "teamId", in: $0) }
            #expect(try db.viewExists("wrongView"))
            #expect(try db.triggerExists("right"))
        }
    }

    // MARK: - Rows

    @Test("rows that do not fit are SQLite's own error, whatever conflict clause the definition has")
    func rows() throws {
        try expectRefusal("NOT NULL constraint failed: new_player.email") { t in
            columns("name", in: t)
            t.column("email").notNull()
        }
        try expectRefusal("UNIQUE constraint failed: new_player.teamId") { t in
            columns("name", in: t)
            t.column("teamId").unique(onConflict: .replace)
        }
        try expectRefusal("CHECK constraint failed: points > 5") { t in
            columns("name", in: t)
            t.column("points", .integer).check(sql: "points > 5")
        }
    }

    @Test("a mapping to no column, from no column, and to nothing at all")
    func mapping() throws {
        try expectRefusal(
            "the new definition of the table player has no column scores to copy to",
            copying: ["scores": "points"]
        ) { columns("score", in: $0) }
        try expectRefusal("no such column: missing", copying: ["score": "missing"]) {
            columns("score", in: $0)
        }
        try expectRefusal("no such column: id", copying: ["score": "1); DROP TABLE medal; --"]) {
            columns("score", in: $0)
        }
        try inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID")
            #expect(
                message { try db.rebuild(table: "t") { $0.column("b") } }
                    == "the new definition of the table t has no column in common with the old one: state "
                    + "what its columns are copied from")
            let name = "O'Brien"
            try db.execute(sql: "INSERT INTO t VALUES (1)")
            try db.rebuild(table: "t", copying: ["B": "a || \(name)"]) { $0.column("b") }
            #expect(try String.fetchAll(db, sql: "SELECT b FROM t") == ["1O'Brien"])
        }
    }

    // MARK: - Foreign keys

    @Test("foreign keys that the new table breaks, in it and into it, are named")
    func foreignKeys() throws {
        try expectRefusal(
            "FOREIGN KEY constraint failed: the row 1 of table medal refers by playerId to a row of table "
                + "player that does not exist",
            copying: ["id": "id + 100", "captainId": "NULL"]
        ) { columns("name", "points", "teamId", "captainId", in: $0) }
        try expectRefusal(
            "FOREIGN KEY constraint failed: the row 7 of table player refers by name to a row of table log "
                + "that does not exist",
            before: "CREATE UNIQUE INDEX u ON log(text); INSERT INTO log VALUES ('Arthur');"
        ) { t in
            columns("points", "teamId", in: t)
            t.column("name").references("log", column: "text")
        }
        try expectRefusal("foreign key mismatch - \"medal\" referencing \"player\"") { t in
            for name in ["id", "name", "points", "teamId"] { t.column(name) }
        }
    }

    @Test("where foreign keys are not enforced, nobody checks them")
    func notEnforced() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        try DatabaseQueue(configuration: configuration).inDatabase { db throws in
            try db.execute(sql: RebuildTests.players)
            try db.rebuild(table: "player", copying: ["id": "id + 100"]) {
                columns("name", "points", "teamId", in: $0)
            }
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == false)
            #expect(try db.integers("SELECT playerId FROM medal") == [3, 3, 7])
        }
    }

    @Test("a transaction that has still to mend its foreign keys rebuilds nothing, and can then commit")
    func brokenForeignKeys() throws {
        try inDatabase { db throws in
            try db.execute(sql: RebuildTests.players)
            try db.inTransaction { () throws in
                try db.execute(sql: "PRAGMA defer_foreign_keys = 1; INSERT INTO medal VALUES (8)")
                let refusal = message {
                    try db.rebuild(table: "log") { $0.column("text") }
                }
                #expect(
                    refusal
                        == "no table can be rebuilt while the transaction has broken foreign keys: repair "
                        + "them first"
                )
                try db.execute(sql: "INSERT INTO player (id, name) VALUES (8, 'Zoe')")
                try db.rebuild(table: "player") { columns("name", "points", "teamId", in: $0) }
                return .commit
            }
            #expect(try db.integers("SELECT id FROM player ORDER BY id") == [3, 7, 8])
        }
    }

    // MARK: - Misuse, cursors, signals

    @Test("views, virtual tables, SQLite's own tables and tables that are not there are refused")
    func kinds() throws {
        try inDatabase { db throws in
            try db.execute(sql: RebuildTests.players + "CREATE VIRTUAL TABLE text USING fts5(a)")
            for name in ["hero", "text", "sqlite_sequence", "json_each"] {
                #expect(
                    message { try db.rebuild(table: name) { $0.column("a") } }
                        == "\(name) cannot be rebuilt: only ordinary tables can, but not views, virtual "
                        + "tables or SQLite's own tables"
                )
            }
            #expect(message { try db.rebuild(table: "x") { $0.column("a") } } == "no such table: x")
            #expect(
                message { try db.rebuild(table: "player", in: "temp") { $0.column("a") } }
                    == "no such table: temp.player")
            #expect(throws: TestError.self) { try db.rebuild(table: "player") { _ in throw TestError() } }
        }
    }

    @Test("while rows are being fetched, nothing is rebuilt")
    func cursor() throws {
        try inDatabase { db throws in
            try db.execute(sql: RebuildTests.players)
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM team")
            _ = try cursor.next()
            let refusal = databaseError {
                try db.rebuild(table: "player") { columns("name", "points", "teamId", in: $0) }
            }
            #expect(refusal?.resultCode == .SQLITE_LOCKED)
            #expect(
                refusal?.message
                    == "the table player cannot be rebuilt while rows are being fetched: release the "
                    + "cursors first"
            )
            #expect(try db.integers("SELECT playerId FROM medal") == [3, 3, 7])
            withExtendedLifetime(cursor) {}
        }
    }

    @Test("a process killed in the middle of a rebuild leaves the table as it was")
    func killed() async throws {
        let file = try TemporaryDatabase()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = file.path as String] in
            var configuration = Configuration()
            // Pages go to the file before the commit, and a journal stays behind.
            configuration.prepareDatabase { db in
                try db.execute(sql: "PRAGMA cache_size = 10")
                db.trace { event in if event.sql.hasPrefix("ALTER TABLE") { kill(getpid(), SIGKILL) } }
            }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try await queue.write { db in
                try db.execute(
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
                        INSERT INTO player (name) SELECT i || hex(randomblob(200)) FROM n
                        """)
            }
            try await queue.write { db in
                try db.rebuild(table: "player") { t in
                    t.primaryKey("id", .integer)
                    t.column("name", .blob)
                }
            }
        }
        let queue = try file.queue()
        try await queue.read { db throws in
            #expect(try db.integers("SELECT COUNT(*) FROM player") == [2000])
            #expect(try db.columns(in: "player").map(\.type) == ["INTEGER", "TEXT"])
            #expect(try db.tableNames() == ["player"])
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
    }

    @Test("a cancelled rebuild leaves the table as it was, and foreign keys enforced")
    func cancelled() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: RebuildTests.players) }
        let started = Gate()
        let task = Task { [queue] in
            try await queue.write { db in
                try db.add(function: .pause)
                try db.rebuild(
                    table: "player",
                    copying: [
                        "slow": """
                        (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + pause() FROM n LIMIT 300000000)
                        SELECT COUNT(*) FROM n)
                        """
                    ]
                ) { t in
                    t.column("slow")
                    started.open()
                }
            }
        }
        try await waitUntil { started.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try queue.inDatabase { db throws in
            #expect(try db.columns(in: "player").count == 5)
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
            #expect(try Bool.fetchOne(db, sql: "PRAGMA legacy_alter_table") == false)
        }
    }
}
