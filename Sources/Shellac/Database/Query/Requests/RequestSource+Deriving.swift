// Requests derived from another one that are no refinements: of values of another type, of groups, and of the first rows.

extension RequestSource {
    /// Selects columns or expressions, replacing any earlier selection, and decodes the rows as values of a type.
    ///
    /// ```swift
    /// let names = try Player.select(Column("name"), as: String.self).fetchAll(db)
    /// ```
    ///
    /// - Parameters:
    ///   - selection: What is selected.
    ///   - type: The type that rows are decoded as.
    public func select<Value>(
        _ selection: any SQLSelectable..., as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> { all().select(selection).asRequest(of: type) }

    /// Selects columns or expressions, replacing any earlier selection, and decodes the rows as values of a type.
    ///
    /// - Parameters:
    ///   - selection: What is selected.
    ///   - type: The type that rows are decoded as.
    public func select<Value>(
        _ selection: [any SQLSelectable], as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> { all().select(selection).asRequest(of: type) }

    /// Selects expressions that are written in SQL, replacing any earlier selection, and decodes the rows as values of
    /// a type.
    ///
    /// - Parameters:
    ///   - selection: What is selected.
    ///   - type: The type that rows are decoded as.
    public func select<Value>(
        literal selection: SQL, as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> { select([selection], as: type) }

    /// Decodes the rows as values of another type.
    ///
    /// - Parameter type: The type that rows are decoded as. What is selected stays as it is.
    public func asRequest<Value>(of type: Value.Type) -> QueryInterfaceRequest<Value> {
        QueryInterfaceRequest<Value>(all().query)
    }

    /// Limits the number of rows, replacing any earlier limit.
    ///
    /// ```swift
    /// let best = try Player.order(Column("score").desc).limit(3).fetchAll(db)
    /// ```
    ///
    /// An order tells which rows they are. Without one, these are the first that SQLite comes across, and an index
    /// that is added, another condition, or another version of SQLite changes them: ``FetchRequest/explain(_:)`` says
    /// so.
    ///
    /// - Parameters:
    ///   - count: The most rows that are given.
    ///   - offset: How many rows are passed over before; none if nil.
    public func limit(_ count: Int, offset: Int? = nil) -> QueryInterfaceRequest<RowDecoder> {
        all().with { $0.limit = QueryLimit(count: count, offset: offset) }
    }

    // MARK: - Groups

    /// Groups the rows that have the same values into one row, replacing any earlier groups.
    ///
    /// ```swift
    /// Player.select(Column("teamID"), max(Column("score"))).group(Column("teamID"))
    /// // SELECT "teamID", MAX("score") FROM "player" GROUP BY "teamID"
    /// ```
    ///
    /// - Parameter expressions: What the rows of a group have in common. NULL is the same as NULL.
    public func group(_ expressions: any SQLExpressible...) -> QueryInterfaceRequest<RowDecoder> {
        group(expressions)
    }

    /// Groups the rows that have the same values into one row, replacing any earlier groups.
    ///
    /// - Parameter expressions: What the rows of a group have in common. NULL is the same as NULL. With none, there are no groups.
    public func group(_ expressions: [any SQLExpressible]) -> QueryInterfaceRequest<RowDecoder> {
        all().with { $0.groups = expressions.map(\.sqlExpression) }
    }

    // MARK: - In SQL

    /// Selects expressions that are written in SQL, replacing any earlier selection, and decodes the rows as values of a type.
    ///
    /// - Parameters:
    ///   - sql: What is selected, as SQL.
    ///   - arguments: The values that it binds.
    ///   - type: The type that rows are decoded as.
    public func select<Value>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> { select(literal: SQL(sql: sql, arguments: arguments), as: type) }

    /// Groups rows by expressions that are written in SQL, replacing any earlier groups.
    ///
    /// - Parameter expressions: The terms to group by, as SQL, with commas between them. Values in them are bound.
    public func group(literal expressions: SQL) -> QueryInterfaceRequest<RowDecoder> {
        group([expressions])
    }

    /// Groups rows by expressions that are written in SQL, replacing any earlier groups.
    ///
    /// - Parameters:
    ///   - sql: The terms to group by, as SQL.
    ///   - arguments: The values that they bind.
    public func group(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<RowDecoder> { group(literal: SQL(sql: sql, arguments: arguments)) }
}
