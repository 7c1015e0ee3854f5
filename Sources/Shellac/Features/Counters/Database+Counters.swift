/// A column that counts the rows of another table: see ``TableDefinition/counter(_:of:using:)``.
public struct CounterInfo: Hashable, Sendable {
    /// The table that has the column.
    public let tableName: String
    /// The name of the column.
    public let column: String
    /// The table whose rows are counted.
    public let countedTable: String
    /// The columns of these rows that refer to the counter's table. Empty if the counted table does
    /// not exist yet, and its foreign key will determine them.
    public let countedColumns: [String]
    /// Whether the triggers that the schema requires exist and maintain the count.
    public let isKept: Bool
}

extension Database {
    /// Returns the counters of a database, in the order of their tables.
    ///
    /// ```swift
    /// for counter in try db.counters() where !counter.isKept {
    ///     print("\(counter.tableName).\(counter.column) waits for \(counter.countedTable)")
    /// }
    /// ```
    ///
    /// - Parameter schemaName: The database: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` if a counter cannot count its rows, for example without a
    ///   foreign key.
    public func counters(in schemaName: String = "main") throws -> [CounterInfo] {
        let counters = try Counters(self, in: schemaName)
        let kept = try counters.kept.map {
            CounterInfo(
                tableName: $0.parent.name, column: $0.mark.column, countedTable: $0.child.name,
                countedColumns: $0.origin,
                isKept: try $0.arePresent(on: self))
        }
        let waiting = counters.waiting.map {
            CounterInfo(
                tableName: $0.parent.name, column: $0.mark.column, countedTable: $0.mark.countedTable,
                countedColumns: $0.mark.originColumns, isKept: false)
        }
        return kept + waiting
    }

    /// Creates the triggers of all counters of a database, and drops those no longer needed.
    /// Recounts if triggers were missing, or differed from those the schema requires.
    ///
    /// ```swift
    /// try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team)")
    /// try db.updateCounterTriggers()
    /// ```
    ///
    /// The methods that define tables and indexes do this themselves. Call it after plain SQL has
    /// changed a counted table, or a unique index on one.
    ///
    /// Call it once, too, for a file from an earlier version of Shellac. It is needed if a counted
    /// table is `WITHOUT ROWID` and its key is not compared byte by byte. `checkSchema` reports a
    /// missing call.
    ///
    /// - Parameter schemaName: The database: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` if a counter cannot count its rows. Nothing has changed then.
    public func updateCounterTriggers(in schemaName: String = "main") throws {
        checkAccess()
        try inSavepoint {
            try Counters(self, in: schemaName).follow(recountsReplaced: true)
            return .commit
        }
    }

    /// Recounts the rows of a counter, and corrects each count that is wrong.
    ///
    /// ```swift
    /// let repaired = try db.recount("team", "playersCount")
    /// ```
    ///
    /// Counts are wrong if a statement wrote them or the triggers were dropped. An index on the
    /// foreign key makes recounting fast.
    ///
    /// - Parameters:
    ///   - tableName: The table that has the counter.
    ///   - column: The counter.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Returns: The number of rows that had a wrong count.
    /// - Throws: a ``DatabaseError`` if there is no such table or counter, or no table to count.
    @discardableResult
    public func recount(_ tableName: String, _ column: String, in schemaName: String? = nil) throws -> Int {
        checkAccess()
        let counter = try counter(tableName, column, in: schemaName)
        let statement = try makeStatement(sql: counter.recount(in: counter.parent.schemaName))
        statement.bypassAdvice()
        try statement.execute()
        return changesCount
    }

    /// Returns the number of rows with a wrong count, without writing anything.
    ///
    /// ```swift
    /// if try db.inaccurateCounters("team", "playersCount") > 0 { print("the triggers were dropped") }
    /// ```
    ///
    /// - Parameters:
    ///   - tableName: The table that has the counter.
    ///   - column: The counter.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    /// - Throws: a ``DatabaseError`` if there is no such table or counter, or no table to count.
    public func inaccurateCounters(_ tableName: String, _ column: String, in schemaName: String? = nil) throws
        -> Int
    {
        try numberOfWrongRows(of: counter(tableName, column, in: schemaName))
    }

    func numberOfWrongRows(of counter: CounterTriggers) throws -> Int {
        try Int.fetchOne(makeStatement(sql: counter.countOfWrong(in: counter.parent.schemaName))) ?? 0
    }

    @available(*, unavailable, renamed: "inaccurateCounters(_:_:in:)")
    public func miscounted(_ tableName: String, _ column: String, in schemaName: String? = nil) throws -> Int
    {
        try inaccurateCounters(tableName, column, in: schemaName)
    }

    private func counter(_ tableName: String, _ column: String, in schemaName: String?) throws
        -> CounterTriggers
    {
        let table = try tableSchema(tableName, in: schemaName)
        guard
            let mark = table.maintainedColumns.first(where: { CaseInsensitiveName.matches($0.column, column) }
            )
        else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the table \(table.name) has no counter \(column). "
                    + (table.column(named: column) == nil
                        ? "Add one with t.counter(\"\(column)\", of: …)"
                        : "It has a column of that name: drop it, and add it again with "
                            + "t.counter(\"\(column)\", of: …)")
            )
        }
        guard let child = try schema.table(mark.countedTable, in: table.schemaName) else {
            throw DatabaseError(
                message:
                    "the counter \(mark.column) of the table \(table.name) has nothing to count: no such table: \(mark.countedTable)"
            )
        }
        return try CounterTriggers(mark, of: table, child, self)
    }
}
