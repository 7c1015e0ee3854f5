/// The queries that changes of one table may concern.
///
/// A change is told in two steps, as to all observers: first, what a statement is about to do to which columns; then, each
/// row. A query is concerned by a row that it reads, where one of its columns may have been changed.
final class TableWatch {
    private struct Entry {
        let query: LiveQuery
        /// Nil for all columns.
        let columns: Set<CaseInsensitiveName>?
    }
    private let name: String
    /// Those that any row may concern.
    private var open: [Entry] = []
    /// Those that read some rows alone, by the row id.
    private var byRowID: [Int64: [Entry]] = [:]
    /// The columns that somebody reads, or nil for all. It is made when it is first asked for.
    private var readColumns: Set<CaseInsensitiveName>??

    /// The columns that statements of the transaction update.
    private var updatedColumns: Set<CaseInsensitiveName> = []
    /// Whether those of `open` were found that updates of these columns concern, and whether all were.
    private var hasFoundUpdated = false
    private var hasFoundAll = false

    /// The names of the row id. An update of it moves rows, and concerns each column.
    private var rowIDNames: Set<CaseInsensitiveName> = []

    init(_ name: String) { self.name = name }

    /// Looks at the tables of the name, as they are now.
    func look(_ db: Database) throws {
        let columns = try db.schema.tables(named: name).compactMap(\.primaryKey.rowIDColumn)
        rowIDNames = Set((columns + ["rowid"]).map(CaseInsensitiveName.init))
    }

    var isEmpty: Bool { open.isEmpty && byRowID.isEmpty }

    func add(_ query: LiveQuery, _ concern: LiveConcern) {
        let columns = concern.region.columns(of: name).map { Set($0.map(CaseInsensitiveName.init)) }
        let entry = Entry(query: query, columns: columns)
        if let rowIDs = concern.region.rowIDs(of: name) {
            for rowID in rowIDs { byRowID[rowID, default: []].append(entry) }
        } else {
            open.append(entry)
        }
        readColumns = nil
        (hasFoundUpdated, hasFoundAll) = (false, false)
    }

    func remove(_ isRemoved: (LiveQuery) -> Bool) {
        open.removeAll { isRemoved($0.query) }
        for (rowID, entries) in byRowID where entries.contains(where: { isRemoved($0.query) }) {
            let rest = entries.filter { !isRemoved($0.query) }
            byRowID[rowID] = rest.isEmpty ? nil : rest
        }
        readColumns = nil
    }

    // MARK: - What is changed

    /// Hears what a statement is about to do. Returns whether it may concern somebody.
    func expect(_ kind: DatabaseEventKind) -> Bool {
        guard case .update(_, let names) = kind else { return true }
        let columns = Set(names.map(CaseInsensitiveName.init))
        guard meet(columns, allReadColumns) else { return false }
        if !columns.isSubset(of: updatedColumns) {
            updatedColumns.formUnion(columns)
            hasFoundUpdated = false
        }
        return true
    }

    /// Finds the queries that a change concerns. They may be found more than once.
    func find(_ event: DatabaseEvent, _ found: (LiveQuery) -> Void) {
        let isUpdate = event.kind == .update
        if !hasFoundAll, !isUpdate || !hasFoundUpdated {
            for entry in open where !isUpdate || meet(updatedColumns, entry.columns) {
                found(entry.query)
            }
            if isUpdate { hasFoundUpdated = true } else { hasFoundAll = true }
        }
        if byRowID.isEmpty { return }
        // A row that was moved, or has no id, may be any.
        let entries =
            event.mayHaveMoved || event.hasNoRowID
            ? Array(byRowID.values.joined()) : byRowID[event.rowID] ?? []
        for entry in entries where !isUpdate || meet(updatedColumns, entry.columns) {
            found(entry.query)
        }
    }

    func endTransaction() {
        updatedColumns = []
        (hasFoundUpdated, hasFoundAll) = (false, false)
    }

    /// The columns that somebody reads.
    private var allReadColumns: Set<CaseInsensitiveName>? {
        if let readColumns { return readColumns }
        var all: Set<CaseInsensitiveName>? = []
        for entry in [open, Array(byRowID.values.joined())].joined() {
            guard let columns = entry.columns, let known = all else {
                all = nil
                break
            }
            all = known.union(columns)
        }
        readColumns = .some(all)
        return all
    }

    /// Whether an update of columns may change one that is read.
    private func meet(
        _ updated: Set<CaseInsensitiveName>, _ read: Set<CaseInsensitiveName>?
    ) -> Bool {
        guard let read else { return true }
        return !updated.isDisjoint(with: read) || !updated.isDisjoint(with: rowIDNames)
    }
}
