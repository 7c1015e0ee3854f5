// The methods of a writer that are built from other ones.

extension DatabaseWriter {
    /// Writes to the database in a transaction. The return value of the function commits it or
    /// rolls it back.
    ///
    /// ```swift
    /// try dbQueue.inTransaction { db in
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .rollback
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - kind: The kind of the transaction, which determines when it takes its locks;
    ///     ``Configuration/defaultTransactionKind`` if nil.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function that runs in the transaction. It returns whether to commit or to
    ///     roll back.
    /// - Throws: Errors of the function, once the transaction is rolled back, and the error of a
    ///   commit that fails.
    public func inTransaction(
        _ kind: TransactionKind? = nil, file: StaticString = #fileID, line: UInt = #line,
        _ updates: (Database) throws -> TransactionCompletion
    ) throws {
        try inDatabase(file: file, line: line) { db in try db.inTransaction(kind) { try updates(db) } }
    }

    /// Writes to the database in a savepoint, which is a transaction of its own here.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function that runs in the savepoint. It returns whether to commit or to
    ///     roll back.
    /// - Throws: Errors of the function, once the savepoint is rolled back, and the error of a
    ///   commit that fails.
    public func inSavepoint(
        file: StaticString = #fileID, line: UInt = #line,
        _ updates: (Database) throws -> TransactionCompletion
    ) throws {
        try inDatabase(file: file, line: line) { db in try db.inSavepoint { try updates(db) } }
    }

    /// Writes to the database later, in a transaction: the caller does not wait. The database stays
    /// alive until then.
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
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function that runs in the transaction. It is not called if the access is
    ///     refused, because ``DatabaseReader/close()`` has closed the database, or its service has
    ///     ended.
    ///   - completion: Called after the transaction, in the same access, with its result. If the
    ///     access is refused, it gets that error.
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

    /// Reads beside the writer.
    @available(
        *, unavailable, renamed: "spawnConcurrentRead(_:)",
        message: "the caller had to wait for its result: spawnConcurrentRead hands the database to a function"
    )
    public func concurrentRead<T>(_ value: @escaping (Database) throws -> T) -> T {
        Misuse.trap("use spawnConcurrentRead")
    }

    /// Frees as much memory as possible, later: the caller does not wait.
    public func releaseMemoryEventually() { asyncWriteWithoutTransaction { db in db.releaseMemory() } }

    /// Frees as much memory as possible.
    public func releaseMemory() {
        try? writeWithoutTransaction { db in db.releaseMemory() }
    }

    /// Rebuilds the database file, without its empty pages: see "VACUUM" in the SQLite
    /// documentation.
    ///
    /// - Throws: A ``DatabaseError`` if another connection uses the database, or if the disk is
    ///   full.
    public func vacuum() throws {
        try writeWithoutTransaction { db in try db.execute(sql: "VACUUM") }
    }

    /// Writes a compact copy of the database to a new file.
    ///
    /// - Parameter path: The path of the new file, or a `file:` URI. If the file exists, it must be
    ///   empty.
    /// - Throws: A ``DatabaseError`` if the file exists and is not empty.
    public func vacuum(into path: String) throws {
        // VACUUM cannot run inside a transaction.
        try writeWithoutTransaction { db in try db.vacuum(into: path) }
    }

    /// Writes a compact copy of the database to a new file, without blocking a thread.
    ///
    /// If the task is cancelled, this throws `CancellationError`. It may leave a part of the file
    /// behind.
    ///
    /// - Parameter path: The path of the new file, or a `file:` URI. If the file exists, it must be
    ///   empty.
    /// - Throws: The errors of the synchronous form, and `CancellationError`.
    public nonisolated(nonsending) func vacuum(into path: String) async throws {
        try await writeWithoutTransaction { db in try db.vacuum(into: path) }
    }
}

extension Database {
    fileprivate func vacuum(into path: String) throws {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "there is a NUL character in the path")
        }
        try execute(sql: "VACUUM INTO ?", arguments: [path])
    }
}
