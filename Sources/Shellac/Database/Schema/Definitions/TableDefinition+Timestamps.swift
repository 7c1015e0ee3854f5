// Adds columns for the dates of creation and last update to a table definition.

extension TableDefinition {
    /// Adds two columns for the dates at which a row was created and updated.
    ///
    /// ```swift
    /// try db.create(table: "player") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("name", .text).notNull()
    ///     t.timestamps()
    /// }
    /// // "createdAt" DATETIME NOT NULL DEFAULT (CURRENT_TIMESTAMP)
    /// // "updatedAt" DATETIME NOT NULL DEFAULT (CURRENT_TIMESTAMP)
    /// ```
    ///
    /// They are made for a type whose `databaseStamps` name them. Its records are saved with the date of the transaction; so
    /// is what raw SQL inserts, on a connection that has registered the type. Other programs, which know nothing of stamps,
    /// can insert rows all the same: SQLite gives these the present date.
    ///
    /// (Not for `alter(table:)`: SQLite adds no column to rows whose default value is the present date.)
    ///
    /// - Parameters:
    ///   - created: The name of the column for the date of the insertion. Nil for none.
    ///   - updated: The name of the column for the date of the last update. Nil for none.
    public func timestamps(created: String? = "createdAt", updated: String? = "updatedAt") {
        for name in [created, updated].compactMap(\.self) {
            // STRICT tables know no dates, and the stamps are texts.
            column(name, options.contains(.strict) ? .text : .datetime).notNull()
                .defaults(sql: "CURRENT_TIMESTAMP")
        }
    }
}
