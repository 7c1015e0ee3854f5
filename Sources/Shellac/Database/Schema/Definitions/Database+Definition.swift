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
    ///
    /// A table of an attached database has its name:
    ///
    /// ```swift
    /// try db.create(table: "player", in: "archive") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    /// }
    /// ```
    ///
    /// A table that another connection creates in `main` under the name of an attached one does not take the name from it
    /// at once: SQLite goes on with the attached table in new statements until one of this connection uses `main` and so
    /// reloads its schema, and in those that were prepared before until they are prepared again; name the database.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is left to SQLite: a
    ///     new table goes to `main`, and one that is there is looked for as in all SQL. So it is in all methods of this
    ///     kind.
    ///   - options: Options of the table, such as `.ifNotExists`.
    ///   - body: Defines the columns and constraints of the table.
    /// - Throws: what the body throws, and a ``DatabaseError`` when there is a table of that name, or SQLite refuses the
    ///   definition.
    public func create(
        table name: String, in schemaName: String? = nil, options: TableOptions = [],
        body: (TableDefinition) throws -> Void
    ) throws {
        checkAccess()
        let definition = TableDefinition(name: name, in: schemaName, options: options)
        try body(definition)
        let statements = try definition.statements(self)
        try followingCounters(in: definition.schemaName, declared: definition.hasCounters) {
            try execute(definitions: statements)
        }
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
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is looked for as in all SQL.
    ///   - body: Lists the changes, which are made when it has returned.
    /// - Throws: a ``DatabaseError`` when there is no such table, or when SQLite refuses a change: none is made then.
    public func alter(
        table name: String, in schemaName: String? = nil, body: (TableAlteration) throws -> Void
    ) throws {
        checkAccess()
        let alteration = TableAlteration(table: name, in: schemaName)
        try body(alteration)
        try followingCounters(
            of: name, in: schemaName, declared: alteration.hasCounters,
            without: alteration.dropsColumn ? name : nil
        ) { try alteration.run(self) }
    }

    /// Renames a table. Indexes, triggers, views and foreign keys follow.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is looked for as in all SQL.
    ///   - newName: The new name. The table stays in its database.
    /// - Throws: a ``DatabaseError`` when there is no such table, or when another table or index has the new name.
    public func rename(table name: String, in schemaName: String? = nil, to newName: String) throws {
        try followingCounters(of: name, in: schemaName) {
            try checkRenaming(name, in: schemaName)
            try execute(
                definition: "ALTER TABLE \(name.quoted(in: schemaName)) "
                    + "RENAME TO \(newName.quotedDatabaseIdentifier)")
        }
    }

    /// Drops a table, with its indexes and triggers.
    ///
    /// Where foreign keys are enforced, its rows are deleted first, with what follows from it: see "DROP TABLE" in
    /// the SQLite documentation.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such table.
    public func drop(table name: String, in schemaName: String? = nil) throws {
        try followingCounters(of: name, in: schemaName) {
            try execute(definition: "DROP TABLE \(name.quoted(in: schemaName))")
        }
    }

    /// Drops a trigger.
    ///
    /// - Parameters:
    ///   - name: The name of the trigger.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such trigger.
    public func drop(trigger name: String, in schemaName: String? = nil) throws {
        try execute(definition: "DROP TRIGGER \(name.quoted(in: schemaName))")
    }

    // MARK: - Executing

    /// Executes one statement: SQL that holds another behind it is refused, and nothing of it is executed.
    func execute(definition sql: String) throws {
        try makeStatement(sql: sql).execute()
    }

    /// Executes some statements, all or none.
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
