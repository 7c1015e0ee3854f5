/// A unique index of a table, as far as REPLACE has to do with it.
struct UniqueKey: Hashable {
    let index: IndexInfo
    /// The SQL of the index, where somebody wrote it.
    let sql: String

    /// Returns the columns by whose updates a row may come to replace others. Nil where it may be any.
    func columns(_ schema: TableSchema) -> [String]? {
        if index.isPartial || index.hasExpressions { return nil }
        if index.columns.contains(where: { schema.column(named: $0)?.isGenerated == true }) { return nil }
        return index.columns
    }

    /// Whether a row `t` has the keys that the row NEW has, or will have.
    func condition(_ schema: TableSchema) -> String {
        let text = index.isPartial || index.hasExpressions ? IndexText(sql) : nil
        var conditions = index.keys.enumerated().map { place, key in
            let collation = "COLLATE \(key.collation.quotedDatabaseIdentifier)"
            guard let column = key.column else {
                // Where the text is not understood, any row may be in the way: to note one in vain does no harm.
                guard let text, text.keys.indices.contains(place) else { return "1" }
                let expression = text.keys[place]
                let new = schema.columns.map(\.name.quotedDatabaseIdentifier).map { "NEW.\($0) AS \($0)" }
                return "(\(expression)) \(collation) = (SELECT \(expression) "
                    + "FROM (SELECT \(new.joined(separator: ", "))))"
            }
            return "t.\(column.quotedDatabaseIdentifier) \(collation) = \(schema.newValue(of: column))"
        }
        if let condition = text?.condition { conditions.append("(\(condition))") }
        return conditions.joined(separator: " AND ")
    }
}

extension TableSchema {
    /// Returns, as SQL, the value that a column of the row NEW will have in the table.
    ///
    /// With NOT NULL ON CONFLICT REPLACE, the default value takes the place of NULL.
    func newValue(of name: String) -> String {
        let value = "NEW.\(name.quotedDatabaseIdentifier)"
        guard let column = column(named: name), column.isNotNull, let standard = column.defaultExpression
        else {
            return value
        }
        return "coalesce(\(value), \(standard))"
    }
}
