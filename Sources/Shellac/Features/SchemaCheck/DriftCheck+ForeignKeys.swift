// The search for an index of each foreign key, with the collations that SQLite compares by.

extension DriftCheck {
    /// Looks for an index of each foreign key. It must have the collations of the columns that the
    /// key refers to.
    ///
    /// See "SQLite Foreign Key Support", section "Required and Suggested Database Indexes".
    mutating func checkForeignKeys() throws {
        guard table.kind == .table else { return }
        for foreignKey in try db.foreignKeys(on: table.name, in: table.schemaName) {
            let (destination, columns) = (foreignKey.destinationTable, foreignKey.originColumns)
            let parent = try db.schema.table(destination, in: table.schemaName)
            let collations = foreignKey.mapping.map {
                parent?.collation(ofReferencesTo: $0.destination)?.name
            }
            if try isIndexed(columns, collations) { continue }
            var isOther = false
            for (column, collation) in zip(columns, collations) {
                guard let collation, let own = table.comparison(ofColumn: column).collation.name,
                    !CaseInsensitiveName.matches(own, collation)
                else { continue }
                isOther = true
                add(
                    .foreignKeyOfOtherCollation(destinationTable: destination, collation: collation), column)
            }
            if try !isOther || !isIndexed(columns, []) {
                add(.foreignKeyNotIndexed(destinationTable: destination), columns)
            }
        }
    }

    /// - Parameter collations: The collations that an index must have, in the order of the columns.
    ///   Nil for any collation.
    private func isIndexed(_ columns: [String], _ collations: [String?]) throws -> Bool {
        let wantedCollations = Dictionary(
            zip(columns.map(CaseInsensitiveName.init), collations), uniquingKeysWith: { a, _ in a })
        func hasCollation(_ key: IndexInfo.Key) -> Bool {
            let wanted = key.column.flatMap { wantedCollations[CaseInsensitiveName($0)] ?? nil }
            return wanted.map { CaseInsensitiveName.matches($0, key.collation) } ?? true
        }
        let wanted = Set(columns.map(CaseInsensitiveName.init))
        func begins(_ names: [String?]) -> Bool {
            let beginning = names.prefix(columns.count).compactMap { $0.map(CaseInsensitiveName.init) }
            return Set(beginning) == wanted
        }
        if let rowID = table.primaryKey.rowIDColumn, begins([rowID]) { return true }
        let indexes = table.indexes.filter {
            begins($0.keys.map(\.column)) && $0.keys.prefix(columns.count).allSatisfy(hasCollation)
        }
        if indexes.contains(where: { !$0.isPartial }) { return true }
        // The only partial index by which SQLite finds the rows is one of those that are not NULL.
        // The query plan shows whether SQLite uses it.
        guard !indexes.isEmpty else { return false }
        let name = table.name.quoted(in: table.schemaName)
        let conditions = columns.map { column in
            let collation = wantedCollations[CaseInsensitiveName(column)] ?? nil
            return column.quotedDatabaseIdentifier
                + (collation.map { " COLLATE \($0.quotedDatabaseIdentifier)" } ?? "") + " = ?"
        }
        let sql = "EXPLAIN QUERY PLAN SELECT 1 FROM \(name) WHERE \(conditions.joined(separator: " AND "))"
        let steps = try Row.fetchAll(db.makeStatement(sql: sql), arguments: StatementArguments(columns))
        return try steps.contains { step in
            let detail: String = try step["detail"]
            return indexes.contains { detail.contains("INDEX \($0.name) ") }
        }
    }
}
