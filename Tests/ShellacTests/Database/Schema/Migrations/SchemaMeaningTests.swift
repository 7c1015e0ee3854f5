import Shellac
import TestSupport
import Testing

/// Schemas are compared by what they mean, and indexes without a given name have the names of the
/// family.
@Suite("What a schema means")
struct SchemaMeaningTests {
    private static func migrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().indexed()
            }
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("team", onDelete: .cascade)
                t.column("name", .text).notNull().check { length($0) > 0 }
            }
            try db.create(indexOn: "player", columns: ["name"])
        }
        return migrator
    }

    /// A database as the family's library makes it, by the same migration.
    private static let peer = """
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('v1');
        CREATE TABLE "team" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL);
        CREATE INDEX "team_on_name" ON "team"("name");
        CREATE TABLE "player" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE, "name" TEXT NOT NULL CHECK (LENGTH("name") > 0));
        CREATE INDEX "player_on_teamId" ON "player"("teamId");
        CREATE INDEX "index_player_on_name" ON "player"("name");
        INSERT INTO team (name) VALUES ('Reds');
        """

    /// The spellings of the schema by earlier versions of this library, or by people.
    static let spellings: [(String, String)] = [
        ("\"player_on_teamId\"", "\"index_player_on_teamId\""),
        ("\"team_on_name\"", "\"index_team_on_name\""),
        ("CREATE TABLE \"team\" (", "create   table [team]\n( -- teams\n "),
        ("\"teamId\" INTEGER", "`teamid` integer"),
        ("ON \"player\"(\"teamId\")", "on PLAYER ( TEAMID )"),
        ("CHECK (LENGTH(", "check(/* it has one */length("),
    ]

    @Test(
        "A database of the family's library is neither changed nor erased", arguments: [0, 1, 2, 3, 4, 5, 6])
    func peers(count: Int) throws {
        var sql = Self.peer
        for (text, other) in Self.spellings.prefix(count) {
            #expect(sql.contains(text))
            sql = sql.replacing(text, with: other)
        }
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: sql) }
        var migrator = Self.migrator()
        try #expect(queue.read { db in try migrator.hasSchemaChanges(db) } == false)
        migrator.eraseDatabaseOnSchemaChange = true
        try migrator.migrate(queue)
        try #expect(queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM team") } == 1)
    }

    @Test(
        "What means something else is a change",
        arguments: [
            ("CREATE INDEX \"team_on_name\"", "CREATE UNIQUE INDEX \"team_on_name\""),
            ("ON \"player\"(\"teamId\")", "ON \"player\"(\"teamId\", \"id\")"),
            ("ON \"player\"(\"teamId\")", "ON \"player\"(\"teamId\") WHERE id > 1"),
            ("\"player_on_teamId\"", "\"byTeam\""), ("> 0", "> 1"), ("NOT NULL CHECK", "CHECK"),
            ("ON DELETE CASCADE", "ON DELETE SET NULL"), ("\"teamId\" INTEGER", "\"teamId\" TEXT"),
            ("CREATE INDEX \"team_on_name\" ON \"team\"(\"name\");", ""),
        ])
    func changes(text: String, other: String) throws {
        #expect(Self.peer.contains(text))
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: Self.peer.replacing(text, with: other)) }
        let hasChanges = try queue.read { db in try Self.migrator().hasSchemaChanges(db) }
        #expect(hasChanges)
    }

    @Test("Texts keep their letters")
    func texts() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.create(table: "t") { $0.column("a", .text).defaults(to: "Arthur") }
        }
        for (text, hasChanges) in [("Arthur", false), ("arthur", true)] {
            let queue = try DatabaseQueue()
            try queue.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                        INSERT INTO grdb_migrations VALUES ('v1');
                        CREATE TABLE T (A text default '\(text)');
                        """)
            }
            try #expect(queue.read { db in try migrator.hasSchemaChanges(db) } == hasChanges)
        }
    }

    @Test("Indexes that definitions of columns make have the family's names, and earlier names are found")
    func names() throws {
        let queue = try DatabaseQueue()
        try Self.migrator().migrate(queue)
        func names(_ db: Database) throws -> Set<String> {
            try Set(["team", "player"].flatMap { try db.indexes(on: $0).map(\.name) })
        }
        try queue.write { db in
            try #expect(names(db) == ["team_on_name", "player_on_teamId", "index_player_on_name"])
            // The peer's own tests do both.
            try db.create(
                indexOn: "player", columns: ["teamId"], options: .unique, condition: SQL("id > 1"))
            try #expect(names(db).contains("index_player_on_teamId"))
            try db.drop(index: "index_player_on_teamId")
            try #expect(names(db) == ["team_on_name", "player_on_teamId", "index_player_on_name"])
            // A migration of an earlier version says the earlier name.
            try db.drop(index: "index_player_on_teamId")
            try #expect(names(db) == ["team_on_name", "index_player_on_name"])
            try db.execute(sql: "CREATE INDEX index_player_on_teamId ON player(teamId)")
            try db.drop(index: "player_on_teamId")
            try #expect(names(db) == ["team_on_name", "index_player_on_name"])
            // An index that raw SQL has made under another name is not meant.
            try db.execute(sql: "CREATE INDEX player_on_x ON player(name, teamId)")
            expectError("no such index: index_player_on_x") { try db.drop(index: "index_player_on_x") }
            try db.drop(index: "player_on_x")
            for name in ["index_team_on_name", "team_on_name"] {
                try db.drop(indexOn: "team", columns: ["name"])
                try db.execute(sql: "CREATE INDEX \(name) ON team(name)")
            }
            try db.alter(table: "player") { $0.add(column: "score", .integer).indexed() }
            try #expect(names(db) == ["team_on_name", "index_player_on_name", "player_on_score"])
        }
    }

    @Test("A table that is made anew keeps an index of an earlier name, and gets no other")
    func rebuilding() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql:
                    "CREATE TABLE player (id INTEGER PRIMARY KEY, score); CREATE INDEX index_player_on_score ON player(score)"
            )
            try db.rebuild(table: "player") { t in
                t.primaryKey("id", .integer)
                t.column("score", .integer).indexed()
            }
            try #expect(db.indexes(on: "player").map(\.name) == ["index_player_on_score"])
        }
    }
}
