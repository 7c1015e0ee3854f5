import Shellac
import TestSupport
import Testing

/// Counters of tables without row ids, whose keys find rows that hold other values; and triggers
/// that are not those that the schema asks for.
@Suite("A counter", .behaviour(109))
struct CounterCollationTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    private func createTeam(_ db: Database) throws {
        try db.create(table: "team") { t in
            t.autoIncrementedPrimaryKey("id")
            t.counter("playersCount", of: "player")
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

    /// The columns of a counted table without row ids, two keys that it takes for equal, and
    /// another one.
    private static let collatedKeys = [
        ("code TEXT COLLATE NOCASE PRIMARY KEY, teamID REFERENCES team(id)", "'a'", "'A'", "'b'"),
        ("code TEXT COLLATE RTRIM PRIMARY KEY, teamID REFERENCES team(id)", "'a'", "'a '", "'b'"),
        ("code TEXT, teamID REFERENCES team(id), PRIMARY KEY (code COLLATE NOCASE)", "'a'", "'A'", "'b'"),
        ("code PRIMARY KEY, teamID REFERENCES team(id)", "1", "1.0", "2"),
    ]

    /// Creates a table of teams, and one of players that plain SQL declares.
    private func createCounted(_ columns: String) throws {
        try queue.write { db in
            try createTeam(db)
            try db.execute(sql: "CREATE TABLE player (\(columns)) WITHOUT ROWID")
            try db.updateCounterTriggers()
            try db.execute(sql: "INSERT INTO team DEFAULT VALUES; INSERT INTO team DEFAULT VALUES")
        }
    }

    @Test(
        "counts a row once that REPLACE puts in the place of one whose key has other letters",
        arguments: collatedKeys.indices, [false, true])
    func replacedRows(index: Int, isRecursive: Bool) throws {
        let (columns, old, new, other) = Self.collatedKeys[index]
        try queue.inDatabase { try $0.execute(sql: "PRAGMA recursive_triggers = \(isRecursive)") }
        try createCounted(columns)
        try #expect(run("INSERT INTO player (code, teamID) VALUES (\(old), 1), (\(other), 1)") == [2, 0])
        try #expect(run("INSERT OR REPLACE INTO player (code, teamID) VALUES (\(new), 1)") == [2, 0])
        try #expect(run("INSERT OR REPLACE INTO player (code, teamID) VALUES (\(old), 2)") == [1, 1])
        try #expect(run("UPDATE player SET code = \(new) WHERE teamID = 2") == [1, 1])
        try #expect(run("UPDATE OR REPLACE player SET code = \(old) WHERE teamID = 1") == [1, 0])
        try #expect(run("INSERT OR IGNORE INTO player (code, teamID) VALUES (\(new), 2)") == [1, 0])
        try #expect(run("DELETE FROM player") == [0, 0])
    }

    @Test("of rows with a composite key whose part has another collation counts each once")
    func collatedCompositeKeys() throws {
        try createCounted(
            "no INTEGER, code TEXT COLLATE NOCASE, teamID REFERENCES team(id), PRIMARY KEY (no, code)")
        try #expect(run("INSERT INTO player (code, no, teamID) VALUES ('a', 1, 1), ('A', 2, 1)") == [2, 0])
        try #expect(run("REPLACE INTO player (code, no, teamID) VALUES ('A', 1, 1)") == [2, 0])
        try #expect(run("REPLACE INTO player (code, no, teamID) VALUES ('a', 2, 2)") == [1, 1])
        try #expect(run("UPDATE OR REPLACE player SET no = 2 WHERE no = 1") == [1, 0])
    }

    @Test("of a table that counts its own rows, by a key of another collation, counts each once")
    func collatedTree() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE node (
                        code TEXT COLLATE NOCASE PRIMARY KEY, parent TEXT COLLATE NOCASE REFERENCES node(code),
                        n INTEGER CONSTRAINT "counts node" NOT NULL DEFAULT 0) WITHOUT ROWID
                    """)
            try db.updateCounterTriggers()
            try db.execute(
                sql:
                    "INSERT INTO node (code, parent) VALUES ('r', NULL), ('a', 'R'), ('b', 'r'), ('c', 'B'), ('d', 'r')"
            )
            try db.execute(sql: "REPLACE INTO node (code, parent) VALUES ('A', 'r')")
            try #expect(db.inaccurateCounters("node", "n") == 0)
            try db.execute(sql: "REPLACE INTO node (code, parent) VALUES ('B', 'a')")
            try #expect(db.inaccurateCounters("node", "n") == 0)
            try db.execute(sql: "UPDATE OR REPLACE node SET code = 'C' WHERE code = 'd'")
            try #expect(db.inaccurateCounters("node", "n") == 0)
        }
    }

    @Test(
        "whose triggers an earlier version has made is found out, and gets others that count right")
    func olderTriggers() throws {
        try createCounted(Self.collatedKeys[0].0)
        try queue.write { db in
            // As they were: the key of the notes was compared byte by byte, and that of the table
            // by its own collation.
            let triggers = try Row.fetchAll(
                db,
                sql:
                    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '% COLLATE \"NOCASE\"%'"
            )
            #expect(triggers.count >= 5)
            for trigger in triggers {
                let (name, sql): (String, String) = (try trigger["name"], try trigger["sql"])
                try db.execute(sql: "DROP TRIGGER \(name.quotedDatabaseIdentifier)")
                try db.execute(sql: sql.replacing(" COLLATE \"NOCASE\"", with: ""))
            }
            try #expect(db.counters().map(\.isKept) == [false])
            try db.execute(
                sql:
                    "INSERT INTO player VALUES ('a', 1), ('b', 1); INSERT OR REPLACE INTO player VALUES ('A', 1)"
            )
            try #expect(counts(db) == [3, 0])
            try db.updateCounterTriggers()
            try #expect(db.counters().map(\.isKept) == [true])
            try #expect(counts(db) == [2, 0])
            try db.execute(sql: "INSERT OR REPLACE INTO player VALUES ('a', 2)")
            try #expect(counts(db) == [1, 1])
        }
    }

    @Test("does not know a unique index of plain SQL before its triggers are updated, and says so")
    func uniqueIndexOfPlainSQL() throws {
        try queue.write { db in
            try createTeam(db)
            try db.create(table: "player") { t in
                t.column("code", .text)
                t.belongsTo("team")
            }
            try db.execute(sql: "INSERT INTO team DEFAULT VALUES; INSERT INTO team DEFAULT VALUES")
            try db.execute(sql: "CREATE UNIQUE INDEX byCode ON player(lower(code))")
            try #expect(db.counters().map(\.isKept) == [false])
            try db.execute(
                sql:
                    "INSERT INTO player (code, teamID) VALUES ('a', 1); REPLACE INTO player (code, teamID) VALUES ('A', 2)"
            )
            // The triggers know nothing of the index, by which the first player was replaced.
            try #expect(counts(db) == [1, 1])
            try db.updateCounterTriggers()
            try #expect(db.counters().map(\.isKept) == [true])
            try #expect(counts(db) == [0, 1])
            try db.execute(sql: "REPLACE INTO player (code, teamID) VALUES ('a', 1)")
            try #expect(counts(db) == [1, 0])
        }
    }
}
