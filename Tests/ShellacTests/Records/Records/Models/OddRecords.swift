import Shellac
import TestSupport

// The records of the suite on what an insertion leaves in a record: see ``RecordOutcomeTests``.

/// An id that is encoded as a text, and as a real number.
protocol OddID: DatabaseValueConvertible, Codable, Equatable {}

struct TextID: OddID {
    var text: String
    var databaseValue: DatabaseValue { text.databaseValue }
    static func fromDatabaseValue(_ value: DatabaseValue) -> TextID? {
        (Int64.fromDatabaseValue(value).map { "\($0)" } ?? String.fromDatabaseValue(value)).map(Self.init)
    }
}

struct RealID: OddID {
    var number: Double
    var databaseValue: DatabaseValue { number.databaseValue }
    static func fromDatabaseValue(_ value: DatabaseValue) -> RealID? {
        Double.fromDatabaseValue(value).map(Self.init)
    }
}

/// A class whose id is of a type.
protocol OddRecord<ID>: Record {
    associatedtype ID: OddID
    var id: ID? { get }

    init()
}

class TabledOdd: Record {
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "odd" }
}

private final class PairOdd<ID: OddID>: TabledOdd, OddRecord {
    var id: ID?
    var name = "A"

    override func updateFromRow(_ row: Row) throws {
        id = try row["id"]
        name = try row["name"]
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
    }
}

private final class ListedOdd<ID: OddID>: TabledOdd, OddRecord {
    var id: ID?
    var name = "A"

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private final class CodedOdd<ID: OddID>: TabledOdd, OddRecord, Codable {
    var id: ID?
    var name = "A"
}

/// The same, which takes its id in `didInsert`.
private final class PairInserted<ID: OddID>: TabledOdd, OddRecord {
    var id: ID?

    override func encode(to container: inout PersistenceContainer) throws {
        (container["id"], container["name"]) = (id, "A")
    }
    override func didInsert(_ inserted: InsertionSuccess) {
        id = ID.fromDatabaseValue(inserted.rowID.databaseValue)
    }
}

private final class ListedInserted<ID: OddID>: TabledOdd, OddRecord {
    var id: ID?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column.writing("id", id)
        try column.writing("name", "A")
    }
    override func didInsert(_ inserted: InsertionSuccess) {
        id = ID.fromDatabaseValue(inserted.rowID.databaseValue)
    }
}

private final class CodedInserted<ID: OddID>: TabledOdd, OddRecord, Codable {
    var id: ID?
    var name = "A"

    override func didInsert(_ inserted: InsertionSuccess) {
        id = ID.fromDatabaseValue(inserted.rowID.databaseValue)
    }
}

extension RecordStyle {
    func odd<ID: OddID>(_: ID.Type) -> any OddRecord<ID>.Type {
        choose(PairOdd<ID>.self, ListedOdd<ID>.self, CodedOdd<ID>.self)
    }
    func oddInserted<ID: OddID>(_: ID.Type) -> any OddRecord<ID>.Type {
        choose(PairInserted<ID>.self, ListedInserted<ID>.self, CodedInserted<ID>.self)
    }
}

// MARK: - One that does not encode or take its id, now and then

class FickleOdd: TabledOdd {
    final var fails = false
    final var failsAfterwards = false
    final var takes = true

    /// Returns what is encoded, unless it fails.
    final func encodable<Value>(_ value: Value) throws -> Value {
        if fails { throw TestError(1) }
        return value
    }
}

private final class PairFickle: FickleOdd, OddRecord {
    var id: TextID?
    var name = "A"

    override func updateFromRow(_ row: Row) throws {
        if takes {
            id = try row["id"]
            name = try row["name"]
        }
        fails = failsAfterwards
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = try encodable(id)
        container["name"] = name
    }
}

private final class ListedFickle: FickleOdd, OddRecord {
    var id: TextID?
    var name = "A"

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", encodable(id)) {
            if takes { id = $0 }
            fails = failsAfterwards
        }
        try column("name", name) { name = $0 }
    }
}

