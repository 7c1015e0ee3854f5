// Requests that begin with a type.
//
// Each has the same name as the method of ``RefinableRequest`` or ``RequestSource`` that documents
// it.

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
    /// - Parameter condition: The condition on the fetched rows. A row for which it is NULL is left
    ///   out.
    public static func filter(_ condition: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        QueryInterfaceRequest(
            SelectQuery(QuerySource(.type(self)), condition: condition.sqlExpression))
    }

    /// Requests the rows for which a condition written in SQL holds.
    ///
    /// - Parameter condition: The condition, as SQL. It is put in parentheses beside others. Values
    ///   in it are bound.
    public static func filter(literal condition: SQL) -> QueryInterfaceRequest<Self> {
        all().filter(literal: condition)
    }

    /// Requests the rows for which a condition written in SQL holds.
    ///
    /// - Parameters:
    ///   - sql: The condition, as SQL.
    ///   - arguments: The values that it binds.
    public static func filter(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    { all().filter(sql: sql, arguments: arguments) }

    /// Requests the row with a primary key.
    ///
    /// - Parameter key: The value of the key, which has one column. Nil finds nothing. For a
    ///   composite key, the request throws
    ///   ``RecordError/compositeKey(databaseTableName:columns:)``.
    @_disfavoredOverload  // A trailing closure could be taken for the key.
    public static func filter(key: some DatabaseValueConvertible) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Requests the rows with the given primary keys.
    ///
    /// - Parameter keys: The values of the key, which has one column, in any order. NULLs and an
    ///   empty sequence find nothing.
    @_disfavoredOverload  // A trailing closure could be taken for the key.
    public static func filter(keys: some Sequence<some DatabaseValueConvertible>) -> QueryInterfaceRequest<
        Self
    > { all().filter(keys: keys) }

    /// Requests the row with a composite primary key, or with the values of a unique index.
    ///
    /// - Parameter key: The values by column name, for all columns of the key and no others. A nil
    ///   among them finds nothing. The request throws if several rows could have the values.
    public static func filter(key: [String: (any DatabaseValueConvertible)?]) -> QueryInterfaceRequest<Self> {
        all().filter(key: key)
    }

    /// Requests the rows with the given composite primary keys, or with the values of a unique
    /// index.
    ///
    /// - Parameter keys: The values of each row by column name. The columns may differ between
    ///   rows. A row with a nil among its values is not found. The request throws if several rows
    ///   could have the values.
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
    /// - Parameter selection: Columns, expressions, or all columns: `.allColumns`. SQLite refuses
    ///   to select nothing.
    public static func select(_ selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().select(selection)
    }

    /// Selects expressions of all rows, written in SQL.
    ///
    /// - Parameter selection: The expressions, as SQL, with commas between them. Values in them are
    ///   bound.
    public static func select(literal selection: SQL) -> QueryInterfaceRequest<Self> {
        all().select(literal: selection)
    }

    /// Requests all rows, and adds columns or expressions to the selection.
    ///
    /// - Parameter selection: The selection to add after the columns of the type. Rows name an
    ///   expression by its SQL, unless `forKey(_:)` gives it a name.
    public static func annotated(with selection: any SQLSelectable...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Requests all rows, and adds columns or expressions to the selection.
    ///
    /// - Parameter selection: The selection to add after the columns of the type. An empty array
    ///   adds nothing.
    public static func annotated(with selection: [any SQLSelectable]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: selection)
    }

    /// Requests the rows without duplicates: `SELECT DISTINCT`.
    public static func distinct() -> QueryInterfaceRequest<Self> { all().distinct() }

    /// Requests all rows, sorted.
    ///
    /// - Parameter terms: Columns and expressions, ascending unless they specify otherwise. Each
    ///   one sorts the rows that are equal by the previous ones.
    public static func order(_ terms: any SQLOrderingTerm...) -> QueryInterfaceRequest<Self> {
        all().order(terms)
    }

    /// Requests all rows, sorted.
    ///
    /// - Parameter terms: Columns and expressions, ascending unless they specify otherwise. Each
    ///   one sorts the rows that are equal by the previous ones. An empty array means no order.
    public static func order(_ terms: [any SQLOrderingTerm]) -> QueryInterfaceRequest<Self> {
        all().order(terms)
    }

    /// Requests all rows, in an order written in SQL.
    ///
    /// - Parameter terms: The terms, as SQL, with commas between them. Values in them are bound.
    public static func order(literal terms: SQL) -> QueryInterfaceRequest<Self> {
        all().order(literal: terms)
    }

    /// Requests all rows, in an order written in SQL.
    ///
    /// - Parameters:
    ///   - sql: The terms to sort by, as SQL.
    ///   - arguments: The values that they bind.
    public static func order(sql: String, arguments: StatementArguments = StatementArguments())
        -> QueryInterfaceRequest<Self>
    { all().order(sql: sql, arguments: arguments) }

    /// Requests at most a number of rows. Their order determines which ones.
    ///
    /// - Parameters:
    ///   - count: The maximum number of rows.
    ///   - offset: The number of rows to skip first. None if nil.
    public static func limit(_ count: Int, offset: Int? = nil) -> QueryInterfaceRequest<Self> {
        all().limit(count, offset: offset)
    }

    /// Groups the rows that have the same values into one row.
    ///
    /// - Parameter expressions: The values that the rows of a group have in common. NULL equals
    ///   NULL.
    public static func group(_ expressions: any SQLExpressible...) -> QueryInterfaceRequest<Self> {
        all().group(expressions)
    }

    /// Requests the groups for which a condition holds.
    ///
    /// - Parameter condition: The condition on the fetched groups, usually on aggregates. A group
    ///   for which it is NULL is left out.
    public static func having(_ condition: some SQLSpecificExpressible) -> QueryInterfaceRequest<Self> {
        all().having(condition)
    }

    /// Selects columns or expressions of all rows, and decodes them as values of a type.
    ///
    /// - Parameters:
    ///   - selection: The selected columns and expressions.
    ///   - type: The type that rows are decoded as.
    public static func select<Value>(_ selection: any SQLSelectable..., as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    { all().select(selection, as: type) }

    /// Selects columns or expressions of all rows, and decodes them as values of a type.
    ///
    /// - Parameters:
    ///   - selection: The selected columns and expressions.
    ///   - type: The type that rows are decoded as.
    public static func select<Value>(_ selection: [any SQLSelectable], as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    { all().select(selection, as: type) }

    /// Selects columns or expressions of all rows, and decodes them as values of a type.
    ///
    /// - Parameters:
    ///   - selection: The selected expressions, as SQL.
    ///   - type: The type that rows are decoded as.
    public static func select<Value>(literal selection: SQL, as type: Value.Type = Value.self)
        -> QueryInterfaceRequest<Value>
    { all().select(literal: selection, as: type) }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Requests the row with the given id.
    ///
    /// - Parameter id: The id. Nil finds nothing, if ids are optional.
    public static func filter(id: ID) -> QueryInterfaceRequest<Self> { all().filter(key: id) }

    /// Requests the rows with the given ids.
    ///
    /// - Parameter ids: The ids, in any order. An empty sequence finds nothing.
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
