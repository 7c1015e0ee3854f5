/// A column that finds a row in a statement of a trigger.
struct RowKeyColumn: Hashable {
    /// The column, or the name of the row id, as SQL.
    let sql: String
    let name: String
    /// ` COLLATE "NOCASE"`: the collation by which the table tells rows apart. Empty for a row id, and where both the key
    /// and its column have BINARY.
    let collation: String

    /// The column, with the collation.
    var collated: String { sql + collation }
}

extension TableSchema {
    /// The columns that find a row in a statement of a trigger. Nil where nothing does.
    ///
    /// Rows are told apart by the collations of the primary key, which may be others than those of its columns.
    var keyOfRow: [RowKeyColumn]? {
        if let rowIDName {
            let sql = primaryKey.rowIDColumn == nil ? rowIDName : rowIDName.quotedDatabaseIdentifier
            return [RowKeyColumn(sql: sql, name: rowIDName, collation: "")]
        }
        guard !primaryKey.tableHasRowID else { return nil }
        let index = indexes.first { $0.origin == .primaryKeyConstraint }
        let key = (index?.keys ?? []).compactMap { key -> RowKeyColumn? in
            guard let name = key.column else { return nil }
            let isBinary =
                CaseInsensitiveName.matches(key.collation, "BINARY")
                && comparison(ofColumn: name).collation == .binary
            return RowKeyColumn(
                sql: name.quotedDatabaseIdentifier, name: name,
                collation: isBinary ? "" : " COLLATE \(key.collation.quotedDatabaseIdentifier)")
        }
        return key.isEmpty ? nil : key
    }
}
