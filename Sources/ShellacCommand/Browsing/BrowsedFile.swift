// Reads what the browser shows: opens the file for each reading, and checks whether it has changed.

import CSQLite
import Shellac

/// The file that is browsed. It is opened for each reading, as `shellac watch` does, so that it may
/// change, be replaced or disappear at any time.
final class BrowsedFile {
    let path: String
    /// The tables and views, in the order of their declarations.
    private(set) var tables: [BrowsedTable] = []
    /// Whether the last page is incomplete, since a key was pressed while SQLite looked for rows.
    private(set) var wasStopped = false

    private var declarations: [[DatabaseValue]] = []
    private var isKnown = false
    private var state: FileState?
    /// A private copy, which is kept as long as the file stays as it is.
    private var copy: (file: LookedAtFile, state: FileState)?
    private let patience: Patience

    /// - Parameter patience: The judge of how long a statement may look for rows.
    init(_ path: String, patience: Patience) { (self.path, self.patience) = (path, patience) }

    private var currentState: FileState { FileState(LookedAtFile.resolved(path)) }

    /// Whether the file has changed since it was last read.
    var hasChanged: Bool { state != currentState }

    /// Reads the database, with the tables as they are now.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        // The state is taken before the file is read. So a write during the reading is seen next
        // time.
        let current = currentState
        let file: LookedAtFile
        if let copy, copy.state == current {
            file = copy.file
        } else {
            copy = nil
            // A file that cannot be read is not read again before it changes, unless the
            // reason may pass without a change.
            state = current
            do { file = try LookedAtFile(path, patience: 0.25) } catch let failure as Failure {
                if failure.isPassing { state = nil }
                throw failure
            }
            if file.way == .copied { copy = (file, current) }
        }
        wasStopped = false
        do {
            return try file.read { db in
                try readTables(db)
                return try body(db)
            }
        } catch let failure as Failure {
            if failure.isPassing { state = nil }
            throw failure
        }
    }

    /// Reads the declarations if they are not those that are known.
    private func readTables(_ db: Database) throws {
        let current = try Row.fetchAll(db, sql: "SELECT type, name, sql FROM main.sqlite_schema").map(
            \.databaseValues)
        guard !isKnown || current != declarations else { return }
        let facts = try SchemaFacts(db)
        var tables = try facts.tables.map { table in
            BrowsedTable(
                name: table.name, columns: table.columns, key: try Self.key(db, table),
                foreignKeys: table.foreignKeys, isView: false, isVirtual: table.isVirtual,
                indexed: [table.key.columns]
                    + table.indexes.filter { !$0.isPartial }.map { index in
                        index.keys.prefix { $0.column != nil }.compactMap(\.column)
                    })
        }
        for (name, isView) in facts.unreadable.map({ ($0.name, false) }) + facts.views.map({ ($0, true) }) {
            // A view may refer to a table that is gone. Then it is listed without columns.
            let columns = isView ? (try? db.columns(in: name, in: "main")) ?? [] : []
            tables.append(
                BrowsedTable(
                    name: name, columns: columns, key: [], foreignKeys: [], isView: isView,
                    isVirtual: !isView, indexed: []))
        }
        (self.tables, declarations, isKnown) = (tables, current, true)
    }

    /// Returns the columns by which rows are found. A declared key of a table with row ids is none:
    /// it may be NULL.
    private static func key(_ db: Database, _ table: SchemaFacts.Table) throws -> [String] {
        if table.key.isRowID || !table.key.tableHasRowID { return table.key.columns }
        let names = try db.columns(in: table.name, in: "main", includingHidden: true).map(\.name)
        return SchemaFacts.rowIDName(besides: names).map { [$0] } ?? []
    }

    func table(_ name: String) -> BrowsedTable? { tables.first { $0.name.isSameName(as: name) } }

    // MARK: - Rows

    /// Reads the rows of a page, in the order of reading.
    func page(
        _ db: Database, _ source: BrowsedRows, from start: BrowsedRows.Start, isBackward: Bool = false,
        columns: Range<Int>, limit: Int, length: Int = BrowsedRows.cellLength
    ) throws -> [BrowsedRow] {
        var rows: [BrowsedRow] = []
        guard limit > 0 else { return rows }
        guard !source.table.columns.isEmpty else {
            // SQLite says why the columns cannot be read.
            _ = try db.makeStatement(sql: "SELECT 1 FROM main.\(source.table.name.quotedDatabaseIdentifier)")
            return rows
        }
        let keyCount = source.table.key.count
        do {
            let queries = source.page(from: start, isBackward: isBackward, columns: columns, length: length)
            for query in queries where rows.count < limit {
                let arguments = query.arguments + [DatabaseValue(.int64(Int64(limit - rows.count)))]
                try patience.watching(db) {
                    let cursor = try Row.fetchCursor(
                        db, sql: query.sql, arguments: StatementArguments(arguments))
                    while let row = try cursor.next() {
                        let values = row.databaseValues
                        let cells = stride(from: keyCount + 1, to: values.count - 1, by: 2).map {
                            BrowsedCell(type: values[$0], value: values[$0 + 1])
                        }
                        rows.append(
                            BrowsedRow(
                                position: RowPosition(
                                    key: Array(values[..<keyCount]), sorted: values[keyCount]),
                                cells: cells))
                    }
                }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            wasStopped = true
        }
        return rows
    }

    /// Reads some columns of the first row, in full. Returns nil if there is no row.
    func firstRow(_ db: Database, _ source: BrowsedRows, _ columns: [String]) throws -> [DatabaseValue]? {
        let query = source.firstRow(columns)
        return try stoppable(db) {
            try Row.fetchOne(db, sql: query.sql, arguments: StatementArguments(query.arguments))?
                .databaseValues
        }
    }

    /// Counts rows up to a limit. Returns nil if that could take long.
    func count(_ db: Database, _ source: BrowsedRows, upTo limit: Int) throws -> Int? {
        guard let query = source.count(upTo: limit) else { return nil }
        return try stoppable(db) {
            try Int.fetchOne(db, sql: query.sql, arguments: StatementArguments(query.arguments))
        }
    }

    private func stoppable<Result>(_ db: Database, _ body: () throws -> Result?) throws -> Result? {
        do { return try patience.watching(db, body) } catch let error as DatabaseError
            where error.resultCode == .SQLITE_INTERRUPT
        {
            wasStopped = true
            return nil
        }
    }

    /// Returns the rows with the key of a position.
    static func source(_ table: BrowsedTable, at position: RowPosition) -> BrowsedRows {
        BrowsedRows(
            table: table,
            conditions: zip(table.key, position.key).map { ColumnCondition(column: $0, value: $1) })
    }
}

