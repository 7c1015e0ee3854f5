// Executes SQL, prepares statements with or without the cache, and counts changed rows.

import CSQLite

extension Database {
    // MARK: - Executing

    /// Executes one SQL statement, or several.
    ///
    /// ```swift
    /// try db.execute(sql: """
    ///     CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    ///     INSERT INTO player (name) VALUES (:name);
    ///     """, arguments: ["name": "Arthur"])
    /// ```
    ///
    /// If one fails, those before it have already been executed. Use a transaction to undo them.
    ///
    /// - Parameters:
    ///   - sql: The statements, separated by semicolons. Without any statement, nothing happens.
    ///   - arguments: The values that the statements bind. Positional values are distributed to the
    ///     statements in order. Each statement takes the named values that it uses. An unused value
    ///     is an error.
    /// - Throws: a ``DatabaseError`` if a statement does not compile, or fails.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        checkAccess()
        var statements = SQLStatements(sql: sql, database: self)
        var rest = arguments
        var unknown = Set((arguments.namedValues ?? [:]).keys)
        var executed: Statement?
        while let statement = try statements.next() {
            if executed == nil, statements.isAtEnd {
                try statement.execute(arguments: arguments)
                return
            }
            unknown.subtract(statement.parameterNames.compactMap { $0 })
            try statement.execute(arguments: rest.takeArguments(for: statement))
            executed = statement
        }
        guard let executed else {
            if arguments.isEmpty { return }
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "there are arguments, but no statement that could take them",
                sql: sql)
        }
        if !rest.values.isEmpty || !unknown.isEmpty {
            let names = unknown.isEmpty ? "" : ": \(unknown.sorted().joined(separator: ", "))"
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: rest.values.isEmpty
                    ? "unknown arguments\(names)"
                    : "wrong number of arguments: \(rest.values.count) are left over",
                sql: executed.sql)
        }
    }

    // MARK: - Preparing

    /// Prepares a statement. You own it, until you release it.
    ///
    /// - Parameter sql: Exactly one statement. It may have parameters, whose arguments you set
    ///   later.
    /// - Throws: a ``DatabaseError`` if the SQL has no statement, or more than one.
    public func makeStatement(sql: String) throws -> Statement {
        checkAccess()
        return try prepare(sql: sql, persistent: false)
    }

    /// Returns the statement that the connection caches for this SQL, or a new one while the cached
    /// one is in use.
    ///
    /// A second request for the same SQL only costs a look-up. The fetching methods use these
    /// statements.
    ///
    /// - Parameter sql: Exactly one statement. It is found by its exact text, including spaces and
    ///   comments.
    /// - Throws: a ``DatabaseError`` if the statement does not compile, and if there is none, or
    ///   more than one.
    public func cachedStatement(sql: String) throws -> Statement {
        checkAccess()
        if let statement = statementCache.statement(for: sql) {
            statement.forgetArguments()
            return statement
        }
        let statement = try prepare(sql: sql, persistent: true)
        statementCache.insert(statement, for: sql)
        return statement
    }

    /// Returns all statements of an SQL text. Each is prepared only when it is requested, since it
    /// may depend on the effects of the previous ones.
    ///
    /// ```swift
    /// let statements = try db.allStatements(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (?)")
    /// while let statement = try statements.next() {
    ///     try statement.execute(arguments: statement.parameterNames.isEmpty ? [] : [1])
    /// }
    /// ```
    ///
    /// - Parameter sql: The statements, separated by semicolons. There may be none.
    /// - Throws: nothing here. The cursor throws a ``DatabaseError`` if the next statement does not
    ///   compile.
    public func allStatements(sql: String) throws -> SQLStatementCursor {
        checkAccess()
        return SQLStatementCursor(SQLStatements(sql: sql, database: self))
    }

    /// Prepares the only statement of an SQL text.
    func prepare(sql: String, persistent: Bool) throws -> Statement {
        var statements = SQLStatements(
            sql: sql, database: self, flags: persistent ? SQLITE_PREPARE_PERSISTENT : 0)
        guard let statement = try statements.next() else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "there is no statement in the SQL", sql: sql)
        }
        guard statements.isAtEnd else {
            // The text after the statement is not necessarily another statement: it may not even be
            // SQL.
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "there is more than one statement in the SQL: "
                    + "use execute(sql:) or allStatements(sql:) for several",
                sql: sql)
        }
        return statement
    }

    // MARK: - The effects of statements

    /// The number of rows that the last INSERT, UPDATE or DELETE statement changed. It excludes
    /// changes by triggers and foreign key actions.
    public var changesCount: Int {
        checkAccess()
        return isClosed ? 0 : Int(sqlite3_changes(pointer))
    }

    /// The number of rows that have been changed since the connection was opened.
    public var totalChangesCount: Int {
        checkAccess()
        return isClosed ? 0 : Int(sqlite3_total_changes(pointer)) - unheardChangeCount
    }

    /// The row ID of the last inserted row.
    public var lastInsertedRowID: Int64 {
        checkAccess()
        return isClosed ? 0 : sqlite3_last_insert_rowid(pointer)
    }
}

extension StatementArguments {
    /// Takes the arguments for the next of several statements.
    fileprivate mutating func takeArguments(for statement: Statement) throws -> StatementArguments {
        var taken = StatementArguments()
        var missing: [String] = []
        var rest = values[...]
        for (index, name) in statement.parameterNames.enumerated() {
            if let name, let value = namedValues?[name] {
                taken.values.append(value)
            } else if let value = rest.popFirst() {
                taken.values.append(value)
            } else {
                missing.append(name ?? "\(index + 1)")
            }
        }
        guard missing.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: namedValues == nil
                    ? "wrong number of arguments: \(values.count) for \(statement.parameterCount) parameters"
                    : "missing arguments: \(missing.joined(separator: ", "))",
                sql: statement.sql, arguments: self,
                publicStatementArguments: statement.database.configuration.publicStatementArguments)
        }
        values = Array(rest)
        return taken
    }
}
