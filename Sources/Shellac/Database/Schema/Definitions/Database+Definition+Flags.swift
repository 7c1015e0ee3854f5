// Definitions by flags in the place of options, and indexes that are made anew.

extension Database {
    /// Creates a table: see ``create(table:in:options:body:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - temporary: Whether the table belongs to the connection alone.
    ///   - ifNotExists: Whether nothing happens when there is a table of that name.
    ///   - withoutRowID: Whether the table is sorted by its primary key.
    ///   - body: Defines the columns and constraints of the table.
    /// - Throws: what the body throws, and a ``DatabaseError`` when there is a table of that name, or SQLite refuses the
    ///   definition.
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
    ///   - unique: Whether two rows cannot have the same values.
    ///   - ifNotExists: Whether nothing happens when there is an index of that name.
    ///   - condition: Which rows the index holds; all if nil.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, when there is an index of that name, and when rows
    ///   violate a unique one.
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

    /// Makes all indexes anew that use a collation: see "REINDEX" in the SQLite documentation.
    ///
    /// It is for a collation whose order has changed.
    ///
    /// - Parameter collation: The name of one of SQLite's collations, or of one that the connection has.
    /// - Throws: a ``DatabaseError`` when there is no such collation.
    public func reindex(collation: Database.CollationName) throws {
        try execute(definition: "REINDEX \(collation.rawValue.quotedDatabaseIdentifier)")
    }

    /// Makes all indexes anew that use a collation made in Swift.
    ///
    /// - Parameter collation: The collation, which the connection has.
    /// - Throws: a ``DatabaseError`` when there is no such collation.
    public func reindex(collation: DatabaseCollation) throws {
        try reindex(collation: Database.CollationName(rawValue: collation.name))
    }

    /// Makes all indexes of a table anew.
    ///
    /// - Parameters:
    ///   - name: The name of the table. Without that of a database, a collation of this name comes first: its indexes are made
    ///     anew.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such table.
    public func reindex(table name: String, in schemaName: String? = nil) throws {
        try execute(definition: "REINDEX \(name.quoted(in: schemaName))")
    }

    /// Makes an index anew.
    ///
    /// - Parameters:
    ///   - name: The name of the index. Without that of a database, a collation of this name comes first: its indexes are made
    ///     anew.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such index.
    public func reindex(index name: String, in schemaName: String? = nil) throws {
        try execute(definition: "REINDEX \(name.quoted(in: schemaName))")
    }
}

extension ColumnInfo {
    /// The declared type, as definitions write it.
    public var columnType: Database.ColumnType { Database.ColumnType(sql: type.uppercased()) }
}
