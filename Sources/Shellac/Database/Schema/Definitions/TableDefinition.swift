/// A table that is being created: see ``Database/create(table:in:options:body:)``.
public final class TableDefinition: ReferringTable {
    let name: String
    /// The requested database.
    private let givenSchemaName: String?
    let options: TableOptions

    private enum Element {
        case column(ColumnDefinition)
        case foreignKey(ForeignKeyDefinition)
        case sql(String)
    }
    private var elements: [Element] = []
    private var constraints: [String] = []
    private var primaryKeyConstraint: KeyClause?
    /// Whether the columns being added belong to the primary key.
    private var isInsidePrimaryKey = false
    private var primaryKeyElements: Range<Int>?
    private var primaryKeyConflictResolution: Database.ConflictResolution?

    init(name: String, in schemaName: String?, options: TableOptions) {
        self.name = name
        givenSchemaName = schemaName
        self.options = options
    }

    // MARK: - Columns

    /// Adds a column.
    ///
    /// ```swift
    /// t.column("name", .text).notNull()
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - type: The declared type. It is optional.
    @discardableResult
    public func column(_ name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        if isInsidePrimaryKey { column.notNullByDefault() }
        elements.append(.column(column))
        return column
    }

    /// Adds a column, given as SQL.
    ///
    /// ```swift
    /// t.column(sql: "name TEXT NOT NULL COLLATE NOCASE")
    /// ```
    ///
    /// - Parameter sql: The column's name, its type and its constraints, as SQL.
    public func column(sql: String) { elements.append(.sql(sql.embeddedSQL)) }

