/// The places of a table's columns in a statement that joins several tables.
struct ScopePlan {
    /// The prefix of the names of columns that are hidden from the program.
    static let hiddenPrefix = "shellac_"

    /// Related rows of the table that are fetched by a statement of their own.
    struct List {
        let definition: RelationDefinition
        let path: RelationPath
        /// The hidden columns that relate the rows.
        let columns: Range<Int>
    }

    /// The name of the scope.
    let key: String
    /// The name of the table.
    let table: String
    /// The relation that leads to the table. Nil for the table of the request.
    let definition: RelationDefinition?
    /// The hidden columns that are never NULL in a row of the table.
    var isThere = 0..<0
    /// The hidden columns that identify the table's rows, if several rows may be related to one of
    /// them.
    var identity = 0..<0
    /// The step by which a record of the table leads back. Nil if it does not.
    var wayBack: RelationPath.Step?
    var lists: [List] = []
    /// Whether the rows of the table come without scopes or lists.
    var isAlone = false
    /// The tables that are joined with this one.
    var children: [ScopePlan] = []

    /// Whether this table or a joined one has lists that are fetched by a statement of their own.
    var hasLists: Bool { !lists.isEmpty || children.contains(where: \.hasLists) }
}

/// A table of a statement that joins several: its current row, and those of the tables joined with
/// it.
///
/// The row is located in the statement only when it is read. If its object is already known by its
/// key, the row is not located at all.
final class ScopedTable: AttachedRows {
    let plan: ScopePlan
    /// The columns of the statement that identify a row.
    let identity: [Int]
    /// The columns of the statement that relate the rows of lists.
    let keyColumns: [[Int]]
    let tables: [ScopedTable]

    /// The row of the statement.
    let statement: LiveRow
    private let row: LiveRow
    /// The columns of the statement that are never NULL in a row of the table.
    private let columns: [Int]
    /// Whether the row still has to be moved to the statement's current row, and whether there is
    /// one.
    private var isBehind = true
    private var isThere = false

    /// - Parameters:
    ///   - plan: The places of the table's columns.
    ///   - statement: The row of the statement, which is at its first one.
    convenience init(_ plan: ScopePlan, of statement: LiveRow) {
        let names = statement.layout.names
        let hidden = names.enumerated().filter { $1.hasPrefix(ScopePlan.hiddenPrefix) }
        let numbered = hidden.reduce(into: [Int: Int]()) { columns, column in
            if let number = Int(column.element.dropFirst(ScopePlan.hiddenPrefix.count)) {
                columns[number] = column.offset
            }
        }
        self.init(plan, statement, numbered, ends: hidden.map(\.offset) + [names.count])
    }

    private init(_ plan: ScopePlan, _ statement: LiveRow, _ hidden: [Int: Int], ends: [Int]) {
        func columns(_ numbers: Range<Int>) -> [Int] { numbers.map { hidden[$0, default: 0] } }
        (self.plan, self.statement) = (plan, statement)
        self.columns = columns(plan.isThere)
        identity = columns(plan.identity)
        keyColumns = plan.lists.map { columns($0.columns) }
        // The visible columns follow the hidden ones, up to the next of these.
        let first = ((self.columns + identity).max() ?? -1) + 1
        row = statement.makeWindow(first..<(ends.first { $0 >= first } ?? first))
        tables = plan.children.map { ScopedTable($0, statement, hidden, ends: ends) }
        super.init(plan.table)
        if !plan.isAlone { row.storage.pointee.attached = self }
    }

    override var scopes: [(name: String, row: Row?)] {
        tables.map { ($0.plan.key, $0.current.map { Row($0) }) }
    }

    /// The table's row at the statement's current row. Nil if there is none.
    var current: LiveRow? {
        if isBehind {
            isBehind = false
            isThere = columns.allSatisfy { !statement.value(at: $0).isNull }
            if isThere { row.moveOn() }
        }
        return isThere ? row : nil
    }

    /// Follows the statement to its next row, and returns the table's row.
    @inline(__always)
    func moveOn() -> LiveRow {
        row.moveOn()
        for table in tables where !table.isBehind { table.skipRow() }
        return row
    }

    /// Marks the row as outdated: it must not be read until it has moved on.
    private func skipRow() {
        isBehind = true
        row.skipRow()
        for table in tables where !table.isBehind { table.skipRow() }
    }
}
