/// A request built in Swift.
///
/// It is a value that is independent of any database. Derive others from it, store it, and fetch it
/// when you have a connection.
///
/// ```swift
/// let request = Player.filter(Column("score") > 100).order(Column("name")).limit(10)
/// // SELECT * FROM "player" WHERE "score" > 100 ORDER BY "name" LIMIT 10
/// let players = try dbQueue.read { db in try request.fetchAll(db) }
///
/// extension DerivableRequest<Player> {
///     func best() -> Self { filter(Column("score") > 100).order(Column("score").desc) }
/// }
/// let best = try Player.filter(Column("teamID") == 1).best().fetchAll(db)
/// ```
public struct QueryInterfaceRequest<RowDecoder>: FetchRequest {
    /// One reference, because requests are copied more often than derived.
    private let storage: SharedQuery

    init(_ query: SelectQuery) { storage = SharedQuery(query) }

    var query: SelectQuery { storage.query }

    func with(_ change: (inout SelectQuery) -> Void) -> Self {
        var query = storage.query
        change(&query)
        return Self(query)
    }

    public func makePreparedRequest(_ db: Database, forSingleResult isOne: Bool) throws -> PreparedRequest {
        var storage = storage
        if let supplement = storage.query.supplement {
            storage = try SharedQuery(
                supplement.joined(storage.query, for: RowDecoder.self, avoiding: [], on: db))
        }
        let (statement, arguments) = try db.queries.prepare(
            RequestQuery(storage: storage, purpose: isOne ? .first : .rows), on: db)
        if let recorder = db.readRecorder, let rows = try storage.query.rowsRegion(db) {
            recorder.limit(statement, to: rows)
        }
        return PreparedRequest(
            statement: statement, arguments: arguments, supplement: storage.query.supplement)
    }

    /// Fetches the number of rows.
    ///
    /// ```swift
    /// let count = try Player.filter(Column("score") > 100).fetchCount(db)
    /// // SELECT COUNT(*) FROM "player" WHERE "score" > 100
    /// ```
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func fetchCount(_ db: Database) throws -> Int {
        let (statement, arguments) = try db.queries.prepare(
            RequestQuery(storage: storage, purpose: .count), on: db)
        return try Int.fetchOne(statement, arguments: arguments) ?? 0
    }

    /// Whether the request has no row.
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func isEmpty(_ db: Database) throws -> Bool { try !exists(db) }

    /// Whether the request has a row.
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func exists(_ db: Database) throws -> Bool {
        let (statement, arguments) = try db.queries.prepare(
            RequestQuery(storage: storage, purpose: .existence), on: db)
        return try Bool.fetchOne(statement, arguments: arguments) ?? false
    }
}

/// A box for the query of a request.
final class SharedQuery: Sendable {
    let query: SelectQuery

    init(_ query: SelectQuery) { self.query = query }
}

extension QueryInterfaceRequest: SQLSubqueryable {
    @_documentation(visibility: internal)
    public var sqlExpression: SQLExpression { SQLExpression(.subquery(.select(query))) }
}

extension QueryInterfaceRequest: DerivableRequest, RowSource {
    public func all() -> QueryInterfaceRequest<RowDecoder> { self }

    public func refined(
        _ change: (QueryInterfaceRequest<RowDecoder>) throws -> QueryInterfaceRequest<RowDecoder>
    ) rethrows -> QueryInterfaceRequest<RowDecoder> { try change(self) }
}

/// A table, which may have no type.
///
/// ```swift
/// let rows = try Table("player").filter(Column("score") > 100).fetchAll(db)
/// let players = try Table<Player>("oldPlayer").fetchAll(db)
/// ```
public struct Table<RowDecoder>: RowSource, RequestBuilding, FetchRequest {
    /// The name.
    public let tableName: String

    /// Creates a table whose rows are decoded as values of a type.
    ///
    /// - Parameter tableName: The name of a table or a view, without quotes and without a schema.
    ///   It is quoted in SQL.
    public init(_ tableName: String) { self.tableName = tableName }

    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(SelectQuery(QuerySource(.table(tableName))))
    }

    public func refined(
        _ change: (QueryInterfaceRequest<RowDecoder>) throws -> QueryInterfaceRequest<RowDecoder>
    ) rethrows -> QueryInterfaceRequest<RowDecoder> { try change(all()) }

    public func makePreparedRequest(_ db: Database, forSingleResult isOne: Bool) throws -> PreparedRequest {
        try all().makePreparedRequest(db, forSingleResult: isOne)
    }

    public func fetchCount(_ db: Database) throws -> Int { try all().fetchCount(db) }

    /// Whether the table has no row.
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func isEmpty(_ db: Database) throws -> Bool { try all().isEmpty(db) }
}

extension Table<Row> {
    /// Creates a table whose rows are not converted.
    ///
    /// - Parameter tableName: The name of a table or a view, without quotes and without a schema.
    ///   It is quoted in SQL.
    public init(_ tableName: String) { self.tableName = tableName }
}
