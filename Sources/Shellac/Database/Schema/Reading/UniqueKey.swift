/// A unique index of a table, as far as it matters to REPLACE.
struct UniqueKey: Hashable {
    let index: IndexInfo
    /// The SQL of the index, or an empty string for the index of a constraint.
    let sql: String

    /// Returns the columns whose update may make a row replace others. Nil if any update may do so.
    func columns(_ schema: TableSchema) -> [String]? {
        if index.isPartial || index.hasExpressions { return nil }
        if index.columns.contains(where: { schema.column(named: $0)?.isGenerated == true }) { return nil }
        return index.columns
    }

    /// Returns a condition that a row `t` has the keys that the row NEW has, or will have.
    func condition(_ schema: TableSchema) -> String {
        let text = index.isPartial || index.hasExpressions ? IndexText(sql) : nil
        var conditions = index.keys.enumerated().map { place, key in
            let collation = "COLLATE \(key.collation.quotedDatabaseIdentifier)"
            guard let column = key.column else {
                // If the text cannot be parsed, any row may conflict. A superfluous note does no
                // harm.
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
    /// With NOT NULL ON CONFLICT REPLACE, the default value replaces NULL.
    func newValue(of name: String) -> String {
        let value = "NEW.\(name.quotedDatabaseIdentifier)"
        guard let column = column(named: name), column.isNotNull, let standard = column.defaultExpression
        else {
            return value
        }
        return "coalesce(\(value), \(standard))"
    }
}
