import Foundation
import Shellac
import TestSupport

/// A random program on records whose rows are deleted and stay. Some records were made with a key,
/// fetched in part, given another key, or have forgotten their rows. A model says what each row
/// holds, and what each record remembers.
struct DeletionHistory {
    /// A record, and what it is to remember.
    private struct Known {
        let record: DeletableHero
        /// The remembered row, with the id. Nil for nothing.
        var row: Values?
        /// The values in columns that it was fetched without.
        var unread: Values = [:]

        var values: Values {
            [
                "id": record.id.databaseValue, "name": record.name.databaseValue,
                "note": record.note.databaseValue, "deletedAt": record.deletedAt.databaseValue,
            ]
        }
        var hasOtherKey: Bool { row?["id"] != values["id"] }
        var isChanged: Bool { row.map { row in values.contains { row[$0.key] != $0.value } } ?? true }

        /// Whether the record writes a column.
        func gives(_ name: String) -> Bool {
            let value = values[name]
            if unread[name] == value { return false }
            guard name == "deletedAt" else { return true }
            guard value == .null else { return row == nil || row?[name] != value }
            return !hasOtherKey && row?[name] != nil && row?[name] != .null
        }

        var given: [String] { DeletionHistory.columns.filter(gives) }

        /// Remembers what was written.
        mutating func note(_ written: [String]) {
            if hasOtherKey { row = ["id": record.id.databaseValue] }
            let own = values
            for name in written {
                row?[name] = own[name]
                unread[name] = nil
            }
        }

        /// Remembers that it has deleted or restored its row: so it knows which row that is.
        mutating func noteDeletion(_ date: DatabaseValue) {
            if hasOtherKey { row = ["id": record.id.databaseValue] }
            row?["deletedAt"] = date
            unread["deletedAt"] = nil
        }

        mutating func noteAll() { (row, unread) = (values, [:]) }
    }

    private typealias Values = [String: DatabaseValue]
    private static let columns = ["name", "note", "deletedAt"]

    private let type: DeletableHero.Type
    private var random: SeededGenerator
    private var rows: [Int64: Values] = [:]
    private var records: [Known] = []
    private(set) var text: [String] = []

    init(seed: UInt64, _ type: DeletableHero.Type) {
        (self.type, random) = (type, SeededGenerator(seed: seed))
    }

