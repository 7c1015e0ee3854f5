import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The facts in an error about the violated constraint.
@Suite("Violated constraints", .behaviour(73))
struct ConstraintTests {
    private let queue: DatabaseQueue
    private typealias Constraint = DatabaseError.Constraint

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, code TEXT UNIQUE);
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY,
                        teamID INTEGER REFERENCES team (id),
                        captainID INTEGER REFERENCES player,
                        code TEXT REFERENCES team (code) ON DELETE RESTRICT,
                        name TEXT, score INTEGER CHECK (score >= 0), age INTEGER,
                        CONSTRAINT "grown up" CHECK ( "age" > 17 AND [score] IS NOT 99 ),
                        UNIQUE (name, teamID));
                    CREATE TABLE tag (
                        playerID INTEGER REFERENCES player ON DELETE CASCADE, label TEXT, PRIMARY KEY (playerID, label)) WITHOUT ROWID;
                    CREATE TABLE note (
                        id INTEGER PRIMARY KEY, playerID INTEGER, label TEXT,
                        FOREIGN KEY (playerID, label) REFERENCES tag);
                    CREATE UNIQUE INDEX "player's lower name" ON player (lower(name), score);
                    CREATE TABLE "a.b" ("c.d" INTEGER UNIQUE, "e, f" TEXT, x TEXT NOT NULL DEFAULT '', UNIQUE ("c.d", "e, f"));
                    CREATE TABLE exact (n INTEGER) STRICT;
                    CREATE TABLE later (id INTEGER PRIMARY KEY,
                        teamID INTEGER REFERENCES team DEFERRABLE INITIALLY DEFERRED,
                        playerID INTEGER REFERENCES player DEFERRABLE INITIALLY DEFERRED);
                    INSERT INTO team VALUES (1, 'Reds', 'R'), (2, 'Blues', 'B');
                    INSERT INTO player (id, teamID, name, score, age) VALUES (1, 1, 'Arthur', 1, 20), (2, 2, 'Barbara', 2, 30);
                    INSERT INTO tag VALUES (1, 'x');
                    INSERT INTO note VALUES (1, 1, 'x');
                    """)
        }
    }

    /// Returns the constraint in the error of a statement, and checks that all is as before.
    private func violated(_ sql: String, _ arguments: StatementArguments = []) throws -> Constraint? {
        try queue.inDatabase { db in
            let before = try db.contents
            let error = #expect(throws: DatabaseError.self, "\(sql)") {
                try db.execute(sql: sql, arguments: arguments)
            }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT && error?.sql == sql)
            #expect(db.changesCount == 0)
            try #expect(db.contents == before, "\(sql)")
            #expect(!db.isInsideTransaction)
            try #expect(Bool.fetchOne(db, sql: "PRAGMA defer_foreign_keys") == false)
            // In a transaction, the error is the same, and the transaction goes on.
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO team (id, name) VALUES (100, 'Greens')")
                let again = #expect(throws: DatabaseError.self, "\(sql)") {
                    try db.execute(sql: sql, arguments: arguments)
                }
                #expect(again?.constraint == error?.constraint && db.isInsideTransaction)
                try #expect(Bool.fetchOne(db, sql: "PRAGMA defer_foreign_keys") == false)
                try #expect(Bool.fetchOne(db, sql: "SELECT COUNT(*) FROM team WHERE id = 100") == true)
                return .rollback
            }
            try #expect(db.contents == before, "\(sql)")
            return error?.constraint
        }
    }

    @Test("A value that another row has, with its table and columns")
    func unique() throws {
        for sql in [
            "INSERT INTO team (name) VALUES ('Reds')", "UPDATE team SET name = 'Reds'",
            "INSERT OR FAIL INTO team (name) VALUES ('Reds')",
        ] {
            #expect(try violated(sql) == Constraint(kind: .unique, table: "team", columns: ["name"]))
        }
        #expect(
            try violated("INSERT INTO player (teamID, name, age) VALUES (1, 'Arthur', 20)")
                == Constraint(kind: .unique, table: "player", columns: ["name", "teamID"]))
        #expect(
            try violated("INSERT INTO team (id, name) VALUES (1, 'Greens')")
                == Constraint(kind: .unique, table: "team", columns: ["id"]))
        #expect(
            try violated("INSERT INTO tag VALUES (1, 'x')")
                == Constraint(kind: .unique, table: "tag", columns: ["playerID", "label"]))
        #expect(
            try violated("INSERT INTO player (name, score, age) VALUES ('ARTHUR', 1, 20)")
                == Constraint(kind: .unique, table: "player", columns: ["score"], name: "player's lower name")
        )
        // (Swift sees a quote and the accent behind it as one character.)
        let index = DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_UNIQUE,
            message: "UNIQUE constraint failed: index 'it''\u{301}s'"
        ).constraint?.name
        #expect(index.map { Array($0.utf8) } == Array("it'\u{301}s".utf8))
    }

    @Test("A NULL, a type, a trigger's word")
    func others() throws {
        #expect(
            try violated("INSERT INTO team (name) VALUES (NULL)")
                == Constraint(kind: .notNull, table: "team", columns: ["name"]))
        #expect(
            try violated("INSERT INTO exact VALUES ('x')")
                == Constraint(kind: .dataType, table: "exact", columns: ["n"]))
        try queue.inDatabase {
            try $0.execute(
                sql:
                    "CREATE TEMP TRIGGER t BEFORE DELETE ON exact BEGIN SELECT RAISE(ABORT, 'stay. here'); END"
            )
            try $0.execute(sql: "INSERT INTO exact VALUES (1)")
        }
        #expect(try violated("DELETE FROM exact WHERE n = 1") == Constraint(kind: .trigger))
        #expect(
            DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "x").constraint == Constraint(kind: .other)
        )
        #expect(DatabaseError(resultCode: .SQLITE_BUSY, message: "x").constraint == nil)
    }

    @Test("A CHECK, with or without a name, and the columns that stand in it")
    func check() throws {
        #expect(
            try violated("UPDATE player SET score = -1")
                == Constraint(kind: .check, table: "player", columns: ["score"], name: "score >= 0"))
        #expect(
            try violated("INSERT INTO player (age) VALUES (3)")
                == Constraint(kind: .check, table: "player", columns: ["age", "score"], name: "grown up"))
        // Of two tables that are written, it is not known which.
        try queue.inDatabase {
            try $0.execute(
                sql: """
                    CREATE TABLE twin (score INTEGER CHECK (score >= 0));
                    CREATE TRIGGER t AFTER UPDATE ON team BEGIN UPDATE player SET score = -1; UPDATE twin SET score = -1; END
                    """)
        }
        #expect(
            try violated("UPDATE team SET code = NULL WHERE id = 2")
                == Constraint(kind: .check, name: "score >= 0"))
    }

    @Test("Names with dots and commas in them")
    func names() throws {
        try queue.inDatabase {
            try $0.execute(sql: #"INSERT INTO "a.b" ("c.d", "e, f") VALUES (1, 'x'), (NULL, 'y')"#)
        }
        #expect(
            try violated(#"INSERT INTO "a.b" ("c.d") VALUES (1)"#)
                == Constraint(kind: .unique, table: "a.b", columns: ["c.d"], isDoubtful: true))
        try queue.inDatabase {
            try $0.execute(sql: #"CREATE UNIQUE INDEX both ON "a.b" (x, "e, f")"#)
        }
        #expect(
            try violated(#"INSERT INTO "a.b" ("c.d", "e, f") VALUES (2, 'x')"#)
                == Constraint(kind: .unique, table: "a.b", columns: ["x", "e, f"], isDoubtful: true))
        #expect(
            try violated(#"UPDATE "a.b" SET x = NULL"#)
                == Constraint(kind: .notNull, table: "a.b", columns: ["x"], isDoubtful: true))
    }

    // MARK: - Foreign keys

    private static let (team, captain, code, tagged, noted) = (
        Constraint.ForeignKey(
            originTable: "player", originColumns: ["teamID"], destinationTable: "team",
            destinationColumns: ["id"]),
        Constraint.ForeignKey(
            originTable: "player", originColumns: ["captainID"], destinationTable: "player",
            destinationColumns: ["id"]),
        Constraint.ForeignKey(
            originTable: "player", originColumns: ["code"], destinationTable: "team",
            destinationColumns: ["code"]),
        Constraint.ForeignKey(
            originTable: "tag", originColumns: ["playerID"], destinationTable: "player",
            destinationColumns: ["id"]),
        Constraint.ForeignKey(
            originTable: "note", originColumns: ["playerID", "label"], destinationTable: "tag",
            destinationColumns: ["playerID", "label"])
    )

    private func expect(
        _ sql: String, _ key: Constraint.ForeignKey, _ arguments: StatementArguments = [],
        at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            try violated(sql, arguments)
                == Constraint(
                    kind: .foreignKey, table: key.originTable, columns: key.originColumns, foreignKey: key),
            "\(sql)", sourceLocation: location)
    }

    @Test("Which foreign key: that of a row that refers to nothing")
    func missing() throws {
        try expect("INSERT INTO player (teamID) VALUES (?)", Self.team, [7])
        try expect("INSERT INTO player (captainID) VALUES (7)", Self.captain)
        try expect("INSERT INTO player (teamID, code) VALUES (1, 'Z')", Self.code)
        try expect("UPDATE player SET captainID = 1, teamID = 7 WHERE id = 2", Self.team)
        try expect("INSERT OR REPLACE INTO player (id, captainID) VALUES (2, 7)", Self.captain)
        try expect("INSERT INTO tag VALUES (7, 'x')", Self.tagged)
        try expect("INSERT INTO note (playerID, label) VALUES (1, 'y')", Self.noted)
        try expect("INSERT INTO player (teamID) VALUES (?) RETURNING id", Self.team, [7])
        try expect("INSERT INTO player (id, teamID) SELECT id + 10, teamID + 1 FROM player", Self.team)
    }

    @Test("Which foreign key: that of rows that refer to one which goes, or changes its key")
    func remaining() throws {
        try expect("DELETE FROM team WHERE id = 1", Self.team)
        try expect("DELETE FROM team", Self.team)
        try expect("UPDATE team SET id = 8 WHERE id = 1", Self.team)
        try expect("REPLACE INTO team VALUES (9, 'Reds', 'R')", Self.team)
        // By a cascade.
        try expect("DELETE FROM player WHERE id = 1", Self.noted)
        try queue.inDatabase {
            try $0.execute(sql: "UPDATE player SET code = 'B', teamID = NULL WHERE id = 2")
        }
        // RESTRICT is a trigger to SQLite.
        try expect("DELETE FROM team WHERE id = 2", Self.code)
        try expect("UPDATE team SET code = 'C' WHERE id = 2", Self.code)
    }

    @Test("Which foreign key: that of what a trigger does")
    func triggers() throws {
        try queue.inDatabase {
            try $0.execute(
                sql: """
                    CREATE TRIGGER t AFTER INSERT ON team BEGIN INSERT INTO player (captainID) VALUES (new.id * 1000); END;
                    CREATE TEMP TRIGGER u AFTER UPDATE ON exact BEGIN INSERT INTO tag VALUES (new.n, 'x'); END;
                    INSERT INTO exact VALUES (1);
                    """)
        }
        try queue.inDatabase { db in
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO team (name) VALUES ('Greens')")
            }
            #expect(error?.constraint?.foreignKey == Self.captain)
            let other = #expect(throws: DatabaseError.self) { try db.execute(sql: "UPDATE exact SET n = 9") }
            #expect(other?.constraint?.foreignKey == Self.tagged)
        }
    }

    @Test("A row that violates a key from before is not taken for the work of the statement")
    func old() throws {
        try queue.inDatabase {
            try $0.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO player (id, teamID) VALUES (50, 77);
                    INSERT INTO tag VALUES (88, 'old');
                    PRAGMA foreign_keys = ON;
                    """)
        }
        try expect("INSERT INTO player (captainID) VALUES (7)", Self.captain)
        try expect("INSERT INTO note (playerID, label) VALUES (1, 'y')", Self.noted)
    }

    @Test("A key refers by the affinity and the collation of what it refers to, as SQLite compares")
    func comparison() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE word (word TEXT COLLATE NOCASE PRIMARY KEY);
                    CREATE TABLE use (word REFERENCES word, other INTEGER REFERENCES word, teamID REFERENCES team);
                    INSERT INTO word VALUES ('a'), ('1');
                    """)
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO use VALUES ('A', 1, 9)")
            }
            #expect(error?.constraint?.columns == ["teamID"])
            // The number 1 is the text '1' there, and not '01'.
            try db.execute(sql: "UPDATE word SET word = '01' WHERE word = '1'")
            let other = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO use (other) VALUES (1)")
            }
            #expect(other?.constraint?.columns == ["other"])
        }
    }

    @Test("A commit tells the key that its transaction violates, and is not sure of several")
    func commit() throws {
        let key = Constraint.ForeignKey(
            originTable: "later", originColumns: ["teamID"], destinationTable: "team",
            destinationColumns: ["id"])
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { try $0.execute(sql: "INSERT INTO later (teamID) VALUES (9)") }
        }
        #expect(
            error?.constraint
                == Constraint(kind: .foreignKey, table: "later", columns: ["teamID"], foreignKey: key))
        let savepoint = #expect(throws: DatabaseError.self) {
            try queue.inDatabase {
                try $0.execute(sql: "SAVEPOINT s; INSERT INTO later (teamID) VALUES (9); RELEASE s")
            }
        }
        #expect(savepoint?.constraint?.foreignKey == key)
        // Outside of a transaction, too.
        let alone = #expect(throws: DatabaseError.self) {
            try queue.inDatabase { try $0.execute(sql: "INSERT INTO later (teamID) VALUES (9)") }
        }
        #expect(alone?.constraint?.foreignKey == key)
        let both = #expect(throws: DatabaseError.self) {
            try queue.write { try $0.execute(sql: "INSERT INTO later (teamID, playerID) VALUES (9, 9)") }
        }
        #expect(both?.constraint == Constraint(kind: .foreignKey))
        try queue.inDatabase { try #expect(Int.fetchOne($0, sql: "SELECT COUNT(*) FROM later") == 0) }
    }

    // MARK: - Nobody hears of it

    @Test("Nobody hears that a statement runs once more")
    func unheard() throws {
        let (seen, traced, called) = (Recorder<String>(), Recorder<String>(), Recorder<String>())
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.trace { traced.record("\($0)") }
            try db.add(
                function: DatabaseFunction("impure", argumentCount: 1) {
                    called.record("impure")
                    return $0[0]
                })
            try db.add(
                function: DatabaseFunction("pure", argumentCount: 1, pure: true) {
                    called.record("pure")
                    return $0[0]
                })
        }
        let queue = try DatabaseQueue(configuration: configuration)
        let observer = SeeingObserver(seen)
        queue.add(transactionObserver: observer)
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team);
                    INSERT INTO team VALUES (1)
                    """)
            try db.after(.insert, on: "player") { _, change in
                called.record("row \(try change.new?["id"] as Int64? ?? 0)")
            }
            for sql in [
                "INSERT INTO player VALUES (pure(5), 9)", "INSERT INTO player VALUES (impure(6), 9)",
            ] {
                seen.removeAll()
                traced.removeAll()
                called.removeAll()
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
                let isPure = sql.contains("pure(5)")
                #expect((error?.constraint?.foreignKey != nil) == isPure)
                #expect(
                    called.elements.filter { $0 == "impure" || $0.hasPrefix("row") }.count == (isPure ? 1 : 2)
                )
                #expect(traced.elements.filter { !$0.hasPrefix("--") && !$0.hasPrefix("PRAGMA") } == [sql])
                #expect(seen.elements.isEmpty)
                // The observers are notified of the next change.
                try db.execute(sql: "INSERT INTO player (id, teamID) VALUES (NULL, 1)")
                #expect(seen.elements.filter { $0 == "insert player" }.count == 1)
            }
        }
        withExtendedLifetime(observer) {}
    }

    @Test("What takes too long, or runs inside of something else, stays unknown, and loses nothing")
    func unknown() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 900000)
                    INSERT INTO exact SELECT i FROM n;
                    CREATE TABLE entry (teamID INTEGER REFERENCES team);
                    """)
            let long = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO entry SELECT n * 0 + 1 FROM exact UNION ALL SELECT 9")
            }
            #expect(long?.constraint == Constraint(kind: .foreignKey))
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") == 0)
            // In a loop over rows, which goes on.
            let cursor = try Int.fetchCursor(
                db,
                sql:
                    "SELECT id FROM team t WHERE NOT EXISTS (SELECT 1 FROM note WHERE note.id = t.id + 5) ORDER BY id"
            )
            var ids: [Int] = []
            while let id = try cursor.next() {
                ids.append(id)
                let error = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "INSERT INTO player (teamID) VALUES (?)", arguments: [id + 10])
                }
                #expect(error?.constraint == Constraint(kind: .foreignKey))
            }
            #expect(ids == [1, 2])
            // In a loop over what is being written.
            let written = try Int.fetchCursor(
                db, sql: "INSERT INTO entry VALUES (1), (1), (1) RETURNING teamID")
            _ = try written.next()
            expectError("FOREIGN KEY constraint failed") {
                try db.execute(sql: "INSERT INTO player (teamID) VALUES (9)")
            }
            while try written.next() != nil {}
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") == 3)
            // In a transaction, which goes on.
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO entry VALUES (2)")
                let inside = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "INSERT INTO entry SELECT n * 0 + 1 FROM exact UNION ALL SELECT 9")
                }
                #expect(inside?.constraint == Constraint(kind: .foreignKey) && db.isInsideTransaction)
                return .commit
            }
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry") == 4)
            // In a function that a statement calls.
            let told = Recorder<DatabaseError>()
            try db.add(
                function: DatabaseFunction("insert_player", argumentCount: 0) { [unowned db] _ in
                    do {
                        try db.execute(sql: "INSERT INTO player (teamID) VALUES (9)")
                    } catch let error as DatabaseError { told.record(error) }
                    return nil
                })
            try db.execute(sql: "SELECT insert_player()")
            try db.execute(sql: "UPDATE team SET code = insert_player() WHERE id = 1")
            #expect(
                told.elements.count == 2 && told.elements.allSatisfy { $0.constraint?.kind == .foreignKey })
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 2)
        }
    }

    @Test("A function that may do more than compute is not called again, wherever the schema has it")
    func functions() throws {
        let called = Recorder<Int>()
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("noted", argumentCount: 1) {
                    called.record(1)
                    return $0[0]
                })
            try db.execute(
                sql:
                    "CREATE TABLE checked (teamID INTEGER REFERENCES team, n DEFAULT 1, CHECK (noted(n) = 1))"
            )
            let changes = db.totalChangesCount
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO checked (teamID) VALUES (9)")
            }
            #expect(error?.constraint == Constraint(kind: .foreignKey))
            #expect(called.elements.count == 1)
            expectError("FOREIGN KEY constraint failed") {
                try db.execute(sql: "INSERT INTO player (teamID) VALUES (9)")
            }
            #expect(db.totalChangesCount == changes)
            try db.execute(sql: "INSERT INTO checked (teamID) VALUES (1)")
            #expect(db.totalChangesCount == changes + 1)
        }
    }

    @Test("Another connection that writes is not waited for")
    func busy() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let first = try file.queue { $0.busyMode = .timeout(30) }
        try first.write { db in
            try db.execute(
                sql: """
                    DROP TABLE IF EXISTS player;
                    DROP TABLE IF EXISTS team;
                    CREATE TABLE team (id INTEGER PRIMARY KEY);
                    CREATE TABLE player (id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team);
                    """)
        }
        let second = try file.queue { $0.busyMode = .timeout(30) }
        try first.inDatabase { db in
            // The other connection begins to write when the statement has ended.
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO player (teamID) VALUES (9)")
            }
            #expect(error?.constraint?.foreignKey != nil)
            try second.inDatabase { other in
                try other.beginTransaction(.immediate)
                let busy = db.explained(
                    DatabaseError(
                        resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: "FOREIGN KEY constraint failed"),
                    of: try db.makeStatement(sql: "INSERT INTO player (teamID) VALUES (9)"))
                #expect((busy as? DatabaseError)?.constraint == Constraint(kind: .foreignKey))
                try other.rollback()
            }
            #expect(!db.isInsideTransaction)
        }
    }

    @Test("Of a record's save, and of a struct's, it is told in the same way")
    func records() throws {
        struct Team: Codable, PersistableRecord { var id: Int64, name: String, code: String? }
        try queue.inDatabase { db in
            let player = Player()
            player.teamID = 9
            let error = #expect(throws: DatabaseError.self) { try player.insert(db) }
            #expect(
                error?.constraint?.foreignKey == Self.team && player.id == nil && player.hasDatabaseChanges)
            player.teamID = 1
            try player.insert(db)
            player.captainID = 99
            #expect(
                #expect(throws: DatabaseError.self) { try player.updateChanges(db) }?.constraint?.columns == [
                    "captainID"
                ])
            #expect(try player.databaseChanges.keys.sorted() == ["captainID"])
            let team = Team(id: 1, name: "Blues", code: nil)
            #expect(
                #expect(throws: DatabaseError.self) { try team.update(db) }?.constraint?.columns == ["name"])
            #expect(
                #expect(throws: DatabaseError.self) { try team.delete(db) }?.constraint?.foreignKey
                    == Self.team)
        }
    }

    @Test("A migration that breaks a key tells its table and its columns")
    func migration() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { try $0.execute(sql: "DELETE FROM team WHERE id = 1") }
        let error = #expect(throws: DatabaseError.self) { try migrator.migrate(queue) }
        #expect(error?.constraint == Constraint(kind: .foreignKey, table: "player", columns: ["teamID"]))
    }
}

private final class Player: Record {
    var id: Int64?
    var teamID: Int64?
    var captainID: Int64?

    override class var databaseTableName: String { "player" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("teamID", teamID) { teamID = $0 }
        try column("captainID", captainID) { captainID = $0 }
    }
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }
}

private final class SeeingObserver: TransactionObserver {
    private let seen: Recorder<String>
    init(_ seen: Recorder<String>) { self.seen = seen }
    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) { seen.record("\(event.kind) \(event.tableName)") }
    func databaseWillCommit() throws {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}

extension Database {
    /// All rows of all tables.
    fileprivate var contents: [String] {
        get throws {
            try String.fetchAll(
                self,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
            ).flatMap { table in
                try Row.fetchAll(self, sql: "SELECT '\(table)', * FROM \(table.quotedDatabaseIdentifier)").map
                { "\($0)" }
            }
        }
    }
}
