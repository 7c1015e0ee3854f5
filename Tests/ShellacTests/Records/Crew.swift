import Shellac
import TestSupport

/// The records of the suites on insertions of many and on upserts: sailors, by class and by struct.
enum Crew {
    static let table = """
        CREATE TABLE sailor (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rank INTEGER NOT NULL DEFAULT 0)
        """

    struct Sailor: Codable, Hashable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var name: String
        var rank = 0

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    /// One that knows its id.
    struct KnownSailor: Codable, Hashable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "sailor"
        var id: Int64
        var name: String
    }

    class Mate: Record {
        var id: Int64?
        var name = ""
        var rank = 0

        convenience init(_ name: String, id: Int64? = nil, rank: Int = 0) {
            self.init()
            (self.id, self.name, self.rank) = (id, name, rank)
        }

        override class var databaseTableName: String { "sailor" }

        override func updateFromRow(_ row: Row) throws {
            if row.hasColumn("id") { id = try row["id"] }
            if row.hasColumn("name") { name = try row["name"] }
            if row.hasColumn("rank") { rank = try row["rank"] }
            try super.updateFromRow(row)
        }

        override func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            container["name"] = name
            container["rank"] = rank
        }
    }

    static func sailors(_ numbers: some Sequence<Int>) -> [Sailor] {
        numbers.map { Sailor(id: nil, name: "\($0)", rank: $0) }
    }

    static func mates(_ numbers: some Sequence<Int>) -> [Mate] {
        numbers.map { Mate("\($0)", rank: $0) }
    }

    static func database(_ spy: SQLSpy? = nil, _ sql: String = table) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: spy?.configuration() ?? Configuration())
        try queue.write { try $0.execute(sql: sql) }
        spy?.removeAll()
        return queue
    }

    /// Ids and names, as the table has them.
    static func rows(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT id || ' ' || name FROM sailor ORDER BY id")
    }
}

extension SQLSpy {
    /// The insertions that were run, with the number of their rows in place of these.
    var insertions: [String] {
        sql.filter { $0.hasPrefix("INSERT") }.map { sql in
            let rows = sql.components(separatedBy: "(?").count - 1
            return "\(rows)"
        }
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
