// Dumps for people. The output is not meant to be read back by a program.

/// The standard output, as a stream.
private struct StandardOutput: TextOutputStream {
    mutating func write(_ text: String) { print(text, terminator: "") }
}

extension Database {
    // MARK: - Dumping

    /// Prints the rows of a query.
    ///
    /// ```swift
    /// try db.dumpSQL("SELECT name, score FROM player WHERE score > \(1000)")
    /// // Arthur|1200
    /// // Barbara|1700
    /// ```
    ///
    /// The SQL may contain several statements. All are executed.
    ///
    /// - Parameters:
    ///   - sql: The query. It may contain several statements.
    ///   - format: The format of the rows.
    /// - Throws: a ``DatabaseError`` when a statement does not compile, or fails.
    public func dumpSQL(_ sql: SQL, format: DumpFormat = .list) throws {
        var output = StandardOutput()
        try dumpSQL(sql, format: format, to: &output)
    }

    /// Writes the rows of a query to a stream, such as a String.
    ///
    /// ```swift
    /// var text = ""
    /// try db.dumpSQL("SELECT * FROM player", format: .csv, to: &text)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: The query. It may be several statements.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text.
    /// - Throws: a ``DatabaseError`` when a statement does not compile, or fails.
    public func dumpSQL(
        _ sql: SQL, format: DumpFormat = .list, to stream: inout some TextOutputStream
    ) throws {
        let statements = try allStatements(sql: sql.literalSQL(on: self))
        while let statement = try statements.next() {
            try dump(statement, format: format, to: &stream)
        }
    }

    /// Prints the SQL of all declarations of a database, by the names of their tables.
    ///
    /// ```swift
    /// try db.dumpSchema()
    /// // CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
    /// // CREATE INDEX playerByName ON player(name);
    /// ```
    ///
    /// SQLite's own tables, the table of applied migrations, and the indexes of constraints are
    /// left out.
    ///
    /// - Parameter schemaName: The database: `main`, `temp`, or the name of an attached one.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpSchema(in schemaName: String = "main") throws {
        var output = StandardOutput()
        try dumpSchema(in: schemaName, to: &output)
    }

    /// Writes the SQL of all declarations of a database to a stream.
    ///
    /// - Parameters:
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one.
    ///   - stream: The stream that receives the text.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpSchema(
        in schemaName: String = "main", to stream: inout some TextOutputStream
    ) throws {
        let rows = try Row.fetchCursor(
            self,
            sql: """
                SELECT name, sql FROM \(schemaName.quotedDatabaseIdentifier).sqlite_master
                WHERE sql IS NOT NULL
                ORDER BY sql LIKE 'CREATE VIRTUAL%', tbl_name COLLATE NOCASE, type NOT IN ('table', 'view'), type, name COLLATE NOCASE
                """)
        while let row = try rows.next() {
            let (name, sql): (String, String) = try (row[0], row[1])
            if !Self.isInternalTable(name) { stream.write("\(sql);\n") }
        }
    }

    /// Prints the rows of the given tables or views, sorted by primary key. If there are several, a
    /// heading names each.
    ///
    /// ```swift
    /// try db.dumpTables(["team", "player"])
    /// // team
    /// // 1|Reds
    /// //
    /// // player
    /// // 1|Arthur|1
    /// // 2|Barbara|1
    /// ```
    ///
    /// - Parameters:
    ///   - tables: The names of the tables and views.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - format: The format of the rows.
    /// - Throws: a ``DatabaseError`` when there is no table or view of one of the names.
    public func dumpTables(
        _ tables: [String], in schemaName: String? = nil, format: DumpFormat = .list
    ) throws {
        var output = StandardOutput()
        try dumpTables(tables, in: schemaName, format: format, to: &output)
    }

    /// Writes the rows of the given tables or views to a stream.
    ///
    /// - Parameters:
    ///   - tables: The names of the tables and views.
    ///   - schemaName: The database to look in: `main`, `temp`, or the name of an attached one. All
    ///     of them if nil.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text.
    /// - Throws: a ``DatabaseError`` when there is no table or view of one of the names.
    public func dumpTables(
        _ tables: [String], in schemaName: String? = nil, format: DumpFormat = .list,
        to stream: inout some TextOutputStream
    ) throws {
        for (index, name) in tables.enumerated() {
            let table = try tableSchema(name, in: schemaName)
            if index > 0 { stream.write("\n") }
            if tables.count > 1 { stream.write("\(table.name)\n") }
            let key = table.primaryKey.columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            let order = key.isEmpty ? "" : " ORDER BY \(key)"
            let place = table.kind == .tableValuedFunction ? nil : table.schemaName
            try dump(
                makeStatement(sql: "SELECT * FROM \(table.name.quoted(in: place))\(order)"), format: format,
                to: &stream)
        }
    }

    /// Prints a whole database: the output of ``dumpSchema(in:)`` under the heading
    /// `sqlite_master`, and the rows of each table under its name.
    ///
    /// - Parameters:
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one.
    ///   - format: The format of the rows.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpContent(in schemaName: String = "main", format: DumpFormat = .list) throws {
        var output = StandardOutput()
        try dumpContent(in: schemaName, format: format, to: &output)
    }

    /// Writes a whole database to a stream.
    ///
    /// - Parameters:
    ///   - schemaName: The database: `main`, `temp`, or the name of an attached one.
    ///   - format: The format of the rows.
    ///   - stream: The stream that receives the text.
    /// - Throws: a ``DatabaseError`` when there is no database of that name.
    public func dumpContent(
        in schemaName: String = "main", format: DumpFormat = .list, to stream: inout some TextOutputStream
    ) throws {
        stream.write("sqlite_master\n")
        try dumpSchema(in: schemaName, to: &stream)
        let tables = try tableNames(in: schemaName).filter { !Self.isInternalTable($0) }
        for table in tables.sorted(by: { $0.lowercased() < $1.lowercased() }) {
            stream.write("\n\(table)\n")
            try dumpTables([table], in: schemaName, format: format, to: &stream)
        }
    }

    /// Returns whether a table is one that SQLite or Shellac maintains.
    static func isInternalTable(_ name: String) -> Bool {
        isSQLiteInternalTable(name) || CaseInsensitiveName.matches(name, migrationTable)
    }

    private func dump(
        _ statement: Statement, format: DumpFormat, to stream: inout some TextOutputStream
    ) throws {
        guard statement.columnCount > 0 else { return try statement.execute() }
        stream.write(format.header(statement.columnNames))
        let rows = try Row.fetchCursor(statement)
        var isFirst = true
        while let row = try rows.next() {
            stream.write(format.text(row, isFirst: isFirst))
            isFirst = false
        }
        stream.write(format.footer)
    }
}
