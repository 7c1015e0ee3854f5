// The requests of a type that knows its table. Each is the one of the same name that ``RefinableRequest`` or ``RequestSource`` documents.

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

    /// Returns a request that finds nothing.
    public static func none() -> QueryInterfaceRequest<Self> { all().none() }

    /// Requests the rows for which a condition holds.
    ///
    /// ```swift
    /// let players = try Player.filter(Column("score") > 100).fetchAll(db)
    /// // SELECT * FROM "player" WHERE "score" > 100
    /// ```
    public static func filter(_ condition: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(
            SelectQuery(QuerySource(.type(self)), condition: condition.sqlExpression))
    }

    /// Requests the rows for which a condition holds that is written in SQL.
    public static func filter(literal condition: SQL) -> QueryInterfaceRequest<Self> {
        all().filter(literal: condition)
    }

    /// Requests the rows for which a condition holds that is written in SQL.
    ///
    /// - Parameters:
    ///   - sql: The condition, as SQL.
    ///   - arguments: The values that it binds.
    public static func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    { all().filter(sql: sql, arguments: arguments) }

    /// Requests the row with a primary key. Nil finds nothing.
    @_disfavoredOverload  // A closure behind the call could be the key.
    public static func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Requests the rows with some primary keys.
    @_disfavoredOverload  // A closure behind the call could be the key.
    public static func filter(keys: some Sequence<some DatabaseValueConvertible>) -> QueryInterfaceRequest<
        Self
    > { all().filter(keys: keys) }

    /// Requests the row with a composite primary key, or with the values of a unique index.
    public static func filter(key: [String: (any DatabaseValueConvertible)?]) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Requests the rows with some composite primary keys, or with the values of a unique index.
    public static func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<
        Self
    > { all().filter(keys: keys) }

    /// Selects columns or expressions of all rows.
    public static func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Selects columns or expressions of all rows.
    public static func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Selects expressions of all rows that are written in SQL.
    public static func select(literal selection: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: selection)
    }

    /// Requests all rows, and adds columns or expressions to the selection.
    public static func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Requests all rows, and adds columns or expressions to the selection.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Requests the rows without duplicates: `SELECT DISTINCT`.
    public static func distinct() -> QueryInterfaceRequest<Self> { all().distinct() }

    /// Requests all rows, in an order.
    public static func order(_ terms: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(terms)
    }

    /// Requests all rows, in an order.
    public static func order(_ terms: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(terms)
    }

    /// Requests all rows, in an order that is written in SQL.
    public static func order(literal terms: SQL) -> QueryInterfaceRequest<Self> {
        all().order(literal: terms)
    }

    /// Requests all rows, in an order that is written in SQL.
    ///
    /// - Parameters:
    ///   - sql: The terms to sort by, as SQL.
    ///   - arguments: The values that they bind.
    public static func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    { all().order(sql: sql, arguments: arguments) }

    /// Requests a number of rows. An order tells which ones they are.
    ///
    /// - Parameters:
    ///   - count: The most rows that are given.
    ///   - offset: How many rows are passed over before; none if nil.
    public static func limit(_ count: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> {
        all().limit(count, offset: offset)
    }

    /// Groups the rows that have the same values into one row.
    public static func group(_ expressions: any SQLExpressible...) -> QueryInterfaceRequest<Self> {
        all().group(expressions)
    }

    /// Requests the groups for which a condition holds.
    public static func having(_ condition: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        all().having(condition)
    }

    /// Selects columns or expressions of all rows, and decodes them as values of a type.
    ///
    /// - Parameters:
    ///   - selection: What is selected.
    ///   - type: The type that rows are decoded as.
    public static func select<Value>(_ selection: any SQLSelectable..., as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    { all().select(selection, as: type) }

    /// Selects columns or expressions of all rows, and decodes them as values of a type.
    ///
    /// - Parameters:
    ///   - selection: What is selected.
    ///   - type: The type that rows are decoded as.
    public static func select<Value>(_ selection: [any SQLSelectable], as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    { all().select(selection, as: type) }

    /// Selects columns or expressions of all rows, and decodes them as values of a type.
    ///
    /// - Parameters:
    ///   - selection: What is selected.
    ///   - type: The type that rows are decoded as.
    public static func select<Value>(literal selection: SQL, as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    { all().select(literal: selection, as: type) }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Requests the row with an id. Nil finds nothing.
    public static func filter(id: ID) -> QueryInterfaceRequest<Self> { all().filter(key: id) }

    /// Requests the rows with some ids.
    public static func filter(ids: some Sequence<ID>) -> QueryInterfaceRequest<Self> {
        all().filter(keys: ids)
    }
}

extension TableRecord {
    /// Whether the table has no row.
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public static func isEmpty(_ db: Database) throws -> Bool { try all().isEmpty(db) }
}
