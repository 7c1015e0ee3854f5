import Shellac

/// The record of random histories.
class Adventurer: Record {
    var id: Int64?
    var values = History.Values()
    /// What is done when the record is encoded next, once.
    var whileEncoding: (() throws -> Void)?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    /// What is done once the record is copied next: its save may be on its way.
    var whenCopied: (() -> Void)?

    override func copy() throws -> sending Self {
        let copy = try super.copy()
        whenCopied?()
        whenCopied = nil
        return copy
    }

    override class var databaseTableName: String { "hero" }
    override class var warnsOfBypassedCallbacks: Bool { false }

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { values.name = try row["name"] }
        if row.hasColumn("score") { values.score = try row["score"] }
        if row.hasColumn("rating") { values.rating = try row["rating"] }
        if row.hasColumn("mood") { values.mood = try row["mood"] }
        if row.hasColumn("teamID") { values.teamID = try row["teamID"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        if let meddle = whileEncoding {
            whileEncoding = nil
            try meddle()
        }
        container["id"] = id
        container["name"] = values.name
        container["score"] = values.score
        container["rating"] = values.rating
        container["mood"] = values.mood
        container["teamID"] = values.teamID
    }

    static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY);
        CREATE TABLE hero (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER, rating NUMERIC, mood TEXT,
            teamID INTEGER REFERENCES team(id) ON DELETE CASCADE);
        INSERT INTO team VALUES (1), (2);
        """
}

/// The same, which tells another one of a batch when it is inserted.
final class TalkativeAdventurer: Adventurer {
    weak var listener: Adventurer?

    override func didInsert(_ inserted: InsertionSuccess) {
        listener?.values.mood = "told"
        super.didInsert(inserted)
    }
}

/// The same with a callback, which takes the longer of the two roads.
final class CarefulAdventurer: Adventurer {
    override func willSave(_ db: Database) throws { try super.willSave(db) }
}

/// The same, which overrides what saves.
final class StubbornAdventurer: Adventurer {
    override func insert(_ db: Database) throws { try super.insert(db) }
    override func update(_ db: Database, columns: Set<String>) throws {
        try super.update(db, columns: columns)
    }
}

extension History.Values {
    /// Takes some columns of others.
    mutating func take(_ columns: History.Columns, of other: Self) {
        for name in columns.names {
            switch name {
            case "name": self.name = other.name
            case "score": score = other.score
            case "rating": rating = other.rating
            case "mood": mood = other.mood
            default: teamID = other.teamID
            }
        }
    }

    /// What is encoded.
    func encoded(id: Int64?) -> [String: DatabaseValue] {
        [
            "id": id.databaseValue, "name": name.databaseValue, "score": score.databaseValue,
            "rating": rating.databaseValue, "mood": mood.databaseValue, "teamID": teamID.databaseValue,
        ]
    }

    init(stored: [String: DatabaseValue]) throws {
        let row = Row(stored.map { ($0.key, $0.value) })
        self.init()
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("score") { score = try row["score"] }
        if row.hasColumn("rating") { rating = try row["rating"] }
        if row.hasColumn("mood") { mood = try row["mood"] }
        if row.hasColumn("teamID") { teamID = try row["teamID"] }
    }
}