    private mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &random) }
    private mutating func id() -> Int64 { Int64(number(1..<6)) }
    private mutating func word() -> String { "w\(number(0..<4))" }

    // MARK: - Running

    /// Runs a program. Returns what differs from the model, or nil.
    mutating func run(_ count: Int, in db: Database) throws -> String? {
        for _ in 0..<count {
            let fault: String?
            if !records.isEmpty, number(0..<8) == 0 {
                // An operation that is rolled back: it sets no value of a record, and makes no new
                // record.
                let before = (rows, records.map { ($0.row, $0.unread) })
                text.append("{")
                try db.inSavepoint {
                    for _ in 0..<number(1..<5) { _ = try step(number(6..<18), db) }
                    return .rollback
                }
                text.append("} rolled back")
                rows = before.0
                for index in records.indices { (records[index].row, records[index].unread) = before.1[index] }
                fault = nil
            } else {
                fault = try step(records.isEmpty ? number(0..<4) : number(0..<24), db)
            }
            if let found = try fault ?? difference(db) { return found }
        }
        return nil
    }

    private func difference(_ db: Database) throws -> String? {
        let stored = try Row.fetchAll(db, sql: "SELECT * FROM deletableHero ORDER BY id").map { row in
            Dictionary(uniqueKeysWithValues: row.map { ($0.0, $0.1) })
        }
        let expected = rows.sorted { $0.key < $1.key }.map(\.value)
        if stored != expected { return "rows: \(stored), and not \(expected)" }
        for (index, known) in records.enumerated() where known.record.hasDatabaseChanges != known.isChanged {
            return "record \(index): changed \(known.record.hasDatabaseChanges), and not \(known.isChanged)"
        }
        return nil
    }

    // MARK: - Steps

    private mutating func step(_ operation: Int, _ db: Database) throws -> String? {
        switch operation {
        case 0, 1, 2: try get(operation, db)
        case 3: try insertFresh(db)
        case 4: try moveKey()
        case 5...9: set(operation)
        case 10: return try change("updateChanges", db)
        case 11...13: return try change(["update", "save", "upsert"][operation - 11], db)
        case 14: return try change("updateColumns", db)
        case 15: try writeByHand(db)
        case 16: flag()
        case 17: return try change("save", db)
        case 18...20: try delete(db)
        case 21: try restore(db)
        case 22: try destroy(db)
        default: return try change("updateChanges", db)
        }
        return nil
    }

    /// Makes a record with a key, or fetches one, wholly or in part.
    private mutating func get(_ way: Int, _ db: Database) throws {
        let id = id()
        if way == 0 {
            let record = type.init()
            (record.id, record.name) = (id, word())
            if number(0..<4) == 0 { record.deletedAt = Date(timeIntervalSince1970: 1_000) }
            records.append(Known(record: record))
            return text.append("make with key \(id)")
        }
        let names = way == 1 ? Self.columns : Self.columns.filter { _ in number(0..<2) == 0 }
        guard let stored = rows[id], let record = try type.one(db, id, ["id"] + names) else { return }
        var known = Known(record: record)
        known.row = stored.filter { $0.key == "id" || names.contains($0.key) }
        known.unread = known.values.filter { $0.key != "id" && !names.contains($0.key) }
        records.append(known)
        text.append("fetch \(id), \(names)")
    }

    private mutating func insertFresh(_ db: Database) throws {
        guard rows.count < 8 else { return }
        let record = type.init()
        record.name = word()
        try record.insert(db)
        var known = Known(record: record)
        known.noteAll()
        rows[record.id ?? 0] = known.values
        records.append(known)
        text.append("insert fresh, \(record.id ?? 0)")
    }

    private mutating func moveKey() throws {
        let (index, id) = (number(0..<records.count), id())
        records[index].record.id = id
        text.append("key of \(index): \(id)")
    }

    private mutating func set(_ what: Int) {
        let (index, word) = (number(0..<records.count), word())
        let record = records[index].record
        switch what {
        case 5, 6: record.name = word
        case 7: record.note = word
        case 8: record.deletedAt = nil
        default: record.deletedAt = Date(timeIntervalSince1970: Double(number(1..<4)))
        }
        text.append("set \(index): \(what), \(word)")
    }

    private mutating func flag() {
        let index = number(0..<records.count)
        records[index].record.hasDatabaseChanges = true
        (records[index].row, records[index].unread) = (nil, [:])
        text.append("flag \(index)")
    }

    private mutating func writeByHand(_ db: Database) throws {
        let (id, word) = (id(), word())
        guard rows[id] != nil else { return }
        let (column, value): (String, DatabaseValue) =
            switch number(0..<3) {
            case 0: ("note", word.databaseValue)
            case 1: ("deletedAt", .null)
            default: ("deletedAt", Date(timeIntervalSince1970: Double(number(10..<14))).databaseValue)
            }
        try db.execute(
            sql: "UPDATE deletableHero SET \(column) = ? WHERE id = ?", arguments: [value, id])
        rows[id]?[column] = value
        text.append("SQL \(id): \(column) = \(value)")
    }

    /// Saves a record by one of the verbs.
    private mutating func change(_ verb: String, _ db: Database) throws -> String? {
        let index = number(0..<records.count)
        var known = records[index]
        let (record, id) = (known.record, known.record.id ?? 0)
        var names = known.given
        let isThere = rows[id] != nil
        switch verb {
        case "updateColumns": names = Self.columns.filter { _ in number(0..<2) == 0 }
        case "updateChanges":
            if let row = known.row, !known.hasOtherKey {
                names = names.filter { row[$0] != known.values[$0] }
            }
        default: break
        }
        text.append("\(verb) \(index) of \(id): \(names)")
        let writesNothing =
            verb == "updateChanges" && known.row != nil && !known.hasOtherKey && names.isEmpty
        var isFound = true
        do {
            switch verb {
            case "update": try record.update(db)
            case "save": try record.save(db)
            case "upsert": try record.upsert(db)
            case "updateColumns": try record.update(db, columns: Set(names))
            default:
                let isChanged = try record.updateChanges(db)
                if isChanged == writesNothing { return "updateChanges \(index) returned \(isChanged)" }
            }
        } catch RecordError.recordNotFound {
            isFound = false
        }
        if writesNothing { return nil }
        if !isThere, verb == "save" || verb == "upsert" {
            known.noteAll()
            rows[id] = known.values
        } else if isFound != isThere {
            return "\(verb) \(index): found \(isFound)"
        } else if isThere {
            // SQLite returns the columns that an upsert left alone, and the record remembers those
            // that equal its own.
            let left = verb == "upsert" ? Self.columns.filter { !names.contains($0) } : []
            for name in names { rows[id]?[name] = known.values[name] }
            known.note(names)
            let own = known.values
            for name in left {
                let isSame = rows[id]?[name] == own[name]
                known.row?[name] = isSame ? own[name] : nil
                known.unread[name] = isSame ? nil : own[name]
            }
        }
        records[index] = known
        return nil
    }

    private mutating func delete(_ db: Database) throws {
        let index = number(0..<records.count)
        let (record, id) = (records[index].record, records[index].record.id ?? 0)
        text.append("delete \(index) of \(id)")
        let isDeleted = try record.delete(db)
        if rows[id] == nil {
            (records[index].row, records[index].unread) = (nil, [:])
        } else if isDeleted {
            let date = record.deletedAt.databaseValue
            rows[id]?["deletedAt"] = date
            records[index].noteDeletion(date)
        }
    }

    private mutating func restore(_ db: Database) throws {
        let index = number(0..<records.count)
        let (record, id) = (records[index].record, records[index].record.id ?? 0)
        text.append("restore \(index) of \(id)")
        guard rows[id] != nil else { return }
        guard try record.restore(db) else { return }
        rows[id]?["deletedAt"] = .null
        records[index].noteDeletion(.null)
    }

    private mutating func destroy(_ db: Database) throws {
        let index = number(0..<records.count)
        let (record, id) = (records[index].record, records[index].record.id ?? 0)
        text.append("destroy \(index) of \(id)")
        try record.destroy(db)
        rows[id] = nil
        (records[index].row, records[index].unread) = (nil, [:])
    }
}

