// The fetching methods, with an adapter. Without one, they are those of the same names.

extension DatabaseFetchable {
    // MARK: - From a statement

    /// Returns a cursor over the rows of a statement as an adapter shows them, as elements of this type.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. When there are none, those bound last are used again.
    ///   - adapter: What shows the columns otherwise. Nil shows them as they are.
    /// - Throws: what fetching without an adapter throws. The cursor throws a ``DatabaseError`` when the adapter names columns
    ///   that there are not.
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)?
    ) throws -> DatabaseCursor<Self> {
        guard let adapter else { return try fetchCursor(statement, arguments: arguments) }
        return DatabaseCursor(
            try AdaptedRun(statement, arguments: arguments, adapter: adapter), of: statement)
    }

    /// Fetches all elements of a statement whose rows an adapter shows, as an array.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. When there are none, those bound last are used again.
    ///   - adapter: What shows the columns otherwise. Nil shows them as they are.
    /// - Throws: a ``DatabaseError`` when the adapter names columns that there are not, and what fetching without one throws.
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)?
    ) throws -> [Self] {
        guard let adapter else { return try fetchAll(statement, arguments: arguments) }
        let run = try AdaptedRun(statement, arguments: arguments, adapter: adapter)
        defer { run.abandon() }
        var elements: [Self] = []
        while let row = try run.next() { elements.append(try keptElement(of: row)) }
        return elements
    }

    /// Fetches the first element of a statement whose rows an adapter shows: nil when there is no row, and for a value that is NULL.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. When there are none, those bound last are used again.
    ///   - adapter: What shows the columns otherwise. Nil shows them as they are.
    /// - Throws: a ``DatabaseError`` when the adapter names columns that there are not, and what fetching without one throws.
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)?
    ) throws -> Self? {
        guard let adapter else { return try fetchOne(statement, arguments: arguments) }
        let run = try AdaptedRun(statement, arguments: arguments, adapter: adapter)
        defer { run.abandon() }
        guard let row = try run.next() else { return nil }
        let element = try onlyElement(of: row)
        if !statement.isReadonly { while try run.next() != nil {} }
        return element
    }

    // MARK: - From SQL

    /// Returns a cursor over the rows of an SQL query as an adapter shows them, as elements of this type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    ///   - adapter: What shows the columns otherwise. Nil shows them as they are.
    /// - Throws: what fetching without an adapter throws. The cursor throws a ``DatabaseError`` when the adapter names columns
    ///   that there are not.
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)?
    ) throws -> DatabaseCursor<Self> {
        try fetchCursor(db.cachedStatement(sql: sql), arguments: arguments, adapter: adapter)
    }

    /// Fetches all elements of an SQL query whose rows an adapter shows, as an array.
    ///
    /// ```swift
    /// let players = try Player.fetchAll(
    ///     db, sql: "SELECT team.name, player.* FROM player JOIN team ON team.id = player.teamID",
    ///     adapter: SuffixRowAdapter(fromIndex: 1))
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    ///   - adapter: What shows the columns otherwise. Nil shows them as they are.
    /// - Throws: a ``DatabaseError`` when the adapter names columns that there are not, and what fetching without one throws.
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)?
    ) throws -> [Self] { try fetchAll(db.cachedStatement(sql: sql), arguments: arguments, adapter: adapter) }

    /// Fetches the first element of an SQL query whose rows an adapter shows: nil when there is no row, and for a value that is NULL.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    ///   - adapter: What shows the columns otherwise. Nil shows them as they are.
    /// - Throws: a ``DatabaseError`` when the adapter names columns that there are not, and what fetching without one throws.
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)?
    ) throws -> Self? { try fetchOne(db.cachedStatement(sql: sql), arguments: arguments, adapter: adapter) }
}

extension DatabaseFetchable where Self: Hashable {
    /// Fetches all elements of a statement whose rows an adapter shows, as a set.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. When there are none, those bound last are used again.
    ///   - adapter: What shows the columns otherwise. Nil shows them as they are.
    /// - Throws: a ``DatabaseError`` when the adapter names columns that there are not, and what fetching without one throws.
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)?
    ) throws -> Set<Self> { try Set(fetchAll(statement, arguments: arguments, adapter: adapter)) }

    /// Fetches all elements of an SQL query whose rows an adapter shows, as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    ///   - adapter: What shows the columns otherwise. Nil shows them as they are.
    /// - Throws: a ``DatabaseError`` when the adapter names columns that there are not, and what fetching without one throws.
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        adapter: (any RowAdapter)?
    ) throws -> Set<Self> { try Set(fetchAll(db, sql: sql, arguments: arguments, adapter: adapter)) }
}
