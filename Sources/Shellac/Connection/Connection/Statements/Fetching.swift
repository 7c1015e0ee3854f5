// The fetching methods, written once for rows, values, optional values and other types.

extension DatabaseFetchable {
    // MARK: - From a statement

    /// Returns a cursor over the rows of a statement, as elements of this type.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. If nil, the previous arguments are used again.
    /// - Throws: a ``DatabaseError`` if the arguments do not fit, or if the statement is already
    ///   running. The cursor throws the errors of its steps.
    @inlinable
    public static func fetchCursor(
        _ statement: Statement, arguments: StatementArguments? = nil
    ) throws -> DatabaseCursor<Self> {
        try DatabaseCursor(statement, arguments: arguments)
    }

    /// Fetches all elements of a statement, as an array.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. If nil, the previous arguments are used again.
    /// - Throws: a ``DatabaseError`` if the arguments do not fit, if the statement is already
    ///   running, or if it fails. It also throws the errors of creating an element, usually a
    ///   ``RowDecodingError``.
    @inlinable
    public static func fetchAll(
        _ statement: Statement, arguments: StatementArguments? = nil
    ) throws -> [Self] {
        try statement.begin(arguments)
        defer { statement.abandon() }
        var elements: [Self] = []
        let row = statement.row
        while try statement.step() { elements.append(try keptElement(of: row)) }
        return elements
    }

    /// Fetches the first element of a statement. Returns nil if there is no row, or if the value is
    /// NULL.
    ///
    /// A statement that writes is executed to its end.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. If nil, the previous arguments are used again.
    /// - Throws: a ``DatabaseError`` if the arguments do not fit, if the statement is already
    ///   running, or if it fails. It also throws the errors of creating an element, usually a
    ///   ``RowDecodingError``.
    @inlinable
    public static func fetchOne(
        _ statement: Statement, arguments: StatementArguments? = nil
    ) throws -> Self? {
        try statement.begin(arguments)
        defer { statement.abandon() }
        guard try statement.step() else { return nil }
        let element = try onlyElement(of: statement.row)
        if !statement.isReadonly { while try statement.step() {} }
        return element
    }

    // MARK: - From SQL

    /// Returns a cursor over the rows of an SQL query, as elements of this type.
    ///
    /// ```swift
    /// let rows = try Row.fetchCursor(db, sql: "SELECT * FROM player")
    /// while let row = try rows.next() {
    ///     let name: String = try row["name"]
    /// }
    /// ```
    ///
    /// Keep the cursor in a constant, as above, while you read its rows: they end with it.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or its arguments do not
    ///   fit. The cursor throws the errors of its steps.
    @inlinable
    public static func fetchCursor(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> DatabaseCursor<Self> {
        try fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
    }

    /// Fetches all elements of an SQL query, as an array.
    ///
    /// ```swift
    /// let names = try String.fetchAll(db, sql: "SELECT name FROM player WHERE score > ?", arguments: [100])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or fails. It also throws
    ///   the errors of creating an element, usually a ``RowDecodingError``.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] {
        try fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
    }

    /// Fetches the first element of an SQL query. Returns nil if there is no row, or if the value
    /// is NULL.
    ///
    /// ```swift
    /// let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or fails. It also throws
    ///   the errors of creating an element, usually a ``RowDecodingError``.
    @inlinable
    public static func fetchOne(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Self? {
        try fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
    }
}

extension DatabaseFetchable where Self: Hashable {
    /// Fetches all elements of a statement, as a set.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. If nil, the previous arguments are used again.
    /// - Throws: a ``DatabaseError`` if the arguments do not fit, if the statement is already
    ///   running, or if it fails. It also throws the errors of creating an element, usually a
    ///   ``RowDecodingError``.
    @inlinable
    public static func fetchSet(
        _ statement: Statement, arguments: StatementArguments? = nil
    ) throws -> Set<Self> {
        try statement.begin(arguments)
        defer { statement.abandon() }
        var elements: Set<Self> = []
        let row = statement.row
        while try statement.step() { elements.insert(try keptElement(of: row)) }
        return elements
    }

    /// Fetches all elements of an SQL query, as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or fails. It also throws
    ///   the errors of creating an element, usually a ``RowDecodingError``.
    @inlinable
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Set<Self> {
        try fetchSet(db.cachedStatement(sql: sql), arguments: arguments)
    }
}

/// A cursor over the elements of a statement: see `fetchCursor`.
///
/// A row of a row cursor is only valid until the next step. Keep it with `copy()`. The statement is
/// in use until the cursor has returned its last element or is released.
public final class DatabaseCursor<Element: DatabaseFetchable>: Cursor {
    @usableFromInline let statement: Statement
    /// Whether `next` has no more rows of the statement to return. This is the case after the last
    /// row, and always with an adapter.
    @exclusivity(unchecked) @usableFromInline var isAtEnd = false
    /// The run, if an adapter transforms its rows.
    @usableFromInline let adapted: AdaptedRun?

    /// Creates a cursor over adapted rows.
    init(_ run: AdaptedRun, of statement: Statement) {
        self.statement = statement
        adapted = run
        isAtEnd = true
    }

    @inlinable
    init(_ statement: Statement, arguments: StatementArguments?) throws {
        // This comes first: a cursor that is freed ends the run of its statement, which may belong
        // to another cursor.
        try statement.begin(arguments)
        self.statement = statement
        adapted = nil
    }

    deinit { if !isAtEnd { statement.abandon() } else { adapted?.abandon() } }

    /// The names of the statement's columns.
    public var columnNames: [String] { statement.columnNames }

    @inlinable
    public func next() throws -> Element? {
        if isAtEnd { return try nextAdapted() }
        isAtEnd = true
        guard try statement.step() else { return nil }
        isAtEnd = false
        return try Element.currentElement(of: statement.row)
    }

    @usableFromInline @inline(never)
    func nextAdapted() throws -> Element? { try adapted?.next().map { try Element.currentElement(of: $0) } }

    /// Returns the first element that passes a test. It can be kept, like the elements of an array.
    ///
    /// It is the same element that was tested, and not a new one: the test may have changed it.
    ///
    /// - Parameter isFound: The test. For a row cursor, a test that advances the cursor stops the
    ///   program with an explanation, because the row is gone.
    /// - Throws: any error of the statement, of creating an element, or of the test.
    @inlinable
    public func first(where isFound: (Element) throws -> Bool) throws -> Element? {
        while let element = try next() {
            if try isFound(element) { return try Element.kept(element) }
        }
        return nil
    }
}

@available(*, unavailable, message: "a cursor belongs to the access that made it")
extension DatabaseCursor: Sendable {}
