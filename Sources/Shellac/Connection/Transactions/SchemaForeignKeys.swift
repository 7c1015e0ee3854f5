/// The foreign keys of a database, as its PRAGMAs tell of them, read by SQLite's own functions alone: the layer of schemas cannot be
/// asked at the end of a statement.
struct SchemaForeignKeys {
    /// A foreign key of a table.
    struct Key {
        let number: Int
        let schema: String
        let key: DatabaseError.Constraint.ForeignKey

        var origin: CaseInsensitiveName { CaseInsensitiveName(key.originTable) }
        var destination: CaseInsensitiveName { CaseInsensitiveName(key.destinationTable) }
    }

    /// The name of the database.
    let name: String
    private(set) var keys: [Key] = []
    /// The columns of the tables that are concerned.
    private(set) var columns: [CaseInsensitiveName: StoredColumns] = [:]

    /// Reads the keys that refer from some tables, or to them. What cannot be read is not there.
    init(_ database: Database, _ name: String, concerning tables: Set<CaseInsensitiveName>? = nil) {
        self.name = name
        let rows =
            (try? database.readUnheard(
                """
                SELECT t.name, k.id, k."table", k."from", k."to"
                FROM \(name.quotedDatabaseIdentifier).sqlite_master t, pragma_foreign_key_list(t.name, ?) k
                WHERE t.type = 'table' ORDER BY t.rowid, k.id, k.seq
                """, [name.databaseValue])) ?? []
        var index = rows.startIndex
        while index < rows.endIndex {
            let first = rows[index]
            let columns = rows[index...].prefix { $0[0] == first[0] && $0[1] == first[1] }
            index = columns.endIndex
            guard let origin = String.fromDatabaseValue(first[0]),
                let number = Int.fromDatabaseValue(first[1]),
                let destination = String.fromDatabaseValue(first[2])
            else { continue }
            let isConcerned = tables.map {
                $0.contains(CaseInsensitiveName(origin)) || $0.contains(CaseInsensitiveName(destination))
            }
            guard isConcerned ?? true else { continue }
            var named = columns.compactMap { String.fromDatabaseValue($0[4]) }
            if named.count < columns.count { named = Self.primaryKey(of: destination, name, database) }
            let key = DatabaseError.Constraint.ForeignKey(
                originTable: origin, originColumns: columns.compactMap { String.fromDatabaseValue($0[3]) },
                destinationTable: destination, destinationColumns: named)
            keys.append(Key(number: number, schema: name, key: key))
        }
        for key in keys {
            for table in [key.origin, key.destination]
            where tables?.contains(table) == true && columns[table] == nil {
                columns[table] = Self.columns(of: table.name, name, database)
            }
        }
    }

    private static func primaryKey(of table: String, _ schema: String, _ database: Database) -> [String] {
        let rows = try? database.readUnheard(
            "SELECT name FROM pragma_table_xinfo(?, ?) WHERE pk > 0 ORDER BY pk",
            [table.databaseValue, schema.databaseValue])
        return (rows ?? []).compactMap { String.fromDatabaseValue($0[0]) }
    }

    private static func columns(of table: String, _ schema: String, _ database: Database) -> StoredColumns? {
        let rows = try? database.readUnheard(
            "SELECT name, cid, type, \"notnull\", pk FROM pragma_table_xinfo(?, ?) WHERE hidden <> 2 ORDER BY cid",
            [table.databaseValue, schema.databaseValue])
        guard let rows, !rows.isEmpty else { return nil }
        let place = "\(schema.quotedDatabaseIdentifier).\(table.quotedDatabaseIdentifier)"
        let hasRowID = (try? database.readUnheard("SELECT rowid FROM \(place) LIMIT 0")) != nil
        let keys = rows.indices.filter { rows[$0][4] != 0.databaseValue }
            .sorted { (Int.fromDatabaseValue(rows[$0][4]) ?? 0) < (Int.fromDatabaseValue(rows[$1][4]) ?? 0) }
        let columns = rows.enumerated().map { index, row in
            let type = String.fromDatabaseValue(row[2]) ?? ""
            return StoredColumns.Column(
                name: String.fromDatabaseValue(row[0]) ?? "", index: Int32.fromDatabaseValue(row[1]) ?? 0,
                affinity: ColumnAffinity(declaredType: type), valueOfOlderRows: nil,
                isNotNull: row[3] == 1.databaseValue,
                isRowID: hasRowID && keys == [index] && CaseInsensitiveName.matches(type, "INTEGER"))
        }
        return StoredColumns(columns: columns, primaryKey: keys, hasRowID: hasRowID)
    }
}

extension SchemaForeignKeys.Key {
    private func place(_ table: String) -> String {
        "\(schema.quotedDatabaseIdentifier).\(table.quotedDatabaseIdentifier)"
    }

    /// Finds a row that has the key, by what identifies it, if it refers to a row that is not there.
    func searchForOrigin(_ columns: StoredColumns) -> String {
        let identifiers =
            columns.hasRowID
            ? ["rowid"] : columns.primaryKey.map { columns.columns[$0].name.quotedDatabaseIdentifier }
        let found = identifiers.map { "o.\($0) = ?" }
        let isSet = key.originColumns.map { "o.\($0.quotedDatabaseIdentifier) IS NOT NULL" }
        // The sign leaves the destination's column alone to say how to compare, as SQLite does.
        let refers = zip(key.destinationColumns, key.originColumns).map {
            "d.\($0.quotedDatabaseIdentifier) = +o.\($1.quotedDatabaseIdentifier)"
        }
        return """
            SELECT 1 FROM \(place(key.originTable)) o WHERE \((found + isSet).joined(separator: " AND ")) AND NOT EXISTS \
            (SELECT 1 FROM \(place(key.destinationTable)) d WHERE \(refers.joined(separator: " AND "))) LIMIT 1
            """
    }

    /// Finds a row that refers to a key, if there is no row that has that.
    var searchForReferences: String {
        let refers = key.originColumns.enumerated().map { "o.\($1.quotedDatabaseIdentifier) = ?\($0 + 1)" }
        let isThere = key.destinationColumns.enumerated().map {
            "d.\($1.quotedDatabaseIdentifier) = ?\($0 + 1)"
        }
        return """
            SELECT 1 FROM \(place(key.originTable)) o WHERE \(refers.joined(separator: " AND ")) AND NOT EXISTS \
            (SELECT 1 FROM \(place(key.destinationTable)) d WHERE \(isThere.joined(separator: " AND "))) LIMIT 1
            """
    }
}
