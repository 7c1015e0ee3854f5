/// A query that can be fetched. It has its SQL, its arguments, and the type of its results.
///
/// ```swift
/// let request = Player.filter(Column("score") > 100)
/// let players = try request.fetchAll(db)
/// ```
public protocol FetchRequest<RowDecoder>: DatabaseRegionConvertible, Sendable {
    /// The type that rows are decoded as.
    associatedtype RowDecoder

    /// Prepares the statement of the request, with its arguments.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - isOne: Whether only the first row is needed.
    /// - Throws: a ``DatabaseError`` when the statement does not compile. A ``RecordError`` for a
    ///   key that the table does not have.
    func makePreparedRequest(_ db: Database, forSingleResult isOne: Bool) throws -> PreparedRequest

    /// Fetches the number of rows.
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    func fetchCount(_ db: Database) throws -> Int
}

/// The statement of a request, and its arguments.
public struct PreparedRequest {
    /// The statement. It belongs to the connection, and may be used by the next request.
    public let statement: Statement

    /// The values.
    public let arguments: StatementArguments

    /// The further fetches for the fetched elements.
    @usableFromInline let supplement: RequestSupplement?

    /// Creates the result of preparing a custom request: see
    /// ``FetchRequest/makePreparedRequest(_:forSingleResult:)``.
    ///
    /// - Parameters:
    ///   - statement: A statement of the connection passed to the request, such as
    ///     `cachedStatement` returns.
    ///   - arguments: The values that it binds. They are checked when it is run. By default, those
    ///     of the statement.
    ///   - adapter: The transformation of its columns.
    public init(
        statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)? = nil
    ) {
        self.init(
            statement: statement, arguments: arguments ?? statement.arguments,
            supplement: adapter.map { AdaptedRows($0) })
    }

    /// The transformation of the statement's columns, if there is one.
    public var adapter: (any RowAdapter)? { (supplement as? AdaptedRows)?.adapter }

    init(statement: Statement, arguments: StatementArguments, supplement: RequestSupplement?) {
        (self.statement, self.arguments, self.supplement) = (statement, arguments, supplement)
    }
}

@available(*, unavailable, message: "a prepared request belongs to the access that made it")
extension PreparedRequest: Sendable {}

extension FetchRequest where RowDecoder: DatabaseFetchable {
    /// Returns a cursor over the elements of the request.
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or its arguments do not
    ///   match. The cursor throws errors of later steps.
    @inlinable
    public func fetchCursor(_ db: Database) throws -> DatabaseCursor<RowDecoder> {
        let prepared = try makePreparedRequest(db, forSingleResult: false)
        if let supplement = prepared.supplement {
            return try RowDecoder.fetchCursor(prepared, suppliedBy: supplement)
        }
        return try RowDecoder.fetchCursor(prepared.statement, arguments: prepared.arguments)
    }

    /// Fetches all elements of the request, as an array.
    ///
    /// ```swift
    /// let players = try Player.filter(Column("score") > 100).fetchAll(db)
    /// ```
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails. Also the error
    ///   of decoding an element, usually a ``RowDecodingError``.
    @inlinable
    public func fetchAll(_ db: Database) throws -> [RowDecoder] {
        let prepared = try makePreparedRequest(db, forSingleResult: false)
        if let supplement = prepared.supplement {
            return try RowDecoder.fetchAll(prepared, suppliedBy: supplement, in: db, first: false)
        }
        return try RowDecoder.fetchAll(prepared.statement, arguments: prepared.arguments)
    }

    /// Fetches the first element of the request. Nil when there is no row, and for a NULL value.
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails. Also the error
    ///   of decoding an element, usually a ``RowDecodingError``.
    @inlinable
    public func fetchOne(_ db: Database) throws -> RowDecoder? {
        let prepared = try makePreparedRequest(db, forSingleResult: true)
        if let supplement = prepared.supplement {
            return try RowDecoder.fetchAll(prepared, suppliedBy: supplement, in: db, first: true).first
        }
        return try RowDecoder.fetchOne(prepared.statement, arguments: prepared.arguments)
    }
}

extension FetchRequest where RowDecoder: DatabaseFetchable & Hashable {
    /// Fetches all elements of the request, as a set.
    ///
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails. Also the error
    ///   of decoding an element, usually a ``RowDecodingError``.
    @inlinable
    public func fetchSet(_ db: Database) throws -> Set<RowDecoder> {
        let prepared = try makePreparedRequest(db, forSingleResult: false)
        if prepared.supplement != nil { return try Set(fetchAll(db)) }
        return try RowDecoder.fetchSet(prepared.statement, arguments: prepared.arguments)
    }
}
