// Common table expressions, by the labels `named:`, `columns:`, `request:`, `sql:` and `literal:`.

extension CommonTableExpression {
    /// Creates a request under a name.
    ///
    /// ```swift
    /// let best = CommonTableExpression(named: "best", request: Player.order(Column("score").desc).limit(10))
    /// ```
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may refer to its own rows by the name: `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns; those of the query if there are none.
    ///   - request: The request: what its rows become does not matter.
    ///   - type: What the rows of the table become.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil,
        request: some SQLSubqueryable, type: RowDecoder.Type = RowDecoder.self
    ) {
        commonTable = CommonTable(
            name: name, columns: columns ?? [], query: request.subquery, isRecursive: isRecursive)
    }

    /// Creates an SQL query under a name.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may refer to its own rows by the name: `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns; those of the query if there are none.
    ///   - sql: The query.
    ///   - arguments: The values that it binds.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        self.init(
            recursive: isRecursive, named: name, columns: columns,
            literal: SQL(sql: sql, arguments: arguments))
    }

    /// Creates an SQL query under a name.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may refer to its own rows by the name: `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns; those of the query if there are none.
    ///   - query: The query, as SQL.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil, literal query: SQL
    ) {
        commonTable = CommonTable(
            name: name, columns: columns ?? [], query: .fragment(query), isRecursive: isRecursive)
    }

    /// Whether a value is among those of the table's only column: `a IN (SELECT * FROM name)`.
    ///
    /// - Parameter element: What is looked for: a column, mostly. Where it is NULL, so is the answer, unless the table is empty.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { all().contains(element) }
}

extension CommonTableExpression<Row> {
    /// Creates a request under a name, whose rows are not converted.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may refer to its own rows by the name: `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns; those of the query if there are none.
    ///   - request: The request: what its rows become does not matter.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil,
        request: some SQLSubqueryable
    ) {
        self.init(recursive: isRecursive, named: name, columns: columns, request: request, type: Row.self)
    }

    /// Creates an SQL query under a name, whose rows are not converted.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may refer to its own rows by the name: `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns; those of the query if there are none.
    ///   - sql: The query.
    ///   - arguments: The values that it binds.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil, sql: String,
        arguments: StatementArguments = StatementArguments()
    ) {
        commonTable = CommonTable(
            name: name, columns: columns ?? [], query: .fragment(SQL(sql: sql, arguments: arguments)),
            isRecursive: isRecursive)
    }

    /// Creates an SQL query under a name, whose rows are not converted.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may refer to its own rows by the name: `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns; those of the query if there are none.
    ///   - query: The query, as SQL.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil, literal query: SQL
    ) {
        commonTable = CommonTable(
            name: name, columns: columns ?? [], query: .fragment(query), isRecursive: isRecursive)
    }
}

extension TableRecord {
    /// Requests all rows, by a request that may name another one: `WITH name AS (…)`.
    ///
    /// - Parameter table: The other request, under its name. The rows stay those of this type: join it with them, or ask it in a
    ///   condition.
    public static func with<Other>(_ table: CommonTableExpression<Other>) -> QueryInterfaceRequest<Self> {
        all().with(table)
    }
}