/// The record of these programs.
class DeletableHero: Record {
    var id: Int64?
    var name = ""
    var note = ""
    var deletedAt: Date?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "deletableHero" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override class var warnsOfBypassedCallbacks: Bool { false }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("note", note) { note = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }

    static let schema = """
        CREATE TABLE deletableHero (id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT NOT NULL, deletedAt TEXT);
        """

    /// Fetches one in part, as what the class in the variable is.
    static func one(_ db: Database, _ id: Int64, _ names: [String]) throws -> DeletableHero? {
        func one<T: FetchableRecord & TableRecord>(_ type: T.Type) throws -> DeletableHero? {
            let list = names.joined(separator: ", ")
            return try type.fetchOne(
                db, sql: "SELECT \(list) FROM deletableHero WHERE id = ?", arguments: [id]) as? DeletableHero
        }
        let type: any (FetchableRecord & TableRecord).Type = self
        return try one(type)
    }
}

/// One that is called around its saves.
final class CalledDeletableHero: DeletableHero {
    override func willUpdate(_ db: Database, columns: Set<String>) throws {}
    override func willSave(_ db: Database) throws {}
}

/// One that overrides what saves it.
final class StubbornDeletableHero: DeletableHero {
    override func update(_ db: Database, columns: Set<String>) throws {
        try super.update(db, columns: columns)
    }
}
