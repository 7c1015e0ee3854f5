extension StoredColumns {
    /// The stored columns of a table.
    init(_ table: TableSchema, _ db: Database) {
        let columns = table.allColumns.enumerated().filter { $1.generation != .virtual }.map {
            index, column in
            Column(
                name: column.name, index: Int32(index), affinity: column.affinity,
                valueOfOlderRows: Self.valueOfOlderRows(column, db),
                isRowID: table.primaryKey.rowIDColumn.map { $0 == column.name } ?? false)
        }
        self.init(
            columns: columns,
            primaryKey: table.primaryKey.columns.compactMap { name in
                columns.firstIndex { CaseInsensitiveName.matches($0.name, name) }
            },
            hasRowID: table.primaryKey.tableHasRowID)
    }

    /// What rows have in a column that was added when they were there: a constant, see "ALTER TABLE ADD COLUMN" in the
    /// SQLite documentation. A column that accepts NULL may as well have been NULL.
    private static func valueOfOlderRows(_ column: ColumnInfo, _ db: Database) -> DatabaseValue? {
        guard column.isNotNull, column.primaryKeyIndex == 0, let sql = column.defaultValueSQL else {
            return nil
        }
        let value =
            switch column.affinity {
            case .text: "CAST(\(sql) AS TEXT)"
            case .real: "\(sql) + 0.0"
            case .integer, .numeric, .blob: sql
            }
        return try? DatabaseValue.fetchOne(db.makeStatement(sql: "SELECT \(value)"))
    }
}
