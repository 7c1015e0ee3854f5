// Requests that use the primary key without naming its columns.
//
// The schema provides the columns when a request runs.

/// The columns of the primary key of a request's table, separated by commas.
final class PrimaryKeyTerms: LateExpression, @unchecked Sendable {  // constant
    private let isDescending: Bool

    init(isDescending: Bool = false) { self.isDescending = isDescending }

    override var reversed: LateExpression? { PrimaryKeyTerms(isDescending: !isDescending) }

    override func expression(of source: QuerySource?, among names: [String], on db: Database) throws
        -> SQLExpression
    {
        guard let source else {
            throw DatabaseError(message: "the primary key of a table was used outside of a request")
        }
        let key = try source.primaryKey(of: db.tableSchema(of: source))
        let columns = key.map { column in
            if names.count > 1, let table = source.name {
                return SQLExpression(.column(table: table, name: column))
            }
            return Column(column).sqlExpression
        }
        return SQLExpression(.terms(columns, suffix: isDescending ? " DESC" : ""))
    }

    static var expression: SQLExpression { SQLExpression(.late(PrimaryKeyTerms())) }
}

/// A condition returned by a function when there is a connection.
private final class ConnectedCondition: LateExpression, @unchecked Sendable {  // constant
    private let condition: @Sendable (Database) throws -> any SQLExpressible

    init(_ condition: @escaping @Sendable (Database) throws -> any SQLExpressible) {
        self.condition = condition
    }

    override func expression(of source: QuerySource?, among names: [String], on db: Database) throws
        -> SQLExpression
    {
        try condition(db).sqlExpression
    }
}

extension RequestBuilding {
    /// Sorts the rows by the primary key, replacing any earlier order.
    ///
    /// ```swift
    /// let players = try Player.filter(Column("score") > 100).orderByPrimaryKey().fetchAll(db)
    /// // SELECT * FROM "player" WHERE "score" > 100 ORDER BY "id"
    /// ```
    ///
    /// A table without a declared primary key is sorted by its row id. A view has none, so the
    /// request throws unless its type defines a key.
    public func orderByPrimaryKey() -> Refined {
        derived { $0.ordering = [SQLOrdering(PrimaryKeyTerms.expression)] }
    }

    /// Additionally sorts by the primary key the rows whose order is otherwise undefined. The same
    /// request then returns the same rows in the same order, as long as the table does not change.
    public func withStableOrder() -> Refined {
        derived { $0.ordering.append(SQLOrdering(PrimaryKeyTerms.expression)) }
    }

    /// Adds a condition that a function returns when the request runs.
    ///
    /// ```swift
    /// let request = Player.all().filterWhenConnected { db in
    ///     try Column("score") >= (Int.fetchOne(db, sql: "SELECT least FROM settings") ?? 0)
    /// }
    /// ```
    ///
    /// - Parameter condition: Returns the condition. It is called once or twice for each fetch of
    ///   the request, and may read the database. Observations follow the tables that the request
    ///   reads, but not those that the function reads.
    public func filterWhenConnected(
        _ condition: @escaping @Sendable (Database) throws -> any SQLExpressible
    ) -> Refined { filter(SQLExpression(.late(ConnectedCondition(condition)))) }
}

extension RowSource {
    /// Makes each row a group, by the primary key, replacing any earlier groups. The group contains
    /// everything joined with the row.
    public func groupByPrimaryKey() -> QueryInterfaceRequest<RowDecoder> { group(PrimaryKeyTerms.expression) }

    /// Selects the primary key, replacing any earlier selection.
    ///
    /// ```swift
    /// let ids = try Player.selectPrimaryKey(as: Int64.self).fetchAll(db)
    /// ```
    ///
    /// - Parameter type: The type of the key. Read a key of several columns as rows:
    ///   `selectPrimaryKey(as: Row.self)`.
    public func selectPrimaryKey<Key>(as type: Key.Type = Key.self) -> QueryInterfaceRequest<Key> {
        select([PrimaryKeyTerms.expression], as: type)
    }
}

extension RowSource where RowDecoder: Identifiable {
    /// Selects the primary key as the ids of the records, replacing any earlier selection.
    ///
    /// ```swift
    /// let ids = try Player.filter(Column("score") > 100).selectID().fetchAll(db)
    /// ```
    public func selectID() -> QueryInterfaceRequest<RowDecoder.ID> {
        selectPrimaryKey(as: RowDecoder.ID.self)
    }
}
