// Rebuilds a table under a new definition, for changes that ALTER TABLE cannot make.

extension Database {
    // MARK: - Rebuilding tables

    /// Gives a table a new definition, and keeps its rows. This is for changes that ALTER TABLE
    /// cannot make, such as another type, a new constraint, or another order of the columns.
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
    /// The definition is complete: the table loses everything that it leaves out. Columns of the
    /// same name are copied. New columns get the value from `copying`, or else their default value.
    /// Columns missing from the definition are dropped.
    ///
    /// The rebuild keeps the rows with their row ids, the next id of an AUTOINCREMENT key, indexes,
    /// and triggers (also temporary ones). It also keeps views on the table, and the foreign keys
    /// of other tables into it. No trigger and no action such as ON DELETE CASCADE runs. An index
    /// in the definition is created unless one of its name exists.
    ///
    /// All of this happens, or nothing. It works inside a transaction, and in a migration of either
    /// kind. Afterwards the rebuild checks all rows for the foreign keys of the table, and for
    /// those into it. A migration with ``DatabaseMigrator/ForeignKeyChecks/deferred`` checks does
    /// that at its own end instead. If foreign keys are not enforced, nothing is checked.
    ///
    /// Observers of the table are notified that it has changed, but not of single rows:
    /// ``TransactionObserver/databaseDidChange()``.
    ///
    /// The statistics of ANALYZE are lost. Run it again if the table had some.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database of the table: `main`, `temp`, or the name of an attached one.
    ///   - options: `.strict` and `.withoutRowID`, which the new definition must repeat. Others
    ///     have no effect.
    ///   - expressions: The values of columns of the new table: expressions over the columns of the
    ///     old one.
    ///   - body: The new definition.
    /// - Throws: a ``DatabaseError`` that names an index, trigger or view broken by the new
    ///   definition. Drop it before, and create another one afterwards. SQLite's own error when a
    ///   row violates the new constraints. That error calls the table `new_player`, and ON CONFLICT
    ///   clauses of the definition do not apply. Also an error when the transaction has broken
    ///   foreign keys that it has not yet repaired, or when rows are being fetched meanwhile.
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
                    "\(table.name) cannot be rebuilt: only ordinary tables can, but not views, virtual "
                    + "tables or SQLite's own tables")
        }
        let definition = TableDefinition(
            name: table.name, in: table.schemaName, options: options.intersection([.strict, .withoutRowID]))
        try body(definition)
        let rebuild = TableRebuild(self, table: table, definition: definition, expressions: expressions)
        try withoutForeignKeys { isEnforced in
            try inSavepoint {
                try maintainingColumns(
                    of: table.name, in: table.schemaName, declared: definition.hasMaintainedColumns,
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

    /// Runs a function while foreign keys are not enforced, also inside a transaction.
    ///
    /// If they were enforced, DROP TABLE would first delete all rows of the table, and ON DELETE
    /// CASCADE the rows that refer to them. See "DROP TABLE" in the SQLite documentation.
    /// `PRAGMA defer_foreign_keys` does not help: it defers the check, but not the action.
    /// `PRAGMA foreign_keys` has no effect inside a transaction, because SQLite counts broken keys
    /// that are not yet repaired only while keys are enforced. So there must be none when enforcing
    /// stops. `sqlite3_db_config()` has no such restriction, but promises nothing, so the result is
    /// checked.
    ///
    /// - Parameter body: A function that receives whether they were enforced.
    private func withoutForeignKeys(_ body: (Bool) throws -> Void) throws {
        func areEnforced() throws -> Bool { try Bool.fetchOne(self, sql: "PRAGMA foreign_keys") ?? false }
        guard try areEnforced() else { return try body(false) }
        guard !hasBrokenForeignKeys else {
            throw DatabaseError(
                resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY,
                message:
                    "no table can be rebuilt while the transaction has broken foreign keys: repair them first"
            )
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
