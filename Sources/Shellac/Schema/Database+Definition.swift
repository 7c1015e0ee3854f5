// Creating, changing and dropping tables. What SQLite refuses is thrown as SQLite's own error, with the SQL.

extension Database {
    // MARK: - Tables

    /// Creates a table, and the indexes that its definition asks for: all of it, or nothing.
    ///
    /// ```swift
    /// try db.create(table: "player", options: .ifNotExists) { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("name", .text).notNull()
    ///     t.column("email", .text).notNull().unique().collate(.nocase)
    ///     t.column("score", .integer).notNull().defaults(to: 0)
    ///     t.column("creationDate", .datetime).notNull().defaults(sql: "CURRENT_TIMESTAMP")
    /// }
    /// ```
    ///
    /// Names are quoted, and default values become literals, so that any name and value is safe. What parameters
    /// called `sql` receive is SQL.
    public func create(
        table name: String, options: TableOptions = [], body: (TableDefinition) throws -> Void
    ) throws {
        checkAccess()
        let definition = TableDefinition(name: name, options: options)
        try body(definition)
        try execute(definitions: definition.statements(self))
    }

    /// Changes a table: all changes, in their order, or none.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in
    ///     t.add(column: "url", .text)
    ///     t.rename(column: "score", to: "points")
    ///     t.drop(column: "bonus")
    /// }
    /// ```
    public func alter(table name: String, body: (TableAlteration) throws -> Void) throws {
        checkAccess()
        let alteration = TableAlteration()
        try body(alteration)
        try execute(definitions: alteration.statements(forTable: name))
    }

    /// Renames a table. Indexes, triggers, views and foreign keys follow.
    public func rename(table name: String, to newName: String) throws {
        try execute(
            definition: "ALTER TABLE \(name.quotedDatabaseIdentifier) "
                + "RENAME TO \(newName.quotedDatabaseIdentifier)")
    }

    /// Drops a table, with its indexes and triggers.
    ///
    /// Where foreign keys are enforced, its rows are deleted first, with what follows from it: see "DROP TABLE" in
    /// the SQLite documentation.
    public func drop(table name: String) throws {
        try execute(definition: "DROP TABLE \(name.quotedDatabaseIdentifier)")
    }

    /// Drops a trigger.
    public func drop(trigger name: String) throws {
        try execute(definition: "DROP TRIGGER \(name.quotedDatabaseIdentifier)")
    }

    // MARK: - Executing

    /// Executes one statement: SQL that holds another behind it is refused, and nothing of it is executed.
    func execute(definition sql: String) throws {
        try makeStatement(sql: sql).execute()
    }

    /// Executes some statements, all or none.
    private func execute(definitions: [String]) throws {
        guard definitions.count > 1 else {
            for sql in definitions { try execute(definition: sql) }
            return
        }
        try inSavepoint {
            for sql in definitions { try execute(definition: sql) }
            return .commit
        }
    }
}
