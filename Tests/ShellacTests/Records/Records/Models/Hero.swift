import Shellac

/// A record of the suites on change tracking, of the table that `DatabaseQueue.withHeroes()` makes.
protocol HeroRecord: Record, SendableMetatype {
    var id: Int64? { get set }
    var name: String { get set }
    var score: Int { get set }

    init()
}

extension RecordStyle {
    /// The heroes of this style.
    var hero: any HeroRecord.Type { choose(PairHero.self, ListedHero.self, CodedHero.self) }
}

/// The base class of heroes of all styles, which has no column.
class TabledHero: Record {
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "hero" }
}

class PairHero: TabledHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

class ListedHero: TabledHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

class CodedHero: TabledHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

extension HeroRecord {
    init(_ name: String, score: Int = 0) {
        self.init()
        (self.name, self.score) = (name, score)
    }

    // The declarations of classes with a superclass of their own, by which a callback is overridden
    // once for all styles.

    /// Does what `updateFromRow(_:)` does.
    func readColumns(of row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("score") { score = try row["score"] }
    }

    /// Does what `encode(to:)` does.
    func encodeColumns(in container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["score"] = score
    }

    /// Does what `columns(_:)` does.
    func listColumns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }

    /// The changes of a record that knows nothing of its row.
    static var allUnknown: [String: DatabaseValue?] { ["id": nil, "name": nil, "score": nil] }

    /// The name and score that the record remembers from the database, or nil for a value that it
    /// does not know.
    var remembered: [String: DatabaseValue?] {
        get throws {
            let (name, score) = (name, score)
            (self.name, self.score) = ("no name is this one", -987_654_321)
            defer { (self.name, self.score) = (name, score) }
            return try databaseChanges.filter { $0.key != "id" }
        }
    }

    /// Whether the record says of its changes what a comparison with the database says.
    func tellsTheTruth(on db: Database) throws -> Bool {
        let encoded = try databaseDictionary
        var truth = Self.allUnknown
        if let row = try Row.fetchOne(db, sql: "SELECT * FROM hero WHERE id = ?", arguments: [id]) {
            truth = [:]
            for (column, value) in row where encoded[column] != value {
                truth.updateValue(value, forKey: column)
            }
        }
        return try databaseChanges == truth && hasDatabaseChanges == !truth.isEmpty
    }
}

extension DatabaseQueue {
    /// A database with a table of heroes, in memory unless a path is given.
    static func withHeroes(
        path: String? = nil, configure: (inout Configuration) -> Void = { _ in }
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "test"
        configure(&configuration)
        let queue =
            try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
            ?? DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS hero (
                        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER NOT NULL)
                    """)
        }
        return queue
    }
}

extension DatabaseQueue {
    /// A database with a table of heroes that refuses nothing.
    static func withLooseHeroes() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write {
            try $0.execute(sql: "CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
        }
        return queue
    }
}

extension Database {
    /// The names of the heroes, in the order of their insertion.
    func heroes() throws -> [String] { try String.fetchAll(self, sql: "SELECT name FROM hero ORDER BY id") }

    /// The score of a hero, or nil if there is none of that name.
    func score(_ name: String) throws -> Int? {
        try Int.fetchOne(self, sql: "SELECT score FROM hero WHERE name = ?", arguments: [name])
    }

    /// Calls a function of no argument from SQL.
    func addFunction(_ name: String, _ body: @escaping () throws -> Void) throws {
        nonisolated(unsafe) let body = body  // it runs on the thread of the access
        try add(
            function: DatabaseFunction(name, argumentCount: 0) { _ in
                try body()
                return 1
            })
    }
}