/// A row as it is shown.
struct BrowsedRow: Equatable {
    let position: RowPosition
    let cells: [BrowsedCell]
}

/// A value as it is shown: one line of text.
struct BrowsedCell: Equatable {
    enum Kind { case null, number, text, blob }

    let kind: Kind
    let text: String

    init(kind: Kind, text: String) { (self.kind, self.text) = (kind, text) }

    /// Reads the two values of ``BrowsedRows/cell(_:length:)``.
    init(type: DatabaseValue, value: DatabaseValue) {
        if case .string("blob") = type.storage, case .int64(let length) = value.storage {
            self.init(kind: .blob, text: "blob of \(length) bytes")
            return
        }
        switch value.storage {
        case .null: self.init(kind: .null, text: "NULL")
        case .int64, .double: self.init(kind: .number, text: value.debugDescription)
        case .string(let text): self.init(kind: .text, text: TextWidth.visible(text))
        case .blob: self.init(kind: .blob, text: value.debugDescription)
        }
    }
}

/// Lets a key end a statement that looks for rows for more than half a second.
final class Patience {
    /// Whether a key has been pressed that was not read yet.
    private let hasKey: () -> Bool
    /// Shows that a statement takes long. It is called once for each statement.
    private let notice: () -> Void
    private var began: UInt64 = 0
    private var isNoticed = false

    init(hasKey: @escaping () -> Bool, notice: @escaping () -> Void) {
        (self.hasKey, self.notice) = (hasKey, notice)
    }

    /// Runs a function that runs a statement.
    func watching<Result>(_ db: Database, _ body: () throws -> Result) throws -> Result {
        guard let connection = db.sqliteConnection else { return try body() }
        (began, isNoticed) = (shellac_time(), false)
        sqlite3_progress_handler(
            connection, 20_000,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Patience>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try body()
    }

    private var isOver: Bool {
        guard shellac_time() - began > 500_000_000 else { return false }
        if !isNoticed {
            isNoticed = true
            notice()
        }
        return hasKey()
    }
}

extension Failure {
    /// Whether the reason may pass without a change of the file.
    fileprivate var isPassing: Bool { code == .busy || code == .unreadable }
}
