// The ways to read and write that are made of others.

extension DatabaseWriter {
    /// Uses the database without opening a transaction. One that the function opens must be closed by it.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done, on the thread of the caller. A transaction that it leaves open is rolled back, and makes this
    ///     throw, unless ``Configuration/allowsUnsafeTransactions`` is true.
    /// - Throws: what the function throws, and a ``DatabaseError`` where the database is closed.
    @inlinable
    @discardableResult
    public func inDatabase<T>(
        file: StaticString = #fileID, line: UInt = #line, _ updates: (Database) throws -> T
    ) throws -> T { try writeWithoutTransaction(at: CallSite(.write, file, line), updates) }

    /// Writes to the database in a transaction, which the function commits or rolls back by what it returns.
    ///
    /// ```swift
    /// try dbQueue.inTransaction { db in
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .rollback
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - kind: When the transaction takes its locks; ``Configuration/defaultTransactionKind`` if nil.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done in the transaction. It says whether to commit or to roll back.
    /// - Throws: what the function throws, once the transaction is rolled back, and the error of a commit that fails.
    public func inTransaction(
        _ kind: TransactionKind? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ updates: (Database) throws -> TransactionCompletion
    ) throws {
        try inDatabase(file: file, line: line) { db in try db.inTransaction(kind) { try updates(db) } }
    }

    /// Writes to the database in a savepoint, which is a transaction of its own here.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done in the savepoint. It says whether to commit or to roll back.
    /// - Throws: what the function throws, once the savepoint is rolled back, and the error of a commit that fails.
    public func inSavepoint(
        file: StaticString = #fileID, line: UInt = #line,
        _ updates: (Database) throws -> TransactionCompletion
    ) throws {
        try inDatabase(file: file, line: line) { db in try db.inSavepoint { try updates(db) } }
    }

    /// Writes to the database in a transaction, which the function commits or rolls back by what it returns.
    ///
    /// - Parameters:
    ///   - kind: When the transaction takes its locks; ``Configuration/defaultTransactionKind`` if nil.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done in the transaction. It says whether to commit or to roll back.
    /// - Throws: what the function throws, once the transaction is rolled back, and the error of a commit that fails.
    public func writeInTransaction(
        _ kind: TransactionKind? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ updates: (Database) throws -> TransactionCompletion
    ) throws { try inTransaction(kind, file: file, line: line, updates) }

    /// Writes to the database later, in a transaction: the caller does not wait. The database stays alive until then.
    ///
    /// ```swift
    /// dbQueue.asyncWrite { db in
    ///     try db.execute(sql: "DELETE FROM player")
    /// } completion: { db, result in
    ///     if case .failure(let error) = result { print("cannot delete: \(error)") }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done in the transaction. It is not called where the access is refused, as ``DatabaseReader/close()`` has
    ///     closed the database, or its service has ended.
    ///   - completion: Called after the transaction, in the same access, with its result; or with the error of a refused access.
    public func asyncWrite<T>(
        file: StaticString = #fileID, line: UInt = #line,
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        asyncWriteWithoutTransaction(at: CallSite(.write, file, line)) { db, refusal in
            completion(
                db,
                Result {
                    if let refusal { throw refusal }
                    return try db.transaction(nil) { (try updates(db), .commit) }
                })
        }
    }

    /// Reads, beside the writer, what it has written so far: see ``DatabaseWriter/spawnConcurrentRead(file:line:_:)``.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: Gets the database, in a transaction that only reads, or the error that stands in the way.
    public func asyncConcurrentRead(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { spawnConcurrentRead(file: file, line: line, value) }

    /// Reads beside the writer.
    @available(
        *, unavailable, renamed: "spawnConcurrentRead(_:)",
        message: "its result had to be waited for: spawnConcurrentRead hands the database to a function"
    )
    public func concurrentRead<T>(_ value: @escaping (Database) throws -> T) -> T {
        Misuse.trap("use spawnConcurrentRead")
    }

    /// Gives back as much memory as possible, later: the caller does not wait.
    public func releaseMemoryEventually() { asyncWriteWithoutTransaction { db in db.releaseMemory() } }

    /// Gives back as much memory as possible.
    public func releaseMemory() {
        try? writeWithoutTransaction { db in db.releaseMemory() }
    }

    /// Builds the database file anew, without its empty pages: see "VACUUM" in the SQLite documentation.
    ///
    /// - Throws: a ``DatabaseError`` while another connection uses the database, and when the disk is full.
    public func vacuum() throws {
        try writeWithoutTransaction { db in try db.execute(sql: "VACUUM") }
    }

    /// Writes a compact copy of the database to a new file.
    ///
    /// - Parameter path: The path of the new file, or a `file:` URI. A file that is there must be empty.
    /// - Throws: a ``DatabaseError`` when the file exists and is not empty.
    public func vacuum(into path: String) throws {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "there is a NUL character in the path")
        }
        // VACUUM cannot run inside a transaction.
        try writeWithoutTransaction { db in try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }
}
