/// An index that is being created.
struct IndexDefinition {
    var name: String
    /// The database that the index is created in, if it must be named.
    var schemaName: String?
    var table: String
    /// The columns and expressions, as SQL.
    var keys: [String]
    var options: IndexOptions = []
    var condition: SQL?

    /// Returns the name of an index that was not given one: `index_player_on_teamId_name`.
    static func defaultName(table: String, columns: [String]) -> String {
        "index_\(table)_on_\(columns.joined(separator: "_"))"
    }

    /// Returns the name of an index requested by the definition of a column: `player_on_teamId`.
    static func columnIndexName(table: String, columns: [String]) -> String {
        "\(table)_on_\(columns.joined(separator: "_"))"
    }

    /// Whether the name of an index was generated.
    static func isAutomatic(_ name: String, table: String, columns: [String]) -> Bool {
        [defaultName(table: table, columns: columns), columnIndexName(table: table, columns: columns)]
            .contains { CaseInsensitiveName.matches($0, name) }
    }

    /// Whether an index is this one, also under the name that earlier versions generated.
    func isSame(_ index: IndexInfo) -> Bool {
        !index.isUnique && !index.isPartial && !index.hasExpressions
            && index.columns.map(\.quotedDatabaseIdentifier) == keys
            && Self.isAutomatic(index.name, table: table, columns: index.columns)
    }

    /// - Parameter db: The connection that the condition is written for.
    func sql(on db: Database? = nil) throws -> String {
        var sql = "CREATE \(options.contains(.unique) ? "UNIQUE " : "")INDEX "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql += "\(name.quoted(in: schemaName)) ON \(table.quotedDatabaseIdentifier)"
        sql += "(\(keys.joined(separator: ", ")))"
        if let condition { sql += " WHERE \(try condition.literalSQL(as: .expression, on: db))" }
        return sql
    }
}

extension Database {
    // MARK: - Indexes

    /// Creates an index on columns.
    ///
    /// ```swift
    /// try db.create(index: "playerByEmail", on: "player", columns: ["email"], options: .unique)
    /// try db.create(
    ///     index: "playerByScore", on: "player", columns: ["score"], condition: "score > \(1000)")
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the index.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, SQLite
    ///     chooses.
    ///   - table: The table to index.
    ///   - columns: The names of the indexed columns.
    ///   - options: Options of the index, such as `.unique`.
    ///   - condition: A condition on the rows that the index holds. All rows if nil. Its values are
    ///     written into the SQL as literals: see "Partial Indexes" in the SQLite documentation.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, or an index of that
    ///   name exists. Also when rows violate a unique index.
    public func create(
        index name: String, in schemaName: String? = nil, on table: String, columns: [String],
        options: IndexOptions = [], condition: SQL? = nil
    ) throws {
        let definition = try IndexDefinition(
            name: name, schemaName: schemaName, table: table,
            keys: columns.map(\.quotedDatabaseIdentifier), options: options, condition: condition
        ).sql(on: self)
        try maintainingColumns(of: table, in: schemaName) { try execute(definition: definition) }
    }

    /// Creates an index on expressions.
    ///
    /// ```swift
    /// try db.create(
    ///     index: "playerByName", on: "player", expressions: ["name COLLATE NOCASE", "score DESC"])
    /// ```
    ///
    /// See "Indexes On Expressions" in the SQLite documentation for the expressions that it
    /// accepts.
    ///
    /// - Parameters:
    ///   - name: The name of the index.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, SQLite
    ///     chooses.
    ///   - table: The table to index.
    ///   - expressions: The indexed expressions, as SQL.
    ///   - options: Options of the index, such as `.unique`.
    ///   - condition: A condition on the rows that the index holds. All rows if nil.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, or an index of that
    ///   name exists. Also when rows violate a unique index.
    public func create(
        index name: String, in schemaName: String? = nil, on table: String, expressions: [SQL],
        options: IndexOptions = [], condition: SQL? = nil
    ) throws {
        let definition = try IndexDefinition(
            name: name, schemaName: schemaName, table: table,
            keys: expressions.map { try $0.literalSQL(as: .expression, on: self) }, options: options,
            condition: condition
        ).sql(on: self)
        try maintainingColumns(of: table, in: schemaName) { try execute(definition: definition) }
    }

