// Declares counter columns, which count the rows of another table that refer to a row.

extension TableDefinition {
    /// Adds a column that counts the rows of another table which refer to the row.
    ///
    /// ```swift
    /// try db.create(table: "team") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.counter("playersCount", of: "player")
    /// }
    /// try db.create(table: "player") { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.belongsTo("team", onDelete: .cascade)
    /// }
    /// // "playersCount" INTEGER CONSTRAINT "counts player" NOT NULL DEFAULT 0
    /// ```
    ///
    /// Triggers keep the count, whoever writes the rows: see the article Counters. They are created with the second of both tables, in the
    /// same transaction, and the rows that are there by then are counted. Where one of the tables was created by plain SQL, call
    /// ``Database/updateCounterTriggers(in:)``.
    ///
    /// Records never write the column.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - table: The table whose rows are counted, which may be this one.
    ///   - columns: The columns of that table which refer to this one. It needs to be said where there are several foreign keys, or none:
    ///     then they refer to this table's primary key.
    public func counter(_ name: String, of table: String, using columns: [String] = []) {
        column(name, .integer).counts(table, by: columns)
    }
}

extension TableAlteration {
    /// Adds a column that counts the rows of another table which refer to the row, as
    /// ``TableDefinition/counter(_:of:using:)`` does. The rows that are there are counted.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - table: The table whose rows are counted, which may be this one.
    ///   - columns: The columns of that table which refer to this one, where there are several foreign keys, or none.
    public func counter(_ name: String, of table: String, using columns: [String] = []) {
        add(column: name, .integer).counts(table, by: columns)
    }
}
