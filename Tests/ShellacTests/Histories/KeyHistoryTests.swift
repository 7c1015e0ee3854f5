import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One seed, one history: records of a table whose key finds rows that hold other letters. They and
/// other connections change all columns, the key as well, and save in each way. A model predicts
/// the values of each record and each row.
@Suite("Random histories of keys that change in their letters", .behaviour(109))
struct KeyHistoryTests {
    @Test(
        "leave rows, records and changes as the model says, after each step",
        arguments: KeyHistory.Shape.allCases, [false, true])
    func histories(shape: KeyHistory.Shape, isWithoutRowID: Bool) throws {
        for seed in SeededGenerator.seeds("KEY", count: 24) {
            do {
                try KeyHistory.run(seed, shape, withoutRowID: isWithoutRowID)
            } catch {
                Issue.record("seed \(seed), \(shape), WITHOUT ROWID \(isWithoutRowID): \(error)")
                return
            }
        }
    }
}

/// A history, which stops with an error where the database or a record differs from the model.
struct KeyHistory {
    /// The comparisons of the key.
    enum Shape: String, CaseIterable {
        case binary, noCase, rightTrim, untyped, added

        var declaration: String {
            switch self {
            case .binary: "TEXT"
            case .noCase: "TEXT COLLATE NOCASE"
            case .rightTrim: "TEXT COLLATE RTRIM"
            case .untyped: ""
            case .added: "TEXT COLLATE swiftCaseInsensitiveCompare"
            }
        }

        /// Keys, of which some are equal to others.
        var keys: [DatabaseValue] {
            switch self {
            case .binary, .noCase: ["a", "A", "b", "B", "c"]
            case .rightTrim: ["a", "a ", "b", "b  ", " a"]
            case .untyped: [1, 1.0.databaseValue, 2, 2.0.databaseValue, "1"]
            case .added: ["é", "É", "b", "B", "e"]
            }
        }

        /// The same for keys that are equal, by other means than the library's.
        func kind(_ key: DatabaseValue) -> String {
            switch (self, key.storage) {
            case (.noCase, .string(let text)), (.added, .string(let text)): return text.lowercased()
            case (.rightTrim, .string(let text)):
                return text.replacing(#/ +$/#, with: "")
            case (.untyped, .double(let real)): return "n\(Int(real))"
            case (.untyped, .int64(let integer)): return "n\(integer)"
            default: return "\(key)"
            }
        }
    }

    struct Values: Equatable {
        var name: DatabaseValue
        var uses: Int
        var code: String?

        static let columns = ["name", "uses", "code"]
        subscript(_ column: String) -> DatabaseValue {
            switch column {
            case "name": name
            case "uses": uses.databaseValue
            default: code?.databaseValue ?? .null
            }
        }
        mutating func take(_ columns: Set<String>, of other: Self) {
            if columns.contains("name") { name = other.name }
            if columns.contains("uses") { uses = other.uses }
            if columns.contains("code") { code = other.code }
        }
    }

    /// The values of its row that a record remembers.
    struct Memory {
        var known: [String: DatabaseValue] = [:]
    }

    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private let db: Database
    private let shape: Shape
    private var random: SeededGenerator
    private var rows: [Values] = []
    private var tags: [LooseTag] = []
    private var values: [Values] = []
    private var memories: [Memory] = []
    private var log: [String] = []

