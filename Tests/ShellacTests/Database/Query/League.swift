import Shellac
import TestSupport

/// The tables and records of the suites on requests.
enum League {
    /// A struct.
    struct Player: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var score: Int?
        var teamID: Int64?
        var isFlagged = false

        enum Columns {
            static let id = Column(CodingKeys.id)
            static let name = Column(CodingKeys.name)
            static let score = Column(CodingKeys.score)
            static let isFlagged = Column(CodingKeys.isFlagged)
        }
    }

    struct Team: Codable, Hashable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var color: String
    }

    /// A class, and one below it.
    class Member: Record {
        var id: Int64?
        var name = ""
        var score: Int?

        override class var databaseTableName: String { "player" }

        override func updateFromRow(_ row: Row) throws {
            id = try row["id"]
            name = try row["name"]
            if row.hasColumn("score") { score = try row["score"] }
            try super.updateFromRow(row)
        }

        override func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            container["name"] = name
            container["score"] = score
        }
    }

    final class Captain: Member {
        override class var databaseSelection: [any SQLSelectable] { [Column("id"), Column("name")] }
    }

    /// A database with two teams and five players.
    static func database(_ spy: SQLSpy? = nil) throws -> DatabaseQueue {
        let queue = try spy.map { try DatabaseQueue(configuration: $0.configuration()) } ?? DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL, color TEXT NOT NULL);
                    INSERT INTO team VALUES (1, 'Reds', 'red'), (2, 'Blues', 'blue');
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER,
                        teamID INTEGER REFERENCES team(id), isFlagged BOOLEAN NOT NULL DEFAULT 0);
                    INSERT INTO player VALUES
                        (1, 'Arthur', 100, 1, 0), (2, 'Barbara', 250, 1, 1), (3, 'Craig', 50, 2, 0),
                        (4, 'Diane', 250, 2, 0), (5, 'O''Brien', NULL, NULL, 0);
                    CREATE TABLE visit (playerID INTEGER, year INTEGER, note TEXT, PRIMARY KEY (playerID, year));
                    INSERT INTO visit VALUES (1, 2024, 'a'), (1, 2025, 'b'), (2, 2025, 'c');
                    """)
        }
        spy?.removeAll()
        return queue
    }

    /// The SQL that a body runs.
    static func sql(_ body: (Database) throws -> Void) throws -> [String] {
        let spy = SQLSpy()
        let queue = try database(spy)
        try queue.inDatabase { db in
            spy.removeAll()
            try body(db)
        }
        return spy.sql
    }
}
