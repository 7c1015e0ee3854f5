// Exports the rows of a table or a request, or a sequence of records, as CSV or JSON.

import CSQLite

extension Database {
    /// Writes the rows of a table or a view as text, sorted by primary key. Returns their number.
    ///
    /// ```swift
    /// try dbQueue.read { db in
    ///     try db.exportRows(of: "player", to: .file("players.csv"))
    /// }
    /// ```
    ///
    /// Rows are written while they are read: any number of them needs no more memory than one.
    /// Generated columns are excluded, so that the export can be imported.
    ///
    /// - Parameters:
    ///   - tableName: The table, or the view.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - destination: The destination of the text.
    ///   - format: The format of the rows.
    ///   - progress: Gets the number of rows, after each thousand and at the end. An error that it
    ///     throws ends the export.
    /// - Throws: An ``ExchangeError`` if the text cannot be written, and a ``DatabaseError`` if
    ///   rows cannot be read.
    @discardableResult
    public func exportRows(
        of tableName: String, in schemaName: String? = nil, to destination: ExchangeDestination,
        as format: ExchangeFormat = .csv, progress: ((WorkProgress) throws -> Void)? = nil
    ) throws -> Int {
        checkAccess()
        let table = try tableSchema(tableName, in: schemaName)
        let exported = table.columns.filter { !$0.isGenerated }
        let columns = exported.map(\.name.quotedDatabaseIdentifier)
        let key = table.primaryKey.columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let place = table.kind == .tableValuedFunction ? nil : table.schemaName
        let statement = try makeStatement(
            sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table.name.quoted(in: place))"
                + (key.isEmpty ? "" : " ORDER BY \(key)"))
        let affinities = exported.map { table.kind == .table ? $0.affinity : nil }
        try format.checkNumbers(exported, affinities)
        return try export(statement, StatementArguments(), affinities, to: destination, as: format, progress)
    }

    /// Writes the rows of a request as text. Returns their number.
    ///
    /// ```swift
    /// try dbQueue.read { db in
    ///     let best = Player.filter(Column("score") > 1000).order(Column("score").desc)
    ///     try db.exportRows(of: best, to: .file("best.jsonl"), as: .jsonLines)
    ///
    ///     let teams: SQLRequest<Row> = "SELECT team, count(*) AS players FROM player GROUP BY team"
    ///     try db.exportRows(of: teams, to: .descriptor(1))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request. One that includes other records is refused: use a join for values
    ///     in the same row.
    ///   - destination: The destination of the text.
    ///   - format: The format of the rows.
    ///   - progress: Gets the number of rows, after each thousand and at the end. An error that it
    ///     throws ends the export.
    /// - Throws: An ``ExchangeError`` if the text cannot be written, and a ``DatabaseError`` if
    ///   rows cannot be read.
    @discardableResult
    public func exportRows(
        of request: some FetchRequest, to destination: ExchangeDestination, as format: ExchangeFormat = .csv,
        progress: ((WorkProgress) throws -> Void)? = nil
    ) throws -> Int {
        checkAccess()
        let prepared = try request.makePreparedRequest(self, forSingleResult: false)
        try prepared.supplement?.refuseCursor()
        return try export(prepared.statement, prepared.arguments, nil, to: destination, as: format, progress)
    }

    private func export(
        _ statement: Statement, _ arguments: StatementArguments, _ affinities: [ColumnAffinity?]?,
        to destination: ExchangeDestination, as format: ExchangeFormat,
        _ progress: ((WorkProgress) throws -> Void)?
    ) throws -> Int {
        let writer = try RowWriter(destination, format, progress)
        try statement.begin(arguments)
        defer { statement.abandon() }
        // Another connection may have changed the columns: they are certain only while the
        // statement runs.
        var hasRow = try statement.step()
        let names = statement.columnNames
        // If the columns have changed, no affinity is known.
        let known = affinities.flatMap { $0.count == names.count ? $0 : nil }
        try writer.begin(
            names, known ?? names.map { _ in nil },
            declared: known == nil ? statement.declaredAffinities : nil)
        let row = statement.row
        while hasRow {
            try writer.write { row.value(at: $0).view }
            hasRow = try statement.step()
        }
        try writer.finish()
        return writer.rowCount
    }
}

extension Statement {
    /// The affinities of the table columns that the result has its values from. It is nil for an
    /// expression, and for the type `ANY`, which converts nothing in a strict table.
    fileprivate var declaredAffinities: [ColumnAffinity?] {
        (0..<sqlite3_column_count(sqliteStatement)).map { index in
            guard let type = sqlite3_column_decltype(sqliteStatement, index).map({ String(cString: $0) }),
                type.uppercased() != "ANY"
            else { return nil }
            return ColumnAffinity(declaredType: type)
        }
    }
}

extension ExchangeFormat {
    /// Throws if the word for NULL is a number, and a column has no conversion. An equal number
    /// would be quoted, and then be read as a text.
    fileprivate func checkNumbers(_ columns: [ColumnInfo], _ affinities: [ColumnAffinity?]) throws {
        guard case .csv(let style) = kind, var null = style.null.map({ String(decoding: $0, as: UTF8.self) }),
            let column = zip(columns, affinities).first(where: { $0.1 == .blob })?.0
        else { return }
        let isNumber = null.withUTF8 { utf8 in
            if case .text = CSVNumber.canonical(utf8) { false } else { true }
        }
        guard isNumber else { return }
        throw ExchangeError(
            column: column.name,
            "the word for NULL, \(null), is a number, and the column has no type that would distinguish a "
                + "number from NULL: use another word")
    }
}

extension Sequence where Element: EncodableRecord {
    /// Writes records as text, with the columns that they store. Returns their number.
    ///
    /// ```swift
    /// try players.exportRows(to: .file("players.csv"))
    /// ```
    ///
    /// - Parameters:
    ///   - destination: The destination of the text. Without any record, CSV has no header.
    ///   - format: The format of the rows.
    ///   - progress: Gets the number of rows, after each thousand and at the end. An error that it
    ///     throws ends the export.
    /// - Throws: An ``ExchangeError`` if the text cannot be written, or if a record has other
    ///   columns than the first one. Also errors of the records.
    @discardableResult
    public func exportRows(
        to destination: ExchangeDestination, as format: ExchangeFormat = .csv,
        progress: ((WorkProgress) throws -> Void)? = nil
    ) throws -> Int {
        let total = (self as? any Collection).map { $0.count }
        let writer = try RowWriter(destination, format, totalCount: total, progress)
        var names: ExactNames?
        for record in self {
            let row = try record.encoded().row()
            let own = ExactNames(row.layout.names)
            if let names, names != own {
                throw ExchangeError(
                    row: writer.rowCount + 1,
                    "the record has the columns \(own.names.joined(separator: ", ")), but the first one has "
                        + names.names.joined(separator: ", "))
            }
            if names == nil {
                try writer.begin(own.names, own.names.map { _ in nil })
                names = own
            }
            try withExtendedLifetime(row) { try writer.write { row.column($0).view } }
        }
        if names == nil { try writer.begin([], []) }
        try writer.finish()
        return writer.rowCount
    }
}
