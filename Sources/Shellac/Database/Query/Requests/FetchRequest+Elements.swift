// Fetches the rows of a request as elements of another type: `Player.fetchAll(db, request)`.

extension DatabaseFetchable {
    /// Returns a cursor over the rows of a request, as elements of this type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - request: The request. Its own row type is ignored.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or its arguments do not
    ///   match. The cursor throws errors of later steps.
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> DatabaseCursor<
        Self
    > {
        if let request = request as? any RowSource {
            return try request.asRequest(of: Self.self).fetchCursor(db)
        }
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        guard let supplement = prepared.supplement else {
            return try fetchCursor(prepared.statement, arguments: prepared.arguments)
        }
        return try fetchCursor(prepared, suppliedBy: supplement)
    }

    /// Fetches all rows of a request, as elements of this type.
    ///
    /// ```swift
    /// let request = Player.select(Column("name"))
    /// let names = try String.fetchAll(db, request)
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - request: The request. Its own row type is ignored.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails. Also the error
    ///   of decoding an element, usually a ``RowDecodingError``.
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        if let request = request as? any RowSource {
            return try request.asRequest(of: Self.self).fetchAll(db)
        }
        let prepared = try request.makePreparedRequest(db, forSingleResult: false)
        guard let supplement = prepared.supplement else {
            return try fetchAll(prepared.statement, arguments: prepared.arguments)
        }
        return try fetchAll(prepared, suppliedBy: supplement, in: db, first: false)
    }

    /// Fetches the first row of a request, as an element of this type. Nil when there is no row,
    /// and for a NULL value.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - request: The request. Its order determines which row is the first. Its own row type is
    ///     ignored.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails. Also the error
    ///   of decoding an element, usually a ``RowDecodingError``.
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        if let request = request as? any RowSource {
            return try request.asRequest(of: Self.self).fetchOne(db)
        }
        let prepared = try request.makePreparedRequest(db, forSingleResult: true)
        guard let supplement = prepared.supplement else {
            return try fetchOne(prepared.statement, arguments: prepared.arguments)
        }
        return try fetchAll(prepared, suppliedBy: supplement, in: db, first: true).first
    }
}

extension DatabaseFetchable where Self: Hashable {
    /// Fetches all rows of a request as elements of this type, as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - request: The request. Its own row type is ignored.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails. Also the error
    ///   of decoding an element, usually a ``RowDecodingError``.
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        try Set(fetchAll(db, request))
    }
}