    /// Creates an index on columns, with a name composed of theirs.
    ///
    /// ```swift
    /// try db.create(indexOn: "player", columns: ["teamId", "name"])
    /// // CREATE INDEX "index_player_on_teamId_name" ON "player"("teamId", "name")
    /// ```
    ///
    /// - Parameters:
    ///   - table: The table to index.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, SQLite
    ///     chooses.
    ///   - columns: The names of the indexed columns.
    ///   - options: Options of the index, such as `.unique`.
    ///   - condition: A condition on the rows that the index holds. All rows if nil.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, or an index of that
    ///   name exists. Also when rows violate a unique index.
    public func create(
        indexOn table: String, in schemaName: String? = nil, columns: [String],
        options: IndexOptions = [], condition: SQL? = nil
    ) throws {
        try create(
            index: IndexDefinition.defaultName(table: table, columns: columns), in: schemaName, on: table,
            columns: columns, options: options, condition: condition)
    }

    /// Drops an index.
    ///
    /// An index created for a column definition, by `indexed()` or `belongsTo`, is named
    /// `player_on_teamId`. In earlier versions it was named `index_player_on_teamId`. Either name
    /// finds it.
    ///
    /// - Parameters:
    ///   - name: The name of the index.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is
    ///     looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such index.
    public func drop(index name: String, in schemaName: String? = nil) throws {
        try dropIndex(knownIndexName(name, in: schemaName), in: schemaName)
    }

    private func dropIndex(_ name: String, in schemaName: String?) throws {
        try maintainingColumns(ofIndex: name, in: schemaName) {
            try execute(definition: "DROP INDEX \(name.quoted(in: schemaName))")
        }
    }

    /// Returns the name of an index, or the other generated name of one.
    private func knownIndexName(_ name: String, in schemaName: String?) throws -> String {
        guard try !indexExists(name, in: schemaName) else { return name }
        let prefix = "index_"
        let other = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : prefix + name
        guard let object = try schema.object(.index, other, in: schemaName),
            let table = try schema.table(object.tableName, in: schemaName),
            let index = table.indexes.first(where: { CaseInsensitiveName.matches($0.name, other) }),
            index.origin == .createIndex, !index.hasExpressions,
            IndexDefinition.isAutomatic(name, table: table.name, columns: index.columns)
        else { return name }
        return other
    }

    /// Drops the index on the given columns, in this order, whatever its name.
    ///
    /// If there are several, it is the one named by
    /// ``create(indexOn:in:columns:options:condition:)``, or else the oldest.
    ///
    /// - Parameters:
    ///   - table: The name of the table.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - columns: The names of the indexed columns. An index with expressions does not match.
    /// - Throws: a ``DatabaseError`` when there is no such index.
    public func drop(
        indexOn table: String, in schemaName: String? = nil, columns: [String]
    ) throws {
        let table = try tableSchema(table, in: schemaName)
        let indexes = table.indexes.filter { index in
            index.origin == .createIndex && !index.hasExpressions
                && index.columns.map(CaseInsensitiveName.init) == columns.map(CaseInsensitiveName.init)
        }
        let defaultName = IndexDefinition.defaultName(table: table.name, columns: columns)
        let named = indexes.first { CaseInsensitiveName.matches($0.name, defaultName) }
        guard let index = named ?? indexes.first else {
            throw DatabaseError(
                message: "no such index: on \(table.name)(\(columns.joined(separator: ", ")))")
        }
        try dropIndex(index.name, in: table.schemaName)
    }
}
