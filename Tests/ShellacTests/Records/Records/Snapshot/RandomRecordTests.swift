import TestSupport
import Testing

@testable import Shellac

/// A record of the random test.
private protocol RandomItem: Record {
    var id: Int64? { get set }
    var a: Int { get set }
    var b: String { get set }
    var c: Double? { get set }
    /// The columns that it encodes, in their order: it may be a dictionary that grows.
    var order: [String] { get set }

    init()
}

extension RandomItem {
    fileprivate var values: [String: DatabaseValue] {
        ["id": id.databaseValue, "a": a.databaseValue, "b": b.databaseValue, "c": c.databaseValue]
    }

    fileprivate var encodedValues: [String: DatabaseValue] { values.filter { order.contains($0.key) } }
}

private class TabledItem: Record {
    override class var databaseTableName: String { "item" }
}

private final class PairItem: TabledItem, RandomItem {
    var id: Int64?
    var a = 0
    var b = ""
    var c: Double?
    var order = ["id", "b", "a", "c"]  // not the order of the table

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("a") { a = try row["a"] }
        if row.hasColumn("b") { b = try row["b"] }
        if row.hasColumn("c") { c = try row["c"] }
    }

    override func encode(to container: inout PersistenceContainer) throws {
        let values = values
        for name in order { container[name] = values[name] }
    }
}

private final class ListedItem: TabledItem, RandomItem {
    var id: Int64?
    var a = 0
    var b = ""
    var c: Double?
    var order = ["id", "b", "a", "c"]

    override func columns(_ column: borrowing RecordColumns) throws {
        for name in order {
            switch name {
            case "id": try column("id", id) { id = $0 }
            case "a": try column("a", a) { a = $0 }
            case "b": try column("b", b) { b = $0 }
            default: try column("c", c) { c = $0 }
            }
        }
        if !order.contains("a") { try column.reading("a") { a = $0 } }
        if !order.contains("b") { try column.reading("b") { b = $0 } }
        if !order.contains("c") { try column.reading("c") { c = $0 } }
    }
}

/// One whose columns are always the same.
private final class CodedItem: TabledItem, RandomItem, Codable {
    var id: Int64?
    var b = ""
    var a = 0
    var c: Double?

    var order: [String] {
        get { ["id", "b", "a", "c"] }
        set {}
    }
}

extension RecordStyle {
    fileprivate var randomItem: any RandomItem.Type {
        choose(PairItem.self, ListedItem.self, CodedItem.self)
    }
}

/// The expected state: the rows, and what each record should know of its row.
private struct Model {
    typealias Columns = [String: DatabaseValue]

    /// The state that a rollback restores.
    struct State {
        var rows: [Int64: Columns] = [:]
        /// The columns of its row that each record knows.
        var known: [Columns?]
        /// The values of each record right after its fetch, in the columns that it never read.
        var unread: [Columns]
    }

    var state: State
    /// The state at the beginning of the transaction, and of each savepoint, with the number of ids
    /// given until then.
    var levels: [(name: String?, state: State, givenIDs: Int)] = []
    /// The ids that records got in the open transaction.
    var givenIDs: [(record: Int, id: Int64)] = []

    func changes(of record: Int, encoding values: Columns) -> [String: DatabaseValue?] {
        guard let known = state.known[record] else { return values.mapValues { _ in DatabaseValue?.none } }
        let hasOtherKey = hasOtherKey(record, values)
        var changes: [String: DatabaseValue?] = [:]
        for (column, value) in values where hasOtherKey || known[column] != value {
            changes.updateValue(hasOtherKey && column != "id" ? nil : known[column], forKey: column)
        }
        return changes
    }

    /// Whether a record has another key than it remembers, and so knows nothing of the row that it
    /// means.
    func hasOtherKey(_ record: Int, _ values: Columns) -> Bool {
        !untouched(record, values).contains("id") && state.known[record]?["id"] != values["id"]
    }

    /// The columns that a record never read, and has not changed.
    func untouched(_ record: Int, _ values: Columns) -> Set<String> {
        Set(state.unread[record].filter { values[$0.key] == $0.value }.keys)
    }
}

@Suite("Records at random")
struct RandomRecordTests {
    @Test(
        "Whatever is done to records and rolled back, they and the database are as a simple model says",
        .behaviour(15),
        arguments: RecordStyle.allCases, Array(1...12))
    func random(style: RecordStyle, _ seed: UInt64) throws { try random(style.randomItem, seed) }

