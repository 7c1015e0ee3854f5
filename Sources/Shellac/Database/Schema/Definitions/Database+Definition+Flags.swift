// Definitions with flags instead of options, and rebuilt indexes.

extension Database {
    /// Creates a table: see ``create(table:in:options:body:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - temporary: Whether the table exists only on this connection.
    ///   - ifNotExists: Whether an existing table of that name is left as it is.
    ///   - withoutRowID: Whether the table is sorted by its primary key.
    ///   - body: Defines the columns and constraints of the table.
    /// - Throws: the error of the body, or a ``DatabaseError`` when there is a table of that name,
    ///   or SQLite refuses the definition.
    @_disfavoredOverload
    public func create(
        table name: String, temporary: Bool = false, ifNotExists: Bool = false, withoutRowID: Bool = false,
        body: (TableDefinition) throws -> Void
    ) throws {
        var options: TableOptions = []
        if temporary { options.insert(.temporary) }
        if ifNotExists { options.insert(.ifNotExists) }
        if withoutRowID { options.insert(.withoutRowID) }
        try create(table: name, options: options, body: body)
    }

    /// Creates an index on columns: see the method that takes options.
    ///
    /// - Parameters:
    ///   - name: The name of the index.
    ///   - table: The table to index.
    ///   - columns: The names of the indexed columns.
    ///   - unique: Whether no two rows can have the same values.
    ///   - ifNotExists: Whether an existing index of that name is left as it is.
    ///   - condition: A condition on the rows that the index holds. All rows if nil.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, or an index of that
    ///   name exists. Also when rows violate a unique index.
    @_disfavoredOverload
    public func create(
        index name: String, on table: String, columns: [String], unique: Bool = false,
        ifNotExists: Bool = false,
        condition: SQL? = nil
    ) throws {
        var options: IndexOptions = []
        if unique { options.insert(.unique) }
        if ifNotExists { options.insert(.ifNotExists) }
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    /// Rebuilds all indexes that use a collation: see "REINDEX" in the SQLite documentation.
    ///
    /// Call this when the order of a collation has changed.
    ///
    /// - Parameter collation: The name of one of SQLite's collations, or of one added to the
    ///   connection.
    /// - Throws: a ``DatabaseError`` when there is no such collation.
    public func reindex(collation: Database.CollationName) throws {
        try execute(definition: "REINDEX \(collation.rawValue.quotedDatabaseIdentifier)")
    }

    /// Rebuilds all indexes that use a collation defined in Swift.
    ///
    /// - Parameter collation: A collation of the connection.
    /// - Throws: a ``DatabaseError`` when there is no such collation.
    public func reindex(collation: DatabaseCollation) throws {
        try reindex(collation: Database.CollationName(rawValue: collation.name))
    }

    /// Rebuilds all indexes of a table.
    ///
    /// - Parameters:
    ///   - name: The name of the table. Without a database name, a collation of this name takes
    ///     precedence. Its indexes are then rebuilt.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is
    ///     looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such table.
    public func reindex(table name: String, in schemaName: String? = nil) throws {
        try execute(definition: "REINDEX \(name.quoted(in: schemaName))")
    }

    /// Rebuilds an index.
    ///
    /// - Parameters:
    ///   - name: The name of the index. Without a database name, a collation of this name takes
    ///     precedence. Its indexes are then rebuilt.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is
    ///     looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such index.
    public func reindex(index name: String, in schemaName: String? = nil) throws {
        try execute(definition: "REINDEX \(name.quoted(in: schemaName))")
    }
}

extension ColumnInfo {
    /// The declared type, as definitions spell it.
    public var columnType: Database.ColumnType { Database.ColumnType(sql: type.uppercased()) }
}
