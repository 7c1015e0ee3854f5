/// Where the columns of a table stand among those of a statement of several.
struct ScopePlan {
    /// How the names begin of columns that the program does not see.
    static let hiddenPrefix = "shellac_"

    /// Rows that are fetched by a statement of their own, for those of the table.
    struct List {
        let definition: RelationDefinition
        let path: RelationPath
        /// The hidden columns by which they are related.
        let columns: Range<Int>
    }

    /// The name of the scope.
    let key: String
    /// The name of the table.
    let table: String
    /// The relation that leads to the table. Nil for that of the request.
    let definition: RelationDefinition?
    /// The hidden columns of which none is NULL in a row of the table.
    var isThere = 0..<0
    /// The hidden columns that tell the rows of the table apart, where several rows may be related to one.
    var identity = 0..<0
    /// The step by which a record of the table leads back. Nil where it does not.
    var wayBack: RelationPath.Step?
    var lists: [List] = []
    /// Whether nothing comes with the rows of the table.
    var isAlone = false
    /// The tables that are joined with this one.
    var children: [ScopePlan] = []

    /// Whether a table has rows that are fetched by a statement of their own.
    var hasLists: Bool { !lists.isEmpty || children.contains(where: \.hasLists) }
}

/// A table of a statement that gives the columns of several: its current row, and those of the tables that are joined.
///
/// A row is looked for where the statement has it when somebody asks. What is known by its key already is not.
final class ScopedTable: AttachedRows {
    let plan: ScopePlan
    /// The columns of the statement that tell rows apart.
    let identity: [Int]
    /// The columns of the statement by which the rows of lists are related.
    let keyColumns: [[Int]]
    let tables: [ScopedTable]

    /// The row of the statement.
    let statement: LiveRow
    private let row: LiveRow
    /// The columns of the statement that are not NULL in a row of the table.
    private let columns: [Int]
    /// Whether the row is not yet looked for where the statement stands, and whether there is one.
    private var isBehind = true
    private var isThere = false

    /// - Parameters:
    ///   - plan: Where the columns of the table stand.
    ///   - statement: The row of the statement, which stands on its first one.
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

    /// The row of the table where the statement stands. Nil where there is none.
    var current: LiveRow? {
        if isBehind {
            isBehind = false
            isThere = columns.allSatisfy { !statement.value(at: $0).isNull }
            if isThere { row.moveOn() }
        }
        return isThere ? row : nil
    }

    /// Tells that the statement stands on another row, and returns that of the table.
    @inline(__always)
    func moveOn() -> LiveRow {
        row.moveOn()
        for table in tables where !table.isBehind { table.fallBehind() }
        return row
    }

    /// Tells that nobody may read the row any more.
    private func fallBehind() {
        isBehind = true
        row.fallBehind()
        for table in tables where !table.isBehind { table.fallBehind() }
    }
}