    private func random<Item: RandomItem>(_: Item.Type, _ seed: UInt64) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY, a INTEGER NOT NULL DEFAULT 70, b TEXT NOT NULL DEFAULT 'seventy', c REAL)
                    """)
            var run = RandomRun<Item>(seed: seed, db: db)
            for step in 0..<1500 {
                try run.takeStep()
                try run.check(after: step)
            }
            while !run.model.levels.isEmpty { try run.end(commits: false) }
            try run.check(after: 1500)
        }
    }
}

private struct SecondRow: Error {}

private struct RandomRun<Item: RandomItem> {
    let seed: UInt64
    let db: Database
    var generator: SeededGenerator
    var model: Model
    var records = (0..<6).map { _ in Item() }
    var lastOperation = ""
    var failureCount = 0

    init(seed: UInt64, db: Database) {
        (self.seed, self.db) = (seed, db)
        generator = SeededGenerator(seed: seed)
        model = Model(
            state: Model.State(
                known: Array(repeating: nil, count: 6), unread: Array(repeating: [:], count: 6)))
    }

    mutating func takeStep() throws {
        let index = Int.random(in: records.indices, using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<30: change(index)
        case ..<40: try save(index)
        case ..<48: try insert(index)
        case ..<52: try update(index, nil)
        case ..<55: try copy(index)
        case ..<60: try update(index, someColumns(of: index))
        case ..<68: try updateChanges(index)
        case ..<72: try delete(index)
        case ..<75: try reload(index)
        case ..<77: setFlag(index, false)
        case ..<78: setFlag(index, true)
        case ..<81: try fetch(index)
        case ..<84: if model.levels.isEmpty { try begin(nil) }
        case ..<92: try begin(["s", "t", "S"].randomElement(using: &generator))
        case ..<95: try rollBackToSavepoint()
        case ..<97: try release()
        case ..<98: try end(commits: true)
        case ..<99: try end(commits: false)
        default: try failInTheMiddle(index)
        }
    }

    func check(after step: Int) throws {
        let place: Comment = "seed \(seed), step \(step), after \(lastOperation)"
        #if DEBUG
        #expect(db._violations + records.flatMap(\._violations) == [], place)
        #endif
        for (index, record) in records.enumerated() {
            let expected = model.changes(of: index, encoding: record.encodedValues)
            let changes = try record.databaseChanges
            #expect(changes == expected, place)
            #expect(record.hasDatabaseChanges == !expected.isEmpty, place)
        }
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM item").map(\.dictionary)
        #expect(Set(rows) == Set(model.state.rows.values), place)
    }

    // MARK: - Records

    private mutating func change(_ index: Int) {
        lastOperation = "a change of \(index)"
        let record = records[index]
        switch Int.random(in: 0..<12, using: &generator) {
        case 10...:
            let others = ["a", "b", "c"].filter { _ in Bool.random(using: &generator) }
            record.order = (["id"] + others).shuffled(using: &generator)
        case ..<4: record.a = Int.random(in: 0..<4, using: &generator)
        case ..<7: record.b = ["", "x", "a longer text than fits"].randomElement(using: &generator) ?? ""
        case ..<9: record.c = [nil, 0, 1, 0.5].randomElement(using: &generator) ?? nil
        default: record.id = [nil, 1, 2, 3, 4].randomElement(using: &generator) ?? nil
        }
    }

    private mutating func insert(_ index: Int) throws {
        lastOperation = "insert of \(index)"
        let record = records[index]
        if let id = record.id, model.state.rows[id] != nil {
            expectError("UNIQUE constraint failed: item.id") { [db] in try record.insert(db) }
        } else {
            let hadID = record.id != nil
            try record.insert(db)
            try noteInserted(index)
            if !hadID, !model.levels.isEmpty, let id = record.id { model.givenIDs.append((index, id)) }
        }
    }

    /// The record was inserted: it is its own truth.
    private mutating func noteInserted(_ index: Int) throws {
        let record = records[index]
        let id = try #require(record.id)
        let defaults: Model.Columns = ["a": 70, "b": "seventy", "c": .null]
        model.state.rows[id] = defaults.merging(record.encodedValues) { $1 }
        model.state.known[index] = record.encodedValues
        model.state.unread[index] = [:]
    }

    /// The record has updated columns of its row.
    private mutating func noteUpdated(_ index: Int, _ columns: Set<String>) throws {
        let record = records[index]
        let id = try #require(record.id)
        let values = record.values
        var known = model.state.known[index] ?? [:]
        if model.hasOtherKey(index, values) { known = ["id": id.databaseValue] }
        for column in columns.subtracting(["id"]) {
            model.state.rows[id]?[column] = values[column]
            known[column] = values[column]
            model.state.unread[index][column] = nil
        }
        model.state.unread[index]["id"] = nil
        model.state.known[index] = known
    }

    private mutating func someColumns(of index: Int) -> Set<String> {
        Set(records[index].order.filter { _ in Bool.random(using: &generator) })
    }

    /// The columns that a full update writes.
    private func columnsOfUpdate(_ index: Int) -> Set<String> {
        let record = records[index]
        return Set(record.order).subtracting(model.untouched(index, record.values))
    }

    private mutating func update(_ index: Int, _ columns: Set<String>?) throws {
        lastOperation = "update of \(index), \(columns?.sorted() ?? [])"
        let record = records[index]
        func update() throws {
            if let columns { try record.update(db, columns: columns) } else { try record.update(db) }
        }
        if let id = record.id, model.state.rows[id] != nil {
            try update()
            try noteUpdated(index, columns ?? columnsOfUpdate(index))
        } else {
            #expect(throws: RecordError.self) { try update() }
        }
    }

    private mutating func updateChanges(_ index: Int) throws {
        let record = records[index]
        lastOperation = "updateChanges of \(index), which encodes \(record.order)"
        let untouched = model.untouched(index, record.values)
        var columns = Set(record.order)
        // A record that knows nothing of the row that it means writes all that it has read or been
        // given.
        if !model.hasOtherKey(index, record.values) {
            columns = Set(model.changes(of: index, encoding: record.encodedValues).keys)
        }
        columns.subtract(untouched)
        if columns.isEmpty {
            #expect(try !record.updateChanges(db))
        } else if let id = record.id, model.state.rows[id] != nil {
            #expect(try record.updateChanges(db))
            try noteUpdated(index, columns)
        } else {
            #expect(throws: RecordError.self) { try record.updateChanges(db) }
        }
    }

    /// Puts a copy in the place of another record.
    private mutating func copy(_ index: Int) throws {
        guard model.levels.isEmpty, records[index].order.count == 4 else { return }
        let other = (index + 1) % records.count
        lastOperation = "copy of \(index) to \(other)"
        let copy = try records[index].copy()
        copy.order = records[index].order
        records[other] = copy
        model.state.known[other] = model.state.known[index]
        model.state.unread[other] = model.state.unread[index]
    }

    private mutating func save(_ index: Int) throws {
        if let id = records[index].id, model.state.rows[id] != nil {
            lastOperation = "save of \(index), an update"
            try records[index].save(db)
            try noteUpdated(index, columnsOfUpdate(index))
        } else {
            let hadID = records[index].id != nil
            lastOperation = "save of \(index), an insertion"
            try records[index].save(db)
            try noteInserted(index)
            if !hadID, !model.levels.isEmpty, let id = records[index].id {
                model.givenIDs.append((index, id))
            }
        }
    }

    private mutating func delete(_ index: Int) throws {
        lastOperation = "delete of \(index)"
        let record = records[index]
        let isThere = record.id.map { model.state.rows[$0] != nil } ?? false
        #expect(try record.delete(db) == isThere)
        if let id = record.id { model.state.rows[id] = nil }
        model.state.known[index] = nil
        model.state.unread[index] = [:]
    }

    private mutating func reload(_ index: Int) throws {
        lastOperation = "reload of \(index)"
        let record = records[index]
        if let id = record.id, let row = model.state.rows[id] {
            try record.reload(db)
            #expect(record.values == row)
            model.state.known[index] = row
            model.state.unread[index] = [:]
        } else {
            #expect(throws: RecordError.self) { try record.reload(db) }
        }
    }

    private mutating func setFlag(_ index: Int, _ flag: Bool) {
        // Without a row, and a connection that has saved such records, the key is unknown.
        guard flag || model.state.known[index] != nil else { return }
        lastOperation = "flag of \(index), \(flag)"
        let record = records[index]
        record.hasDatabaseChanges = flag
        let untouched = model.untouched(index, record.encodedValues)
        model.state.known[index] = flag ? nil : record.encodedValues
        // The changed values are the record's own now.
        let touched = Set(record.order).subtracting(untouched)
        model.state.unread[index] =
            flag ? [:] : model.state.unread[index].filter { !touched.contains($0.key) }
    }

    /// Puts a fetched record, with all columns or some, in the place of another one.
    private mutating func fetch(_ index: Int) throws {
        lastOperation = "fetch of \(index)"
        // One fetched in a transaction that has written keeps what it read: see guarantee 15.
        guard model.levels.isEmpty else { return }
        let selections: [(columns: String, missing: Set<String>)] = [
            ("*", []), ("id, a, b, c, 1 AS extra", []),
            ("item.*, other.*", []), ("c, id, a, 5 AS id, 6 AS A", ["b"]),
            ("c, id, a", ["b"]), ("id", ["a", "b", "c"]), ("b, a", ["id", "c"]),
            ("1 AS one", ["id", "a", "b", "c"]),
        ]
        let selection = selections[Int.random(in: selections.indices, using: &generator)]
        lastOperation += ", \(selection.columns)"
        let other = "(SELECT 99 AS id, 98 AS a, 'other' AS b) AS other"
        let tables = selection.columns.contains("other") ? "item, \(other)" : "item"
        let item = try Item.fetchOne(
            db, sql: "SELECT \(selection.columns) FROM \(tables) ORDER BY item.id LIMIT 1")
        guard let item else { return }
        records[index] = item
        let values = item.values
        model.state.known[index] = values.filter { !selection.missing.contains($0.key) }
        model.state.unread[index] = values.filter { selection.missing.contains($0.key) }
    }

    /// A statement that saves a record from a function, and fails in its second row.
    private mutating func failInTheMiddle(_ index: Int) throws {
        lastOperation = "failure around \(index)"
        nonisolated(unsafe) let record = records[index]  // the function runs on this thread
        // If the saved row is what it was, the record may believe either.
        failureCount += 1
        record.order = ["c", "a", "id", "b"]
        record.a = 100 + failureCount
        let function = DatabaseFunction("save_and_fail", argumentCount: 1) { [db] values in
            if values[0] == 2 { throw SecondRow() }
            try record.save(db)
            return 1
        }
        try db.add(function: function)
        let hadID = record.id
        #expect(throws: SecondRow.self) {
            try db.execute(
                sql: """
                    INSERT INTO item (a, b) SELECT save_and_fail(value), 'row' FROM json_each('[1, 2]')
                    """)
        }
        // All of it is undone, and the record is as it was.
        #expect(record.id == hadID)
    }

    // MARK: - Transactions

    mutating func begin(_ savepoint: String?) throws {
        lastOperation = "begin \(savepoint ?? "")"
        try db.execute(sql: savepoint.map { "SAVEPOINT \($0)" } ?? "BEGIN")
        model.levels.append((savepoint, model.state, model.givenIDs.count))
    }

    private var randomSavepoint: (name: String, index: Int)? {
        get throws {
            var generator = generator
            let names = Set(model.levels.compactMap { $0.name?.lowercased() }).sorted()
            guard let name = names.randomElement(using: &generator),
                let index = model.levels.lastIndex(where: { $0.name?.lowercased() == name })
            else { return nil }
            return (name, index)
        }
    }

    private mutating func rollBackToSavepoint() throws {
        guard let (name, index) = try randomSavepoint else { return }
        lastOperation = "rollback to \(name)"
        try db.execute(sql: "ROLLBACK TO \(name)")
        undo(to: index)
        model.levels.removeSubrange((index + 1)...)
    }

    private mutating func release() throws {
        guard let (name, index) = try randomSavepoint else { return }
        lastOperation = "release \(name)"
        try db.execute(sql: "RELEASE \(name)")
        model.levels.removeSubrange(index...)
        if model.levels.isEmpty { model.givenIDs = [] }
    }

    mutating func end(commits: Bool) throws {
        guard !model.levels.isEmpty else { return }
        lastOperation = commits ? "commit" : "rollback"
        try db.execute(sql: commits ? "COMMIT" : "ROLLBACK")
        if !commits { undo(to: 0) }
        model.levels = []
        model.givenIDs = []
    }

    private mutating func undo(to level: Int) {
        let (_, state, count) = model.levels[level]
        model.state = state
        for (record, id) in model.givenIDs[count...].reversed() {
            // The record itself is looked at: what it has now is what the model says it should have
            // lost.
            #expect(
                records[record].id != id, "seed \(seed): the id \(id) was not taken away by \(lastOperation)")
        }
        model.givenIDs.removeSubrange(count...)
    }
}
