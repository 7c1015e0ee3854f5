// Executes, prepares and fetches SQL literals, with their interpolated values bound.

extension Database {
    /// Executes an SQL literal.
    ///
    /// ```swift
    /// try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(id)")
    /// ```
    ///
    /// - Parameter fragment: One statement, or several, as for ``execute(sql:arguments:)``.
    ///   Interpolated values are bound. They are written as literals if the literal begins with the
    ///   definition of a view, a trigger or an index, which has no parameters.
    /// - Throws: a ``DatabaseError`` if a statement does not compile, or fails.
    public func execute(literal fragment: SQL) throws {
        let fragment = try runnable(fragment)
        try execute(sql: fragment.text, arguments: fragment.values)
    }

    /// Returns a piece of SQL as a statement of this connection.
    private func runnable(_ fragment: SQL) throws -> SQL {
        let statement = try fragment.written(on: self)
        guard !statement.values.isEmpty, statement.isKeptDefinition else { return statement }
        return try SQL(sql: statement.literalSQL(on: self))
    }

    /// Prepares an SQL literal, and binds its values.
    ///
    /// - Parameter fragment: Exactly one statement. Without interpolated values, it may have
    ///   parameters to bind later: `"SELECT ?"`. It cannot have both.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, if it has both values and
    ///   parameters, or if the SQL does not have exactly one statement.
    public func makeStatement(literal fragment: SQL) throws -> Statement {
        let fragment = try runnable(fragment)
        let statement = try makeStatement(sql: fragment.text)
        if !fragment.values.isEmpty { try statement.setArguments(fragment.values) }
        return statement
    }

    /// Returns the statement that the connection caches for an SQL literal. Its values are bound,
    /// as with ``makeStatement(literal:)``.
    ///
    /// - Parameter fragment: Exactly one statement. It is cached by its text, whatever the values.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or cannot bind its values.
    public func cachedStatement(literal fragment: SQL) throws -> Statement {
        let fragment = try runnable(fragment)
        let statement = try cachedStatement(sql: fragment.text)
        if !fragment.values.isEmpty { try statement.setArguments(fragment.values) }
        return statement
    }
}

extension DatabaseFetchable {
    /// Returns a cursor over the rows of an SQL literal, as elements of this type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - fragment: The query, of one statement, whose interpolated values are bound.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or its arguments do not
    ///   fit. The cursor throws the errors of its steps.
    public static func fetchCursor(_ db: Database, literal fragment: SQL) throws -> DatabaseCursor<Self> {
        let fragment = try fragment.written(on: db)
        return try fetchCursor(db, sql: fragment.text, arguments: fragment.values)
    }

    /// Fetches all elements of an SQL literal, as an array.
    ///
    /// ```swift
    /// let names = try String.fetchAll(db, literal: "SELECT name FROM player WHERE score > \(100)")
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - fragment: The query, of one statement, whose interpolated values are bound.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or fails. It also throws
    ///   the errors of creating an element, usually a ``RowDecodingError``.
    public static func fetchAll(_ db: Database, literal fragment: SQL) throws -> [Self] {
        let fragment = try fragment.written(on: db)
        return try fetchAll(db, sql: fragment.text, arguments: fragment.values)
    }

    /// Fetches the first element of an SQL literal. Returns nil if there is no row, or if the value
    /// is NULL.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - fragment: The query, of one statement, whose interpolated values are bound.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or fails. It also throws
    ///   the errors of creating an element, usually a ``RowDecodingError``.
    public static func fetchOne(_ db: Database, literal fragment: SQL) throws -> Self? {
        let fragment = try fragment.written(on: db)
        return try fetchOne(db, sql: fragment.text, arguments: fragment.values)
    }
}

extension DatabaseFetchable where Self: Hashable {
    /// Fetches all elements of an SQL literal, as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - fragment: The query, of one statement, whose interpolated values are bound.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or fails. It also throws
    ///   the errors of creating an element, usually a ``RowDecodingError``.
    public static func fetchSet(_ db: Database, literal fragment: SQL) throws -> Set<Self> {
        let fragment = try fragment.written(on: db)
        return try fetchSet(db, sql: fragment.text, arguments: fragment.values)
    }
}
