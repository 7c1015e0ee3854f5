// Definitions by expressions. SQLite stores their values as literals.

extension SQLExpressible {
    /// The expression as SQL without parameters.
    ///
    /// A part that needs the schema becomes SQL that SQLite refuses, as it refuses all queries in
    /// table definitions.
    fileprivate var definingSQL: String {
        (try? definingSQL(on: nil)) ?? SQL(sqlExpression).sql
    }

    func definingSQL(on db: Database?) throws -> String {
        var writer = SQLWriter(db)
        try writer.expression(sqlExpression, above: .lowest)
        return try writer.fragment.literalSQL(on: db)
    }
}

extension ColumnDefinition {
    /// Refuses a row for which a condition on the column is false.
    ///
    /// ```swift
    /// t.column("name", .text).check { length($0) > 0 }
    /// ```
    ///
    /// - Parameter condition: Called once, immediately, with the column. It returns the condition,
    ///   whose values become literals. SQLite refuses a query in it, and accepts a row for which it
    ///   is NULL.
    @discardableResult
    public func check(_ condition: (Column) -> any SQLExpressible) -> Self {
        check(sql: condition(Column(name)).definingSQL)
    }

    /// Computes the value from other columns of the row: see "Generated Columns" in the SQLite
    /// documentation.
    ///
    /// ```swift
    /// t.column("total", .integer).generatedAs(Column("score") + Column("bonus"), .stored)
    /// ```
    ///
    /// - Parameters:
    ///   - expression: An expression of columns of the same row. Values in it become literals.
    ///     SQLite refuses queries in it, and functions that are not deterministic.
    ///   - qualification: Whether the value is computed at each reading, which is the default, or
    ///     stored.
    @discardableResult
    public func generatedAs(
        _ expression: some SQLExpressible, _ qualification: GeneratedColumnQualification = .virtual
    ) -> Self { generatedAs(sql: expression.definingSQL, qualification) }
}

extension TableDefinition {
    /// Refuses a row for which a condition is false.
    ///
    /// ```swift
    /// t.check(Column("score") >= Column("bonus"))
    /// ```
    ///
    /// - Parameter condition: A condition on columns of the row. Values in it become literals.
    ///   SQLite refuses a query in it, and accepts a row for which it is NULL.
    public func check(_ condition: some SQLSpecificExpressible) { check(sql: condition.definingSQL) }
}

extension Database {
    /// Creates an index on columns for the rows that satisfy a condition.
    ///
    /// ```swift
    /// try db.create(index: "best", on: "player", columns: ["score"], condition: Column("score") > 1000)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the index.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, SQLite
    ///     chooses.
    ///   - table: The table to index.
    ///   - columns: The names of the indexed columns.
    ///   - options: Options of the index, such as `.unique`.
    ///   - condition: The condition on the rows that the index holds.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, or when there is an
    ///   index of that name.
    public func create(
        index name: String, in schemaName: String? = nil, on table: String, columns: [String],
        options: IndexOptions = [], condition: some SQLSpecificExpressible
    ) throws {
        try create(
            index: name, in: schemaName, on: table, columns: columns, options: options,
            condition: Optional(SQL(sql: condition.definingSQL(on: self))))
    }

    /// Creates an index on expressions.
    ///
    /// ```swift
    /// try db.create(index: "byName", on: "player", expressions: [Column("name").collating(.nocase)])
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the index.
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one. If nil, SQLite
    ///     chooses.
    ///   - table: The table to index.
    ///   - expressions: The indexed expressions.
    ///   - options: Options of the index, such as `.unique`.
    ///   - condition: The condition on the rows that the index holds. All rows if nil.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, or when there is an
    ///   index of that name.
    @_disfavoredOverload
    public func create(
        index name: String, in schemaName: String? = nil, on table: String, expressions: [any SQLExpressible],
        options: IndexOptions = [], condition: SQL? = nil
    ) throws {
        try create(
            index: name, in: schemaName, on: table,
            expressions: expressions.map { SQL(sql: try $0.definingSQL(on: self)) },
            options: options, condition: condition)
    }
}
