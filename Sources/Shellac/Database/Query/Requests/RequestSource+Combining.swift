// Requests of several tables, and of several requests.

extension RefinableRequest {
    /// Gives the table an alias, by which the columns of several tables are told apart.
    ///
    /// - Parameter alias: The alias, which replaces an earlier one. Its subscripts are the columns of the table.
    public func aliased<Aliased>(_ alias: TableAlias<Aliased>) -> Refined {
        derived { $0.source.alias = alias.name }
    }
}

extension RequestSource {
    // MARK: - Joins

    /// Joins each row with those of a table for which a condition holds: `JOIN`.
    ///
    /// The columns of the other table are not selected: select them, or annotate the request with them. A column that
    /// both tables have needs an alias: SQLite throws that it is ambiguous, otherwise.
    ///
    /// - Parameters:
    ///   - other: The request that is joined.
    ///   - alias: The name of its table in this request.
    ///   - condition: Which of its rows belong to a row.
    public func join<Aliased>(
        _ other: some RequestSource, aliased alias: TableAlias<Aliased>? = TableAlias<Void>?.none,
        on condition: some SQLSpecificExpressible
    ) -> QueryInterfaceRequest<RowDecoder> {
        join(other.all().query, alias?.name, condition.sqlExpression, isLeft: false)
    }

    /// Joins each row with those of a table for which a condition holds, or with NULL: `LEFT JOIN`.
    ///
    /// - Parameters:
    ///   - other: The request that is joined.
    ///   - alias: The name of its table in this request.
    ///   - condition: Which of its rows belong to a row.
    public func leftJoin<Aliased>(
        _ other: some RequestSource, aliased alias: TableAlias<Aliased>? = TableAlias<Void>?.none,
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

    /// Adds a table to the request that is a request itself: `WITH name AS (…)`.
    ///
    /// - Parameter table: The other request, under its name. It adds no rows by itself: join it, or ask it in a condition.
    public func with<Other>(
        _ table: CommonTableExpression<Other>
    ) -> QueryInterfaceRequest<RowDecoder> { all().with { $0.commonTables.append(table.commonTable) } }

    // MARK: - Unions

    /// Combines the rows of both requests, without duplicates: `UNION`.
    ///
    /// - Parameter other: A request of as many columns, which belong together by their places. A limit of its own holds of its own
    ///   rows.
    public func union(_ other: some RequestSource) -> QueryInterfaceRequest<RowDecoder> {
        combined(.union, other)
    }

    /// Combines the rows of both requests: `UNION ALL`.
    ///
    /// - Parameter other: A request of as many columns, which belong together by their places. A limit of its own holds of its own
    ///   rows.
    public func unionAll(_ other: some RequestSource) -> QueryInterfaceRequest<RowDecoder> {
        combined(.unionAll, other)
    }

    /// Keeps the rows that both requests have: `INTERSECT`.
    ///
    /// - Parameter other: A request of as many columns, which are compared by their places: NULL is the same as NULL.
    public func intersect(_ other: some RequestSource) -> QueryInterfaceRequest<RowDecoder> {
        combined(.intersect, other)
    }

    /// Removes the rows of the other request: `EXCEPT`.
    ///
    /// - Parameter other: A request of as many columns, which are compared by their places: NULL is the same as NULL.
    public func except(_ other: some RequestSource) -> QueryInterfaceRequest<RowDecoder> {
        combined(.except, other)
    }

    private func combined(
        _ link: CompoundTerm.Operator, _ other: some RequestSource
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
        // What is fetched for the elements of either is fetched for those of both.
        combined.supplement =
            query.supplement?.combined(with: otherQuery.supplement)
            ?? otherQuery.supplement?.combined(with: nil)
        return QueryInterfaceRequest(combined)
    }
}

extension TableRecord {
    /// Requests all rows of the table, which gets an alias.
    ///
    /// - Parameter alias: The alias. Its subscripts are the columns of the table.
    public static func aliased<Aliased>(_ alias: TableAlias<Aliased>) -> QueryInterfaceRequest<Self> {
        all().aliased(alias)
    }
}

/// A request that has a name inside of another one: `WITH name(columns) AS (SELECT …)`.
///
/// ```swift
/// let best = CommonTableExpression("best", Player.order(Column("score").desc).limit(10))
/// let names = best.all().with(best).select(Column("name"), as: String.self)
/// // WITH "best" AS (SELECT * FROM "player" ORDER BY "score" DESC LIMIT 10) SELECT "name" FROM "best"
///
/// let count: SQL = "VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < \(10)"
/// let counter = CommonTableExpression("counter", columns: ["n"], isRecursive: true, literal: count)
/// ```
public struct CommonTableExpression<RowDecoder>: RequestSource, RefinableRequest, Sendable {
    let commonTable: CommonTable

    /// The name.
    public var tableName: String { commonTable.name }

    /// Creates a request under a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - columns: The names of the columns; those of the query if there are none.
    ///   - isRecursive: Whether the query may refer to its own rows by the name: `WITH RECURSIVE`.
    ///   - request: The request.
    public init(
        _ name: String, columns: [String] = [], isRecursive: Bool = false,
        _ request: QueryInterfaceRequest<RowDecoder>
    ) {
        commonTable = CommonTable(
            name: name, columns: columns, query: .select(request.query), isRecursive: isRecursive)
    }

    /// Requests all rows of the table. It exists in requests that have it by `with(_:)`.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(SelectQuery(QuerySource(.table(tableName))))
    }

    public func refined(
        _ change: (QueryInterfaceRequest<RowDecoder>) throws -> QueryInterfaceRequest<RowDecoder>
    ) rethrows -> QueryInterfaceRequest<RowDecoder> { try change(all()) }
}

extension CommonTableExpression where RowDecoder == Row {
    /// Creates an SQL query under a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - columns: The names of the columns; those of the query if there are none.
    ///   - isRecursive: Whether the query may refer to its own rows by the name: `WITH RECURSIVE`.
    ///   - query: The query, as SQL.
    public init(_ name: String, columns: [String] = [], isRecursive: Bool = false, literal query: SQL) {
        commonTable = CommonTable(
            name: name, columns: columns, query: .fragment(query), isRecursive: isRecursive)
    }
}

extension SelectQuery {
    /// Whether these are the rows of a table or of a type, and no more is asked.
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
