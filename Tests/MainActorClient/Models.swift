// The model of an application whose code belongs to the main actor unless it says otherwise, as new
// ones in Xcode do. Nothing here says `nonisolated`: that it compiles is what is tested.
import Foundation
import Shellac

/// A class that reads its row by `updateFromRow(_:)`.
class Player: Record {
    var id: Int64?
    var name = ""
    var color = TeamColor.red
    var height: Metres?
    var address: Address?
    var createdAt: Date?
    var log: [String] = []

    override class var databaseTableName: String { "player" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(created: "createdAt") }
    override class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("color") { color = try row["color"] }
        if row.hasColumn("height") { height = try row["height"] }
        if row.hasColumn("address") { address = try row["address"] }
        if row.hasColumn("createdAt") { createdAt = try row["createdAt"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["color"] = color
        container["height"] = height
        container["address"] = address
        container["createdAt"] = createdAt
    }

    override func insert(_ db: Database) throws {
        log.append("insert")
        try super.insert(db)
    }
    override func update(_ db: Database, columns: Set<String>) throws {
        log.append("update \(columns.sorted().joined(separator: ", "))")
        try super.update(db, columns: columns)
    }
    override func willSave(_ db: Database) throws { log.append("willSave") }
    override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        _ = try insert()
        log.append("inserted")
    }
    override func didDelete(deleted: Bool) { log.append("deleted: \(deleted)") }
}

/// A subclass with a column of its own.
final class Captain: Player {
    var armband = "blue"

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("armband") { armband = try row["armband"] }
        try super.updateFromRow(row)
    }
    override func encode(to container: inout PersistenceContainer) throws {
        try super.encode(to: &container)
        container["armband"] = armband
    }
}

/// A class that reads its row by an initializer.
final class Game: Record {
    var id: Int64?
    let title: String

    override class var databaseTableName: String { "game" }

    init(title: String) {
        self.title = title
        super.init()
    }

    required init(row: Row) throws {
        id = try row["id"]
        title = try row["title"]
        try super.init(row: row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["title"] = title
    }
    override func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A Codable struct.
struct Team: Codable, Identifiable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var name: String
    var color: TeamColor
    var address: Address?

    enum Columns {
        static let name = Column(CodingKeys.name)
        static let color = Column(CodingKeys.color)
    }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A struct that reads and encodes itself.
struct Place: FetchableRecord, PersistableRecord {
    var name: String
    var height: Metres

    init(name: String, height: Metres) { (self.name, self.height) = (name, height) }

    init(row: Row) throws {
        name = try row["name"]
        height = try row["height"]
    }

    func encode(to container: inout PersistenceContainer) throws {
        container["name"] = name
        container["height"] = height
    }
}

enum TeamColor: String, Codable, DatabaseValueConvertible { case red, blue }

struct Address: Codable, Equatable, DatabaseValueConvertible {
    var street: String
}

/// A value that says how it is stored.
struct Metres: Equatable, DatabaseValueConvertible {
    var value: Double

    var databaseValue: DatabaseValue { value.databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> Metres? {
        Double.fromDatabaseValue(value).map(Metres.init(value:))
    }
}

/// An observer. It is called where the database is used.
final class Audience: TransactionObserver {
    private var pending = 0
    private(set) var committed = 0

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "player" }
    func databaseDidChange(with event: DatabaseEvent) { pending += 1 }
    func databaseWillCommit() throws {}
    func databaseDidCommit(_ db: Database) {
        committed += pending
        pending = 0
    }
    func databaseDidRollback(_ db: Database) { pending = 0 }
}

/// An aggregate.
struct Longest: DatabaseAggregate {
    private var longest = ""

    init() {}

    mutating func step(_ values: [DatabaseValue]) throws {
        if let text = String.fromDatabaseValue(values[0]), text.count > longest.count { longest = text }
    }
    func finalize() throws -> (any DatabaseValueConvertible)? { longest }
}

/// A condition that a request is made of.
struct IsTall: SQLSpecificExpressible {
    var sqlExpression: SQLExpression { (Column("height") > Metres(value: 2)).sqlExpression }
}
