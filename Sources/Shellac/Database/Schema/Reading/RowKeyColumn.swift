/// A column that identifies a row in a statement of a trigger.
struct RowKeyColumn: Hashable {
    /// The column, or the name of the row id, as SQL.
    let sql: String
    let name: String
    /// The collation that the table uses to distinguish rows, as ` COLLATE "NOCASE"`. Empty for a
    /// row id, and if both the key and its column have BINARY.
    let collation: String

    /// The column, with the collation.
    var collated: String { sql + collation }
}

extension TableSchema {
    /// The columns that identify a row in a statement of a trigger. Nil if there are none.
    ///
    /// The collations of the primary key distinguish rows. They may differ from those of its
    /// columns.
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