    /// Adds columns that refer to the primary key of another table.
    ///
    /// ```swift
    /// try db.create(table: "team") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    /// }
    /// try db.create(table: "player") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.belongsTo("team", onDelete: .cascade).notNull()
    ///     t.belongsTo("formerTeam", inTable: "team")
    /// }
    /// // "teamId" INTEGER NOT NULL REFERENCES "team"("id") ON DELETE CASCADE
    /// // "formerTeamId" INTEGER REFERENCES "team"("id")
    /// ```
    ///
    /// A column's name is the singular name plus the name of the key's column, with an upper-case
    /// first letter. `team` and `id` make `teamId`, `countries` and `code` make `countryCode`. Each
    /// column of the primary key gets one column of its type. SQLite does not distinguish `teamId`
    /// from `teamID`, so a property of that name is stored in it. For `teamID` in the schema, write
    /// `t.column("teamID", .integer).references("team").indexed()`.
    ///
    /// - Parameters:
    ///   - name: The name of the reference.
    ///   - table: The referenced table, which may be the one being created. If nil, the table of
    ///     that name, or else of its plural.
    ///   - onDelete: The action on the row when the row it refers to is deleted.
    ///   - onUpdate: The action on the row when the key it refers to changes.
    ///   - isDeferred: Whether to check the key when the transaction ends, not the statement.
    ///   - isIndexed: Whether to create an index on the columns. Deletions in the other table need
    ///     it ("SQLite Foreign Key Support", section "Required and Suggested Database Indexes").
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil, onDelete: Database.ForeignKeyAction? = nil,
        onUpdate: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false,
        indexed isIndexed: Bool = true
    ) -> ForeignKeyDefinition {
        let key = ForeignKeyDefinition(
            name: name, table: table, onDelete: onDelete, onUpdate: onUpdate, isDeferred: isDeferred,
            isIndexed: isIndexed)
        if isInsidePrimaryKey { key.notNull() }
        elements.append(.foreignKey(key))
        return key
    }

    // MARK: - Primary keys

    /// Adds an integer primary key that is the row id, and never reuses the id of a deleted row.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - conflictResolution: The policy for a duplicate key. An error by default.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> ColumnDefinition {
        column(name, .integer).primaryKey(onConflict: conflictResolution, autoincrement: true)
    }

    /// Adds a column that is the primary key.
    ///
    /// ```swift
    /// t.primaryKey("code", .text)
    /// // "code" TEXT PRIMARY KEY NOT NULL
    /// ```
    ///
    /// An `.integer` column becomes another name of the row id, which an insert of NULL fills in.
    /// Others are declared NOT NULL, because SQLite would accept NULL in them.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - type: The declared type.
    ///   - conflictResolution: The policy for a duplicate key. An error by default.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: Database.ColumnType,
        onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> ColumnDefinition {
        let column = column(name, type).primaryKey(onConflict: conflictResolution)
        // The row id needs no NOT NULL.
        if !CaseInsensitiveName.matches(type.rawValue, "INTEGER") { column.notNullByDefault() }
        return column
    }

    /// Adds the columns of the primary key. They are declared NOT NULL.
    ///
    /// ```swift
    /// try db.create(table: "passport") { t in
    ///     t.primaryKey {
    ///         t.belongsTo("country")
    ///         t.column("number", .text)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - conflictResolution: The policy for a duplicate key. An error by default.
    ///   - body: Adds the columns, in the order of the key. It is called once, immediately.
    public func primaryKey(
        onConflict conflictResolution: Database.ConflictResolution? = nil, body: () throws -> Void
    ) rethrows {
        let start = elements.count
        isInsidePrimaryKey = true
        defer { isInsidePrimaryKey = false }
        try body()
        primaryKeyElements = start..<elements.count
        primaryKeyConflictResolution = conflictResolution
    }

    /// Makes columns the primary key.
    ///
    /// Give them `notNull()`: SQLite otherwise accepts NULL (except in WITHOUT ROWID tables).
    ///
    /// - Parameters:
    ///   - columns: The names of the columns, in the order of the key.
    ///   - conflictResolution: The policy for a duplicate key. An error by default.
    public func primaryKey(
        _ columns: [String], onConflict conflictResolution: Database.ConflictResolution? = nil
    ) {
        primaryKeyConstraint = KeyClause(columns: columns, conflictResolution: conflictResolution)
    }

    // MARK: - Constraints

    /// Refuses a row whose columns have the values of another row.
    ///
    /// ```swift
    /// t.uniqueKey(["teamId", "number"])
    /// ```
    ///
    /// - Parameters:
    ///   - columns: The names of the columns.
    ///   - conflictResolution: The policy for such a row. An error by default.
    public func uniqueKey(
        _ columns: [String], onConflict conflictResolution: Database.ConflictResolution? = nil
    ) {
        constraints.append(KeyClause(columns: columns, conflictResolution: conflictResolution).sql("UNIQUE"))
    }

    /// Makes columns a foreign key.
    ///
    /// ```swift
    /// t.foreignKey(["countryCode", "number"], references: "passport")
    /// ```
    ///
    /// - Parameters:
    ///   - columns: The columns that refer to the other table.
    ///   - table: The referenced table.
    ///   - destinationColumns: The referenced columns. The primary key if nil.
    ///   - onDelete: The action on the row when the row it refers to is deleted.
    ///   - onUpdate: The action on the row when the key it refers to changes.
    ///   - isDeferred: Whether to check the key when the transaction ends, not the statement.
    public func foreignKey(
        _ columns: [String], references table: String, columns destinationColumns: [String]? = nil,
        onDelete: Database.ForeignKeyAction? = nil, onUpdate: Database.ForeignKeyAction? = nil,
        deferred isDeferred: Bool = false
    ) {
        let clause = ReferencesClause(
            table: table, columns: destinationColumns, onDelete: onDelete, onUpdate: onUpdate,
            isDeferred: isDeferred)
        constraints.append("FOREIGN KEY \(columns.quotedColumnList) \(clause.sql)")
    }

    /// Refuses a row for which an SQL condition is false.
    ///
    /// ```swift
    /// t.check(sql: "validFrom <= validUntil")
    /// ```
    ///
    /// - Parameter sql: The condition, as SQL. A row for which it is NULL is accepted.
    public func check(sql: String) { constraints.append("CHECK (\(sql.embeddedSQL))") }

    /// Adds a constraint, given as SQL.
    ///
    /// ```swift
    /// t.constraint(sql: "CONSTRAINT positive CHECK (score > 0)")
    /// ```
    ///
    /// - Parameter sql: The constraint, as SQL, with or without a name.
    public func constraint(sql: String) { constraints.append(sql.embeddedSQL) }

    // MARK: - SQL

    /// The database that the table is created in.
    var schemaName: String { givenSchemaName ?? (options.contains(.temporary) ? "temp" : "main") }

    /// The columns and constraints of a definition, as SQL, and the columns to index.
    private struct Parts {
        var columns: [String] = []
        var constraints: [String] = []
        var indexed: [[String]] = []
    }

    private func parts(_ db: Database) throws -> Parts {
        var parts = Parts()
        var keys: [[String]] = []
        for element in elements {
            switch element {
            case .column(let column):
                keys.append([column.name])
                parts.columns.append(column.sql)
                if column.needsIndex { parts.indexed.append([column.name]) }
            case .foreignKey(let key):
                let resolved = try key.resolve(db, in: self)
                keys.append(resolved.columns)
                parts.columns += resolved.columnsSQL
                parts.constraints += resolved.constraintsSQL
                if key.needsIndex { parts.indexed.append(resolved.columns) }
            case .sql(let sql):
                keys.append([])
                parts.columns.append(sql)
            }
        }
        if let primaryKeyElements {
            let clause = KeyClause(
                columns: keys[primaryKeyElements].flatMap { $0 },
                conflictResolution: primaryKeyConflictResolution)
            parts.constraints.insert(clause.sql("PRIMARY KEY"), at: 0)
        }
        if let primaryKeyConstraint {
            parts.constraints.insert(primaryKeyConstraint.sql("PRIMARY KEY"), at: 0)
        }
        parts.constraints += constraints
        return parts
    }

    /// Returns the statement that creates the table.
    private func tableSQL(_ parts: Parts, name: String) -> String {
        var sql = "CREATE \(options.contains(.temporary) ? "TEMPORARY " : "")TABLE "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql += "\(name.quoted(in: givenSchemaName)) "
        sql += "(\((parts.columns + parts.constraints).joined(separator: ", ")))"
        var tableOptions: [String] = []
        if options.contains(.strict) { tableOptions.append("STRICT") }
        if options.contains(.withoutRowID) { tableOptions.append("WITHOUT ROWID") }
        if !tableOptions.isEmpty { sql += " \(tableOptions.joined(separator: ", "))" }
        return sql
    }

    private func indexes(_ parts: Parts, in schemaName: String?, options: IndexOptions) -> [IndexDefinition] {
        parts.indexed.map { columns in
            IndexDefinition(
                name: IndexDefinition.columnIndexName(table: name, columns: columns), schemaName: schemaName,
                table: name, keys: columns.map(\.quotedDatabaseIdentifier), options: options)
        }
    }

    /// Returns the statements that create the table and its indexes.
    func statements(_ db: Database) throws -> [String] {
        let parts = try parts(db)
        // Without a database name, an index would be created on a temporary table of the same name.
        let isShadowed = try !options.contains(.temporary) && db.tableExists(name, in: "temp")
        return try [tableSQL(parts, name: name)]
            + indexes(
                parts, in: givenSchemaName ?? (isShadowed ? schemaName : nil),
                options: options.contains(.ifNotExists) ? .ifNotExists : []
            ).map { try $0.sql() }
    }

    /// Returns the statements that create the table under another name, and the indexes to create
    /// after it is renamed. See ``Database/rebuild(table:in:options:copying:body:)``.
    func rebuildingStatements(_ db: Database, name: String) throws -> (
        table: String, indexes: [IndexDefinition]
    ) {
        let parts = try parts(db)
        return (tableSQL(parts, name: name), indexes(parts, in: schemaName, options: .ifNotExists))
    }

    /// Whether a column needs triggers that maintain it.
    var hasMaintainedColumns: Bool {
        elements.contains { if case .column(let column) = $0 { column.isMaintained } else { false } }
    }

    func ownPrimaryKey(_ db: Database) throws -> [(name: String, type: Database.ColumnType?)] {
        func columns(_ element: Element) throws -> [(name: String, type: Database.ColumnType?)] {
            switch element {
            case .column(let column): [(column.name, column.type)]
            case .foreignKey(let key): try key.resolvedColumns(db, in: self)
            case .sql: []
            }
        }
        if let primaryKeyElements { return try elements[primaryKeyElements].flatMap(columns) }
        if let primaryKeyConstraint {
            // A foreign key to this table itself adds no column of its primary key.
            let known = elements.compactMap { element -> (name: String, type: Database.ColumnType?)? in
                if case .column(let column) = element { (column.name, column.type) } else { nil }
            }
            return primaryKeyConstraint.columns.map { name in
                (name, known.first { CaseInsensitiveName.matches($0.name, name) }?.type)
            }
        }
        for case .column(let column) in elements where column.isPrimaryKey {
            return [(column.name, column.type)]
        }
        return []
    }
}
