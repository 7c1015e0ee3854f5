// Reads the declarations of a database.
//
// All names match without regard to the case of ASCII letters. A name without a database name is
// looked up as SQLite does: in `temp`, then in `main`, then in the attached databases.

extension Database {
    // MARK: - Existence and names

    /// Whether a table or virtual table exists.
    ///
    /// ```swift
    /// if try !db.tableExists("player") {
    ///     try db.create(table: "player") { t in
    ///         t.autoIncrementedPrimaryKey("id")
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - tableName: The name of the table.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no database of that name, here and in all methods
    ///   of this kind.
    public func tableExists(_ tableName: String, in schemaName: String? = nil) throws -> Bool {
        try schema.contains(.table, tableName, in: schemaName)
    }

    /// Whether a view exists.
    ///
    /// - Parameters:
    ///   - viewName: The name of the view.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no database of that name.
    public func viewExists(_ viewName: String, in schemaName: String? = nil) throws -> Bool {
        try schema.contains(.view, viewName, in: schemaName)
    }

    /// Whether a trigger exists.
    ///
    /// - Parameters:
    ///   - triggerName: The name of the trigger.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no database of that name.
    public func triggerExists(_ triggerName: String, in schemaName: String? = nil) throws -> Bool {
        try schema.contains(.trigger, triggerName, in: schemaName)
    }

    /// Whether an index exists.
    ///
    /// - Parameters:
    ///   - indexName: The name of the index.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no database of that name.
    public func indexExists(_ indexName: String, in schemaName: String? = nil) throws -> Bool {
        try schema.contains(.index, indexName, in: schemaName)
    }

    /// Returns the names of the tables and virtual tables of one database, oldest first, without
    /// SQLite's own.
    ///
    /// - Parameter schemaName: The database: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` if there is no database of that name.
    public func tableNames(in schemaName: String = "main") throws -> [String] {
        try schema.objects(.table, in: schemaName).map(\.name).filter { !Self.isSQLiteInternalTable($0) }
    }

    /// Returns the names of the views of one database, oldest first.
    ///
    /// - Parameter schemaName: The database: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` if there is no database of that name.
    public func viewNames(in schemaName: String = "main") throws -> [String] {
        try schema.objects(.view, in: schemaName).map(\.name)
    }

    /// Whether SQLite reserves a name for itself, because it begins with `sqlite_`.
    ///
    /// - Parameter tableName: The name of a table, which need not exist, or of an index.
    public static func isSQLiteInternalTable(_ tableName: String) -> Bool {
        CaseInsensitiveName.matches(String(Substring(tableName.utf8.prefix(7))), "sqlite_")
    }

    // MARK: - Parts of tables

    /// Returns the columns of a table or a view, in order.
    ///
    /// ```swift
    /// let names = try db.columns(in: "player").map(\.name)
    /// ```
    ///
    /// Table-valued functions have columns, too: `db.columns(in: "json_each")`.
    ///
    /// - Parameters:
    ///   - tableName: The name of the table or the view.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - includingHidden: Whether to include the hidden columns of a virtual table. Without them,
    ///     the columns are those of `SELECT *`.
    /// - Throws: a ``DatabaseError`` if there is no such table, here and in all methods of this
    ///   kind.
    public func columns(
        in tableName: String, in schemaName: String? = nil, includingHidden: Bool = false
    ) throws -> [ColumnInfo] {
        let table = try tableSchema(tableName, in: schemaName)
        return includingHidden ? table.allColumns : table.columns
    }

    /// Returns the primary key of a table.
    ///
    /// ``PrimaryKeyInfo`` describes the key of tables without a declared one, and of views.
    ///
    /// - Parameters:
    ///   - tableName: The name of the table or the view.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no such table.
    public func primaryKey(_ tableName: String, in schemaName: String? = nil) throws -> PrimaryKeyInfo {
        try tableSchema(tableName, in: schemaName).primaryKey
    }

    /// Returns the indexes of a table, oldest first. They include those that constraints have
    /// created.
    ///
    /// The row id has no index, since the table itself is sorted by it.
    ///
    /// - Parameters:
    ///   - tableName: The name of the table.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no such table.
    public func indexes(on tableName: String, in schemaName: String? = nil) throws -> [IndexInfo] {
        try tableSchema(tableName, in: schemaName).indexes
    }

    /// Whether the given columns are a unique key of a table. They are if they are the primary key,
    /// the row id, or all columns of a unique index, in any order.
    ///
    /// ```swift
    /// try db.create(table: "player") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("email", .text).unique()
    /// }
    /// try db.table("player", hasUniqueKey: ["email"])         // true
    /// try db.table("player", hasUniqueKey: ["id", "email"])   // false
    /// ```
    ///
    /// Partial indexes, and indexes on expressions, do not count. SQLite considers no two NULLs
    /// equal. A unique key that is not NOT NULL may therefore still match several rows with NULL.
    ///
    /// - Parameters:
    ///   - tableName: The name of the table.
    ///   - columns: The names of the columns.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no such table.
    public func table(
        _ tableName: String, hasUniqueKey columns: some Sequence<String>, in schemaName: String? = nil
    ) throws -> Bool {
        try tableSchema(tableName, in: schemaName).uniqueKey(of: columns) != nil
    }

    /// Returns the foreign keys of a table, in the order of their declaration.
    ///
    /// - Parameters:
    ///   - tableName: The name of the table.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no such table.
    public func foreignKeys(on tableName: String, in schemaName: String? = nil) throws -> [ForeignKeyInfo] {
        try schema.foreignKeys(of: tableSchema(tableName, in: schemaName))
    }

    /// Returns the triggers on a table or a view, oldest first, temporary ones last.
    ///
    /// A temporary trigger is listed for every table with the name of its table, because SQLite
    /// does not report which of them it is on.
    ///
    /// - Parameters:
    ///   - tableName: The name of the table or the view.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no such table.
    public func triggers(on tableName: String, in schemaName: String? = nil) throws -> [TriggerInfo] {
        let table = try tableSchema(tableName, in: schemaName)
        func triggers(_ name: String, isTemporary: Bool) throws -> [TriggerInfo] {
            try schema.objects(.trigger, in: name)
                .filter { CaseInsensitiveName.matches($0.tableName, table.name) }
                .map {
                    TriggerInfo(
                        name: $0.name, tableName: $0.tableName, sql: $0.sql, isTemporary: isTemporary)
                }
        }
        let isTemporary = CaseInsensitiveName.matches(table.schemaName, "temp")
        let own = isTemporary ? [] : try triggers(table.schemaName, isTemporary: false)
        return own + (try triggers("temp", isTemporary: true))
    }
}
