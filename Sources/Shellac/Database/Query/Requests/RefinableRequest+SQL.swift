// Parts of requests in SQL: ``RefinableRequest/filter(sql:arguments:)`` for more than conditions.

extension RefinableRequest {
    /// Selects expressions written in SQL, replacing any earlier selection.
    ///
    /// - Parameters:
    ///   - sql: The selected expressions, as SQL.
    ///   - arguments: The values that it binds.
    public func select(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> Refined { select(literal: SQL(sql: sql, arguments: arguments)) }

    /// Adds expressions written in SQL to the selection.
    ///
    /// - Parameter selection: The expressions, as SQL, with commas between them. Values in them are
    ///   bound.
    public func annotated(literal selection: SQL) -> Refined {
        annotated(with: [selection])
    }

    /// Adds expressions written in SQL to the selection.
    ///
    /// - Parameters:
    ///   - sql: The selected expressions, as SQL.
    ///   - arguments: The values that it binds.
    public func annotated(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> Refined { annotated(literal: SQL(sql: sql, arguments: arguments)) }

    /// Adds a condition on the groups, written in SQL: only those that also satisfy it are fetched
    /// (`HAVING`).
    ///
    /// - Parameter condition: The condition, as SQL. It is put in parentheses beside others. Values
    ///   in it are bound.
    public func having(literal condition: SQL) -> Refined { having(condition) }

    /// Adds a condition on the groups, written in SQL: only those that also satisfy it are fetched
    /// (`HAVING`).
    ///
    /// - Parameters:
    ///   - sql: The condition on the groups, as SQL.
    ///   - arguments: The values that it binds.
    public func having(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> Refined { having(literal: SQL(sql: sql, arguments: arguments)) }
}

extension TableRecord {
    /// Selects expressions of all rows, written in SQL.
    ///
    /// - Parameters:
    ///   - sql: The selected expressions, as SQL.
    ///   - arguments: The values that it binds.
    public static func select(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<Self> { all().select(sql: sql, arguments: arguments) }

    /// Selects expressions of all rows, written in SQL, and decodes them as values of a type.
    ///
    /// - Parameters:
    ///   - sql: The selected expressions, as SQL.
    ///   - arguments: The values that it binds.
    ///   - type: The type that rows are decoded as.
    public static func select<Value>(
        sql: String, arguments: StatementArguments = StatementArguments(), as type: Value.Type = Value.self
    ) -> QueryInterfaceRequest<Value> { all().select(sql: sql, arguments: arguments, as: type) }

    /// Requests all rows, and adds expressions written in SQL to the selection.
    ///
    /// - Parameter selection: The expressions, as SQL, with commas between them. Values in them are
    ///   bound.
    public static func annotated(literal selection: SQL) -> QueryInterfaceRequest<Self> {
        all().annotated(literal: selection)
    }

    /// Requests all rows, and adds expressions written in SQL to the selection.
    ///
    /// - Parameters:
    ///   - sql: The selected expressions, as SQL.
    ///   - arguments: The values that it binds.
    public static func annotated(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<Self> { all().annotated(sql: sql, arguments: arguments) }

    /// Groups rows by expressions written in SQL.
    ///
    /// - Parameter expressions: The terms to group by, as SQL, with commas between them. Values in
    ///   them are bound.
    public static func group(literal expressions: SQL) -> QueryInterfaceRequest<Self> {
        all().group(literal: expressions)
    }

    /// Groups rows by expressions written in SQL.
    ///
    /// - Parameters:
    ///   - sql: The terms to group by, as SQL.
    ///   - arguments: The values that they bind.
    public static func group(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<Self> { all().group(sql: sql, arguments: arguments) }

    /// Requests the groups for which a condition written in SQL holds.
    ///
    /// - Parameter condition: The condition on the groups, as SQL. Values in it are bound.
    public static func having(literal condition: SQL) -> QueryInterfaceRequest<Self> {
        all().having(literal: condition)
    }

    /// Requests the groups for which a condition written in SQL holds.
    ///
    /// - Parameters:
    ///   - sql: The condition on the groups, as SQL.
    ///   - arguments: The values that it binds.
    public static func having(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> QueryInterfaceRequest<Self> { all().having(sql: sql, arguments: arguments) }
}
