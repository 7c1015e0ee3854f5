/// The queries that changes of one table may concern.
///
/// A change is told in three steps. First, what a statement is about to do to which columns: where nobody reads them, no row
/// is heard of. Then, inside of SQLite's hook, each row: where it concerns nobody, it is forgotten at once, after a look at
/// the values that queries look for. At last, when its statement stands, each row that may concern somebody.
///
/// There are four ways in which rows concern queries:
///
/// - *open*: any row does, where one of the columns may have been changed that the query reads;
/// - *by row id*: those do that have one of some ids;
/// - *tested*: those that a ``RowCondition`` tells. They are found by a value of a column where it names one; all others are
///   asked of each row;
/// - *followed*: those that have one of the keys of ``FollowedRows``, which notes them.
final class TableWatch {
    private struct Entry {
        let query: LiveQuery
        /// Nil for all columns.
        let columns: Set<CaseInsensitiveName>?
    }

    /// A query whose rows are told by a condition.
    final class Tested: Sendable {
        let query: LiveQuery
        let condition: RowCondition
        /// Nil for all columns.
        let columns: Set<CaseInsensitiveName>?
        /// The places of the columns among the stored ones. Nil for all columns.
        let places: [Int]?
        /// How often the query was tested in this transaction. It is used on the connection's side.
        nonisolated(unsafe) var testCount = 0

        init(
            _ query: LiveQuery, _ condition: RowCondition, _ columns: Set<CaseInsensitiveName>?,
            _ places: [Int]?
        ) {
            (self.query, self.condition) = (query, condition)
            (self.columns, self.places) = (columns, places)
        }
    }

    /// The queries that look for values of one column.
    private struct Lookup {
        /// The place of the column among the stored ones.
        let place: Int
        let comparison: ColumnComparison
        var tested: [DatabaseValue: Seekers] = [:]

        /// Whether somebody looks for a value whom the transaction does not concern yet.
        func hasOpen(_ value: DatabaseValue) -> Bool {
            guard let seekers = tested[comparison.comparable(value)] else { return false }
            return !seekers.first.query.isMarked || seekers.others.contains { !$0.query.isMarked }
        }
    }

    /// Those who look for one value: mostly one.
    private struct Seekers {
        var first: Tested
        var others: [Tested] = []
        var all: [Tested] { [first] + others }

        init(_ first: Tested) { self.first = first }

        init?(_ all: [Tested]) {
            guard let first = all.first else { return nil }
            (self.first, others) = (first, Array(all.dropFirst()))
        }
    }

    /// An update of columns, and whether somebody reads one of them.
    private struct Update {
        let names: Set<String>
        let columns: Set<CaseInsensitiveName>
        let isRead: Bool
    }

    private let name: String
    private var open: [Entry] = []
    private var byRowID: [Int64: [Entry]] = [:]
    private var lookups: [Lookup] = []
    private var asked: [Tested] = []
    private(set) var followed: [FollowedRows] = []
    private var lastTested: Tested?

    /// The columns that somebody reads, or nil for all. It is made when it is first asked for.
    private var readColumns: Set<CaseInsensitiveName>??
    /// The updates that statements have told of lately.
    private var knownUpdates: [Update] = []
    /// The columns that statements of the transaction update.
    private var updatedColumns: Set<CaseInsensitiveName> = []
    /// Whether those of `open` were found that updates of these columns concern, and whether all were.
    private var hasFoundUpdated = false
    private var hasFoundAll = false
    /// The same of the tested ones.
    private var hasFoundUpdatedTested = false
    private var hasFoundAllTested = false
    /// The names of the row id. An update of it moves rows, and concerns each column.
    private var rowIDNames: Set<CaseInsensitiveName> = []
    /// The stored columns of the table in `main`, and the state of the schema that all of this belongs to.
    private var stored: StoredColumns?
    private(set) var schemaGeneration: UInt64 = 0
    /// Whether SQLite tells of the table's rows.
    private(set) var isTold = true

    init(_ name: String) { self.name = name }

    var isEmpty: Bool {
        open.isEmpty && byRowID.isEmpty && lookups.isEmpty && asked.isEmpty && followed.isEmpty
    }

    // MARK: - Who is watched

