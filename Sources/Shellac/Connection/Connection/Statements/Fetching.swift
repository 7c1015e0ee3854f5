// The fetching methods, written once for rows, values, optional values, and whatever else reads rows.

extension DatabaseFetchable {
    // MARK: - From a statement

    /// Returns a cursor over the rows of a statement, as elements of this type.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. When there are none, those bound last are used again.
    /// - Throws: a ``DatabaseError`` when the arguments do not fit, or when the statement is running already. What its steps
    ///   throw, the cursor throws.
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
    ///   - arguments: The arguments to bind. When there are none, those bound last are used again.
    /// - Throws: a ``DatabaseError`` when the arguments do not fit, when the statement is running already, or when it fails,
    ///   and what making an element throws: mostly a ``RowDecodingError``.
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

    /// Fetches the first element of a statement: nil when there is no row, and for a value that is NULL.
    ///
    /// A statement that writes is executed to its end.
    ///
    /// - Parameters:
    ///   - statement: The statement to run.
    ///   - arguments: The arguments to bind. When there are none, those bound last are used again.
    /// - Throws: a ``DatabaseError`` when the arguments do not fit, when the statement is running already, or when it fails,
    ///   and what making an element throws: mostly a ``RowDecodingError``.
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
    /// Keep the cursor in a constant, as above, while its rows are read: they end with it.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or its arguments do not fit. What its steps throw,
    ///   the cursor throws.
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
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly
    ///   a ``RowDecodingError``.
    @inlinable
    public static func fetchAll(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] {
        try fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
    }

    /// Fetches the first element of an SQL query: nil when there is no row, and for a value that is NULL.
    ///
    /// ```swift
    /// let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - sql: The query, of one statement.
    ///   - arguments: The values that the query binds.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly
    ///   a ``RowDecodingError``.
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
    ///   - arguments: The arguments to bind. When there are none, those bound last are used again.
    /// - Throws: a ``DatabaseError`` when the arguments do not fit, when the statement is running already, or when it fails,
    ///   and what making an element throws: mostly a ``RowDecodingError``.
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
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails, and what making an element throws: mostly a
    ///   ``RowDecodingError``.
    @inlinable
    public static func fetchSet(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Set<Self> {
        try fetchSet(db.cachedStatement(sql: sql), arguments: arguments)
    }
}

/// A cursor over what a statement gives: see `fetchCursor`.
///
/// A row that a cursor of rows gives is good until the next step; `copy()` keeps it. The statement is in use
/// until the cursor has given its last element or has been let go of.
public final class DatabaseCursor<Element: DatabaseFetchable>: Cursor {
    @usableFromInline let statement: Statement
    /// Whether `next` has no row of the statement to give: it was the last one, or an adapter shows the rows.
    @exclusivity(unchecked) @usableFromInline var isAtEnd = false
    /// The run, where an adapter shows its rows.
    @usableFromInline let adapted: AdaptedRun?

    /// Goes through the rows that an adapter shows.
    init(_ run: AdaptedRun, of statement: Statement) {
        self.statement = statement
        adapted = run
        isAtEnd = true
    }

    @inlinable
    init(_ statement: Statement, arguments: StatementArguments?) throws {
        // First, since a cursor ends the run of its statement when it is freed: this one may be another one's.
        try statement.begin(arguments)
        self.statement = statement
        adapted = nil
    }

    deinit { if !isAtEnd { statement.abandon() } else { adapted?.abandon() } }

    /// The names of the columns of the statement.
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

    /// Returns the first element that passes a test. It can be kept, as those of arrays can.
    ///
    /// It is the very element that was tested, not one made anew: the test may have changed it.
    ///
    /// - Parameter isFound: The test. One of rows that moves the cursor on stops the program, with a sentence: there is no row to
    ///   keep any more.
    /// - Throws: what the statement throws, what making an element throws, and what the test throws.
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
