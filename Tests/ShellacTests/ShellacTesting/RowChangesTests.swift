import Shellac
import ShellacTesting
import Testing

private let template = DatabaseTemplate { dbQueue in
    try dbQueue.inDatabase { db in
        try db.execute(
            sql: """
                CREATE TABLE team (name TEXT PRIMARY KEY, players INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT,
                    team TEXT REFERENCES team(name) ON DELETE CASCADE ON UPDATE CASCADE);
                CREATE TRIGGER joined AFTER INSERT ON player BEGIN
                    UPDATE team SET players = players + 1 WHERE name = NEW.team;
                END;
                CREATE TABLE note (text TEXT, weight REAL);
                CREATE TABLE pair (a, b, c, PRIMARY KEY (a, b));
                INSERT INTO team (name) VALUES ('red'), ('it''s');
                INSERT INTO player VALUES (1, 'Arthur', 'red'), (2, 'Barbara', 'it''s');
                """)
    }
}

@Suite("Expected changes of rows", .database(template))
struct RowChangesTests {
    private func expect(_ changes: [String], _ body: (Database) throws -> Void) throws {
        try testDatabase.inDatabase { db in try expectChanges(changes, db) { try body(db) } }
    }

    @Test("name the inserted rows, and what triggers change")
    func insertion() throws {
        try expect(["update team 'red': players 1 → 2", "insert player 3: name NULL, team 'red'"]) { db in
            try db.execute(sql: "INSERT INTO player (team) VALUES ('red')")
        }
    }

    @Test("name the changed columns, and rows that cascades change")
    func update() throws {
        try expect([
            "delete team 'red'", "insert team 'RED': players 1", "update player 1: team 'red' → 'RED'",
        ]) { db in try db.execute(sql: "UPDATE team SET name = 'RED' WHERE name = 'red'") }
    }

    @Test("name the deleted rows, and rows that cascades delete")
    func deletion() throws {
        try expect(["delete team 'it''s'", "delete player 2"]) { db in
            try db.execute(sql: "DELETE FROM team WHERE name = 'it''s'")
        }
    }

    @Test("tell apart rows without a key, and rows with the same NULL key")
    func keys() throws {
        try expect(["insert note 1: text 'a', weight 1.5", "insert note 2: text 'a', weight 1.5"]) { db in
            try db.execute(sql: "INSERT INTO note VALUES ('a', 1.5), ('a', 1.5)")
        }
        try expect(["insert pair NULL 1: c 2", "insert pair NULL 1 NULL: c 3"]) { db in
            try db.execute(sql: "INSERT INTO pair VALUES (NULL, 1, 2), (NULL, 1, 3)")
        }
    }

    @Test("are none if nothing changes, or if all of it is undone")
    func none() throws {
        try expect([]) { db in
            try db.execute(sql: "UPDATE player SET name = name")
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM player")
                return .rollback
            }
        }
    }

    @Test("name the values of columns that are added and dropped, and the rows of dropped tables")
    func schema() throws {
        try expect(["update player 1: rank nothing → 7", "update player 2: rank nothing → 7"]) { db in
            try db.execute(sql: "ALTER TABLE player ADD COLUMN rank DEFAULT 7")
        }
        try expect(["update player 1: rank 7 → nothing", "update player 2: rank 7 → nothing"]) { db in
            try db.execute(sql: "ALTER TABLE player DROP COLUMN rank")
        }
        try expect(["delete player 1", "delete player 2"]) { db in try db.execute(sql: "DROP TABLE player") }
    }

    @Test("are all named in the message if others are expected")
    func message() throws {
        try testDatabase.inDatabase { db in
            try withKnownIssue {
                try expectChanges(["insert player 3"], db) {
                    try db.execute(sql: "DELETE FROM player WHERE id = 1")
                }
            } matching: { issue in
                issue.comments.contains {
                    $0.rawValue
                        == "expected the changes\n  insert player 3\nbut there were\n  delete player 1"
                }
            }
            try withKnownIssue {
                try expectChanges(["insert player 3"], db) {}
            } matching: { issue in
                issue.comments.contains {
                    $0.rawValue == "expected the changes\n  insert player 3\nbut there were\n  none"
                }
            }
        }
    }

    @Test("throw the error of the body")
    func error() throws {
        try testDatabase.inDatabase { db in
            let error = #expect(throws: DatabaseError.self) {
                try expectChanges([], db) { try db.execute(sql: "INSERT INTO team (name) VALUES ('red')") }
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
        }
    }

    @Test("leave out virtual tables, with what they keep their content in")
    func virtualTables() throws {
        try testDatabase.inDatabase { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE word USING fts5(text)")
            try expectChanges([], db) { try db.execute(sql: "INSERT INTO word VALUES ('a')") }
        }
    }
}
