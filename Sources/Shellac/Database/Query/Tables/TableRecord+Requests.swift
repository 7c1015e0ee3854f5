// Requests that begin with a type. Functions that only refine `all()` are spellings: see
// TableRecord+Refinements.swift.

extension TableRecord {
    /// Requests all rows of the table.
    ///
    /// ```swift
    /// let players = try Player.all().fetchAll(db)
    /// // SELECT * FROM "player"
    /// ```
    public static func all() -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(SelectQuery(QuerySource(.type(self))))
    }

    /// Requests the rows for which a condition holds.
    ///
    /// ```swift
    /// let players = try Player.filter(Column("score") > 100).fetchAll(db)
    /// // SELECT * FROM "player" WHERE "score" > 100
    /// ```
    ///
    /// - Parameter condition: The condition on the fetched rows. A row for which it is NULL is left
    ///   out.
    public static func filter(_ condition: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(
            SelectQuery(QuerySource(.type(self)), condition: condition.sqlExpression))
    }
}