private class IdentifiedFickle: FickleOdd {
    final var id: TextID?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", encodable(id)) {
            if takes { id = $0 }
            fails = failsAfterwards
        }
    }
}

private final class CodedFickle: IdentifiedFickle, OddRecord, Codable {
    var name = "A"
}

extension RecordStyle {
    var fickleOdd: any (FickleOdd & OddRecord<TextID>).Type {
        choose(PairFickle.self, ListedFickle.self, CodedFickle.self)
    }
}

// MARK: - One that encodes its columns in an order that changes

class WildOdd: TabledOdd {
    final var values: [String: DatabaseValue] = ["id": .null, "name": "A".databaseValue, "score": .null]
    final var order = ["id", "name", "score"]
}

private final class PairWild: WildOdd {
    override func updateFromRow(_ row: Row) throws {
        for (name, value) in row { values[name] = value }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        for name in order { container[name] = values[name] }
    }
}

private final class ListedWild: WildOdd {
    override func columns(_ column: borrowing RecordColumns) throws {
        for name in order { try column(name, values[name] ?? .null) { values[name] = $0 } }
    }
}

extension RecordStyle {
    /// Nil if there is none: the properties of a Codable class have one order.
    var wildOdd: WildOdd.Type? { choose(PairWild.self, ListedWild.self, nil) }
}

// MARK: - One that tells its children, when it was inserted

protocol NodeRecord: NodeOdd {
    var id: Int64? { get set }
    var score: Int64? { get set }
}

class NodeOdd: TabledOdd {
    final var children: [any NodeRecord] = []

    override func didInsert(_ inserted: InsertionSuccess) {
        for child in children { child.score = inserted.rowID }
    }
}

private final class PairNode: NodeOdd, NodeRecord {
    var id: Int64?
    var name = "A"
    var score: Int64?

    override func updateFromRow(_ row: Row) throws {
        (id, name, score) = (try row["id"], try row["name"], try row["score"])
    }
    override func encode(to container: inout PersistenceContainer) throws {
        (container["id"], container["name"], container["score"]) = (id, name, score)
    }
}

private final class ListedNode: NodeOdd, NodeRecord {
    var id: Int64?
    var name = "A"
    var score: Int64?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }
}

private final class CodedNode: NodeOdd, NodeRecord, Codable {
    var id: Int64?
    var name = "A"
    var score: Int64?
}

extension RecordStyle {
    var node: any NodeRecord.Type { choose(PairNode.self, ListedNode.self, CodedNode.self) }
}

// MARK: - One that changes the next, when it was inserted

protocol ChainedMemo: NextMemo {
    var id: Int64? { get set }
    var title: String { get set }
    var createdAt: String? { get set }
    var updatedAt: String? { get set }
}

class NextMemo: Record {
    final var next: (any ChainedMemo)?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "memo" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
    override func didInsert(_ inserted: InsertionSuccess) {
        next?.title = "changed"
        next?.createdAt = minute(5)
    }
}

private final class PairChained: NextMemo, ChainedMemo {
    var id: Int64?
    var title = ""
    var createdAt: String?
    var updatedAt: String?

    override func updateFromRow(_ row: Row) throws {
        (id, title) = (try row["id"], try row["title"])
        (createdAt, updatedAt) = (try row["createdAt"], try row["updatedAt"])
    }
    override func encode(to container: inout PersistenceContainer) throws {
        (container["id"], container["title"]) = (id, title)
        (container["createdAt"], container["updatedAt"]) = (createdAt, updatedAt)
    }
}

private final class ListedChained: NextMemo, ChainedMemo {
    var id: Int64?
    var title = ""
    var createdAt: String?
    var updatedAt: String?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

private final class CodedChained: NextMemo, ChainedMemo, Codable {
    var id: Int64?
    var title = ""
    var createdAt: String?
    var updatedAt: String?
}

extension RecordStyle {
    var chainedMemo: any ChainedMemo.Type {
        choose(PairChained.self, ListedChained.self, CodedChained.self)
    }
}
