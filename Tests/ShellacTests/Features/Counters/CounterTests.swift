import Foundation
import Shellac
import TestSupport
import Testing

/// Counters: which triggers a table has, what is counted, and what happens to both when the schema
/// changes.
@Suite("A counter")
struct CounterTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    // MARK: - Support

    private func createTeam(_ db: Database) throws {
        try db.create(table: "team") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).unique()
            t.counter("playersCount", of: "player")
        }
    }

    private func createPlayer(
        _ db: Database, onDelete: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false
    ) throws {
        try db.create(table: "player") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("code", .text).unique()
            t.belongsTo("team", onDelete: onDelete, onUpdate: .cascade, deferred: isDeferred)
        }
    }

    /// Creates two teams.
    private func createTables(onDelete: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false)
        throws
    {
        try queue.write { db in
            try createTeam(db)
            try createPlayer(db, onDelete: onDelete, deferred: isDeferred)
            try db.execute(sql: "INSERT INTO team (id, name) VALUES (1, 'Reds'), (2, 'Blues')")
        }
    }

    private func counts(_ db: Database) throws -> [Int] {
        try Int.fetchAll(db, sql: "SELECT playersCount FROM team ORDER BY id")
    }

    /// Executes SQL, and returns the counts of the teams.
    private func run(_ sql: String) throws -> [Int] {
        try queue.write { db in
            try db.execute(sql: sql)
            return try counts(db)
        }
    }

    /// Expects a change of the schema to be refused with a sentence, and to leave the schema as it
    /// was.
    private func expectRefusal(
        _ sentence: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: @escaping (Database) throws -> Void
    ) throws {
        try queue.inDatabase { db in
            let before = try Row.fetchAll(db, sql: "SELECT * FROM sqlite_master")
            expectError(sentence, sourceLocation: sourceLocation) {
                try db.inSavepoint {
                    try change(db)
                    return .commit
                }
            }
            try #expect(
                Row.fetchAll(db, sql: "SELECT * FROM sqlite_master") == before, sourceLocation: sourceLocation
            )
        }
    }

    // MARK: - Counting

    @Test("is a column of the table, which says in the schema what it counts")
    func definition() throws {
        try createTables()
        try queue.read { db in
            let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'team'")
            #expect(
                sql?.contains(#""playersCount" INTEGER CONSTRAINT "counts player" NOT NULL DEFAULT 0"#)
                    == true)
            var dump = ""
            try db.dumpSchema(to: &dump)
            #expect(
                dump.contains(
                    "CREATE TRIGGER \"shellac counter team.playersCount insert\" AFTER INSERT ON \"player\""))
            let counters = try db.counters()
            #expect(counters.map(\.tableName) == ["team"])
            #expect(counters.map(\.column) == ["playersCount"])
            #expect(counters.map(\.countedTable) == ["player"])
            #expect(counters.map(\.countedColumns) == [["teamId"]])
            #expect(counters.map(\.isKept) == [true])
        }
    }

    @Test("follows insertions, deletions and updates, of one row and of many, and NULL is no reference")
    func statements() throws {
        try createTables()
        try #expect(
            run("INSERT INTO player (id, teamId) VALUES (1, 1), (2, 1), (3, 2), (4, NULL)") == [2, 1])
        try #expect(run("UPDATE player SET teamId = 2 WHERE id = 1") == [1, 2])
        try #expect(run("UPDATE player SET teamId = 2 WHERE id = 1") == [1, 2])
        try #expect(run("UPDATE player SET code = id") == [1, 2])
        try #expect(run("UPDATE player SET teamId = NULL WHERE id = 3") == [1, 1])
        try #expect(run("UPDATE player SET teamId = 1") == [4, 0])
        try #expect(run("UPDATE player SET id = id + 10, teamId = id % 2 + 1") == [2, 2])
        try #expect(run("DELETE FROM player WHERE id = 11") == [2, 1])
        try #expect(run("INSERT INTO player (teamId) SELECT 2 FROM player, player AS other") == [2, 10])
        try #expect(run("DELETE FROM player") == [0, 0])
    }

    @Test(
        "follows foreign key actions, and changes of the key that is referred to", arguments: [true, false])
    func actions(isCascade: Bool) throws {
        try createTables(onDelete: isCascade ? .cascade : .setNull)
        try #expect(run("INSERT INTO player (id, teamId) VALUES (1, 1), (2, 1), (3, 2)") == [2, 1])
        try #expect(run("UPDATE team SET id = id + 10") == [2, 1])
        try #expect(run("UPDATE team SET id = 5 WHERE id = 12") == [1, 2])
        try #expect(run("DELETE FROM team WHERE id = 5") == [2])
        try #expect(run("UPDATE player SET teamId = 11") == [isCascade ? 2 : 3])
    }

    @Test(
        "counts rows that were there before the row that they refer to, whatever is inserted in the counter")
    func deferredKeys() throws {
        try createTables(deferred: true)
        try #expect(
            run(
                "INSERT INTO player (teamId) VALUES (3), (3); INSERT INTO team (id, playersCount) VALUES (3, 99)"
            )
                == [0, 0, 2])
        try #expect(run("INSERT INTO team (id, playersCount) VALUES (4, 7)") == [0, 0, 2, 0])
        try queue.write { db in
            try db.execute(sql: "INSERT OR REPLACE INTO team (id, name) VALUES (3, 'Greens')")
        }
        try #expect(run("SELECT 1") == [0, 0, 2, 0])
    }

    @Test(
        "follows REPLACE, whose deletions run triggers on some connections alone", arguments: [true, false])
    func replacedRows(isRecursive: Bool) throws {
        try createTables()
        try queue.inDatabase { try $0.execute(sql: "PRAGMA recursive_triggers = \(isRecursive)") }
        try #expect(
            run("INSERT INTO player (id, code, teamId) VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)") == [
                2, 1,
            ])
        try #expect(run("INSERT OR REPLACE INTO player (id, code, teamId) VALUES (1, 'a', 2)") == [1, 2])
        try #expect(run("REPLACE INTO player (code, teamId) VALUES ('b', NULL)") == [0, 2])
        try #expect(run("REPLACE INTO player (id, code, teamId) VALUES (1, 'c', 1)") == [1, 0])
        try #expect(run("INSERT INTO player (id, code, teamId) VALUES (5, 'e', 2), (6, 'f', 2)") == [1, 2])
        try #expect(run("UPDATE OR REPLACE player SET code = 'e' WHERE id = 1") == [1, 1])
        try #expect(run("UPDATE OR REPLACE player SET id = 6 WHERE id = 1") == [1, 0])
        // The conflicting rows stay, and count as before, in this statement and in the next one.
        try #expect(run("INSERT OR IGNORE INTO player (id, teamId) VALUES (6, 2)") == [1, 0])
        try #expect(run("INSERT INTO player (id, teamId) VALUES (6, 2) ON CONFLICT DO NOTHING") == [1, 0])
        try #expect(
            run(
                "INSERT INTO player (id, code, teamId) VALUES (6, 'z', 2) ON CONFLICT DO UPDATE SET teamId = 2"
            ) == [0, 1])
        try #expect(run("INSERT INTO player (id, teamId) VALUES (7, 1)") == [1, 1])
        try #expect(run("DELETE FROM player") == [0, 0])
    }

    @Test("knows of a row whose id is -1, which SQLite says of a new row, too")
    func rowIDThatIsMinusOne() throws {
        try createTables()
        try #expect(run("INSERT INTO player (id, teamId) VALUES (-1, 1)") == [1, 0])
        try #expect(run("INSERT INTO player (teamId) VALUES (1)") == [2, 0])
        try #expect(run("REPLACE INTO player (id, teamId) VALUES (-1, 2)") == [1, 1])
    }

    @Test(
        "follows REPLACE by unique indexes that are created later, partial ones and those on expressions too")
    func laterIndexes() throws {
        try createTables()
        try queue.write { db in
            try db.alter(table: "player") { t in
                t.add(column: "nick", .text)
                t.add(column: "number", .integer)
            }
            try db.create(index: "byNick", on: "player", expressions: ["lower(nick)"], options: .unique)
            try db.create(
                indexOn: "player", columns: ["number"], options: .unique, condition: "number > \(10)")
        }
        try #expect(
            run("INSERT INTO player (id, nick, number, teamId) VALUES (1, 'A', 1, 1), (2, 'B', 11, 1)") == [
                2, 0,
            ])
        try #expect(run("REPLACE INTO player (id, nick, teamId) VALUES (3, 'a', 2)") == [1, 1])
        try #expect(run("REPLACE INTO player (number, teamId) VALUES (11, 2)") == [0, 2])
        try #expect(run("REPLACE INTO player (number, teamId) VALUES (1, 1), (1, 1)") == [2, 2])
        try queue.write { try $0.drop(index: "byNick") }
        try #expect(run("REPLACE INTO player (nick, teamId) VALUES ('a', 1)") == [3, 2])
    }

    @Test("follows savepoints and failing statements")
    func rollbacks() throws {
        try createTables()
        try #expect(run("INSERT INTO player (id, teamId) VALUES (1, 1)") == [1, 0])
        try queue.write { db in
            try db.inSavepoint {
                try db.execute(sql: "UPDATE player SET teamId = 2")
                try #expect(counts(db) == [0, 1])
                return .rollback
            }
            try #expect(counts(db) == [1, 0])
            expectError("UNIQUE constraint failed: player.id") {
                try db.execute(sql: "INSERT INTO player (id, teamId) VALUES (2, 2), (1, 2)")
            }
            try #expect(counts(db) == [1, 0])
        }
    }

    @Test("counts the children of each node of a tree, also where a node is its own parent")
    func tree() throws {
        try queue.write { db in
            try db.create(table: "node") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("parentID", .integer).references("node", onDelete: .cascade, onUpdate: .cascade)
                    .indexed()
                t.counter("childrenCount", of: "node")
            }
            func counts(_ sql: String) throws -> [Int] {
                try db.execute(sql: sql)
                try #expect(db.inaccurateCounters("node", "childrenCount") == 0, "\(sql)")
                return try Int.fetchAll(db, sql: "SELECT childrenCount FROM node ORDER BY id")
            }
            try #expect(
                counts("INSERT INTO node VALUES (1, NULL, 0), (2, 1, 0), (3, 1, 0), (4, 4, 0)") == [
                    2, 0, 0, 1,
                ])
            try #expect(counts("UPDATE node SET parentID = 3 WHERE id IN (2, 4)") == [1, 0, 2, 0])
            try #expect(counts("UPDATE node SET parentID = id") == [1, 1, 1, 1])
            try #expect(counts("UPDATE node SET parentID = 1, id = id + 10 WHERE id > 1") == [4, 0, 0, 0])
            try #expect(counts("UPDATE node SET id = -id") == [0, 0, 0, 4])
            try #expect(counts("REPLACE INTO node VALUES (-12, -13, 5)").count == 4)
            try #expect(counts("DELETE FROM node WHERE id = -1") == [])
        }
    }

    @Test("counts by keys of several columns, also in tables without row ids")
    func compositeKeys() throws {
        try queue.write { db in
            try db.create(table: "country", options: .withoutRowID) { t in
                t.primaryKey {
                    t.column("code", .text).collate(.nocase)
                    t.column("number", .integer)
                }
                t.counter("citiesCount", of: "city")
            }
            try db.create(table: "city", options: .withoutRowID) { t in
                t.primaryKey {
                    t.column("code", .text)
                    t.column("number", .text)
                    t.column("name", .text)
                }
                t.foreignKey(["code", "number"], references: "country", onUpdate: .cascade)
            }
            func counts(_ sql: String) throws -> [Int] {
                try db.execute(sql: sql)
                return try Int.fetchAll(db, sql: "SELECT citiesCount FROM country ORDER BY code, number")
            }
            try #expect(counts("INSERT INTO country (code, number) VALUES ('FR', 1), ('FR', 2)") == [0, 0])
            // The key compares as a foreign key does: by the affinity and the collation of what it
            // refers to.
            try #expect(
                counts(
                    "INSERT INTO city VALUES ('FR', '1', 'Paris'), ('fr', '1', 'Lyon'), ('FR', '2', 'Nice')")
                    == [2, 1])
            try #expect(counts("UPDATE country SET number = 3 WHERE number = 1") == [1, 2])
            try #expect(
                counts("REPLACE INTO city VALUES ('FR', '3', 'Paris'), ('FR', '2', 'Lille')") == [2, 2])
            try #expect(
                counts("UPDATE OR REPLACE city SET number = '3', name = 'Lyon' WHERE name = 'Nice'") == [
                    1, 2,
                ])
            try #expect(counts("DELETE FROM city WHERE name = 'Lyon'") == [1, 1])
        }
    }

    @Test("is exact for names with quotes, and of other case")
    func oddNames() throws {
        try queue.write { db in
            try db.create(table: "a \"team\" of'") { t in
                t.primaryKey("it's \"id\"", .text)
                t.counter("number, of \"players\"", of: "THE \"players\" by", using: ["TEAM's \"id\", too"])
            }
            try db.create(table: "the \"players\" by") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("team's \"id\", too", .text).references("A \"TEAM\" OF'", onUpdate: .cascade)
            }
            try db.execute(sql: #"INSERT INTO "a ""team"" of'" ("it's ""id""") VALUES ('x')"#)
            try db.execute(sql: #"REPLACE INTO "the ""players"" by" VALUES (1, 'x'), (2, 'x'), (1, 'x')"#)
            try db.execute(sql: #"UPDATE "a ""team"" of'" SET "it's ""id""" = 'y'"#)
            try #expect(
                Int.fetchAll(db, sql: #"SELECT "number, of ""players""" FROM "a ""team"" of'""#) == [2])
            try #expect(db.recount("A \"team\" OF'", "NUMBER, of \"players\"") == 0)
        }
    }

    @Test("is not misled by tables and columns that have the names of its own statements")
    func shortNames() throws {
        try queue.write { db in
            for (parent, child) in [("t", "n"), ("n", "t"), ("a.b", "c"), ("a", "b")] {
                try db.create(table: parent) { t in
                    t.primaryKey("k0", .text)
                    t.counter(parent == "a" ? "b.f0" : "f0", of: child)
                }
                try db.create(table: child) { t in
                    t.primaryKey("k0", .text)
                    t.column("f0", .text).references(parent, onUpdate: .cascade)
                }
                let (p, c) = (parent.quotedDatabaseIdentifier, child.quotedDatabaseIdentifier)
                try db.execute(
                    sql: """
                        INSERT INTO \(p) (k0) VALUES ('x'), ('y');
                        INSERT INTO \(c) VALUES (1, 'x'), (2, 'y'), (3, 'y');
                        REPLACE INTO \(c) VALUES (1, 'y');
                        UPDATE \(p) SET k0 = 'z' WHERE k0 = 'y';
                        """)
                let counter = parent == "a" ? "b.f0" : "f0"
                try #expect(db.inaccurateCounters(parent, counter) == 0, "\(parent)")
                let sql = "SELECT \(counter.quotedDatabaseIdentifier) FROM \(p) ORDER BY k0"
                try #expect(Int.fetchAll(db, sql: sql) == [0, 3], "\(parent)")
                if parent != "a.b" {
                    try db.drop(table: child)
                    try db.drop(table: parent)
                }
            }
        }
    }

    @Test("is exact in temporary tables and in attached databases")
    func otherDatabases() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "ATTACH ':memory:' AS archive")
            try createTeam(db)
            for schemaName in ["temp", "archive"] {
                let options: TableOptions = schemaName == "temp" ? .temporary : []
                try db.create(table: "player", in: schemaName == "temp" ? nil : schemaName, options: options)
                { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("teamID", .integer).references("team")
                }
                try db.create(table: "team", in: schemaName == "temp" ? nil : schemaName, options: options) {
                    t in
                    t.autoIncrementedPrimaryKey("id")
                    t.counter("playersCount", of: "player")
                }
                try db.execute(sql: "INSERT INTO \(schemaName).team (id) VALUES (1)")
                try db.execute(sql: "REPLACE INTO \(schemaName).player VALUES (1, 1), (1, 1), (2, 1)")
                try #expect(
                    Int.fetchAll(db, sql: "SELECT playersCount FROM \(schemaName).team") == [2],
                    "\(schemaName)")
                try #expect(db.recount("team", "playersCount", in: schemaName) == 0)
                try #expect(db.counters(in: schemaName).map(\.isKept) == [true])
            }
            try #expect(db.counters().map(\.isKept) == [false])
        }
    }

    // MARK: - Triggers that follow the schema

    @Test("counts what is there, whichever table comes first, or when it is added to a table")
    func order() throws {
        try queue.write { db in
            try db.create(table: "team") { $0.autoIncrementedPrimaryKey("id") }
            try createPlayer(db)
            try db.execute(
                sql: "INSERT INTO team DEFAULT VALUES; INSERT INTO player (teamId) VALUES (1), (1)")
            try db.alter(table: "team") { $0.counter("playersCount", of: "player") }
            try #expect(counts(db) == [2])
            try db.execute(sql: "DELETE FROM player WHERE id = 1")
            try #expect(counts(db) == [1])
        }
    }

    @Test("waits for its table, and begins again when that is created again")
    func waiting() throws {
        try queue.write { db in
            try createTeam(db)
            try db.execute(sql: "INSERT INTO team DEFAULT VALUES")
            try #expect(db.counters().map(\.isKept) == [false])
            try createPlayer(db)
            try db.execute(sql: "INSERT INTO player (teamId) VALUES (1)")
            try #expect(counts(db) == [1])
            try db.drop(table: "player")
            try #expect(counts(db) == [0])
            try db.execute(sql: "INSERT INTO team DEFAULT VALUES")
            try createPlayer(db)
            try db.execute(sql: "INSERT INTO player (teamId) VALUES (2)")
            try #expect(counts(db) == [0, 1])
        }
    }

    @Test("leaves nothing behind when its table or its column is dropped", arguments: [true, false])
    func dropped(isTable: Bool) throws {
        try createTables(onDelete: .cascade)
        try queue.write { db in
            if isTable {
                try db.drop(table: "team")
            } else {
                try db.alter(table: "team") { $0.drop(column: "playersCount") }
            }
            let left = try Int.fetchOne(
                db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'shellac%'")
            #expect(left == 0)
            // (Where foreign keys are enforced, nothing is inserted beside a table that they miss.)
            if !isTable { try db.execute(sql: "INSERT INTO player (teamId) VALUES (NULL)") }
        }
    }

    @Test("stays when either table is rebuilt, renamed or altered")
    func rebuilt() throws {
        try createTables()
        try queue.write { db in
            try db.execute(sql: "INSERT INTO player (id, teamId) VALUES (1, 1)")
            try db.rebuild(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("team", onDelete: .setNull)
                t.column("number", .integer).unique()
                t.column("note", .text)
            }
            try #expect(counts(db) == [1, 0])
            try db.execute(sql: "REPLACE INTO player (id, teamId, number) VALUES (2, 2, 5), (3, 1, 5)")
            try #expect(counts(db) == [2, 0])
            try db.rebuild(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.counter("playersCount", of: "player")
                t.counter("total", of: "player")
            }
            try #expect(counts(db) == [2, 0])
            try db.alter(table: "team") { t in
                t.rename(column: "playersCount", to: "size")
                t.rename(column: "id", to: "key")
                t.rename(to: "club")
            }
            try db.alter(table: "player") { t in
                t.rename(column: "teamId", to: "clubID")
                t.drop(column: "note")
            }
            try db.execute(sql: "INSERT INTO player (clubID) VALUES (2)")
            try #expect(String.fetchAll(db, sql: "SELECT size || ' ' || total FROM club") == ["2 2", "1 1"])
            try #expect(db.counters().map(\.isKept) == [true, true])
            try db.rebuild(table: "club") { t in
                t.autoIncrementedPrimaryKey("key")
                t.column("size", .integer)
            }
            try #expect(db.counters() == [])
            try db.execute(sql: "DELETE FROM player")
            try #expect(Int.fetchAll(db, sql: "SELECT size FROM club") == [2, 1])
        }
    }

    @Test("is taken along by a backup, and kept by connections that know nothing of Shellac's methods")
    func otherConnections() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("counters.sqlite")
        let file = try DatabaseQueue(path: path)
        try createTables()
        try queue.backup(to: file)
        try file.close()
        let other = try DatabaseQueue(path: path)
        try other.write { db in
            try db.execute(sql: "INSERT INTO player (teamId) VALUES (2)")
            try #expect(counts(db) == [0, 1])
        }
    }

    @Test("has triggers from whichever connection creates the second table")
    func twoConnections() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("counters.sqlite")
        let (first, second) = try (DatabaseQueue(path: path), DatabaseQueue(path: path))
        try first.write { db in
            try createTeam(db)
            try db.execute(sql: "INSERT INTO team DEFAULT VALUES")
        }
        try second.write { try createPlayer($0) }
        try first.write { db in
            try db.execute(sql: "INSERT INTO player (teamId) VALUES (1)")
            try #expect(counts(db) == [1])
        }
        try second.write { try $0.drop(table: "player") }
        try first.write { db in
            try db.execute(sql: "INSERT INTO team DEFAULT VALUES")
            try #expect(counts(db) == [0, 0])
        }
    }

    @Test("refuses a table of SQLite's own, and an update that its CHECK forbids changes no count")
    func refusals() throws {
        try expectRefusal("the counter n of the table team cannot count sqlite_master: it belongs to SQLite")
        {
            db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.counter("n", of: "sqlite_master", using: ["name"])
            }
        }
        try queue.write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.counter("n", of: "player")
                t.check(sql: "n < 2")
            }
            try db.create(table: "player") { $0.belongsTo("team") }
            try db.execute(sql: "INSERT INTO team DEFAULT VALUES; INSERT INTO player VALUES (1)")
            expectError("CHECK constraint failed: counts player") {
                try db.execute(sql: "INSERT INTO player VALUES (1)")
            }
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 1)
            try #expect(db.inaccurateCounters("team", "n") == 0)
        }
    }

    @Test("of tables that plain SQL has created is kept from when it is asked for")
    func plainSQL() throws {
        try queue.write { db in
            try createTeam(db)
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER REFERENCES team);
                    INSERT INTO team (id) VALUES (1);
                    INSERT INTO player VALUES (1, 1), (2, 1);
                    """)
            try #expect(counts(db) == [0])
            try #expect(db.counters().map(\.isKept) == [false])
            try db.updateCounterTriggers()
            try #expect(counts(db) == [2])
            let before = try Row.fetchAll(db, sql: "SELECT * FROM sqlite_master")
            try db.updateCounterTriggers()
            try #expect(Row.fetchAll(db, sql: "SELECT * FROM sqlite_master") == before)
            try db.execute(sql: "DROP TABLE player")
            try db.updateCounterTriggers()
            try db.execute(sql: "INSERT INTO team (id) VALUES (2)")
            try #expect(counts(db) == [0, 0])
        }
    }

    @Test("costs other programs nothing: no SQL is traced, and no trigger made, where there is none")
    func schemasWithoutCounters() throws {
        let statements = Shared<[String]>([])
        try queue.writeWithoutTransaction { db in
            db.trace { event in statements.withLock { $0.append("\(event)") } }
            try db.create(table: "team") { $0.autoIncrementedPrimaryKey("id") }
            db.trace(nil)
        }
        #expect(statements.value.filter { $0.contains("CREATE") || $0.contains("main") }.count == 1)
        try #expect(queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") } == 2)
    }

    // MARK: - Repairing

    @Test("is recounted where somebody has written it, and says how many rows were wrong")
    func recounting() throws {
        try createTables()
        try queue.write { db in
            try db.execute(sql: "INSERT INTO player (teamId) VALUES (1); UPDATE team SET playersCount = 5")
            try #expect(db.inaccurateCounters("team", "playersCount") == 2)
            try #expect(counts(db) == [5, 5])
            try #expect(db.recount("TEAM", "playerscount") == 2)
            try #expect(counts(db) == [1, 0])
            try #expect(db.recount("team", "playersCount") == 0)
            try #expect(db.inaccurateCounters("team", "playersCount") == 0)
        }
    }

    @Test("that is not there, or has nothing to count, is told")
    func recountErrors() throws {
        try queue.write { try createTeam($0) }
        try expectRefusal("no such table: nowhere") { try $0.recount("nowhere", "playersCount") }
        try expectRefusal("the table team has no counter n. Add one with t.counter(\"n\", of: …)") {
            try $0.recount("team", "n")
        }
        try expectRefusal(
            "the table team has no counter name. It has a column of that name: drop it, and add it again "
                + "with t.counter(\"name\", of: …)"
        ) { try $0.recount("team", "name") }
        try expectRefusal(
            "the counter playersCount of the table team has nothing to count: no such table: player"
        ) {
            _ = try $0.inaccurateCounters("team", "playersCount")
        }
    }

    // MARK: - What cannot be counted

    @Test("needs one foreign key, or says which columns refer to its table")
    func foreignKeys() throws {
        try queue.write { try createTeam($0) }
        let name = "the counter playersCount of the table team cannot count player:"
        try expectRefusal(
            "\(name) it has no foreign key to team. Declare one, by belongsTo or references, in the definition of player, "
                + "or say which columns refer to it: using: [\"…\"]"
        ) { db in
            try db.create(table: "player") { $0.autoIncrementedPrimaryKey("id") }
        }
        try expectRefusal(
            "\(name) 2 foreign keys refer to team. Say which one counts: using: [\"teamId\"] or [\"formerTeamId\"]"
        ) { db in
            try db.create(table: "player") { t in
                t.belongsTo("team")
                t.belongsTo("formerTeam", inTable: "team")
            }
        }
        try expectRefusal("\(name) its foreign key (team) does not refer to a unique key of team") { db in
            try db.create(table: "player") {
                $0.column("team", .integer).references("team", column: "playersCount")
            }
        }
        try expectRefusal("\(name) it is a virtual table, and SQLite has no triggers on virtual tables") {
            db in
            try db.create(virtualTable: "player", using: "fts5") { $0.column("name") }
            try db.updateCounterTriggers()
        }
        // Its value changes with other columns.
        try expectRefusal(
            "\(name) its column openID is generated, and a trigger does not see when it changes. Count "
                + "by a column that is stored as it is given"
        ) { db in
            try db.create(table: "player") { t in
                t.column("teamID", .integer)
                t.column("isOut", .boolean)
                t.column("openID", .integer).generatedAs(sql: "iif(isOut, NULL, teamID)", .stored)
                    .references("team")
            }
            try db.updateCounterTriggers()
        }
        try expectRefusal("\(name) it is a view. Count the rows of its table") { db in
            try db.create(view: "player", as: "SELECT 1")
            try db.updateCounterTriggers()
        }
    }

    @Test("may name one foreign key of several, and columns that are no foreign key")
    func namedColumns() throws {
        try queue.write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.counter("present", of: "player", using: ["teamID"])
                t.counter("former", of: "player", using: ["FormerTeamID"])
                t.counter("liked", of: "player", using: ["likedID"])
            }
            try db.create(table: "player") { t in
                t.column("teamID", .integer).references("team")
                t.column("formerTeamID", .integer).references("team")
                t.column("likedID", .integer)
            }
            try db.execute(
                sql: "INSERT INTO team (id) VALUES (1), (2); INSERT INTO player VALUES (1, 2, 2), (1, 1, 2)")
            try #expect(
                String.fetchAll(db, sql: "SELECT present || ' ' || former || ' ' || liked FROM team")
                    == ["2 1 0", "0 1 2"])
        }
        try expectRefusal("the counter n of the table team cannot count player: it has no column nothing") {
            db in
            try db.alter(table: "team") { $0.counter("n", of: "player", using: ["nothing"]) }
        }
        try expectRefusal(
            "the counter n of the table team cannot count player: teamID, likedID cannot refer to the primary key of team, which is id"
        ) { db in
            try db.alter(table: "team") { $0.counter("n", of: "player", using: ["teamID", "likedID"]) }
        }
    }

    @Test("keeps the names that it knows from being changed under it")
    func renaming() throws {
        try queue.write { db in
            try createTeam(db)
            try createPlayer(db)
            try db.create(table: "other") { t in
                t.autoIncrementedPrimaryKey("id")
                t.counter("n", of: "player", using: ["id"])
            }
        }
        let rest =
            "whose triggers contain the name: drop that column first, and add the counter again afterwards"
        let sentence =
            "the table player cannot be renamed, since team has a counter of its rows, playersCount, \(rest)"
        try expectRefusal(sentence) { try $0.rename(table: "player", to: "athlete") }
        try expectRefusal(sentence) { db in try db.alter(table: "Player") { $0.rename(to: "athlete") } }
        try expectRefusal(
            "the column id of the table player cannot be renamed, since other has a counter of its rows, n, \(rest)"
        ) { db in
            try db.alter(table: "player") { $0.rename(column: "id", to: "key") }
        }
    }
}
