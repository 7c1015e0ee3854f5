// Computes which columns a table stores, and the values older rows have in added columns.

extension StoredColumns {
    /// Lists the stored columns of a table.
    init(_ table: TableSchema, _ db: Database) {
        let columns = table.allColumns.enumerated().filter { $1.generation != .virtual }.map {
            index, column in
            Column(
                name: column.name, index: Int32(index), affinity: column.affinity,
                valueOfOlderRows: Self.valueOfOlderRows(column, db), isNotNull: column.isNotNull,
                isRowID: table.primaryKey.rowIDColumn.map { $0 == column.name } ?? false)
        }
        self.init(
            columns: columns,
            primaryKey: table.primaryKey.columns.compactMap { name in
                columns.firstIndex { CaseInsensitiveName.matches($0.name, name) }
            },
            hasRowID: table.primaryKey.tableHasRowID)
    }

    /// Returns the value of a column in rows older than the column. It is a constant: see "ALTER
    /// TABLE ADD COLUMN" in the SQLite documentation.
    private static func valueOfOlderRows(_ column: ColumnInfo, _ db: Database) -> DatabaseValue? {
        guard column.primaryKeyIndex == 0, let sql = column.defaultValueSQL, sql.isConstantSQL,
            let value = try? db.asking({ try DatabaseValue.fetchOne(db.makeStatement(sql: "SELECT \(sql)")) })
        else { return nil }
        return column.affinity.storing(value)
    }
}

extension String {
    /// Whether an expression calls no function and reads no date. Only such a default can be the
    /// value of older rows, and other defaults should not be evaluated here.
    fileprivate var isConstantSQL: Bool {
        var isQuoted = false
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar == "'" { isQuoted.toggle() } else if !isQuoted { scalars.append(scalar) }
        }
        let plain = String(scalars).uppercased()
        return !plain.contains("CURRENT_")
            && (!plain.contains("(") || plain.hasPrefix("CAST") && plain.filter { $0 == "(" }.count == 1)
    }
}
