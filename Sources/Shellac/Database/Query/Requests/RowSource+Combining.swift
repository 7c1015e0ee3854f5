// Requests that combine several tables or several requests.

extension RequestBuilding {
    /// Gives the table an alias, which distinguishes the columns of several tables.
    ///
    /// - Parameter alias: The alias, which replaces an earlier one. Its subscripts return the
    ///   columns of the table.
    public func aliased<Aliased>(_ alias: TableAlias<Aliased>) -> Refined {
        derived { $0.source.alias = alias.name }
    }
}

extension RowSource {
    // MARK: - Joins

    /// Joins each row with the rows of another request that satisfy a condition: `JOIN`.
    ///
    /// The columns of the other table are not selected: select them, or annotate the request with
    /// them. A column that both tables have needs an alias. Otherwise SQLite throws an error
    /// because it is ambiguous.
    ///
    /// - Parameters:
    ///   - other: The request to join.
    ///   - alias: The name of its table in this request.
    ///   - condition: The condition for its rows to match a row.
    public func join<Aliased>(
        _ other: some RowSource, aliased alias: TableAlias<Aliased>? = TableAlias<Void>?.none,
        on condition: some SQLSpecificExpressible
    ) -> QueryInterfaceRequest<RowDecoder> {
        join(other.all().query, alias?.name, condition.sqlExpression, isLeft: false)
    }

    /// Joins each row with the rows of another request that satisfy a condition, or with NULL:
    /// `LEFT JOIN`.
    ///
    /// - Parameters:
    ///   - other: The request to join.
    ///   - alias: The name of its table in this request.
    ///   - condition: The condition for its rows to match a row.
    public func leftJoin<Aliased>(
        _ other: some RowSource, aliased alias: TableAlias<Aliased>? = TableAlias<Void>?.none,
        on condition: some SQLSpecificExpressible
    ) -> QueryInterfaceRequest<RowDecoder> {
        join(other.all().query, alias?.name, condition.sqlExpression, isLeft: true)
    }

    private func join(
        _ other: SelectQuery, _ alias: String?, _ condition: SQLExpression, isLeft: Bool
    ) -> QueryInterfaceRequest<RowDecoder> {
        let join: QueryJoin
        if other.isWholeTable {
            join = QueryJoin(isLeft: isLeft, wholeTable: other, alias: alias, on: condition)
        } else {
            let source = QuerySource(.query(.select(other)), alias: alias ?? other.source.alias)
            join = QueryJoin(isLeft: isLeft, source: source, condition: condition)
        }
        return all().with { $0.joins.append(join) }
    }

    // MARK: - Common table expressions

    /// Adds a common table expression to the request: `WITH name AS (…)`.
    ///
    /// - Parameter table: The common table expression. It adds no rows by itself: join it, or use
    ///   it in a condition.
    public func with<Other>(
        _ table: CommonTableExpression<Other>
    ) -> QueryInterfaceRequest<RowDecoder> { all().with { $0.commonTables.append(table.commonTable) } }

    // MARK: - Unions

    /// Combines the rows of both requests, without duplicates: `UNION`.
    ///
    /// - Parameter other: A request with the same number of columns, which are matched by position.
    ///   A limit of its own applies to its own rows.
    public func union(_ other: some RowSource) -> QueryInterfaceRequest<RowDecoder> {
        combined(.union, other)
    }

    /// Combines the rows of both requests: `UNION ALL`.
    ///
    /// - Parameter other: A request with the same number of columns, which are matched by position.
    ///   A limit of its own applies to its own rows.
    public func unionAll(_ other: some RowSource) -> QueryInterfaceRequest<RowDecoder> {
        combined(.unionAll, other)
    }

    /// Keeps the rows in both requests: `INTERSECT`.
    ///
    /// - Parameter other: A request with the same number of columns, which are compared by
    ///   position. NULLs are equal.
    public func intersect(_ other: some RowSource) -> QueryInterfaceRequest<RowDecoder> {
        combined(.intersect, other)
    }

