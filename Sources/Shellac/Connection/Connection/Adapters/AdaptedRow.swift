// The rows of a statement, transformed by an adapter.
//
// The adapted columns are packed, and read from there. So every type reads them like any other row,
// whatever the order of the columns.

/// The current row of a statement, transformed by an adapter.
@usableFromInline
final class AdaptedRow {
    @usableFromInline let row: LiveRow
    private let base: LiveRow
    private let columns: [Int]
    private let attached: AdaptedScopes
    private var buffer: PackedBuffer

    /// - Parameters:
    ///   - columns: The adapted columns.
    ///   - statement: The statement, which must have a current row.
    convenience init(_ columns: _AdaptedColumns, of statement: Statement) {
        self.init(columns, statement.row, statement)
    }

    private init(_ columns: _AdaptedColumns, _ base: LiveRow, _ statement: Statement) {
        self.base = base
        self.columns = columns.columns.map(\.index)
        row = LiveRow.make(
            fetchedBy: statement.database,
            layout: RowLayout(names: columns.columns.map(\.name), sql: statement.sql))
        attached = AdaptedScopes(
            columns.scopes.map { ($0.name, AdaptedRow($0.columns, base, statement)) }, of: base)
        buffer = PackedBuffer(capacity: 256)
    }

    deinit {
        row.recycle()
        buffer.deallocate()
    }

    /// Adapts the current row of the statement.
    @usableFromInline
    func moveOn() {
        var needed = columns.count
        for column in columns { needed += base.value(at: column).view.packedByteCount }
        // (Reading an integer also touches the bytes in front of it.)
        if needed + 8 > buffer.capacity { buffer.replace(capacity: max(needed + 8, 2 * buffer.capacity)) }
        var cursor = PackedCursor(writing: buffer.start, count: columns.count)
        for column in columns { cursor.write(base.value(at: column).view, isExact: true) }
        row.stand(on: buffer.bytes(count: columns.count, byteCount: needed))
        for part in attached.parts { part.row.moveOn() }
        row.storage.pointee.attached = attached
    }

    /// Whether the row or one of its parts has a value that is not NULL.
    var isThere: Bool {
        columns.contains { !base.value(at: $0).isNull }
            || attached.parts.contains(where: \.row.isThere)
    }
}

/// The named parts of a row, and the row that was adapted.
private final class AdaptedScopes: AttachedRows {
    let parts: [(name: String, row: AdaptedRow)]
    private let base: LiveRow

    init(_ parts: [(name: String, row: AdaptedRow)], of base: LiveRow) {
        (self.parts, self.base) = (parts, base)
        super.init("")
    }

    override var statementRow: Row? { Row(base) }

    override var scopes: [(name: String, row: Row?)] {
        parts.map { ($0.name, $0.row.isThere ? Row($0.row.row) : nil) }
    }
}

/// A run of a statement whose rows are transformed by an adapter.
@usableFromInline
final class AdaptedRun {
    private let statement: Statement
    private let adapter: any RowAdapter
    private var current: AdaptedRow?
    private var isAtEnd = false

    /// Begins a run.
    @usableFromInline
    init(_ statement: Statement, arguments: StatementArguments?, adapter: any RowAdapter) throws {
        try statement.begin(arguments)
        (self.statement, self.adapter) = (statement, adapter)
    }

    /// Takes over a run that has begun.
    init(following statement: Statement, adapter: any RowAdapter) {
        (self.statement, self.adapter) = (statement, adapter)
    }

    /// Moves to the next row, and returns it in its adapted form.
    @usableFromInline
    func next() throws -> LiveRow? {
        if isAtEnd { return nil }
        isAtEnd = true
        guard try statement.step() else {
            // Report a missing column even if there is no row.
            if current == nil { _ = try adapter._columns(among: statement.columnNames) }
            current = nil
            return nil
        }
        // By now, SQLite has prepared the statement for the current schema.
        do {
            let row =
                try current ?? AdaptedRow(adapter._columns(among: statement.row.layout.names), of: statement)
            current = row
            row.moveOn()
            isAtEnd = false
            return row.row
        } catch {
            statement.abandon()
            throw error
        }
    }

    /// Ends the run.
    @usableFromInline
    func abandon() {
        if !isAtEnd { statement.abandon() }
        isAtEnd = true
        current = nil
    }
}
