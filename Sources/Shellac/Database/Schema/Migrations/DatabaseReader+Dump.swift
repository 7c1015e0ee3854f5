// Dumps from a queue or a pool, and to streams of any type.

extension DatabaseReader {
    /// Prints the rows of a read-only query: see ``Database/dumpSQL(_:format:)``.
    ///
    /// - Parameters:
    ///   - sql: The query. It may contain several statements.
    ///   - format: The format of the rows.
    /// - Throws: a ``DatabaseError`` when a statement does not compile, or fails.
    public func dumpSQL(_ sql: SQL, format: DumpFormat = .list) throws {
        try read { db in try db.dumpSQL(sql, format: format) }
    }

    /// Prints the SQL of all declarations of a database: see ``Database/dumpSchema(in:)``.
    ///
    /// - Parameter schemaName: The database: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpSchema(in schemaName: String = "main") throws {
        try read { db in try db.dumpSchema(in: schemaName) }
    }

    /// Prints the rows of the given tables or views: see ``Database/dumpTables(_:in:format:)``.
    ///
    /// - Parameters:
    ///   - tables: The names of the tables and views.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - format: The format of the rows.
    /// - Throws: a ``DatabaseError`` when there is no table or view of one of the names.
    public func dumpTables(_ tables: [String], in schemaName: String? = nil, format: DumpFormat = .list)
        throws
    {
        try read { db in try db.dumpTables(tables, in: schemaName, format: format) }
    }

    /// Prints a whole database: see ``Database/dumpContent(in:format:)``.
    ///
    /// - Parameters:
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one.
    ///   - format: The format of the rows.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpContent(in schemaName: String = "main", format: DumpFormat = .list) throws {
        try read { db in try db.dumpContent(in: schemaName, format: format) }
    }

    /// Writes the rows of a read-only query to a stream.
    ///
    /// - Parameters:
    ///   - sql: The query. It may contain several statements.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when a statement does not compile, or fails.
    public func dumpSQL(_ sql: SQL, format: DumpFormat = .list, to stream: (any TextOutputStream)?) throws {
        try read { db in try db.dumpSQL(sql, format: format, to: stream) }
    }

    /// Writes the SQL of all declarations of a database to a stream.
    ///
    /// - Parameters:
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpSchema(in schemaName: String = "main", to stream: (any TextOutputStream)?) throws {
        try read { db in try db.dumpSchema(in: schemaName, to: stream) }
    }

    /// Writes the rows of the given tables or views to a stream.
    ///
    /// - Parameters:
    ///   - tables: The names of the tables and views.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when there is no table or view of one of the names.
    public func dumpTables(
        _ tables: [String], in schemaName: String? = nil, format: DumpFormat = .list,
        to stream: (any TextOutputStream)?
    ) throws {
        try read { db in try db.dumpTables(tables, in: schemaName, format: format, to: stream) }
    }

    /// Writes a whole database to a stream.
    ///
    /// - Parameters:
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpContent(
        in schemaName: String = "main", format: DumpFormat = .list, to stream: (any TextOutputStream)?
    ) throws { try read { db in try db.dumpContent(in: schemaName, format: format, to: stream) } }
}

// These methods accept a stream of any type: an object, or a value that writes elsewhere. A String
// is neither, and is passed as an inout argument: `to: &text`.

extension Database {
    /// Writes the rows of a query to a stream: an object, or a value that writes elsewhere. Nil
    /// means the standard output.
    ///
    /// - Parameters:
    ///   - sql: The query. It may contain several statements.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when a statement does not compile, or fails.
    public func dumpSQL(_ sql: SQL, format: DumpFormat = .list, to stream: (any TextOutputStream)?) throws {
        guard let stream else { return try dumpSQL(sql, format: format) }
        var output = AnyOutput(stream)
        try dumpSQL(sql, format: format, to: &output)
    }

    /// Writes the SQL of all declarations of a database to a stream. Nil means the standard output.
    ///
    /// - Parameters:
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpSchema(in schemaName: String = "main", to stream: (any TextOutputStream)?) throws {
        guard let stream else { return try dumpSchema(in: schemaName) }
        var output = AnyOutput(stream)
        try dumpSchema(in: schemaName, to: &output)
    }

    /// Writes the rows of the given tables or views to a stream. Nil means the standard output.
    ///
    /// - Parameters:
    ///   - tables: The names of the tables and views.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when there is no table or view of one of the names.
    public func dumpTables(
        _ tables: [String], in schemaName: String? = nil, format: DumpFormat = .list,
        to stream: (any TextOutputStream)?
    ) throws {
        guard let stream else { return try dumpTables(tables, in: schemaName, format: format) }
        var output = AnyOutput(stream)
        try dumpTables(tables, in: schemaName, format: format, to: &output)
    }

    /// Writes a whole database to a stream. Nil means the standard output.
    ///
    /// - Parameters:
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text. The standard output if nil.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpContent(
        in schemaName: String = "main", format: DumpFormat = .list, to stream: (any TextOutputStream)?
    ) throws {
        guard let stream else { return try dumpContent(in: schemaName, format: format) }
        var output = AnyOutput(stream)
        try dumpContent(in: schemaName, format: format, to: &output)
    }
}

/// A stream of any type.
struct AnyOutput: TextOutputStream {
    private var stream: any TextOutputStream

    init(_ stream: any TextOutputStream) {
        if stream is String {
            Misuse.trap(
                "a dump was written to a String, which is a value, and so its text would be lost. Write "
                    + "to: &text."
            )
        }
        self.stream = stream
    }

    mutating func write(_ text: String) { stream.write(text) }
}
