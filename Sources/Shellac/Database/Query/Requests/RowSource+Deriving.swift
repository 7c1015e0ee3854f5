// Requests derived from another one that are no refinements.
//
// They return values of another type, groups, or the first rows.

extension RowSource {
    /// Selects columns or expressions, replacing any earlier selection, and decodes the rows as
    /// values of a type.
    ///
    /// ```swift
    /// let names = try Player.select(Column("name"), as: String.self).fetchAll(db)
    /// ```
    ///
    /// - Parameters:
    ///   - selection: The selected columns and expressions.
    ///   - type: The type that rows are decoded as.
    public func select<Value>(
        _ selection: any SQLSelectable..., as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> { all().select(selection).asRequest(of: type) }

    /// Selects columns or expressions, replacing any earlier selection, and decodes the rows as
    /// values of a type.
    ///
    /// - Parameters:
    ///   - selection: The selected columns and expressions.
    ///   - type: The type that rows are decoded as.
    public func select<Value>(
        _ selection: [any SQLSelectable], as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> { all().select(selection).asRequest(of: type) }

    /// Selects expressions written in SQL, replacing any earlier selection, and decodes the rows as
    /// values of a type.
    ///
    /// - Parameters:
    ///   - selection: The selected columns and expressions.
    ///   - type: The type that rows are decoded as.
    public func select<Value>(
        literal selection: SQL, as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> { select([selection], as: type) }

    /// Decodes the rows as values of another type.
    ///
    /// - Parameter type: The type that rows are decoded as. The selection does not change.
    public func asRequest<Value>(of type: Value.Type) -> QueryInterfaceRequest<Value> {
        QueryInterfaceRequest<Value>(all().query)
    }

    /// Limits the number of rows, replacing any earlier limit.
    ///
    /// ```swift
    /// let best = try Player.order(Column("score").desc).limit(3).fetchAll(db)
    /// ```
    ///
    /// Their order determines which rows are returned. Without an order, they are the first that
    /// SQLite finds. A new index, another condition, or another version of SQLite may change them.
    /// ``FetchRequest/explain(_:)`` reports this.
    ///
    /// - Parameters:
    ///   - count: The maximum number of rows.
    ///   - offset: The number of rows to skip first. None if nil.
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
    /// - Parameter expressions: The values that the rows of a group have in common. NULL equals
    ///   NULL.
    public func group(_ expressions: any SQLExpressible...) -> QueryInterfaceRequest<RowDecoder> {
        group(expressions)
    }

    /// Groups the rows that have the same values into one row, replacing any earlier groups.
    ///
    /// - Parameter expressions: The values that the rows of a group have in common. NULL equals
    ///   NULL. An empty array removes the groups.
    public func group(_ expressions: [any SQLExpressible]) -> QueryInterfaceRequest<RowDecoder> {
        all().with { $0.groups = expressions.map(\.sqlExpression) }
    }

    // MARK: - In SQL

    /// Groups rows by expressions written in SQL, replacing any earlier groups.
    ///
    /// - Parameter expressions: The terms to group by, as SQL, with commas between them. Values in
    ///   them are bound.
    public func group(literal expressions: SQL) -> QueryInterfaceRequest<RowDecoder> {
        group([expressions])
    }
}