    /// Looks at the tables of the name, as they are now.
    ///
    /// Where the schema has changed, conditions are those of tables that may have had other columns, in other places. Until
    /// their queries are fetched again, any row concerns them.
    func look(_ db: Database) throws {
        let generation = try db.schemaGeneration
        if generation == schemaGeneration { return }
        let tables = try db.schema.tables(named: name)
        schemaGeneration = generation
        open += allTested.map { Entry(query: $0.query, columns: $0.columns) }
        (lookups, asked) = ([], [])
        lastTested = nil
        knownUpdates = []
        rowIDNames = Set(
            (tables.compactMap(\.primaryKey.rowIDColumn) + ["rowid"]).map(CaseInsensitiveName.init))
        stored = tables.first { $0.schemaName == "main" && $0.kind == .table }.map { StoredColumns($0, db) }
        // Without the pre-update hook, nobody hears of rows in tables that have no row ids.
        isTold = tables.allSatisfy {
            $0.kind != .virtualTable && ($0.primaryKey.tableHasRowID || PreUpdateFunctions.found != nil)
        }
    }

    func add(_ query: LiveQuery, _ concern: LiveConcern) {
        let columns = concern.region.columns(of: name).map { Set($0.map(CaseInsensitiveName.init)) }
        let entry = Entry(query: query, columns: columns)
        if concern.isOfKeys, let rows = query as? FollowedRows {
            followed.append(rows)
        } else if let rowIDs = concern.region.rowIDs(of: name) {
            for rowID in rowIDs { byRowID[rowID, default: []].append(entry) }
        } else if let condition = concern.condition, let stored {
            let tested: Tested
            if let lastTested, lastTested.columns == columns {
                // Many read the same columns, and keep them once.
                tested = Tested(query, condition, lastTested.columns, lastTested.places)
            } else {
                let places = columns.map { columns in
                    stored.names.indices.filter { columns.contains(CaseInsensitiveName(stored.names[$0])) }
                }
                tested = Tested(query, condition, columns, places)
            }
            lastTested = tested
            add(tested, stored)
        } else {
            open.append(entry)
        }
        readColumns = nil
        knownUpdates = []
        forgetFound()
    }

    private func add(_ tested: Tested, _ stored: StoredColumns) {
        guard let (column, values) = tested.condition.lookup,
            let place = stored.names.firstIndex(where: { CaseInsensitiveName.matches($0, column) })
        else { return asked.append(tested) }
        let index = lookups.firstIndex { $0.place == place } ?? lookups.count
        if index == lookups.count {
            let comparison = tested.condition.table.comparison(ofColumn: column)
            lookups.append(Lookup(place: place, comparison: comparison))
        }
        for value in Set(values) {
            if lookups[index].tested[value] == nil {
                lookups[index].tested[value] = Seekers(tested)
            } else {
                lookups[index].tested[value]?.others.append(tested)
            }
        }
    }

    func remove(_ isRemoved: (LiveQuery) -> Bool) {
        open.removeAll { isRemoved($0.query) }
        for (rowID, entries) in byRowID where entries.contains(where: { isRemoved($0.query) }) {
            let rest = entries.filter { !isRemoved($0.query) }
            byRowID[rowID] = rest.isEmpty ? nil : rest
        }
        for index in lookups.indices {
            for (value, seekers) in lookups[index].tested
            where seekers.all.contains(where: { isRemoved($0.query) }) {
                lookups[index].tested[value] = Seekers(seekers.all.filter { !isRemoved($0.query) })
            }
        }
        lookups.removeAll { $0.tested.isEmpty }
        asked.removeAll { isRemoved($0.query) }
        followed.removeAll { isRemoved($0) }
        lastTested = nil
        readColumns = nil
        knownUpdates = []
    }

    // MARK: - What is changed

    /// Hears what a statement is about to do. Returns whether it may concern somebody.
    func expect(_ kind: DatabaseEventKind) -> Bool {
        guard case .update(_, let names) = kind else { return true }
        let update = update(of: names)
        guard update.isRead else { return false }
        if updatedColumns.isEmpty {
            updatedColumns = update.columns
        } else if !update.columns.isSubset(of: updatedColumns) {
            updatedColumns.formUnion(update.columns)
            (hasFoundUpdated, hasFoundUpdatedTested) = (false, false)
        }
        return true
    }

    /// What is known of an update of columns: the same statement asks again and again, with the same set.
    private func update(of names: Set<String>) -> Update {
        if let known = knownUpdates.first(where: { $0.names == names }) { return known }
        let columns = Set(names.map(CaseInsensitiveName.init))
        let update = Update(names: names, columns: columns, isRead: meet(columns, allReadColumns))
        if knownUpdates.count >= 8 { knownUpdates.removeAll(keepingCapacity: true) }
        knownUpdates.append(update)
        return update
    }

