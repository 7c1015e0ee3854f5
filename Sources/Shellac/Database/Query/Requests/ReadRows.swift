/// The rows read by all statements of one fetch, to compare them with those of another fetch.
///
/// If all statements of a request return the same rows, its elements are the same. The rows are
/// recorded while the elements are made, so that the comparison fetches nothing.
final class ReadRows {
    /// The rows returned by one statement.
    private struct Part {
        let sql: String
        let layout: RowLayout
        /// The position of its first row.
        let start: Int

        func isSame(as other: Part) -> Bool {
            start == other.start && sql.hasSameBytes(as: other.sql) && layout.hasExactNames(of: other.layout)
        }
    }
    private var parts: [Part] = []
    private var rows = RowBytes()

    /// Records the current row of a statement.
    func note(_ row: LiveRow) {
        if parts.last?.layout !== row.layout {
            parts.append(Part(sql: row.layout.sql ?? "", layout: row.layout, start: rows.ends.count))
        }
        rows.append(row)
    }

    /// Whether another fetch has read the same rows, of the same statements, in the same order.
    func hasSameRows(as other: ReadRows) -> Bool {
        parts.elementsEqual(other.parts) { $0.isSame(as: $1) } && rows.isSame(as: other.rows)
    }
}

extension Database {
    /// Runs a fetch, and records the rows that it reads.
    func noting<Result>(in rows: ReadRows, _ fetch: () throws -> Result) rethrows -> Result {
        let queries = queries
        let outer = queries.noted
        queries.noted = rows
        defer { queries.noted = outer }
        return try fetch()
    }
}

extension RequestSupplement {
    /// Returns a reader of a statement's rows, as elements of a type. It records them if they are
    /// needed for a comparison. Nil if the statement returns only the elements' own rows.
    @usableFromInline @inline(never)
    final func read<Element>(_ statement: Statement, as type: Element.Type, in db: Database) throws
        -> SuppliedRows?
    {
        let rows = try rows(of: statement, as: type, in: db)
        guard let noted = db.queries.noted, rows?.notesRows != true else { return rows }
        return NotedRows(rows, statement, noted)
    }
}

/// The rows of a statement, each of which is recorded.
private final class NotedRows: SuppliedRows {
    private let rows: SuppliedRows?
    private let statement: Statement
    private let noted: ReadRows

    init(_ rows: SuppliedRows?, _ statement: Statement, _ noted: ReadRows) {
        (self.rows, self.statement, self.noted) = (rows, statement, noted)
        super.init(givesToObjects: rows?.givesToObjects == true)
    }

    override func next() throws -> LiveRow? {
        guard let rows else {
            guard try statement.step() else { return nil }
            noted.note(statement.row)
            return statement.row
        }
        guard let row = try rows.next() else { return nil }
        noted.note(statement.row)
        return row
    }

    override func give(to object: AnyObject) throws { try rows?.give(to: object) }

    override func finish() throws { try rows?.finish() }
}
