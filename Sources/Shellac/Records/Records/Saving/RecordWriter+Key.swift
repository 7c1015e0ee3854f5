// The primary key that a record has encoded, and its differences from the key of the found row.

extension RecordWriter {
    /// The primary key, if it is encoded.
    var key: [String: DatabaseValue] {
        var key: [String: DatabaseValue] = [:]
        for column in statements.key.columns { key[columns.layout.names[column]] = columns[column] }
        return key
    }

    /// Whether the record has a key to be found by. The key must be encoded, and not NULL.
    var hasKey: Bool {
        withStatements { statements in
            !statements.key.columns.isEmpty && statements.key.columns.allSatisfy { !columns.isNull($0) }
        }
    }

    /// Uses the remembered form of dates in the primary key to find the row. The database may hold
    /// them in another of the readable formats, and compares texts.
    func takeKey(of record: some MutablePersistableRecord) {
        if withStatements({ $0.key.mayHoldDate }) { takeDates(of: record) }
    }

    @inline(never)
    private func takeDates(of record: some MutablePersistableRecord) {
        let dates = statements.key.columns.filter { columns.column($0).isDate }
        guard !dates.isEmpty, let row = (record as? Record)?.snapshot else { return }
        let places = dates.compactMap { column in
            row.layout.column(named: columns.layout.names[column]).map { (column, $0) }
        }
        columns.takeDates(from: row, places)
    }

    var notFound: RecordError { .recordNotFound(databaseTableName: plan.tableName, key: key) }

    func checkKeyIsEncoded() throws {
        if withStatements({ $0.key.columns.isEmpty }) { try throwOrTrapKeyIsNotEncoded() }
    }

    /// Reports that the columns of the primary key are not encoded. This is a mistake, unless
    /// records of the type encode them only when they have a key. Then this record has none.
    @inline(never)
    private func throwOrTrapKeyIsNotEncoded() throws -> Never {
        if plan.learned.hasEncodedKey { throw notFound }
        if plan.key.isEmpty {
            Misuse.trap(
                "\(plan.tableName) has no primary key to find the record's row by: "
                    + "declare one in `static var databasePrimaryKey`.")
        }
        let names = plan.key.joined(separator: ", ")
        Misuse.trap(
            "a record of the table \(plan.tableName) does not encode its primary key (\(names)), so its row cannot "
                + "be found. List the key in columns(_:), or encode it in encode(to:).")
    }

    /// Whether the encoded columns have another primary key than a row.
    func hasOtherKey(than row: PackedRow) -> Bool {
        withStatements { statements in
            columns.hasOtherKey(statements.key.columns, of: statements.layout.key, than: row)
        }
    }

    /// The columns of the primary key that hold exactly the record's values in any row found by it.
    /// In the others, the row may hold a value that the column treats as equal. Examples are other
    /// letters with NOCASE, or the real number 1 for the integer 1.
    var exactKey: ColumnMask {
        withStatements { $0.key.isExact ? $0.key.mask : exactKey(of: $0) }
    }

    @inline(never)
    private func exactKey(of statements: RecordStatements) -> ColumnMask {
        ColumnMask(
            zip(statements.key.columns, statements.layout.key.comparisons).filter { column, comparison in
                comparison.isExact(for: columns[column])
            }.map(\.0))
    }

    /// The names of these columns, as the table has them.
    var namesOfExactKey: [String] {
        let exact = exactKey
        return withStatements { statements in
            if statements.key.columns.isEmpty { return plan.key }
            return statements.key.columns.filter(exact.contains).map { columns.layout.names[$0] }
        }
    }

    /// All columns that an update sets.
    var allColumns: ColumnMask {
        withStatements { statements in
            if statements.key.isExact { return statements.allColumns }
            var mask = statements.allColumns
            mask.formUnion(statements.key.mask.subtracting(exactKey(of: statements)))
            return mask
        }
    }
}
