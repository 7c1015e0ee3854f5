import Shellac
import TestSupport
import Testing

/// A record of the random test.
private final class Item: Record {
    var id: Int64?
    var a = 0
    var b = ""
    var c: Double?

    override class var databaseTableName: String { "item" }

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("a") { a = try row["a"] }
        if row.hasColumn("b") { b = try row["b"] }
        if row.hasColumn("c") { c = try row["c"] }
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["b"] = b  // not in the order of the table
        container["a"] = a
        container["c"] = c
    }

    var values: [String: DatabaseValue] {
        ["id": id.databaseValue, "a": a.databaseValue, "b": b.databaseValue, "c": c.databaseValue]
    }
}

/// What should be: the rows, and what each record should know of its row.
private struct Model {
    typealias Columns = [String: DatabaseValue]

    /// What is given back by a rollback.
    struct State {
        var rows: [Int64: Columns] = [:]
        /// What each record knows of its row.
        var known: [Columns?]
    }

    var state: State
    /// The state at the beginning of the transaction, and of each savepoint, with the number of ids given until then.
    var levels: [(name: String?, state: State, givenIDs: Int)] = []
    /// The ids that the open transaction gave.
    var givenIDs: [(record: Int, id: Int64)] = []

    func changes(of record: Int, encoding values: Columns) -> [String: DatabaseValue?] {
        guard let known = state.known[record] else { return values.mapValues { _ in DatabaseValue?.none } }
        var changes: [String: DatabaseValue?] = [:]
        for (column, value) in values where known[column] != value {
            changes.updateValue(known[column], forKey: column)
        }
        return changes
    }
}

@Suite("Records at random")
struct RandomRecordTests {
    @Test(
        "15. Whatever is done to records and rolled back, they and the database are as a simple model says",
        arguments: [1, 2, 3, 4, 5, 6])
    func random(_ seed: UInt64) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b TEXT NOT NULL, c REAL)"
            )
            var run = RandomRun(seed: seed, db: db)
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

private struct RandomRun {
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
        model = Model(state: Model.State(known: Array(repeating: nil, count: 6)))
    }

    mutating func takeStep() throws {
        let index = Int.random(in: records.indices, using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<30: change(index)
        case ..<40: try save(index)
        case ..<48: try insert(index)
        case ..<54: try update(index, nil)
        case ..<60: try update(index, ["a", "c"])
        case ..<68: try updateChanges(index)
        case ..<72: try delete(index)
        case ..<75: try reload(index)
        case ..<77: setFlag(index, false)
        case ..<78: setFlag(index, true)
        case ..<80: try fetch(index)
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
        for (index, record) in records.enumerated() {
            let expected = model.changes(of: index, encoding: record.values)
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
        switch Int.random(in: 0..<10, using: &generator) {
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
            #expect(throws: DatabaseError.self) { try record.insert(db) }
        } else {
            let hadID = record.id != nil
            try record.insert(db)
            try noteSaved(index)
            if !hadID, !model.levels.isEmpty, let id = record.id { model.givenIDs.append((index, id)) }
        }
    }

    private mutating func noteSaved(_ index: Int, columns: Set<String>? = nil) throws {
        let record = records[index]
        let id = try #require(record.id)
        let values = record.values
        guard let columns else {
            model.state.rows[id] = values
            model.state.known[index] = values
            return
        }
        var known = model.state.known[index] ?? [:]
        for column in columns {
            model.state.rows[id]?[column] = values[column]
            known[column] = values[column]
        }
        model.state.known[index] = known
    }

    private mutating func update(_ index: Int, _ columns: Set<String>?) throws {
        lastOperation = "update of \(index), \(columns?.sorted() ?? [])"
        let record = records[index]
        func update() throws {
            if let columns { try record.update(db, columns: columns) } else { try record.update(db) }
        }
        if let id = record.id, model.state.rows[id] != nil {
            try update()
            try noteSaved(index, columns: columns)
        } else {
            #expect(throws: RecordError.self) { try update() }
        }
    }

    private mutating func updateChanges(_ index: Int) throws {
        lastOperation = "updateChanges of \(index)"
        let record = records[index]
        let changes = model.changes(of: index, encoding: record.values)
        if changes.isEmpty {
            #expect(try !record.updateChanges(db))
        } else if let id = record.id, model.state.rows[id] != nil {
            #expect(try record.updateChanges(db))
            // The key is no column to be set, unless there is no other.
            let columns = Set(changes.keys).subtracting(["id"])
            try noteSaved(
                index, columns: changes.count == 4 ? nil : columns.isEmpty ? ["id"] : columns)
        } else {
            #expect(throws: RecordError.self) { try record.updateChanges(db) }
        }
    }

    private mutating func save(_ index: Int) throws {
        if let id = records[index].id, model.state.rows[id] != nil {
            lastOperation = "save of \(index), an update"
            try records[index].save(db)
            try noteSaved(index)
        } else {
            let hadID = records[index].id != nil
            lastOperation = "save of \(index), an insertion"
            try records[index].save(db)
            try noteSaved(index)
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
    }

    private mutating func reload(_ index: Int) throws {
        lastOperation = "reload of \(index)"
        let record = records[index]
        if let id = record.id, let row = model.state.rows[id] {
            try record.reload(db)
            #expect(record.values == row)
            model.state.known[index] = row
        } else {
            #expect(throws: RecordError.self) { try record.reload(db) }
        }
    }

    private mutating func setFlag(_ index: Int, _ flag: Bool) {
        lastOperation = "flag of \(index), \(flag)"
        records[index].hasDatabaseChanges = flag
        model.state.known[index] = flag ? nil : records[index].values
    }

    /// Puts a fetched record, with all columns or some, in the place of another one.
    private mutating func fetch(_ index: Int) throws {
        lastOperation = "fetch of \(index)"
        // One fetched in a transaction that has written keeps what it read: see line 15.
        guard model.levels.isEmpty else { return }
        let columns = ["*", "c, id, a", "id, a, b, c, 1 AS extra"].randomElement(using: &generator) ?? "*"
        guard let item = try Item.fetchOne(db, sql: "SELECT \(columns) FROM item ORDER BY id LIMIT 1") else {
            return
        }
        records[index] = item
        var known = item.values
        if columns == "c, id, a" { known["b"] = nil }
        model.state.known[index] = known
    }

    /// A statement that saves a record from a function, and fails in its second row.
    private mutating func failInTheMiddle(_ index: Int) throws {
        lastOperation = "failure around \(index)"
        nonisolated(unsafe) let record = records[index]  // the function runs on this thread
        // Where the saved row is what it was, the record may believe either.
        failureCount += 1
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
            // The record itself is looked at: what it has now is what the model says it should have lost.
            #expect(
                records[record].id != id, "seed \(seed): the id \(id) was not taken away by \(lastOperation)")
        }
        model.givenIDs.removeSubrange(count...)
    }
}
