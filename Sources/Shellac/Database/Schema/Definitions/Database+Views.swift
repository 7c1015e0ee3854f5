// Creates and drops views.

extension Database {
    // MARK: - Views

    /// Creates a view.
    ///
    /// ```swift
    /// try db.create(view: "hero", as: "SELECT * FROM player WHERE score > \(1000)")
    /// ```
    ///
    /// SQLite stores the SQL of the view, which has no parameters. The values are written into it
    /// as literals.
    ///
    /// - Parameters:
    ///   - name: The name of the view.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, SQLite
    ///     chooses.
    ///   - options: Options of the view, such as `.ifNotExists`.
    ///   - columns: The names of the view's columns. Nil for those of the query.
    ///   - query: The SELECT statement that returns the rows of the view.
    /// - Throws: a ``DatabaseError`` when there is a table or view of that name, or SQLite refuses
    ///   the query.
    public func create(
        view name: String, in schemaName: String? = nil, options: ViewOptions = [],
        columns: [String]? = nil, as query: SQL
    ) throws {
        var sql = "CREATE \(options.contains(.temporary) ? "TEMPORARY " : "")VIEW "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql += name.quoted(in: schemaName)
        if let columns { sql += " \(columns.quotedColumnList)" }
        try execute(definition: "\(sql) AS \(query.literalSQL(on: self))")
    }

    /// Drops a view.
    ///
    /// - Parameters:
    ///   - name: The name of the view.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, it is
    ///     looked for as in all SQL.
    /// - Throws: a ``DatabaseError`` when there is no such view.
    public func drop(view name: String, in schemaName: String? = nil) throws {
        try execute(definition: "DROP VIEW \(name.quoted(in: schemaName))")
    }
}
