import Shellac

/// A record as a user of the family's newest library writes one.
struct Mover: Codable, Hashable, Identifiable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var name: String
    var score: Int
    var teamId: Int64?

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let score = Column(CodingKeys.score)
        static let teamId = Column(CodingKeys.teamId)
    }

    static var databaseTableName: String { "mover" }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// Opens a database of two teams and three movers, and runs a function in it.
func withMovers(_ body: (Database) throws -> Void) throws {
    try DatabaseQueue().inDatabase { db in
        try db.execute(
            sql: """
                CREATE TABLE team (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
                CREATE TABLE mover (
                    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER NOT NULL,
                    teamId INTEGER REFERENCES team(id));
                INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues');
                INSERT INTO mover VALUES (1, 'Arthur', 10, 1), (2, 'Barbara', 30, 1), (3, 'Craig', 20, NULL);
                """)
        try body(db)
    }
}