    /// Returns how much is wanted of a row that is about to be changed.
    func wish(for row: ChangingRow, _ kind: DatabaseEvent.Kind, _ columns: StoredColumns) -> RowWish {
        if asked.contains(where: { !$0.query.isMarked }) { return .values }
        for lookup in lookups {
            if let value = row.initialValue(at: lookup.place, columns), lookup.hasOpen(value) {
                return .values
            }
            if let value = row.finalValue(at: lookup.place, columns), lookup.hasOpen(value) { return .values }
        }
        let isUpdate = kind == .update
        if !open.isEmpty, !hasFoundAll, !isUpdate || !hasFoundUpdated { return .row }
        guard !byRowID.isEmpty else { return .nothing }
        if !columns.hasRowID { return .row }
        if kind != .insert, byRowID[row.initialRowID] != nil { return .row }
        return kind != .delete && byRowID[row.finalRowID] != nil ? .row : .nothing
    }

    /// Finds the queries that a change concerns without a test. They may be found more than once.
    func find(_ event: DatabaseEvent, _ found: (LiveQuery) -> Void) {
        let isUpdate = event.kind == .update
        if !hasFoundAll, !isUpdate || !hasFoundUpdated {
            for entry in open where !isUpdate || meet(updatedColumns, entry.columns) { found(entry.query) }
            if isUpdate { hasFoundUpdated = true } else { hasFoundAll = true }
        }
        if byRowID.isEmpty { return }
        // A row that was moved, or has no id, may be any.
        let entries =
            event.mayHaveMoved || event.hasNoRowID
            ? Array(byRowID.values.joined()) : byRowID[event.rowID] ?? []
        for entry in entries where !isUpdate || meet(updatedColumns, entry.columns) { found(entry.query) }
    }

    /// Finds the queries with conditions that a change may concern of which nothing is known.
    func findTested(_ event: DatabaseEvent, _ found: (LiveQuery) -> Void) {
        let isUpdate = event.kind == .update
        if hasFoundAllTested || isUpdate && hasFoundUpdatedTested { return }
        for tested in allTested where !isUpdate || meet(updatedColumns, tested.columns) {
            found(tested.query)
        }
        if isUpdate { hasFoundUpdatedTested = true } else { hasFoundAllTested = true }
    }

    /// Finds all that a kind of changes may concern.
    func findAll(_ kind: DatabaseEventKind, _ found: (LiveQuery) -> Void) {
        var columns: Set<CaseInsensitiveName>?
        if case .update(_, let names) = kind { columns = Set(names.map(CaseInsensitiveName.init)) }
        for entry in [open, Array(byRowID.values.joined())].joined()
        where columns.map({ meet($0, entry.columns) }) ?? true { found(entry.query) }
        for tested in allTested where columns.map({ meet($0, tested.columns) }) ?? true {
            found(tested.query)
        }
        findAllFollowed(found)
    }

    /// Finds the queries with conditions that a row may concern, by its values.
    func findTested(_ values: RowValues, _ found: (Tested) -> Void) {
        for tested in asked where !tested.query.isMarked && tested.reads(values) { found(tested) }
        for lookup in lookups {
            let before = values.initial.map { lookup.comparison.comparable($0[lookup.place]) }
            let after = values.final.map { lookup.comparison.comparable($0[lookup.place]) }
            for value in before == after ? [before] : [before, after] {
                guard let value, let tested = lookup.tested[value] else { continue }
                for tested in tested.all where !tested.query.isMarked && tested.reads(values) {
                    found(tested)
                }
            }
        }
    }

    func endTransaction() {
        updatedColumns = []
        forgetFound()
    }

    private func forgetFound() {
        (hasFoundUpdated, hasFoundAll) = (false, false)
        (hasFoundUpdatedTested, hasFoundAllTested) = (false, false)
    }

    private var allTested: [Tested] { asked + lookups.flatMap { $0.tested.values.flatMap(\.all) } }

    /// The columns that somebody reads.
    private var allReadColumns: Set<CaseInsensitiveName>? {
        if let readColumns { return readColumns }
        var all: Set<CaseInsensitiveName>? = followed.isEmpty ? [] : nil
        let columns =
            [open, Array(byRowID.values.joined())].joined().map(\.columns) + allTested.map(\.columns)
        for columns in columns {
            guard let columns, let known = all else {
                all = nil
                break
            }
            if !columns.isSubset(of: known) { all = known.union(columns) }
        }
        readColumns = .some(all)
        return all
    }

    /// Whether an update of columns may change one that is read.
    private func meet(_ updated: Set<CaseInsensitiveName>, _ read: Set<CaseInsensitiveName>?) -> Bool {
        guard let read else { return true }
        return !updated.isDisjoint(with: read) || !updated.isDisjoint(with: rowIDNames)
    }
}

extension TableWatch.Tested {
    /// Whether a change concerns a column that the query reads.
    fileprivate func reads(_ values: RowValues) -> Bool {
        guard let initial = values.initial, let final = values.final,
            values.initialRowID == values.finalRowID
        else { return true }
        return (places ?? Array(initial.indices)).contains { !initial[$0].isIdentical(to: final[$0]) }
    }
}
