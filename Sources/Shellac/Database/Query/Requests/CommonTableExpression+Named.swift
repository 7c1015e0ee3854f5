// Common table expressions by labels: `named:`, `columns:`, `request:`, `sql:`, `literal:`.

extension CommonTableExpression {
    /// Creates a named request.
    ///
    /// ```swift
    /// let best = CommonTableExpression(named: "best", request: Player.order(Column("score").desc).limit(10))
    /// ```
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may use the name to refer to its own rows:
    ///     `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns. By default, those of the query.
    ///   - request: The request. Its own row type is ignored.
    ///   - type: The type that the rows of the table are decoded as.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil,
        request: some SQLSubqueryable, type: RowDecoder.Type = RowDecoder.self
    ) {
        commonTable = CommonTable(
            name: name, columns: columns ?? [], query: request.subquery, isRecursive: isRecursive)
    }

    /// Creates a named SQL query.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may use the name to refer to its own rows:
    ///     `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns. By default, those of the query.
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

    /// Creates a named SQL query.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may use the name to refer to its own rows:
    ///     `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns. By default, those of the query.
    ///   - query: The query, as SQL.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil, literal query: SQL
    ) {
        commonTable = CommonTable(
            name: name, columns: columns ?? [], query: .fragment(query), isRecursive: isRecursive)
    }

    /// Whether a value is in the table's only column: `a IN (SELECT * FROM name)`.
    ///
    /// - Parameter element: The value to look for, usually a column. If it is NULL, so is the
    ///   result, unless the table is empty.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { all().contains(element) }
}

extension CommonTableExpression<Row> {
    /// Creates a named request whose rows are not converted.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may use the name to refer to its own rows:
    ///     `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns. By default, those of the query.
    ///   - request: The request. Its own row type is ignored.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil,
        request: some SQLSubqueryable
    ) {
        self.init(recursive: isRecursive, named: name, columns: columns, request: request, type: Row.self)
    }

    /// Creates a named SQL query whose rows are not converted.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may use the name to refer to its own rows:
    ///     `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns. By default, those of the query.
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

    /// Creates a named SQL query whose rows are not converted.
    ///
    /// - Parameters:
    ///   - isRecursive: Whether the query may use the name to refer to its own rows:
    ///     `WITH RECURSIVE`.
    ///   - name: The name.
    ///   - columns: The names of the columns. By default, those of the query.
    ///   - query: The query, as SQL.
    public init(
        recursive isRecursive: Bool = false, named name: String, columns: [String]? = nil, literal query: SQL
    ) {
        commonTable = CommonTable(
            name: name, columns: columns ?? [], query: .fragment(query), isRecursive: isRecursive)
    }
}
