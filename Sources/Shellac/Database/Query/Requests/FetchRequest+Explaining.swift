// Query plans of requests by EXPLAIN QUERY PLAN, and dumps of their rows as text.

extension FetchRequest {
    /// Returns SQLite's query plan for the rows, from EXPLAIN QUERY PLAN. Each step has a line,
    /// indented below the step that it belongs to.
    ///
    /// ```swift
    /// print(try Player.filter(Column("score") > 100).order(Column("name")).explain(db))
    /// // SCAN player
    /// // USE TEMP B-TREE FOR ORDER BY
    /// ```
    ///
    /// The words are SQLite's, and differ between versions: read them, and don't depend on them. If
    /// a request has a limit and no order, this plan decides which rows it returns. The last line
    /// then says so.
    ///
    /// - Throws: a ``DatabaseError`` when the statement of the request does not compile.
    public func explain(_ db: Database) throws -> String {
        let prepared = try makePreparedRequest(db, forSingleResult: false)
        let rows = try Row.fetchAll(
            db, sql: "EXPLAIN QUERY PLAN \(prepared.statement.sql)", arguments: prepared.arguments)
        var depths: [Int: Int] = [0: -1]
        var lines = try rows.map { row in
            let (id, parent, detail): (Int, Int, String) = try (row[0], row[1], row[3])
            let depth = (depths[parent] ?? -1) + 1
            depths[id] = depth
            return String(repeating: "  ", count: depth) + detail
        }
        if (self as? any RowSource)?.isLimitedByChance == true {
            lines.append("NOTE: a LIMIT without ORDER BY: the plan decides which rows are returned")
        }
        return lines.joined(separator: "\n")
    }
}

extension RowSource {
    fileprivate var isLimitedByChance: Bool { all().query.isLimitedByChance }
}

extension Database {
    /// Prints the rows of a request.
    ///
    /// ```swift
    /// try db.dumpRequest(Player.filter(Column("score") > 100))
    /// // 2|Barbara|250
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - format: The format of the rows.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func dumpRequest(_ request: some FetchRequest, format: DumpFormat = .list) throws {
        var text = ""
        try dumpRequest(request, format: format, to: &text)
        print(text, terminator: "")
    }

    /// Writes the rows of a request to a stream.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func dumpRequest(
        _ request: some FetchRequest, format: DumpFormat = .list, to stream: inout some TextOutputStream
    ) throws {
        let prepared = try request.makePreparedRequest(self, forSingleResult: false)
        try dumpSQL(
            SQL(sql: prepared.statement.sql, arguments: prepared.arguments), format: format, to: &stream)
    }
}

extension Database {
    /// Writes the rows of a request to a stream: an object, or a value that writes elsewhere. Nil
    /// means the standard output.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func dumpRequest(
        _ request: some FetchRequest, format: DumpFormat = .list, to stream: (any TextOutputStream)?
    ) throws {
        guard let stream else { return try dumpRequest(request, format: format) }
        var output = AnyOutput(stream)
        try dumpRequest(request, format: format, to: &output)
    }
}

extension DatabaseReader {
    /// Prints the rows of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - format: The format of the rows.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func dumpRequest(_ request: some FetchRequest, format: DumpFormat = .list) throws {
        try read { db in try db.dumpRequest(request, format: format) }
    }

    /// Writes the rows of a request to a stream.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when the statement does not compile, or fails.
    public func dumpRequest(
        _ request: some FetchRequest, format: DumpFormat = .list, to stream: (any TextOutputStream)?
    ) throws { try read { db in try db.dumpRequest(request, format: format, to: stream) } }
}