    /// Removes the rows of the other request: `EXCEPT`.
    ///
    /// - Parameter other: A request with the same number of columns, which are compared by
    ///   position. NULLs are equal.
    public func except(_ other: some RowSource) -> QueryInterfaceRequest<RowDecoder> {
        combined(.except, other)
    }

    private func combined(
        _ link: CompoundTerm.Operator, _ other: some RowSource
    ) -> QueryInterfaceRequest<RowDecoder> {
        let (query, otherQuery) = (all().query, other.all().query)
        let last = CompoundTerm(link: link, query: otherQuery)
        var combined: SelectQuery
        if case .compound(let terms) = query.source.form, query.isBareCompound {
            combined = SelectQuery(QuerySource(.compound(terms + [last])))
        } else {
            let first = CompoundTerm(link: .union, query: query)
            combined = SelectQuery(QuerySource(.compound([first, last])))
        }
        // The further fetches of either request apply to the elements of both.
        combined.supplement =
            query.supplement?.combined(with: otherQuery.supplement)
            ?? otherQuery.supplement?.combined(with: nil)
        return QueryInterfaceRequest(combined)
    }
}

/// A named request inside of another one: `WITH name(columns) AS (SELECT …)`.
///
/// ```swift
/// let best = CommonTableExpression("best", Player.order(Column("score").desc).limit(10))
/// let names = best.all().with(best).select(Column("name"), as: String.self)
/// // WITH "best" AS (SELECT * FROM "player" ORDER BY "score" DESC LIMIT 10) SELECT "name" FROM "best"
///
/// let count: SQL = "VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < \(10)"
/// let counter = CommonTableExpression("counter", columns: ["n"], isRecursive: true, literal: count)
/// ```
public struct CommonTableExpression<RowDecoder>: RowSource, RequestBuilding, Sendable {
    let commonTable: CommonTable

    /// The name.
    public var tableName: String { commonTable.name }

    /// Creates a named request.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - columns: The names of the columns. By default, those of the query.
    ///   - isRecursive: Whether the query may use the name to refer to its own rows:
    ///     `WITH RECURSIVE`.
    ///   - request: The request.
    public init(
        _ name: String, columns: [String] = [], isRecursive: Bool = false,
        _ request: QueryInterfaceRequest<RowDecoder>
    ) {
        commonTable = CommonTable(
            name: name, columns: columns, query: .select(request.query), isRecursive: isRecursive)
    }

    /// Requests all rows of the table. It exists in requests that include it with `with(_:)`.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(SelectQuery(QuerySource(.table(tableName))))
    }

    public func refined(
        _ change: (QueryInterfaceRequest<RowDecoder>) throws -> QueryInterfaceRequest<RowDecoder>
    ) rethrows -> QueryInterfaceRequest<RowDecoder> { try change(all()) }
}

extension CommonTableExpression where RowDecoder == Row {
    /// Creates a named SQL query.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - columns: The names of the columns. By default, those of the query.
    ///   - isRecursive: Whether the query may use the name to refer to its own rows:
    ///     `WITH RECURSIVE`.
    ///   - query: The query, as SQL.
    public init(_ name: String, columns: [String] = [], isRecursive: Bool = false, literal query: SQL) {
        commonTable = CommonTable(
            name: name, columns: columns, query: .fragment(query), isRecursive: isRecursive)
    }
}

extension SelectQuery {
    /// Whether the query selects all rows of a table or type, without anything else.
    fileprivate var isWholeTable: Bool {
        matchesRows && given == nil && commonTables.isEmpty && ordering.isEmpty && selection == nil
            && annotations.isEmpty && supplement == nil
    }

    fileprivate var isBareCompound: Bool {
        selection == nil && annotations.isEmpty && condition == nil && ordering.isEmpty && limit == nil
            && !isDistinct && groups.isEmpty && groupCondition == nil && joins.isEmpty && commonTables.isEmpty
            && source.alias == nil && supplement?.joinsTables != true
    }
}
