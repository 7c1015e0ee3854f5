import Shellac

/// A record of the suites on change tracking, of the table that `DatabaseQueue.withHeroes()` makes.
class Hero: Record {
    var id: Int64?
    var name = ""
    var score = 0

    override class var databaseTableName: String { "hero" }

    convenience init(_ name: String, score: Int = 0) {
        self.init()
        (self.name, self.score) = (name, score)
    }

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("score") { score = try row["score"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["score"] = score
    }

    /// The changes of a record that knows nothing of its row.
    static let allUnknown: [String: DatabaseValue?] = ["id": nil, "name": nil, "score": nil]

    /// What the record believes that the database holds of its name and score, or nil where it does not know.
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

    /// The score of a hero, or nil where there is none of that name.
    func score(_ name: String) throws -> Int? {
        try Int.fetchOne(self, sql: "SELECT score FROM hero WHERE name = ?", arguments: [name])
    }

    /// Has SQL call a function of no argument.
    func addFunction(_ name: String, _ body: @escaping () throws -> Void) throws {
        nonisolated(unsafe) let body = body  // it runs on the thread of the access
        try add(
            function: DatabaseFunction(name, argumentCount: 0) { _ in
                try body()
                return 1
            })
    }
}
