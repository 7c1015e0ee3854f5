// Adds columns for the dates of creation and last update to a table definition.

extension TableDefinition {
    /// Adds two columns for the dates when a row was created and updated.
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
    /// They are intended for a type whose `databaseStamps` name them. Its records are saved with
    /// the date of the transaction. So are rows inserted by raw SQL, on a connection that has
    /// registered the type. Other programs, which do not use stamps, can still insert rows: SQLite
    /// gives them the current date.
    ///
    /// (Not for `alter(table:)`: SQLite cannot add a column whose default value is the current date
    /// to existing rows.)
    ///
    /// - Parameters:
    ///   - created: The name of the column for the date of the insertion. Nil for none.
    ///   - updated: The name of the column for the date of the last update. Nil for none.
    public func timestamps(created: String? = "createdAt", updated: String? = "updatedAt") {
        for name in [created, updated].compactMap(\.self) {
            // STRICT tables have no date type, and the stamps are strings.
            column(name, options.contains(.strict) ? .text : .datetime).notNull()
                .defaults(sql: "CURRENT_TIMESTAMP")
        }
    }
}
