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
    ///
    /// - Parameter condition: What holds of the rows that are fetched. A row for which it is NULL is not.
    public static func filter(_ condition: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(
            SelectQuery(QuerySource(.type(self)), condition: condition.sqlExpression))
    }

    /// Requests the rows for which a condition holds that is written in SQL.
    ///
    /// - Parameter condition: The condition, as SQL, which stands in parentheses beside others. Values in it are bound.
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

    /// Requests the row with a primary key.
    ///
    /// - Parameter key: The value of the key, which has one column: of a composite key, the request throws
    ///   ``RecordError/compositeKey(databaseTableName:columns:)``. Nil finds nothing.
    @_disfavoredOverload  // A closure behind the call could be the key.
    public static func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Requests the rows with some primary keys.
    ///
    /// - Parameter keys: The values of the key, which has one column, in any order. Those that are NULL find nothing, and neither
    ///   does an empty sequence.
    @_disfavoredOverload  // A closure behind the call could be the key.
    public static func filter(keys: some Sequence<some DatabaseValueConvertible>) -> QueryInterfaceRequest<
        Self
    > { all().filter(keys: keys) }

    /// Requests the row with a composite primary key, or with the values of a unique index.
    ///
    /// - Parameter key: The values, by the names of their columns: of all columns of the key, and of no others. A nil among them
    ///   finds nothing. The request throws where several rows could have the values.
    public static func filter(key: [String: (any DatabaseValueConvertible)?]) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Requests the rows with some composite primary keys, or with the values of a unique index.
    ///
    /// - Parameter keys: The values of each row, by the names of their columns, which need not be those of the other rows. A row
    ///   with a nil among its values is not found. The request throws where several rows could have the values.
    public static func filter(keys: [[String: (any DatabaseValueConvertible)?]]) -> QueryInterfaceRequest<
        Self
    > { all().filter(keys: keys) }

    /// Selects columns or expressions of all rows.
    ///
    /// - Parameter selection: Columns, expressions, or all columns: `.allColumns`.
    public static func select(_ selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Selects columns or expressions of all rows.
    ///
    /// - Parameter selection: Columns, expressions, or all columns: `.allColumns`. SQLite refuses to select nothing.
    public static func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Selects expressions of all rows that are written in SQL.
    ///
    /// - Parameter selection: The expressions, as SQL, with commas between them. Values in them are bound.
    public static func select(literal selection: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: selection)
    }

    /// Requests all rows, and adds columns or expressions to the selection.
    ///
    /// - Parameter selection: What is selected behind the columns of the type. Rows have an expression under its SQL, unless
    ///   `forKey(_:)` gives it a name.
    public static func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Requests all rows, and adds columns or expressions to the selection.
    ///
    /// - Parameter selection: What is selected behind the columns of the type. An empty array adds nothing.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Requests the rows without duplicates: `SELECT DISTINCT`.
    public static func distinct() -> QueryInterfaceRequest<Self> { all().distinct() }

    /// Requests all rows, in an order.
    ///
    /// - Parameter terms: Columns and expressions, in ascending order unless they say another. Each one sorts the rows that are
    ///   equal by those before it.
    public static func order(_ terms: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(terms)
    }

    /// Requests all rows, in an order.
    ///
    /// - Parameter terms: Columns and expressions, in ascending order unless they say another. Each one sorts the rows that are
    ///   equal by those before it. With none, there is no order.
    public static func order(_ terms: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(terms)
    }

    /// Requests all rows, in an order that is written in SQL.
    ///
    /// - Parameter terms: The terms, as SQL, with commas between them. Values in them are bound.
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
    ///
    /// - Parameter expressions: What the rows of a group have in common. NULL is the same as NULL.
    public static func group(_ expressions: any SQLExpressible...) -> QueryInterfaceRequest<Self> {
        all().group(expressions)
    }

    /// Requests the groups for which a condition holds.
    ///
    /// - Parameter condition: What holds of the groups that are fetched: a condition on aggregates, mostly. A group for which it is
    ///   NULL is not fetched.
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
    /// Requests the row with an id.
    ///
    /// - Parameter id: The id. Nil finds nothing, where ids are optional.
    public static func filter(id: ID) -> QueryInterfaceRequest<Self> { all().filter(key: id) }

    /// Requests the rows with some ids.
    ///
    /// - Parameter ids: The ids, in any order. With none, nothing is found.
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
