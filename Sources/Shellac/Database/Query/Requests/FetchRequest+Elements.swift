// Requests whose rows become elements of a type that somebody else says: `Player.fetchAll(db, request)`.

extension DatabaseFetchable {
    /// Returns a cursor over the rows of a request, as elements of this type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - request: The request. What it would make of the rows itself does not matter.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or its arguments do not fit. What its steps throw,
    ///   the cursor throws.
    public static func fetchCursor(_ db: Database, _ request: some FetchRequest) throws -> DatabaseCursor<
        Self
    > {
        if let request = request as? any RequestSource {
            return try request.asRequest(of: Self.self).fetchCursor(db)
        }
        let prepared = try request.prepare(db, forSingleResult: false)
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
    ///   - request: The request. What it would make of the rows itself does not matter.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly a
    ///   ``RowDecodingError``.
    public static func fetchAll(_ db: Database, _ request: some FetchRequest) throws -> [Self] {
        if let request = request as? any RequestSource {
            return try request.asRequest(of: Self.self).fetchAll(db)
        }
        let prepared = try request.prepare(db, forSingleResult: false)
        guard let supplement = prepared.supplement else {
            return try fetchAll(prepared.statement, arguments: prepared.arguments)
        }
        return try fetchAll(prepared, suppliedBy: supplement, in: db, first: false)
    }

    /// Fetches the first row of a request, as an element of this type: nil when there is no row, and for a value that is NULL.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - request: The request, whose order tells which row is the first. What it would make of the row itself does not
    ///     matter.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly a
    ///   ``RowDecodingError``.
    public static func fetchOne(_ db: Database, _ request: some FetchRequest) throws -> Self? {
        if let request = request as? any RequestSource {
            return try request.asRequest(of: Self.self).fetchOne(db)
        }
        let prepared = try request.prepare(db, forSingleResult: true)
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
    ///   - request: The request. What it would make of the rows itself does not matter.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly a
    ///   ``RowDecodingError``.
    public static func fetchSet(_ db: Database, _ request: some FetchRequest) throws -> Set<Self> {
        try Set(fetchAll(db, request))
    }
}