    static func run(_ seed: UInt64, _ shape: Shape, withoutRowID isWithoutRowID: Bool) throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.add(collation: .caseInsensitiveCompare)
            try db.execute(
                sql: """
                    CREATE TABLE tag (name \(shape.declaration) NOT NULL PRIMARY KEY, uses INTEGER, code TEXT)
                    \(isWithoutRowID ? "WITHOUT ROWID" : "")
                    """)
            var history = KeyHistory(db: db, shape: shape, random: SeededGenerator(seed: seed))
            try history.run(seed)
        }
    }

    private init(db: Database, shape: Shape, random: SeededGenerator) {
        (self.db, self.shape, self.random) = (db, shape, random)
    }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func key() -> DatabaseValue { shape.keys[number(0..<shape.keys.count)] }
    private mutating func code() -> String? { [nil, "x", "y"][number(0..<3)] }

    // MARK: - The model

    private func row(of key: DatabaseValue) -> Int? {
        rows.firstIndex { shape.kind($0.name) == shape.kind(key) }
    }

    private func isExact(_ key: DatabaseValue) -> Bool {
        switch shape {
        case .binary: true
        case .untyped: if case .string = key.storage { true } else { false }
        case .noCase, .rightTrim, .added: false
        }
    }

    /// Whether a record means another row than the one that it remembers.
    private func hasOtherKey(_ index: Int) -> Bool {
        guard let known = memories[index].known["name"] else { return true }
        return shape.kind(known) != shape.kind(values[index].name)
    }

    /// The columns that differ from what the record remembers.
    private func changes(_ index: Int) -> Set<String> {
        let known = memories[index].known
        let changed = Set(
            Values.columns.filter { !Self.isSame(known[$0], values[index][$0]) })
        return changed.contains("name") && hasOtherKey(index) ? Set(Values.columns) : changed
    }

    private static func isSame(_ a: DatabaseValue?, _ b: DatabaseValue) -> Bool {
        // 1 is not 1.0.
        a == b
    }

    /// Writes columns of a record to the row of its key. Returns false if there is none.
    private mutating func write(_ index: Int, _ columns: Set<String>) -> Bool {
        guard let row = row(of: values[index].name) else { return false }
        let isOther = hasOtherKey(index)
        rows[row].take(columns, of: values[index])
        if isOther { memories[index].known = [:] }
        for column in columns { memories[index].known[column] = values[index][column] }
        if isOther, isExact(values[index].name) { memories[index].known["name"] = values[index].name }
        return true
    }

    // MARK: - Steps

    private mutating func run(_ seed: UInt64) throws {
        for _ in 0..<2 { try insertRow() }
        let isListed = number(0..<2) == 0
        for _ in 0..<3 {
            let tag: LooseTag =
                isListed ? ListedLooseTag() : number(0..<2) == 0 ? PairLooseTag() : CalledLooseTag()
            (tag.name, tag.uses, tag.code) = (key(), 0, code())
            tags.append(tag)
            values.append(Values(name: tag.name, uses: 0, code: tag.code))
            memories.append(Memory())
        }
        for _ in 0..<40 {
            if number(0..<8) == 0 {
                let (rows, memories) = (rows, memories)
                try db.inSavepoint {
                    for _ in 0..<number(1..<4) { try step() }
                    return .rollback
                }
                (self.rows, self.memories) = (rows, memories)
                log.append("rolled back")
                try check()
            } else {
                try step()
            }
        }
    }

    private mutating func step() throws {
        let index = number(0..<tags.count)
        switch number(0..<20) {
        case 0: try insertRow()
        case 1..<4: try changeRow()
        case 4: try deleteRow()
        case 5..<9: change(index)
        case 9: try reload(index)
        case 10: try merge(index)
        case 11: try delete(index)
        case 12..<14: try save(index)
        case 14: try update(index)
        case 15: try updateSome(index)
        case 16: try updateUnchanged(index)
        case 17: try retry(index)
        default: try updateChanges(index)
        }
        try check()
    }

    private mutating func insertRow() throws {
        let row = Values(name: key(), uses: number(0..<9), code: code())
        guard self.row(of: row.name) == nil else { return }
        log.append("insert \(row)")
        try db.execute(
            sql: "INSERT INTO tag (name, uses, code) VALUES (?, ?, ?)",
            arguments: [row.name, row.uses, row.code])
        rows.append(row)
    }

    private mutating func changeRow() throws {
        let new = Values(name: key(), uses: number(0..<9), code: code())
        guard let row = row(of: new.name) else { return }
        log.append("others change \(rows[row]) to \(new)")
        try db.execute(
            sql: "UPDATE tag SET name = ?1, uses = ?2, code = ?3 WHERE name = ?1",
            arguments: [new.name, new.uses, new.code])
        rows[row] = new
    }

    private mutating func deleteRow() throws {
        let key = key()
        log.append("others delete \(key)")
        try db.execute(sql: "DELETE FROM tag WHERE name = ?", arguments: [key])
        if let row = row(of: key) { rows.remove(at: row) }
    }

    private mutating func change(_ index: Int) {
        switch number(0..<4) {
        case 0: values[index].uses = number(0..<9)
        case 1: values[index].code = code()
        case 2: values[index].name = key()
        default:
            // Mostly, the row stays the same.
            let name = values[index].name
            let others = shape.keys.filter { shape.kind($0) == shape.kind(name) }
            values[index].name = others[number(0..<others.count)]
        }
        let (tag, new) = (tags[index], values[index])
        log.append("\(index) becomes \(new)")
        (tag.name, tag.uses, tag.code) = (new.name, new.uses, new.code)
    }

    private mutating func take(_ index: Int, _ row: Int) {
        values[index] = rows[row]
        for column in Values.columns { memories[index].known[column] = rows[row][column] }
    }

    /// Runs a verb, and compares whether it has thrown with the model.
    private func expect(_ isDone: Bool, _ verb: () throws -> Void) throws {
        do { try verb() } catch {
            if isDone { throw difference("threw \(error)") }
            return
        }
        if !isDone { throw difference("threw nothing") }
    }

    private mutating func reload(_ index: Int) throws {
        log.append("\(index) reload")
        let row = row(of: values[index].name)
        try expect(row != nil) { try tags[index].reload(db) }
        if let row { take(index, row) }
    }

    private mutating func merge(_ index: Int) throws {
        let key = memories[index].known["name"] ?? values[index].name
        log.append("\(index) merge \(key)")
        guard let fetched = try Row.fetchOne(db, sql: "SELECT * FROM tag WHERE name = ?", arguments: [key]),
            let row = row(of: key)
        else { return }
        try tags[index].merge(fetched)
        mergeModel(index, row)
    }

    private mutating func mergeModel(_ index: Int, _ row: Int) {
        let known = memories[index].known
        let clean = Values.columns.filter { Self.isSame(known[$0], values[index][$0]) }
        values[index].take(Set(clean), of: rows[row])
        for column in Values.columns { memories[index].known[column] = rows[row][column] }
    }

    private mutating func delete(_ index: Int) throws {
        log.append("\(index) delete")
        let row = row(of: values[index].name)
        let isDeleted = try tags[index].delete(db)
        guard isDeleted == (row != nil) else { throw difference("deleted: \(isDeleted)") }
        if let row { rows.remove(at: row) }
        memories[index] = Memory()
    }

    private mutating func save(_ index: Int) throws {
        log.append("\(index) save")
        try tags[index].save(db)
        if write(index, Set(Values.columns)) { return }
        rows.append(values[index])
        for column in Values.columns { memories[index].known[column] = values[index][column] }
    }

    private mutating func update(_ index: Int) throws {
        log.append("\(index) update")
        let (tag, isDone) = (tags[index], write(index, Set(Values.columns)))
        try expect(isDone) { try tag.update(db) }
    }

    private mutating func updateSome(_ index: Int) throws {
        let columns = Set(Values.columns.filter { _ in Bool.random(using: &random) })
        if columns.isEmpty { return }
        log.append("\(index) update \(columns.sorted())")
        let (tag, isDone) = (tags[index], write(index, columns))
        try expect(isDone) { try tag.update(db, columns: columns) }
    }

    private mutating func updateChanges(_ index: Int) throws {
        log.append("\(index) updateChanges")
        let (tag, changes) = (tags[index], changes(index))
        let isDone = changes.isEmpty || write(index, changes)
        try expect(isDone) {
            let hasWritten = try tag.updateChanges(db)
            if hasWritten == changes.isEmpty { throw difference("returned \(hasWritten)") }
        }
    }

    /// Whether the row of a record holds what the record remembers, in some columns.
    private func isUnchanged(_ index: Int, _ columns: Set<String>) -> Bool {
        guard !hasOtherKey(index), let row = row(of: values[index].name) else { return false }
        return columns.allSatisfy { column in
            // It is compared by IS, for which numbers are equal.
            if column == "name", shape == .untyped || isExact(values[index].name) { return true }
            return memories[index].known[column].map { Self.isSame($0, rows[row][column]) } ?? false
        }
    }

    private mutating func updateUnchanged(_ index: Int) throws {
        let isAll = Bool.random(using: &random)
        log.append("\(index) update(checking: \(isAll ? "all" : "changed"))")
        let (tag, changes) = (tags[index], changes(index))
        var isDone = changes.isEmpty
        if !isDone, isUnchanged(index, changes),
            !isAll || isUnchanged(index, Set(memories[index].known.keys))
        {
            isDone = write(index, changes)
        }
        try expect(isDone) { try tag.update(db, checking: isAll ? .all : .changedColumns) }
    }

    private mutating func retry(_ index: Int) throws {
        log.append("\(index) retry")
        let (tag, changed) = (tags[index], changes(index))
        var isDone = changed.isEmpty
        if !isDone, let row = row(of: values[index].name) {
            let isMergeable =
                memories[index].known["name"].map { shape.kind($0) } ?? shape.kind(rows[row].name)
            if isUnchanged(index, changed) {
                isDone = write(index, changed)
            } else if isMergeable == shape.kind(rows[row].name) {
                mergeModel(index, row)
                let rest = changes(index)
                isDone = rest.isEmpty || write(index, rest)
            }
        }
        try expect(isDone) { try tag.updateChanges(db, retrying: 1) }
    }

    // MARK: - Comparing

    private func difference(_ what: String) -> Difference {
        Difference(description: "\(what)\n" + log.joined(separator: "\n"))
    }

    private func check() throws {
        let held = try Row.fetchAll(db, sql: "SELECT name, uses, code FROM tag").map(\.databaseValues)
        let wanted = rows.map { row in Values.columns.map { row[$0] } }
        func sorted(_ rows: [[DatabaseValue]]) -> [String] { rows.map { "\($0)" }.sorted() }
        guard sorted(held) == sorted(wanted), Set(held) == Set(wanted) else {
            throw difference("rows \(held), and not \(wanted)")
        }
        for (index, tag) in tags.enumerated() {
            let has = Values(name: tag.name, uses: tag.uses, code: tag.code)
            guard has == values[index] else {
                throw difference("\(index) is \(has), and not \(values[index])")
            }
            let changes = try Set(tag.databaseChanges.keys)
            guard changes == self.changes(index), tag.hasDatabaseChanges == !changes.isEmpty else {
                throw difference("\(index) has the changes \(changes), and not \(self.changes(index))")
            }
        }
    }
}
