// Imports rows as records, with their callbacks and validation: all of them, or none.

extension MutablePersistableRecord where Self: FetchableRecord {
    /// Makes a record from each row of a text, and inserts it: all of them, or none. Returns their
    /// number.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try Player.importAll(db, from: .file("players.csv"), columns: ["Nickname": "name"])
    /// }
    /// ```
    ///
    /// Records are made from rows as fetched ones are, and inserted one by one, with their
    /// callbacks, validation and dates. The affinity of the table's column converts a value. If the
    /// table needs no records for its rows,
    /// ``Database/importRows(into:in:from:as:columns:ignoring:onConflict:progress:)`` is faster.
    ///
    /// A value that the record does not write would be lost, so it is refused: list its column, or
    /// skip it by `ignoring`. With single-table inheritance, a row becomes a record of its kind.
    ///
    /// The transaction keeps class records in memory until it ends. Structs need no more memory
    /// than one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - source: The source of the text.
    ///   - format: The format of the rows in it.
    ///   - columns: The columns of the table, by the names in the data, if these differ.
    ///   - ignored: The names in the data to skip.
    ///   - progress: Gets the number of rows and bytes, after each thousand rows and at the end. An
    ///     error that it throws rolls the import back.
    /// - Throws: An ``ExchangeError`` with the number of the row. Its
    ///   ``ExchangeError/underlyingError`` is the error of the record or the table. It is also
    ///   thrown for a value that the record does not write.
    @discardableResult
    public static func importAll(
        _ db: Database, from source: ExchangeSource, as format: ExchangeFormat = .csv,
        columns: [String: String] = [:], ignoring ignored: Set<String> = [],
        progress: ((WorkProgress) throws -> Void)? = nil
    ) throws -> Int {
        db.checkAccess()
        let table = try tableSchema(on: db)
        let reader = try format.makeReader(source, for: table)
        var matcher = ColumnMatcher(table: table, columns: columns, ignored: ignored)
        let report = ImportReport(reader, progress)
        var (generation, matches): (Int?, [ColumnMatcher.Match]) = (nil, [])
        var unwritten = UnwrittenColumns()
        try db.inSavepoint {
            while try reader.next() {
                if generation != reader.generation {
                    matches = try matcher.match(reader)
                    unwritten = UnwrittenColumns()
                    generation = reader.generation
                }
                try reader.checkNumbers(matches)
                do {
                    let row = Row(
                        matches.map { match in
                            let value = reader.row.databaseValue(at: match.place, for: match.type)
                            return (match.column.name, match.column.affinity.storing(value))
                        })
                    var record = try made(of: row)
                    if let place = try unwritten.place(ofValueIn: row, lostBy: record, on: db) {
                        throw reader.error(
                            column: matches[place].name,
                            "\(type(of: record)) does not write the column \(matches[place].column.name): "
                                + "list it there, or leave its values out with ignoring:")
                    }
                    try record.insert(db)
                } catch let error as DatabaseError where !ImportReport.concernsRow(error) {
                    throw error
                } catch let error as CancellationError {
                    throw error
                } catch let error as ExchangeError {
                    throw error
                } catch {
                    throw report.refusal(error)
                }
                try report.rowWasRead()
            }
            try report.finish()
            return .commit
        }
        return reader.rowNumber
    }
}

/// The search for imported values that a record does not write.
private struct UnwrittenColumns {
    /// The columns that were encoded last. Records may encode different ones.
    private var layout: RowLayout?
    /// The places of the row whose columns are not among these.
    private var places: [Int] = []

    /// Returns the place of a value that a record was made with, but does not write. Nil if it
    /// writes all.
    mutating func place(
        ofValueIn row: Row, lostBy record: some MutablePersistableRecord, on db: Database
    ) throws -> Int? {
        let (plan, added) = try db.withWriter(for: record) { writer in
            let encoded = writer.columns.layout
            if layout !== encoded {
                places = row.columnNames.enumerated().filter { encoded.column(named: $1) == nil }.map(
                    \.offset)
                layout = encoded
            }
            return (writer.plan, writer.statements.written.added)
        }
        if places.isEmpty { return nil }
        let (names, values) = (row.columnNames, row.databaseValues)
        return places.first { place in
            let (name, value) = (names[place], values[place])
            // A rule of the type writes some columns automatically.
            if let own = added.first(where: { CaseInsensitiveName.matches(name, $0.column) }) {
                return own.value != value.sqlLiteral
            }
            return !value.isNull || plan.table.column(named: name)?.defaultValueSQL != nil
        }
    }
}
