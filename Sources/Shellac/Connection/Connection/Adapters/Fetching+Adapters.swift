// The fetching methods with an adapter. Without one, they equal those of the same names.

extension DatabaseFetchable {
    // MARK: - From a statement

    /// Returns a cursor over the adapted rows of a statement, as elements of this type.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. If nil, the previous arguments are used again.
    ///   - adapter: The transformation of the columns. Nil leaves them unchanged.
    /// - Throws: the errors of fetching without an adapter. The cursor throws a ``DatabaseError``
    ///   if the adapter names missing columns.
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil, adapter: (any RowAdapter)?
    ) throws -> DatabaseCursor<Self> {
        guard let adapter else { return try fetchCursor(statement, arguments: arguments) }
        return DatabaseCursor(
            try AdaptedRun(statement, arguments: arguments, adapter: adapter), of: statement)
    }

    /// Fetches all elements of a statement with adapted rows, as an array.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. If nil, the previous arguments are used again.
    ///   - adapter: The transformation of the columns. Nil leaves them unchanged.
    /// - Throws: a ``DatabaseError`` if the adapter names missing columns, and the errors of
    ///   fetching without one.
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

    /// Fetches the first element of a statement with adapted rows. Returns nil if there is no row,
    /// or if the value is NULL.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. If nil, the previous arguments are used again.
    ///   - adapter: The transformation of the columns. Nil leaves them unchanged.
    /// - Throws: a ``DatabaseError`` if the adapter names missing columns, and the errors of
    ///   fetching without one.
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
}
