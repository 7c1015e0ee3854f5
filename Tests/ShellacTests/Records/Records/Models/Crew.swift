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

    /// The base class of mates of all styles, which has no column.
    class AnyMate: Record {
        required override init() { super.init() }
        required init(row: Row) throws { try super.init(row: row) }

        override class var databaseTableName: String { "sailor" }
    }

    class PairMate: AnyMate, MateRecord {
        var id: Int64?
        var name = ""
        var rank = 0

        override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
        override func encode(to container: inout PersistenceContainer) throws {
            encodeColumns(in: &container)
        }
    }

    class ListedMate: AnyMate, MateRecord {
        var id: Int64?
        var name = ""
        var rank = 0

        override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
    }

    class CodedMate: AnyMate, MateRecord, Codable {
        var id: Int64?
        var name = ""
        var rank = 0
    }

    static func sailors(_ numbers: some Sequence<Int>) -> [Sailor] {
        numbers.map { Sailor(id: nil, name: "\($0)", rank: $0) }
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

/// A sailor by class.
protocol MateRecord: Record, SendableMetatype {
    var id: Int64? { get set }
    var name: String { get set }
    var rank: Int { get set }

    init()
}

extension RecordStyle {
    /// The mates of this style.
    var mate: any MateRecord.Type {
        choose(Crew.PairMate.self, Crew.ListedMate.self, Crew.CodedMate.self)
    }
}

extension MateRecord {
    init(_ name: String, id: Int64? = nil, rank: Int = 0) {
        self.init()
        (self.id, self.name, self.rank) = (id, name, rank)
    }

    // See `HeroRecord.readColumns(of:)`.

    func readColumns(of row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("rank") { rank = try row["rank"] }
    }

    func encodeColumns(in container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["rank"] = rank
    }

    func listColumns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("rank", rank) { rank = $0 }
    }

    /// Mates whose names and ranks are some numbers.
    static func crew(_ numbers: some Sequence<Int>) -> [Self] {
        numbers.map { Self("\($0)", rank: $0) }
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
