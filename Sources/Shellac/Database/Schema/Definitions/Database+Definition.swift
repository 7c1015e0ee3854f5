// Creates, changes and drops tables.
//
// If SQLite refuses a definition, these methods throw its own error, with the SQL.

extension Database {
    // MARK: - Tables

    /// Creates a table and the indexes of its definition, all of it or nothing.
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
    /// Names are quoted and default values become literals, so any name and value is safe.
    /// Parameters called `sql` take SQL.
    ///
    /// To create a table in an attached database, pass the database name:
    ///
    /// ```swift
    /// try db.create(table: "player", in: "archive") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    /// }
    /// ```
    ///
    /// Suppose another connection creates a table in `main` under the name of an attached table.
    /// The name does not refer to the new table at once. New statements of this connection use the
    /// attached table until a statement uses `main` and so reloads its schema. Statements prepared
    /// before do so until they are prepared again. To avoid this, name the database.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, SQLite
    ///     chooses. A new table is created in `main`, and SQLite looks for an existing one as in
    ///     all SQL. This applies to all methods of this kind.
    ///   - options: Options of the table, such as `.ifNotExists`.
    ///   - body: Defines the columns and constraints of the table.
    /// - Throws: the error of the body, or a ``DatabaseError`` when there is a table of that name,
    ///   or SQLite refuses the definition.
    public func create(
        table name: String, in schemaName: String? = nil, options: TableOptions = [],
        body: (TableDefinition) throws -> Void
    ) throws {
        checkAccess()
        let definition = TableDefinition(name: name, in: schemaName, options: options)
        try body(definition)
        let statements = try definition.statements(self)
        try maintainingColumns(in: definition.schemaName, declared: definition.hasMaintainedColumns) {
            try execute(definitions: statements)
        }
    }

    /// Alters a table: all changes in their order, or none.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in
    ///     t.add(column: "url", .text)
    ///     t.rename(column: "score", to: "points")
    ///     t.drop(column: "bonus")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is
    ///     looked for as in all SQL.
    ///   - body: Lists the changes, which are made after it returns.
    /// - Throws: a ``DatabaseError`` when there is no such table, or when SQLite refuses a change.
    ///   None is made then.
    public func alter(
        table name: String, in schemaName: String? = nil, body: (TableAlteration) throws -> Void
    ) throws {
        checkAccess()
        let alteration = TableAlteration(table: name, in: schemaName)
        try body(alteration)
        try maintainingColumns(
            of: name, in: schemaName, declared: alteration.hasMaintainedColumns,
            without: alteration.dropsColumn ? name : nil
        ) { try alteration.run(self) }
    }

    /// Renames a table. Indexes, triggers, views and foreign keys are updated.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is
    ///     looked for as in all SQL.
    ///   - newName: The new name. The table remains in its database.
    /// - Throws: a ``DatabaseError`` when there is no such table, or when another table or index
    ///   has the new name.
    public func rename(table name: String, in schemaName: String? = nil, to newName: String) throws {
        try maintainingColumns(of: name, in: schemaName) {
            try checkRenaming(name, in: schemaName)
            try execute(
                definition: "ALTER TABLE \(name.quoted(in: schemaName)) "
                    + "RENAME TO \(newName.quotedDatabaseIdentifier)")
        }
    }

    /// Drops a table, with its indexes and triggers.
    ///
    /// If foreign keys are enforced, SQLite deletes its rows first, with all consequences: see
    /// "DROP TABLE" in the SQLite documentation.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is
    ///     looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such table.
    public func drop(table name: String, in schemaName: String? = nil) throws {
        try maintainingColumns(of: name, in: schemaName) {
            try execute(definition: "DROP TABLE \(name.quoted(in: schemaName))")
        }
    }

    /// Drops a trigger.
    ///
    /// - Parameters:
    ///   - name: The name of the trigger.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is
    ///     looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such trigger.
    public func drop(trigger name: String, in schemaName: String? = nil) throws {
        try execute(definition: "DROP TRIGGER \(name.quoted(in: schemaName))")
    }

    // MARK: - Executing

    /// Executes one statement. SQL with a second statement is refused, and nothing of it is
    /// executed.
    func execute(definition sql: String) throws {
        try makeStatement(sql: sql).execute()
    }

    /// Executes the given statements, all or none.
    func execute(definitions: [String]) throws {
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
