// Checks foreign keys after a migration, but only those that it may have broken.
//
// The check of a table reads all its rows. A hundred small migrations of a large database must not
// read all rows a hundred times.

extension Database {
    /// Runs a function while foreign keys are not enforced, and checks them afterwards.
    ///
    /// A foreign key may be broken if its table, or the table it refers to, was written, altered or
    /// dropped. Statements write rows, and report their tables when they are prepared. Statements
    /// prepared earlier are prepared again, because enforcing has just been switched off. Changed
    /// declarations are found by comparing their SQL. A renamed table has new SQL under its new
    /// name.
    ///
    /// A foreign key and the table it refers to are in the same database ("SQLite Foreign Key
    /// Support"). So each attached database is checked by itself, and an untouched one is not read.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY` that names the row.
    func checkingForeignKeysAtEnd(_ body: () throws -> Void) throws {
        let before = try tableDeclarations()
        let touched = try tablesTouched(during: body)
        for (schemaName, after) in try tableDeclarations() {
            var tables = touched[CaseInsensitiveName(schemaName)] ?? []
            let before = before[schemaName] ?? [:]
            for (name, sql) in after where before[name] != sql { tables.insert(name) }
            for name in before.keys where after[name] == nil { tables.insert(name) }
            if !tables.isEmpty { try checkForeignKeys(concerning: tables, in: schemaName) }
        }
    }

    /// Returns the SQL of the tables of each database, by name.
    private func tableDeclarations() throws -> [String: [CaseInsensitiveName: String]] {
        let schemaNames = try String.fetchAll(self, sql: "SELECT name FROM pragma_database_list")
        var declarations: [String: [CaseInsensitiveName: String]] = [:]
        for schemaName in schemaNames {
            let cursor = try Row.fetchCursor(
                self,
                sql: "SELECT name, sql FROM \(schemaName.quotedDatabaseIdentifier).sqlite_master "
                    + "WHERE type = 'table' AND rootpage > 0")
            var tables: [CaseInsensitiveName: String] = [:]
            while let row = try cursor.next() { tables[CaseInsensitiveName(try row[0])] = try row[1] }
            declarations[schemaName] = tables
        }
        return declarations
    }

    /// Checks the tables of one database that are among the given ones, or refer to one of them.
    private func checkForeignKeys(
        concerning tables: Set<CaseInsensitiveName>, in schemaName: String
    ) throws {
        let keys = try Row.fetchAll(
            self,
            sql: """
                SELECT DISTINCT t.name, k."table"
                FROM \(schemaName.quotedDatabaseIdentifier).sqlite_master t, pragma_foreign_key_list(t.name, ?) k
                WHERE t.type = 'table' AND t.rootpage > 0
                """, arguments: [schemaName])
        var checked: Set<CaseInsensitiveName> = []
        for key in keys {
            let (origin, destination): (String, String) = try (key[0], key[1])
            guard
                tables.contains(CaseInsensitiveName(origin))
                    || tables.contains(CaseInsensitiveName(destination))
            else { continue }
            if checked.insert(CaseInsensitiveName(origin)).inserted {
                try checkForeignKeys(of: origin, in: schemaName)
            }
        }
    }

    /// Checks the foreign keys of all rows of a table: see "PRAGMA foreign_key_check" in the SQLite
    /// documentation.
    private func checkForeignKeys(of table: String, in schemaName: String) throws {
        let check = "PRAGMA \(schemaName.quotedDatabaseIdentifier).foreign_key_check"
        guard let row = try Row.fetchOne(self, sql: "\(check)(\(table.quotedDatabaseIdentifier))") else {
            return
        }
        let columns = try String.fetchAll(
            self, sql: "SELECT \"from\" FROM pragma_foreign_key_list(?, ?) WHERE id = ? ORDER BY seq",
            arguments: [table, schemaName, try row[3] as Int64])
        // A table without row ids does not say which row it is.
        let name = try (row[1] as Int64?).map { "the row \($0)" } ?? "a row"
        let place = schemaName == "main" ? "" : "\(schemaName)."
        var error = DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY,
            message: "FOREIGN KEY constraint failed: \(name) of table \(place)\(table) refers by "
                + "\(columns.joined(separator: ", ")) to a row of table \(place)\(try row[2] as String) that "
                + "does not exist")
        error.constraint?.table = table
        error.constraint?.columns = columns
        throw error
    }
}
