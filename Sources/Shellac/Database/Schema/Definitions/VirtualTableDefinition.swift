/// A virtual table that is being created.
///
/// See ``Database/create(virtualTable:in:options:using:body:)``.
public final class VirtualTableDefinition {
    fileprivate var arguments: [String] = []

    /// Adds a column.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - sql: Further SQL for the module, such as `UNINDEXED`.
    public func column(_ name: String, sql: String? = nil) {
        arguments.append(name.quotedDatabaseIdentifier + (sql.map { " \($0.embeddedSQL)" } ?? ""))
    }

    /// Adds an option of the module, such as `tokenize='porter ascii'`.
    ///
    /// - Parameters:
    ///   - name: The name of the option, as SQL.
    ///   - value: The value, which is quoted.
    public func option(_ name: String, _ value: String) {
        arguments.append("\(name)=\(value.quotedDatabaseLiteral)")
    }

    /// Adds an argument of the module.
    ///
    /// - Parameter sql: The argument, as SQL. It is not quoted.
    public func argument(sql: String) { arguments.append(sql.embeddedSQL) }
}

extension Database {
    // MARK: - Virtual tables

    /// Creates a virtual table.
    ///
    /// ```swift
    /// try db.create(virtualTable: "document", using: "fts5") { t in
    ///     t.column("title")
    ///     t.column("url", sql: "UNINDEXED")
    ///     t.option("tokenize", "porter ascii")
    /// }
    /// // CREATE VIRTUAL TABLE "document" USING "fts5"("title", "url" UNINDEXED, tokenize='porter ascii')
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, SQLite
    ///     chooses.
    ///   - options: Options of the table, such as `.ifNotExists`.
    ///   - module: The module: `fts5`, `rtree`, or one that an extension provides.
    ///   - body: Lists the module's arguments.
    /// - Throws: SQLite's error, when it lacks the module, or when the module rejects its
    ///   arguments.
    public func create(
        virtualTable name: String, in schemaName: String? = nil, options: VirtualTableOptions = [],
        using module: String,
        body: (VirtualTableDefinition) throws -> Void = { _ in }
    ) throws {
        checkAccess()
        let definition = VirtualTableDefinition()
        try body(definition)
        var sql = "CREATE VIRTUAL TABLE \(options.contains(.ifNotExists) ? "IF NOT EXISTS " : "")"
        sql += "\(name.quoted(in: schemaName)) USING \(module.quotedDatabaseIdentifier)"
        if !definition.arguments.isEmpty { sql += "(\(definition.arguments.joined(separator: ", ")))" }
        try execute(definition: sql)
    }
}
