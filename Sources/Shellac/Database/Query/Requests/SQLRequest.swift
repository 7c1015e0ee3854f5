/// A request written in SQL.
///
/// ```swift
/// extension Player {
///     static func named(_ name: String) -> SQLRequest<Player> {
///         "SELECT * FROM player WHERE name = \(name)"
///     }
/// }
/// let players = try Player.named("Arthur").fetchAll(db)
/// ```
public struct SQLRequest<RowDecoder>: FetchRequest {
    private let query: SQL
    private var adapter: (any RowAdapter)?
    /// Whether the statement is cached.
    private var isCached = true

    /// Creates a request from an SQL literal.
    ///
    /// - Parameter query: The SQL, with its values, which are bound.
    public init(literal query: SQL) { self.query = query }

    /// Creates a request from SQL and its arguments.
    ///
    /// - Parameters:
    ///   - sql: The SQL.
    ///   - arguments: The values.
    public init(sql: String, arguments: StatementArguments = StatementArguments()) {
        query = SQL(sql: sql, arguments: arguments)
    }

    /// Creates a request from an SQL literal.
    ///
    /// - Parameters:
    ///   - query: The SQL.
    ///   - adapter: An adapter that changes the columns of the rows.
    ///   - isCached: Whether the statement is cached, as it is for other requests.
    public init(literal query: SQL, adapter: (any RowAdapter)? = nil, cached isCached: Bool = true) {
        self.init(literal: query)
        (self.adapter, self.isCached) = (adapter, isCached)
    }

    /// Creates a request from SQL and its arguments.
    ///
    /// - Parameters:
    ///   - sql: The SQL.
    ///   - arguments: The values.
    ///   - adapter: An adapter that changes the columns of the rows.
    ///   - isCached: Whether the statement is cached, as it is for other requests.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil, cached isCached: Bool = true
    ) {
        self.init(literal: SQL(sql: sql, arguments: arguments), adapter: adapter, cached: isCached)
    }

    public func makePreparedRequest(_ db: Database, forSingleResult isOne: Bool) throws -> PreparedRequest {
        let query = try query.written(on: db)
        let statement =
            isCached ? try db.cachedStatement(sql: query.text) : try db.makeStatement(sql: query.text)
        return PreparedRequest(
            statement: statement, arguments: query.values, supplement: adapter.map(AdaptedRows.init))
    }

    public func fetchCount(_ db: Database) throws -> Int {
        let query = try query.written(on: db)
        return try Int.fetchOne(
            db, sql: "SELECT COUNT(*) FROM (\(query.text.embeddedSQL))", arguments: query.values) ?? 0
    }

    var subquery: Subquery { .fragment(query) }
}

extension SQLRequest<Row> {
    /// Creates a request for rows from SQL and its arguments.
    ///
    /// - Parameters:
    ///   - sql: The SQL.
    ///   - arguments: The values.
    ///   - adapter: An adapter that changes the columns of the rows.
    ///   - isCached: Whether the statement is cached, as it is for other requests.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)? = nil, cached isCached: Bool = true
    ) {
        self.init(literal: SQL(sql: sql, arguments: arguments), adapter: adapter, cached: isCached)
    }

    /// Creates a request for rows from an SQL literal.
    ///
    /// - Parameters:
    ///   - query: The SQL, with its values.
    ///   - adapter: An adapter that changes the columns of the rows.
    ///   - isCached: Whether the statement is cached, as it is for other requests.
    public init(literal query: SQL, adapter: (any RowAdapter)? = nil, cached isCached: Bool = true) {
        self.init(literal: query)
        (self.adapter, self.isCached) = (adapter, isCached)
    }
}

extension SQLRequest: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(sql: value) }
    @_documentation(visibility: internal)
    public init(stringInterpolation: SQLInterpolation) {
        self.init(literal: SQL(stringInterpolation: stringInterpolation))
    }
}

/// A request that can be used inside of another one.
public protocol SQLSubqueryable: SQLSpecificExpressible {
    /// The request as an expression: its first value, in parentheses.
    var sqlExpression: SQLExpression { get }
}

extension SQLSubqueryable {
    var subquery: Subquery {
        if case .subquery(let query)? = sqlExpression.syntax { return query }
        Misuse.trap("\(Self.self) is not a request: only requests of this library are subqueries.")
    }

    /// Whether a value is in the results of the request: `a IN (SELECT …)`.
    ///
    /// ```swift
    /// let teamIDs = Team.select(Column("id")).filter(Column("color") == "red")
    /// Player.filter(teamIDs.contains(Column("teamID")))
    /// ```
    ///
    /// - Parameter element: The value to look for, usually a column. The request must select one
    ///   column. If the element is NULL, so is the result, unless the request has no rows.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(.query(element.sqlExpression, in: subquery, isNegated: false))
    }

    /// Whether a value is in the results of the request: `? IN (SELECT …)`.
    ///
    /// ```swift
    /// Team.filter(Player.select(Column("teamID")).contains(1))
    /// ```
    ///
    /// - Parameter element: The value to look for. It is bound. The request must select one column.
    @_disfavoredOverload
    public func contains(_ element: any SQLExpressible) -> SQLExpression {
        SQLExpression(.query(element.sqlExpression, in: subquery, isNegated: false))
    }

    /// Whether the request has a row: `EXISTS (SELECT …)`.
    public func exists() -> SQLExpression { SQLExpression(.exists(subquery, isNegated: false)) }
}

extension SQLRequest: SQLSubqueryable {
    @_documentation(visibility: internal)
    public var sqlExpression: SQLExpression { SQLExpression(.subquery(subquery)) }
}
