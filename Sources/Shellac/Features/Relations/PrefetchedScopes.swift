/// The rows of a request, with those of joined tables and with lists from other statements.
///
/// It keeps all rows first, because their values determine the rows of the lists. The elements are
/// then made of the kept rows.
final class PrefetchedScopes: SuppliedRows {
    private let plan: ScopePlan
    private let statement: Statement
    private let db: Database
    private var kept: IndexingIterator<[Row]>?
    private var current: LiveRow?

    init(_ plan: ScopePlan, _ statement: Statement, _ db: Database) {
        (self.plan, self.statement, self.db) = (plan, statement, db)
    }

    deinit {
        current?.invalidate()
        current?.recycle()
    }

    override var notesRows: Bool { true }

    override func next() throws -> LiveRow? {
        if kept == nil {
            var rows = KeptRows(plan)
            let noted = db.queries.noted
            while try statement.step() {
                noted?.note(statement.row)
                rows.keep(statement.row)
            }
            try rows.fetchLists(in: db)
            kept = rows.rows.makeIterator()
        }
        guard let row = kept?.next() else { return nil }
        let current = current ?? LiveRow.make(layout: row.layout)
        self.current = current
        current.stand(on: row.owned.bytes)
        current.storage.pointee.attached = row.attached
        return current
    }
}

/// Kept rows, with the rows of joined tables.
struct KeptRows {
    private(set) var rows: [Row] = []
    private let plan: ScopePlan
    private var table: ScopedTable?
    private var lists: [ScopedList] = []

    init(_ plan: ScopePlan) { self.plan = plan }

    /// Keeps the current row of a statement.
    mutating func keep(_ statement: LiveRow) {
        if table == nil {
            let table = ScopedTable(plan, of: statement)
            self.table = table
            noteLists(of: table, [])
        }
        let row = Row(table.unsafelyUnwrapped.moveOn()).copy()
        rows.append(row)
        for index in lists.indices { lists[index].note(row, statement) }
    }

    private mutating func noteLists(of table: ScopedTable, _ scopes: [Int]) {
        for (list, columns) in zip(table.plan.lists, table.keyColumns) {
            lists.append(ScopedList(list, scopes, columns))
        }
        for (index, table) in table.tables.enumerated() { noteLists(of: table, scopes + [index]) }
    }

    /// Fetches the rows of all lists.
    mutating func fetchLists(in db: Database) throws {
        for index in lists.indices { try lists[index].fetch(in: db) }
    }
}

/// Rows that are fetched for the rows of a table, by a statement of their own.
private struct ScopedList {
    private let definition: RelationDefinition
    private let path: RelationPath
    /// The path to the rows of the table, as the index of each scope in the one before.
    private let scopes: [Int]
    private let columns: [Int]
    private var keys: KeyIndex
    private var owners: [AttachedRows] = []

    init(_ list: ScopePlan.List, _ scopes: [Int], _ columns: [Int]) {
        (definition, path, self.scopes, self.columns) = (list.definition, list.path, scopes, columns)
        keys = KeyIndex(list.path.steps[0].to, capacity: 0)
    }

    /// Notes a row whose list must be fetched.
    mutating func note(_ row: Row, _ statement: LiveRow) {
        var row = row
        for scope in scopes {
            guard let inner = row.attached?.scopes[scope].row else {
                row.attached?.missingLists.insert(definition.key)
                return
            }
            row = inner
        }
        guard let attached = row.attached else { return }
        owners.append(attached)
        keys.add(statement, columns)
    }

    mutating func fetch(in db: Database) throws {
        var lists = Array(repeating: [Row](), count: keys.count)
        for list in keys.lists() {
            let query = try RelationQuery(definition, path, list, identity: [], for: Row.self, in: db)
            var kept = KeptRows(query.plan)
            var numbers: [Int] = []
            try query.eachRow(list, &keys, in: db) { row, number, _ in
                kept.keep(row)
                numbers.append(Int(number))
            }
            try kept.fetchLists(in: db)
            for (row, number) in zip(kept.rows, numbers) { lists[number].append(row) }
        }
        for (owner, number) in zip(owners, keys.numbers) {
            owner.lists.append((definition.key, number < 0 ? [] : lists[Int(number)]))
        }
    }
}
