// Foreign keys that are checked after the fact, where they can have been broken: the check of a table looks at all
// its rows, and a hundred small migrations of a large database must not look at all rows a hundred times.

extension Database {
    /// Runs a function while foreign keys are not enforced, and checks them then.
    ///
    /// A foreign key can have been broken when the table that has it, or the one that it refers to, was written,
    /// altered or dropped. Rows are written by statements, which tell their tables when they are prepared; and
    /// statements prepared earlier are prepared again, since enforcing has just been switched off. What became of
    /// the declarations is seen by comparing them: a table that was renamed has new SQL under its new name.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY` that names the row.
    func checkingForeignKeysAtEnd(_ body: () throws -> Void) throws {
        let before = try tableDeclarations()
        var touched = try tablesTouched(during: body)
        let after = try tableDeclarations()
        for (name, sql) in after where before[name] != sql { touched.insert(name) }
        for name in before.keys where after[name] == nil { touched.insert(name) }
        guard !touched.isEmpty else { return }
        var checked: Set<CaseInsensitiveName> = []
        for (origin, destination) in try foreignKeyPairs()
        where touched.contains(CaseInsensitiveName(origin))
            || touched.contains(CaseInsensitiveName(destination))
        {
            if checked.insert(CaseInsensitiveName(origin)).inserted { try checkForeignKeys(of: origin) }
        }
    }

    /// The SQL of the tables of the database `main`, by name.
    private func tableDeclarations() throws -> [CaseInsensitiveName: String] {
        var declarations: [CaseInsensitiveName: String] = [:]
        let cursor = try Row.fetchCursor(
            self, sql: "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0")
        while let row = try cursor.next() { declarations[CaseInsensitiveName(try row[0])] = try row[1] }
        return declarations
    }

    /// The tables with foreign keys, each with those that they refer to.
    private func foreignKeyPairs() throws -> [(origin: String, destination: String)] {
        let rows = try Row.fetchAll(
            self,
            sql: """
                SELECT DISTINCT t.name, k."table"
                FROM main.sqlite_master t, pragma_foreign_key_list(t.name, 'main') k
                WHERE t.type = 'table' AND t.rootpage > 0
                """)
        return try rows.map { (origin: try $0[0], destination: try $0[1]) }
    }

    /// Checks the foreign keys of all rows of a table: see "PRAGMA foreign_key_check" in the SQLite documentation.
    private func checkForeignKeys(of table: String) throws {
        let check = "PRAGMA main.foreign_key_check(\(table.quotedDatabaseIdentifier))"
        guard let row = try Row.fetchOne(self, sql: check) else { return }
        let columns = try String.fetchAll(
            self, sql: "SELECT \"from\" FROM pragma_foreign_key_list(?, 'main') WHERE id = ? ORDER BY seq",
            arguments: [table, try row[3] as Int64])
        // A table without row ids does not tell which row.
        let name = try (row[1] as Int64?).map { "the row \($0)" } ?? "a row"
        throw DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY,
            message: "FOREIGN KEY constraint failed: \(name) of table \(table) refers by "
                + "\(columns.joined(separator: ", ")) to a row of table \(try row[2] as String) "
                + "that is not there")
    }
}
