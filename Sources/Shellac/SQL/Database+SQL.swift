extension Database {
    /// Executes an SQL literal.
    ///
    /// ```swift
    /// try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(id)")
    /// ```
    ///
    /// - Parameter fragment: One statement, or several, as ``execute(sql:arguments:)`` takes them. Interpolated values are
    ///   bound.
    /// - Throws: a ``DatabaseError`` when a statement does not compile, or fails.
    public func execute(literal fragment: SQL) throws {
        try execute(sql: fragment.sql, arguments: fragment.arguments)
    }

    /// Prepares an SQL literal, and binds its values.
    ///
    /// - Parameter fragment: The statement, and no other. One without values may have parameters, to be bound later: `"SELECT
    ///   ?"`. It cannot have both.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, when it has values and parameters both, and when
    ///   there is no statement in the SQL, or more than one.
    public func makeStatement(literal fragment: SQL) throws -> Statement {
        let statement = try makeStatement(sql: fragment.sql)
        if !fragment.arguments.isEmpty { try statement.setArguments(fragment.arguments) }
        return statement
    }

    /// Returns the statement that the connection keeps for an SQL literal, with its values bound, as
    /// ``makeStatement(literal:)`` does it.
    ///
    /// - Parameter fragment: The statement, and no other. The statement is kept for its text, whatever the values.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or does not bind its values.
    public func cachedStatement(literal fragment: SQL) throws -> Statement {
        let statement = try cachedStatement(sql: fragment.sql)
        if !fragment.arguments.isEmpty { try statement.setArguments(fragment.arguments) }
        return statement
    }
}

extension DatabaseFetchable {
    /// Returns a cursor over the rows of an SQL literal, as elements of this type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - fragment: The query, of one statement, whose interpolated values are bound.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or its arguments do not fit. What its steps throw,
    ///   the cursor throws.
    public static func fetchCursor(_ db: Database, literal fragment: SQL) throws -> DatabaseCursor<Self> {
        try fetchCursor(db, sql: fragment.sql, arguments: fragment.arguments)
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
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly a
    ///   ``RowDecodingError``.
    public static func fetchAll(_ db: Database, literal fragment: SQL) throws -> [Self] {
        try fetchAll(db, sql: fragment.sql, arguments: fragment.arguments)
    }

    /// Fetches the first element of an SQL literal: nil when there is no row, and for a value that is NULL.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - fragment: The query, of one statement, whose interpolated values are bound.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly a
    ///   ``RowDecodingError``.
    public static func fetchOne(_ db: Database, literal fragment: SQL) throws -> Self? {
        try fetchOne(db, sql: fragment.sql, arguments: fragment.arguments)
    }
}

extension DatabaseFetchable where Self: Hashable {
    /// Fetches all elements of an SQL literal, as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - fragment: The query, of one statement, whose interpolated values are bound.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly a
    ///   ``RowDecodingError``.
    public static func fetchSet(_ db: Database, literal fragment: SQL) throws -> Set<Self> {
        try fetchSet(db, sql: fragment.sql, arguments: fragment.arguments)
    }
}
