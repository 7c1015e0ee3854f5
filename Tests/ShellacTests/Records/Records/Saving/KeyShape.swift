import Foundation
import Shellac
import TestSupport
import Testing

/// A kind of primary key: the table, and what its records are.
struct KeyShape: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Creates the table "thing", which has a column "value".
    let sql: String
    /// Three keys, by columns. A key that the database makes is NULL.
    let keys: [[String: DatabaseValue]]
    /// The traits of the records.
    var traits: any ThingTraits.Type = PlainTraits.self
    var canUpsert = true
    /// Whether an insertion that leaves the key NULL fills it in.
    var isFilledIn: Bool { keys.allSatisfy { $0.values.contains(.null) } }

    private static func uuid(_ number: Int) -> DatabaseValue {
        UUID(uuidString: "00000000-0000-0000-0000-00000000000\(number)").databaseValue
    }

    static let all = [
        KeyShape(
            testDescription: "an INTEGER PRIMARY KEY that the database makes",
            sql: "CREATE TABLE thing (id INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT)",
            keys: [["id": .null], ["id": .null], ["id": .null]]),
        KeyShape(
            testDescription: "an INTEGER PRIMARY KEY that is given",
            sql: "CREATE TABLE thing (value TEXT, id INTEGER PRIMARY KEY)",
            keys: [["id": 10], ["id": -20], ["id": 0]]),
        KeyShape(
            testDescription: "a text key, spelled otherwise",
            sql: "CREATE TABLE thing (\"the CODE\" TEXT PRIMARY KEY NOT NULL, value TEXT)",
            keys: [["The Code": "a"], ["The Code": ""], ["The Code": "l'île"]]),
        KeyShape(
            testDescription: "a UUID", sql: "CREATE TABLE thing (id BLOB PRIMARY KEY NOT NULL, value TEXT)",
            keys: [["id": uuid(1)], ["id": uuid(2)], ["id": uuid(3)]]),
        KeyShape(
            testDescription: "a composite key",
            sql: "CREATE TABLE thing (a INTEGER, value TEXT, b TEXT, PRIMARY KEY (b, a))",
            keys: [["a": 1, "b": "x"], ["a": 1, "b": "y"], ["a": 2, "b": "x"]]),
        KeyShape(
            testDescription: "a WITHOUT ROWID table",
            sql: "CREATE TABLE thing (a INTEGER, b TEXT, value TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID",
            keys: [["a": 1, "b": "x"], ["a": 1, "b": "y"], ["a": 2, "b": "x"]]),
        KeyShape(
            testDescription: "the hidden row id, encoded", sql: "CREATE TABLE thing (value TEXT)",
            keys: [["rowid": 1], ["rowid": 2], ["rowid": 300]], traits: RowIDTraits.self),
        KeyShape(
            testDescription: "a view with triggers",
            sql: """
                CREATE TABLE base (id INTEGER PRIMARY KEY, value TEXT);
                CREATE VIEW thing AS SELECT id, value FROM base;
                CREATE TRIGGER i INSTEAD OF INSERT ON thing
                    BEGIN INSERT INTO base VALUES (NEW.id, NEW.value); END;
                CREATE TRIGGER u INSTEAD OF UPDATE ON thing
                    BEGIN UPDATE base SET id = NEW.id, value = NEW.value WHERE id = OLD.id; END;
                CREATE TRIGGER d INSTEAD OF DELETE ON thing BEGIN DELETE FROM base WHERE id = OLD.id; END;
                """,
            keys: [["id": 1], ["id": 2], ["id": 3]], traits: ViewTraits.self, canUpsert: false),
    ]

    /// A database with the table.
    func database() throws -> DatabaseQueue {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in try db.execute(sql: sql) }
        return dbQueue
    }
}

/// The differences between record types of the table "thing".
protocol ThingTraits: SendableMetatype {
    static var selection: [any SQLSelectable] { get }
    static var primaryKey: [String]? { get }
}

enum PlainTraits: ThingTraits {
    static var selection: [any SQLSelectable] { [.allColumns] }
    static var primaryKey: [String]? { nil }
}

enum RowIDTraits: ThingTraits {
    static var selection: [any SQLSelectable] { [.rowID, .allColumns] }
    static var primaryKey: [String]? { nil }
}

enum ViewTraits: ThingTraits {
    static var selection: [any SQLSelectable] { [.allColumns] }
    static var primaryKey: [String]? { ["id"] }
}

/// A record of the table "thing", be it a class or a struct.
protocol Thing: FetchableRecord, MutablePersistableRecord {
    init(key: [String: DatabaseValue], value: String)
    var key: [String: DatabaseValue] { get }
    var value: String { get set }
    /// The record's own columns in a row: the names are those that the record encodes.
    static func key(in row: Row, like key: [String: DatabaseValue]) -> [String: DatabaseValue]
}

extension Thing {
    static func key(in row: Row, like key: [String: DatabaseValue]) -> [String: DatabaseValue] {
        if key.isEmpty { return row.dictionary.filter { $0.key != "value" } }
        return Dictionary(
            uniqueKeysWithValues: key.map { ($0.key, row.databaseValue(named: $0.key) ?? $0.value) })
    }

    fileprivate func encodeThing(to container: inout PersistenceContainer) {
        for (column, value) in key.sorted(by: { $0.key < $1.key }) { container[column] = value }
        container["value"] = value
    }
}

struct StructThing<Traits: ThingTraits>: Thing {
    static var databaseTableName: String { "thing" }
    static var databaseSelection: [any SQLSelectable] { Traits.selection }
    static var databasePrimaryKey: [String]? { Traits.primaryKey }
    private(set) var key: [String: DatabaseValue]
    var value: String

    init(key: [String: DatabaseValue], value: String) { (self.key, self.value) = (key, value) }

    init(row: Row) throws {
        key = Self.key(in: row, like: [:])
        value = try row["value"]
    }

    func encode(to container: inout PersistenceContainer) { encodeThing(to: &container) }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        if let column = inserted.rowIDColumn { key[column] = inserted.rowID.databaseValue }
    }
}

final class ClassThing<Traits: ThingTraits>: Record, Thing {
    override class var databaseTableName: String { "thing" }
    override class var databaseSelection: [any SQLSelectable] { Traits.selection }
    override class var databasePrimaryKey: [String]? { Traits.primaryKey }
    private(set) var key: [String: DatabaseValue] = [:]
    var value = ""

    init(key: [String: DatabaseValue], value: String) {
        (self.key, self.value) = (key, value)
        super.init()
    }

    required init(row: Row) throws { try super.init(row: row) }

    override func updateFromRow(_ row: Row) throws {
        key = Self.key(in: row, like: key)
        value = try row["value"]
    }

    override func encode(to container: inout PersistenceContainer) { encodeThing(to: &container) }
}
