// Imports CSV or JSON rows into a table, all or none, and matches columns by name.

import CSQLite

extension Database {
    /// Inserts the rows of a text into a table: all of them, or none. Returns the number of
    /// inserted rows.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.importRows(into: "player", from: .file("players.csv"))
    ///     try db.importRows(
    ///         into: "player", from: .file("others.csv"), as: .csv(separator: ";", null: "NULL"),
    ///         columns: ["Nickname": "name"], ignoring: ["Comment"]
    ///     ) { progress in
    ///         print(progress.rowCount, progress.fraction ?? 0)
    ///     }
    /// }
    /// ```
    ///
    /// A name in the data is that of the column, without regard to case, unless `columns` maps it
    /// to another one. A column of the table that the data lacks gets its default value. The
    /// affinities of the columns convert the values: see "Datatypes In SQLite" in its
    /// documentation.
    ///
    /// Rows are inserted while they are read: any number of them needs no more memory than one.
    /// Triggers, callbacks of tables and observers see them like any other rows. To make records of
    /// the rows, use ``MutablePersistableRecord/importAll(_:from:as:columns:ignoring:progress:)``.
    ///
    /// - Parameters:
    ///   - tableName: The table, or a view whose triggers insert.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - source: The source of the text.
    ///   - format: The format of the rows in it.
    ///   - columns: The columns of the table, by the names in the data, if these differ.
    ///   - ignored: The names in the data to skip.
    ///   - resolution: The handling of a row that violates a constraint. A row that `.ignore` skips
    ///     is not counted.
    ///   - progress: Gets the number of rows and bytes, after each thousand rows and at the end. An
    ///     error that it throws rolls the import back.
    /// - Throws: An ``ExchangeError`` with the number of the row, for invalid data, and for a row
    ///   that the table refuses. A ``DatabaseError`` if SQLite fails for another reason.
    @discardableResult
    public func importRows(
        into tableName: String, in schemaName: String? = nil, from source: ExchangeSource,
        as format: ExchangeFormat = .csv, columns: [String: String] = [:], ignoring ignored: Set<String> = [],
        onConflict resolution: ConflictResolution? = nil, progress: ((WorkProgress) throws -> Void)? = nil
    ) throws -> Int {
        checkAccess()
        let table = try tableSchema(tableName, in: schemaName)
        let reader = try format.makeReader(source, for: table)
        var matcher = ColumnMatcher(table: table, columns: columns, ignored: ignored)
        let report = ImportReport(reader, progress)
        var insertions: [ExactNames: Insertion] = [:]
        var (generation, insertion): (Int?, Insertion?) = (nil, nil)
        var count = 0
        try inSavepoint {
            while try reader.next() {
                if generation != reader.generation || insertion == nil {
                    let matches = try matcher.match(reader)
                    let names = ExactNames(matches.map(\.column.name))
                    let known = insertions[names]
                    let new = try known ?? Insertion(names.names, into: table, resolution, on: self)
                    if known == nil, insertions.count < 100 { insertions[names] = new }
                    insertion = new
                    insertion?.matches = matches
                    generation = reader.generation
                }
                guard let insertion else { continue }
                try reader.checkNumbers(insertion.matches)
                do {
                    if try insertion.insert(reader.row) { count += 1 }
                } catch let error as DatabaseError where ImportReport.concernsRow(error) {
                    throw report.refusal(error)
                }
                try report.rowWasRead()
            }
            try report.finish()
            return .commit
        }
        return count
    }
}

/// The statement that inserts rows with some columns.
private struct Insertion {
    let statement: Statement
    let isTable: Bool
    /// The places of the columns' values in a row, and their conversions.
    var matches: [ColumnMatcher.Match] = []

    init(
        _ columns: [String], into table: TableSchema, _ resolution: Database.ConflictResolution?,
        on db: Database
    ) throws {
        isTable = table.kind != .view
        let verb = "INSERT" + (resolution.map { " OR \($0.rawValue)" } ?? "")
        let target = table.name.quoted(in: table.schemaName)
        statement = try db.makeStatement(
            sql: columns.isEmpty
                ? "\(verb) INTO \(target) DEFAULT VALUES"
                : "\(verb) INTO \(target) (\(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", "))) "
                    + "VALUES (\(String.questionMarks(columns.count)))")
    }

