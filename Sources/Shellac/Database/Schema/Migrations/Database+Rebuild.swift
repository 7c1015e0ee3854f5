// Rebuilds a table under a new definition, for changes that ALTER TABLE cannot make.

extension Database {
    // MARK: - Rebuilding tables

    /// Gives a table a new definition, and keeps its rows: for what ALTER TABLE cannot do, such as another type, a
    /// new constraint, or another order of the columns.
    ///
    /// ```swift
    /// try db.rebuild(table: "player", copying: ["score": "CAST(points AS INTEGER)"]) { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("name", .text).notNull().collate(.nocase)
    ///     t.column("score", .integer).notNull().defaults(to: 0).check(sql: "score >= 0")
    ///     t.belongsTo("team", onDelete: .setNull)
    /// }
    /// ```
    ///
    /// The definition is complete: what it does not say, the table no longer has. Columns of the same name are copied.
    /// Columns that are new get what `copying` says, or else their default value, and those that the definition lacks
    /// are dropped.
    ///
    /// These stay: the rows with their row ids, the next id of an AUTOINCREMENT key, indexes, triggers (also temporary
    /// ones), views upon the table, and the foreign keys of other tables into it. No trigger and no action such as
    /// ON DELETE CASCADE runs. An index that the definition asks for is created unless there is one of its name.
    ///
    /// All of it happens, or nothing. It works inside a transaction, and in a migration of either kind. Afterwards the
    /// foreign keys of the table, and those into it, are checked, all rows of them: a migration with
    /// ``DatabaseMigrator/ForeignKeyChecks/deferred`` checks does that at its own end, and where foreign keys are not
    /// enforced nobody does.
    ///
    /// Observers of the table are told that it has changed, and not of single rows:
    /// ``TransactionObserver/databaseDidChange()``.
    ///
    /// The statistics of ANALYZE go. Run it again where the table has some.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database of the table: `main`, `temp`, or the name of an attached one.
    ///   - options: `.strict` and `.withoutRowID`, which the new definition must say again. Others mean nothing here.
    ///   - expressions: What becomes of a column of the new table: an expression over the columns of the old one.
    ///   - body: The new definition.
    /// - Throws: a ``DatabaseError`` that names the index, trigger or view which the new definition breaks: drop it
    ///   before, and create another one after. SQLite's own error when a row does not fit the new constraints (where
    ///   the table goes by the name `new_player`); no ON CONFLICT clause of the definition has a say in it. And an
    ///   error when the transaction has broken foreign keys that it still has to mend, or when rows are being fetched
    ///   meanwhile.
    public func rebuild(
        table name: String, in schemaName: String? = nil, options: TableOptions = [],
        copying expressions: [String: SQL] = [:], body: (TableDefinition) throws -> Void
    ) throws {
        checkAccess()
        let table = try tableSchema(name, in: schemaName)
        guard table.kind == .table, !Self.isSQLiteInternalTable(table.name) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "\(table.name) cannot be rebuilt: only tables can, and no view, virtual table or table of "
                    + "SQLite's own")
        }
        let definition = TableDefinition(
            name: table.name, in: table.schemaName, options: options.intersection([.strict, .withoutRowID]))
        try body(definition)
        let rebuild = TableRebuild(self, table: table, definition: definition, expressions: expressions)
        try withoutForeignKeys { isEnforced in
            try inSavepoint {
                try followingCounters(
                    of: table.name, in: table.schemaName, declared: definition.hasCounters,
                    without: table.name
                ) {
                    if isEnforced {
                        try checkingForeignKeysAtEnd { try rebuild.run() }
                    } else {
                        try rebuild.run()
                    }
                }
                return .commit
            }
        }
    }

    /// Runs a function while foreign keys are not enforced, inside a transaction, too.
    ///
    /// Were they enforced, DROP TABLE would delete all rows of the table first, and ON DELETE CASCADE the rows that
    /// refer to them: see "DROP TABLE" in the SQLite documentation. `PRAGMA defer_foreign_keys` does not help, since
    /// it defers the complaint, and not the action. `PRAGMA foreign_keys` does nothing inside a transaction, because
    /// keys that are broken and not yet mended are counted only while keys are enforced: none must be, then.
    /// `sqlite3_db_config()` knows no such restriction, but promises nothing: whether it worked is asked.
    ///
    /// - Parameter body: Receives whether they were enforced.
    private func withoutForeignKeys(_ body: (Bool) throws -> Void) throws {
        func areEnforced() throws -> Bool { try Bool.fetchOne(self, sql: "PRAGMA foreign_keys") ?? false }
        guard try areEnforced() else { return try body(false) }
        guard !hasBrokenForeignKeys else {
            throw DatabaseError(
                resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY,
                message:
                    "no table can be rebuilt while the transaction has broken foreign keys: mend them first")
        }
        try setForeignKeysEnforced(false)
        defer { try? setForeignKeysEnforced(true) }
        guard try !areEnforced() else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "SQLite refuses to rebuild a table safely inside this transaction: do it outside of one, or "
                    + "in a migration with deferred foreign key checks")
        }
        try body(true)
    }
}
