/// The queries that changes of one table may affect.
///
/// A change is examined in three steps. First, before a statement runs, its kind and its columns:
/// if no query reads these, its rows are not reported. Then each row, inside of SQLite's hook: it
/// is compared with the values that queries look for. If it affects no query, it is dropped at
/// once. Finally, when its statement has succeeded, each row that may affect a query.
///
/// Rows affect queries in four ways:
///
/// - *open*: any row does, if a column that the query reads may have changed;
/// - *by row id*: rows with one of some ids do;
/// - *tested*: rows that satisfy a ``RowCondition`` do. The condition is found by a value of a
///   column if it names one; all other conditions are tested for each row;
/// - *followed*: rows with one of the keys of ``FollowedRows`` do, which notes them.
final class TableWatch {
    private struct Entry {
        let query: LiveQuery
        /// The columns, or nil for all.
        let columns: Set<CaseInsensitiveName>?
    }

    /// A query with a condition for its rows.
    final class Tested: Sendable {
        let query: LiveQuery
        let condition: RowCondition
        /// The columns, or nil for all.
        let columns: Set<CaseInsensitiveName>?
        /// The places of the columns among the stored ones, or nil for all columns.
        let places: [Int]?
        /// The number of the query's tests in this transaction. It is used in accesses to the
        /// connection.
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

        /// Whether some query looks for a value, and is not marked by the transaction yet.
        func hasOpen(_ value: DatabaseValue) -> Bool {
            guard let seekers = tested[comparison.comparable(value)] else { return false }
            return !seekers.first.query.isMarked || seekers.others.contains { !$0.query.isMarked }
        }
    }

    /// The queries that look for one value: mostly one.
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

    /// An update of columns, and whether a query reads one of them.
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

    /// The columns that queries read, or nil for all. It is computed when it is first needed.
    private var readColumns: Set<CaseInsensitiveName>??
    /// The updates of recent statements.
    private var knownUpdates: [Update] = []
    /// The columns that statements of the transaction update.
    private var updatedColumns: Set<CaseInsensitiveName> = []
    /// Whether the `open` queries that updates of these columns affect were found. `hasFoundAll` is
    /// true if all were.
    private var hasFoundUpdated = false
    private var hasFoundAll = false
    /// The same for the tested ones.
    private var hasFoundUpdatedTested = false
    private var hasFoundAllTested = false
    /// The names of the row id. An update of it moves rows, and affects each column.
    private var rowIDNames: Set<CaseInsensitiveName> = []
    /// The stored columns of the table in `main`. `schemaGeneration` is the state of the schema
    /// that all of this belongs to.
    private var stored: StoredColumns?
    private(set) var schemaGeneration: UInt64 = 0
    /// Whether SQLite reports the table's rows.
    private(set) var isTold = true

    init(_ name: String) { self.name = name }

    var isEmpty: Bool {
        open.isEmpty && byRowID.isEmpty && lookups.isEmpty && asked.isEmpty && followed.isEmpty
    }

    // MARK: - Registration

    /// Examines the tables with the name, as they are now.
    ///
    /// If the schema has changed, conditions belong to tables that may have had other columns, in
    /// other places. Until their queries are fetched again, any row affects them.
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
        // Without the pre-update hook, SQLite does not report rows of tables that have no row ids.
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
                // Many queries read the same columns, and share them.
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

    // MARK: - Changes

    /// Handles the announcement of a statement. Returns whether it may affect a query.
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

    /// Returns the analysis of an update of columns, with a cache: the same statement passes the
    /// same set again and again.
    private func update(of names: Set<String>) -> Update {
        if let known = knownUpdates.first(where: { $0.names == names }) { return known }
        let columns = Set(names.map(CaseInsensitiveName.init))
        let update = Update(names: names, columns: columns, isRead: intersect(columns, allReadColumns))
        if knownUpdates.count >= 8 { knownUpdates.removeAll(keepingCapacity: true) }
        knownUpdates.append(update)
        return update
    }

    /// Returns the details that are needed of a row that is about to be changed.
    func wish(for row: ChangingRow, _ kind: DatabaseEvent.Kind, _ columns: StoredColumns) -> RowInterest {
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

    /// Finds the queries that a change affects without a test. They may be found more than once.
    func find(_ event: DatabaseEvent, _ found: (LiveQuery) -> Void) {
        let isUpdate = event.kind == .update
        if !hasFoundAll, !isUpdate || !hasFoundUpdated {
            for entry in open where !isUpdate || intersect(updatedColumns, entry.columns) {
                found(entry.query)
            }
            if isUpdate { hasFoundUpdated = true } else { hasFoundAll = true }
        }
        if byRowID.isEmpty { return }
        // A row that was moved, or has no id, may be any.
        let entries =
            event.mayHaveMoved || event.hasNoRowID
            ? Array(byRowID.values.joined()) : byRowID[event.rowID] ?? []
        for entry in entries where !isUpdate || intersect(updatedColumns, entry.columns) {
            found(entry.query)
        }
    }

    /// Finds the queries with conditions that an unknown change may affect.
    func findTested(_ event: DatabaseEvent, _ found: (LiveQuery) -> Void) {
        let isUpdate = event.kind == .update
        if hasFoundAllTested || isUpdate && hasFoundUpdatedTested { return }
        for tested in allTested where !isUpdate || intersect(updatedColumns, tested.columns) {
            found(tested.query)
        }
        if isUpdate { hasFoundUpdatedTested = true } else { hasFoundAllTested = true }
    }

    /// Finds all queries that a kind of changes may affect.
    func findAll(_ kind: DatabaseEventKind, _ found: (LiveQuery) -> Void) {
        var columns: Set<CaseInsensitiveName>?
        if case .update(_, let names) = kind { columns = Set(names.map(CaseInsensitiveName.init)) }
        for entry in [open, Array(byRowID.values.joined())].joined()
        where columns.map({ intersect($0, entry.columns) }) ?? true { found(entry.query) }
        for tested in allTested where columns.map({ intersect($0, tested.columns) }) ?? true {
            found(tested.query)
        }
        findAllFollowed(found)
    }

    /// Finds the queries with conditions that a row may affect, by its values.
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

    /// The columns that queries read.
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
    private func intersect(_ updated: Set<CaseInsensitiveName>, _ read: Set<CaseInsensitiveName>?) -> Bool {
        guard let read else { return true }
        return !updated.isDisjoint(with: read) || !updated.isDisjoint(with: rowIDNames)
    }
}

extension TableWatch.Tested {
    /// Whether a change affects a column that the query reads.
    fileprivate func reads(_ values: RowValues) -> Bool {
        guard let initial = values.initial, let final = values.final,
            values.initialRowID == values.finalRowID
        else { return true }
        return (places ?? Array(initial.indices)).contains { !initial[$0].isIdentical(to: final[$0]) }
    }
}