    /// Inserts a row. Returns whether it was inserted.
    func insert(_ row: ImportedRow) throws -> Bool {
        try row.bytes.withUnsafeBufferPointer { bytes in
            try statement.begin { pointer in
                var (code, parameter): (Int32, Int32) = (0, 1)
                for match in matches {
                    let bound = row.view(at: match.place, in: bytes, for: match.type)
                        // The row outlives the run of the statement.
                        .bind(to: pointer, at: parameter, shellac_static())
                    if bound != 0 { code = bound }
                    parameter &+= 1
                }
                return code
            }
            while try statement.step() {}
        }
        // The triggers of a view insert into other tables.
        return !isTable || statement.database.changesCount > 0
    }
}

// MARK: - Shared by imports

extension ExchangeFormat {
    func makeReader(_ source: ExchangeSource, for table: TableSchema) throws -> any RowReader {
        switch kind {
        case .csv(let style): try CSVReader(source, style, for: table)
        case .jsonLines, .json: try JSONLinesReader(source)
        }
    }
}

extension TableSchema {
    /// The columns for which data without names has values, in their order.
    var importedColumns: [ColumnInfo] { allColumns.filter { !$0.isGenerated && !$0.isHidden } }
}

/// The mapping from names in the data to columns of a table.
struct ColumnMatcher {
    let table: TableSchema
    let columns: [String: String]
    let ignored: Set<CaseInsensitiveName>
    /// The values of `columns`, by names without regard to case.
    private let mapped: [CaseInsensitiveName: String]

    init(table: TableSchema, columns: [String: String], ignored: Set<String>) {
        (self.table, self.columns) = (table, columns)
        self.ignored = Set(ignored.map(CaseInsensitiveName.init))
        mapped = Dictionary(
            columns.map { (CaseInsensitiveName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    struct Match {
        let column: ColumnInfo
        /// The name in the data.
        let name: String
        let place: Int
        let type: ImportedColumn
    }

    mutating func match(_ reader: some RowReader) throws -> [Match] {
        let writable = table.importedColumns
        guard let names = reader.names else {
            return writable.enumerated().map { match($1, $1.name, $0) }
        }
        var matches: [Match] = []
        for (place, name) in names.enumerated() where !ignored.contains(CaseInsensitiveName(name)) {
            let wanted = mapped[CaseInsensitiveName(name)] ?? name
            guard let column = table.column(named: wanted) else {
                throw ExchangeError(
                    line: reader.line, column: name,
                    "the table \(table.name) has no column \"\(wanted)\": it has "
                        + "\(writable.map(\.name).joined(separator: ", ")). Name the right one with columns:, "
                        + "or leave it out with ignoring:")
            }
            guard !column.isGenerated else {
                throw ExchangeError(
                    line: reader.line, column: name,
                    "the values of the column \(column.name) are computed: leave those of the data out "
                        + "with ignoring:")
            }
            if let other = matches.first(where: { CaseInsensitiveName.matches($0.column.name, column.name) })
            {
                throw ExchangeError(
                    line: reader.line, column: name,
                    "\"\(other.name)\" goes to the column \(column.name) of the table \(table.name), too")
            }
            matches.append(match(column, name, place))
        }
        return matches
    }

    private func match(_ column: ColumnInfo, _ name: String, _ place: Int) -> Match {
        Match(column: column, name: name, place: place, type: ImportedColumn(column, of: table))
    }
}

/// The reports of an import: its progress, and the errors of rows.
struct ImportReport {
    let reader: any RowReader
    let progress: ((WorkProgress) throws -> Void)?

    init(_ reader: any RowReader, _ progress: ((WorkProgress) throws -> Void)?) {
        (self.reader, self.progress) = (reader, progress)
    }

    func rowWasRead() throws {
        guard let progress, reader.rowNumber % RowWriter.rowsBetweenReports == 0 else { return }
        try progress(
            WorkProgress(
                completed: reader.bytes.readCount, of: reader.bytes.totalCount, rows: reader.rowNumber))
    }

    func finish() throws {
        let bytes = reader.bytes.readCount
        try progress?(
            WorkProgress(
                completed: bytes, of: max(bytes, reader.bytes.totalCount ?? bytes), rows: reader.rowNumber,
                isCompleted: true))
    }

    /// Whether an error is caused by the content of a row.
    static func concernsRow(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE: true
        default: false
        }
    }

    func refusal(_ error: any Error) -> ExchangeError {
        let databaseError = error as? DatabaseError
        return reader.error(
            column: databaseError?.constraint.flatMap { $0.columns.count == 1 ? $0.columns[0] : nil },
            databaseError?.message ?? "\(error)", underlyingError: error)
    }
}
