// Imports rows as records, with their callbacks and validation: all of them, or none.

extension MutablePersistableRecord where Self: FetchableRecord {
    /// Makes a record of each row of a text, and inserts it: all of them, or none. Returns how many there were.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try Player.importAll(db, from: .file("players.csv"), columns: ["Nickname": "name"])
    /// }
    /// ```
    ///
    /// Records are made of rows as fetched ones are, and inserted one by one, with their callbacks, validation and dates. A value is
    /// what the column of the table makes of it. What the table itself can take is inserted faster by
    /// ``Database/importRows(into:in:from:as:columns:ignoring:onConflict:progress:)``.
    ///
    /// A value that the record does not write would be lost, and is refused: list its column, or pass it over by `ignoring`. A
    /// row is made into a record of its kind, where the class has kinds.
    ///
    /// The transaction keeps class records in memory until it ends. Structs need no more memory than one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - source: Where the text comes from.
    ///   - format: How rows are written in it.
    ///   - columns: The columns of the table, by the names in the data, where these differ.
    ///   - ignored: The names in the data that are passed over.
    ///   - progress: Hears of the number of rows and bytes, after each thousand rows and at the end. An error that it throws undoes
    ///     the import.
    /// - Throws: an ``ExchangeError`` with the number of the row, whose ``ExchangeError/underlyingError`` is what the record or the
    ///   table has thrown; and for a value that the record does not write.
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
                            "\(type(of: record)) does not write the column \(matches[place].column.name): list it there, or say "
                                + "by ignoring: that its values are passed over")
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

/// Finds the values of an import that a record does not write.
private struct UnwrittenColumns {
    /// The columns that were encoded last. Records may encode different ones.
    private var layout: RowLayout?
    /// The places of the row whose columns are not among these.
    private var places: [Int] = []

    /// Returns the place of a value that a record was made with, and does not write. Nil where it writes all.
    mutating func place(
        ofValueIn row: Row, lostBy record: some MutablePersistableRecord, on db: Database
    ) throws -> Int? {
        let table = try db.withWriter(for: record) { writer in
            let encoded = writer.columns.layout
            if layout !== encoded {
                places = row.columnNames.enumerated().filter { encoded.column(named: $1) == nil }.map(
                    \.offset)
                layout = encoded
            }
            return writer.plan.table
        }
        if places.isEmpty { return nil }
        let kind = (record.object).flatMap { ClassKind.of(type(of: $0)) }
        return places.first { place in
            let (name, value) = (row.columnNames[place], row.databaseValues[place])
            // A class writes its kind by itself.
            if let kind, CaseInsensitiveName.matches(name, kind.column) {
                return (kind.kind ?? .null) != value
            }
            return !value.isNull || table.column(named: name)?.defaultValueSQL != nil
        }
    }
}
