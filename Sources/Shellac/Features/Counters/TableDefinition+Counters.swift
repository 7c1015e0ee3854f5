// Declares counter columns, which count the rows of another table that refer to a row.

extension TableDefinition {
    /// Adds a column that counts the rows of another table that refer to the row.
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
    /// Triggers maintain the count for every kind of write: see the article Counters. They are
    /// created along with the second of the two tables, in the same transaction. Rows that already
    /// exist by then are counted. If plain SQL created one of the tables, call
    /// ``Database/updateCounterTriggers(in:)``.
    ///
    /// Records never write the column.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - table: The table whose rows are counted. It may be this one.
    ///   - columns: The columns of that table that refer to this one. Needed if there are several
    ///     foreign keys, or none. Without a foreign key, they refer to this table's primary key.
    public func counter(_ name: String, of table: String, using columns: [String] = []) {
        column(name, .integer).counts(table, by: columns)
    }
}

extension TableAlteration {
    /// Adds a column that counts the rows of another table that refer to the row, as
    /// ``TableDefinition/counter(_:of:using:)`` does. Existing rows are counted.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - table: The table whose rows are counted. It may be this one.
    ///   - columns: The columns of that table that refer to this one. Needed if there are several
    ///     foreign keys, or none.
    public func counter(_ name: String, of table: String, using columns: [String] = []) {
        add(column: name, .integer).counts(table, by: columns)
    }
}

extension ColumnDefinition {
    /// Makes the column a counter.
    fileprivate func counts(_ table: String, by columns: [String]) {
        let mark = CounterMark(column: name, countedTable: table, originColumns: columns)
        isMaintained = true
        notNull(sql: mark.sql)
        defaults(to: 0)
    }
}
