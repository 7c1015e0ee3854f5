import Shellac

/// The record of random histories.
class Adventurer: Record {
    var id: Int64?
    var values = History.Values()
    /// An action for the next encoding of the record, which runs once.
    var whileEncoding: (() throws -> Void)?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    /// An action for the next copy of the record, whose save may be on its way.
    var whenCopied: (() -> Void)?

    override func copy() throws -> sending Self {
        let copy = try super.copy()
        whenCopied?()
        whenCopied = nil
        return copy
    }

    override class var databaseTableName: String { "hero" }
    override class var warnsOfBypassedCallbacks: Bool { false }

    /// Runs the action for the encoding of the record.
    final func meddle() throws {
        guard let meddle = whileEncoding else { return }
        whileEncoding = nil
        try meddle()
    }

    /// Whether the class has the columns of stamps, too.
    class var isStamped: Bool { databaseStamps.created != nil }

    class var schema: String {
        """
        CREATE TABLE team (id INTEGER PRIMARY KEY);
        CREATE TABLE hero (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER, rating NUMERIC, mood TEXT,
            teamID INTEGER REFERENCES team(id) ON DELETE CASCADE
            \(isStamped ? ", createdAt TEXT, updatedAt TEXT, ratedAt TEXT" : ""));
        INSERT INTO team VALUES (1), (2);
        """
    }
}

/// The same by the older pair of methods.
class PairAdventurer: Adventurer {
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
        try meddle()
        container["id"] = id
        container["name"] = values.name
        container["score"] = values.score
        container["rating"] = values.rating
        container["mood"] = values.mood
        container["teamID"] = values.teamID
    }
}

/// The same, which lists its columns.
class ListedAdventurer: Adventurer {
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", meddledID()) { id = $0 }
        try column("name", values.name) { values.name = $0 }
        try column("score", values.score) { values.score = $0 }
        try column("rating", values.rating) { values.rating = $0 }
        try column("mood", values.mood) { values.mood = $0 }
        try column("teamID", values.teamID) { values.teamID = $0 }
    }
}

// A class in a variable is fetched as the variable's type: what is opened is fetched as it is.
extension Adventurer {
    private typealias Fetched = FetchableRecord & TableRecord

    static func all(_ db: Database) throws -> [Adventurer] {
        func all<T: Fetched>(_ type: T.Type) throws -> [Adventurer] {
            try type.order(Column("id")).fetchAll(db).compactMap { $0 as? Adventurer }
        }
        let type: any Fetched.Type = self
        return try all(type)
    }

    static func one(_ db: Database, key: Int) throws -> Adventurer? {
        func one<T: Fetched>(_ type: T.Type) throws -> Adventurer? {
            try type.fetchOne(db, key: key) as? Adventurer
        }
        let type: any Fetched.Type = self
        return try one(type)
    }

    static func one(
        _ db: Database, sql: String, arguments: StatementArguments
    ) throws -> Adventurer? {
        func one<T: Fetched>(_ type: T.Type) throws -> Adventurer? {
            try type.fetchOne(db, sql: sql, arguments: arguments) as? Adventurer
        }
        let type: any Fetched.Type = self
        return try one(type)
    }
}

extension Adventurer {
    func meddledID() throws -> Int64? {
        try meddle()
        return id
    }
}

/// One whose subclasses need no list but for the row id.
class IdentifiedAdventurer: Adventurer {
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", meddledID()) { id = $0 }
    }
}

/// The same, which leaves its columns to `Codable`.
final class CodedAdventurer: IdentifiedAdventurer, Codable {
    private var name = History.Values().name
    private var score = History.Values().score
    private var rating = History.Values().rating
    private var mood = History.Values().mood
    private var teamID = History.Values().teamID

    override var values: History.Values {
        get {
            var values = History.Values()
            (values.name, values.score, values.rating) = (name, score, rating)
            (values.mood, values.teamID) = (mood, teamID)
            return values
        }
        set {
            (name, score, rating) = (newValue.name, newValue.score, newValue.rating)
            (mood, teamID) = (newValue.mood, newValue.teamID)
        }
    }
}

/// The same, which changes another one of a batch when it is inserted.
final class TalkativeAdventurer: PairAdventurer {
    weak var listener: Adventurer?

    override func didInsert(_ inserted: InsertionSuccess) {
        listener?.values.mood = "told"
        super.didInsert(inserted)
    }
}

/// The same, which overrides what saves.
final class StubbornAdventurer: PairAdventurer {
    override func insert(_ db: Database) throws { try super.insert(db) }
    override func update(_ db: Database, columns: Set<String>) throws {
        try super.update(db, columns: columns)
    }
}
