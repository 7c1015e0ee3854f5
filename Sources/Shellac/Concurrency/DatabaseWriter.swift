/// An object that gives access to a database for reading and writing: a ``DatabaseQueue``, or a ``DatabasePool``.
public protocol DatabaseWriter: DatabaseReader {
    /// Writes to the database.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
    /// }
    /// ```
    ///
    /// The function runs in a transaction of kind ``Configuration/defaultTransactionKind``. It is committed when
    /// the function returns, and rolled back when it throws.
    ///
    /// - Throws: what the function throws, once the transaction is rolled back, and the error of a commit that fails.
    @discardableResult
    func write<T>(_ updates: (Database) throws -> T) throws -> T

    /// Writes to the database, without blocking a thread while waiting for the access.
    ///
    /// Cancelling the task takes it out of the line, or interrupts its statements and rolls back: either throws
    /// `CancellationError`.
    @discardableResult
    nonisolated(nonsending) func write<T>(
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Writes to the database, and hands over a record that is not Sendable: to the access, which may keep it or
    /// return it.
    ///
    /// ```swift
    /// let player = Player()
    /// try await dbQueue.write(sending: player) { db, player in
    ///     try player.insert(db)
    /// }
    /// ```
    ///
    /// The compiler sees to it that the record is not used any more where it came from. Return it to have it back.
    @discardableResult
    nonisolated(nonsending) func write<R, T>(
        sending record: sending R, _ updates: sending @escaping (Database, sending R) throws -> sending T
    ) async throws -> sending T

    /// Uses the database without opening a transaction. One that the function opens must be closed by it.
    @discardableResult
    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T

    /// Uses the database without opening a transaction, without blocking a thread while waiting for the access.
    @discardableResult
    nonisolated(nonsending) func writeWithoutTransaction<T>(
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Writes to the database, ahead of others or behind them.
    ///
    /// - Parameters:
    ///   - priority: Who goes first, of those who wait.
    ///   - updates: What is done in the transaction.
    @discardableResult
    func write<T>(priority: WritePriority, _ updates: (Database) throws -> T) throws -> T

    /// Writes to the database, ahead of others or behind them, without blocking a thread while waiting for the access.
    @discardableResult
    nonisolated(nonsending) func write<T>(
        priority: WritePriority, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Uses the database without opening a transaction, while nobody else uses it: also those who read, of a pool, have ended, and
    /// new ones wait.
    ///
    /// - Throws: what the function throws. Where it is called inside of a read of the same thread, it stops the program: it would
    ///   wait for itself.
    @discardableResult
    func barrierWriteWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T

    /// Uses the database without opening a transaction, while nobody else uses it, without blocking a thread while waiting for the
    /// access.
    @discardableResult
    nonisolated(nonsending) func barrierWriteWithoutTransaction<T>(
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Uses the database later, while nobody else does: the caller does not wait.
    ///
    /// - Parameter updates: Gets the database, or the error that stands in the way.
    func asyncBarrierWriteWithoutTransaction(
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Uses the database later, without opening a transaction: the caller does not wait. What is called so from one thread runs in
    /// the order of the calls. The database stays alive until then.
    ///
    /// - Parameter updates: Gets the database. It is not called where ``DatabaseReader/close()`` has closed that.
    func asyncWriteWithoutTransaction(_ updates: @escaping @Sendable (Database) -> Void)

    /// Reads, beside the writer, what it has written so far: the caller goes on writing, and the reader does not see it.
    ///
    /// ```swift
    /// try dbPool.writeWithoutTransaction { db in
    ///     try db.inTransaction {
    ///         try db.execute(sql: "DELETE FROM player WHERE score < 10")
    ///         return .commit
    ///     }
    ///     dbPool.spawnConcurrentRead { result in
    ///         let count = try? result.get().execute(sql: "SELECT COUNT(*) FROM player")
    ///     }
    ///     // Others may be inserted here: the reader does not see them.
    /// }
    /// ```
    ///
    /// It is called inside of `writeWithoutTransaction`, outside of a transaction: what is not committed can be seen by nobody. It
    /// returns as soon as the reader has its state. A ``DatabaseQueue`` has no other connection, and reads at once.
    ///
    /// - Parameter value: Gets the database, in a transaction that only reads, or the error that stands in the way.
    func spawnConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Uses the database without opening a transaction, also from inside an access of the same thread.
    ///
    /// It is unsafe because whoever called may be in the middle of something, such as a transaction.
    @discardableResult
    func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) throws -> T

    /// Runs the database as a service: until the task is cancelled. Then it ends in order.
    ///
    /// ```swift
    /// let service = Task { try await dbPool.run() }
    /// // The program is asked to end.
    /// service.cancel()
    /// try await service.value
    /// ```
    ///
    /// From then on, accesses that would begin throw a sentence. Those that run, or stand in line, go on, also those of cursors,
    /// snapshots and backups; after ``Configuration/closingDeadline``, they are interrupted, and rolled back: they throw
    /// `SQLITE_INTERRUPT`. Sequences of live values end. What is in a write-ahead log is copied, and the database is closed. No log stays
    /// behind, unless another process has the database open.
    ///
    /// It has the shape of `Service` of the package swift-service-lifecycle, which needs one line: see the article "Servers".
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_INTERRUPT` that names the accesses which were interrupted: the database is closed
    ///   then. One of code `SQLITE_BUSY` names what keeps the database open a second after the deadline: a function that does not
    ///   return, or a snapshot that is alive.
    func run() async throws
}

extension DatabaseWriter {
    @discardableResult
    public nonisolated(nonsending) func write<R, T>(
        sending record: sending R, _ updates: sending @escaping (Database, sending R) throws -> sending T
    ) async throws -> sending T {
        let handover = Handover(record)
        return try await write { db in try updates(db, handover.take()) }
    }

    /// Uses the database without opening a transaction. One that the function opens must be closed by it.
    @discardableResult
    public func inDatabase<T>(_ updates: (Database) throws -> T) throws -> T {
        try writeWithoutTransaction(updates)
    }

    /// Writes to the database in a transaction, which the function commits or rolls back by what it returns.
    ///
    /// ```swift
    /// try dbQueue.inTransaction { db in
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .rollback
    /// }
    /// ```
    ///
    /// - Throws: what the function throws, once the transaction is rolled back, and the error of a commit that fails.
    public func inTransaction(
        _ kind: TransactionKind? = nil, _ updates: (Database) throws -> TransactionCompletion
    ) throws {
        try writeWithoutTransaction { db in try db.inTransaction(kind) { try updates(db) } }
    }

    /// Writes to the database in a savepoint, which is a transaction of its own here.
    ///
    /// - Throws: what the function throws, once the savepoint is rolled back, and the error of a commit that fails.
    public func inSavepoint(_ updates: (Database) throws -> TransactionCompletion) throws {
        try writeWithoutTransaction { db in try db.inSavepoint { try updates(db) } }
    }

    /// Writes to the database in a transaction, which the function commits or rolls back by what it returns.
    public func writeInTransaction(
        _ kind: TransactionKind? = nil, _ updates: (Database) throws -> TransactionCompletion
    ) throws { try inTransaction(kind, updates) }

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
    ///   - updates: What is done in the transaction. It is not called where ``DatabaseReader/close()`` has closed the database.
    ///   - completion: Called after the transaction, in the same access, with its result.
    public func asyncWrite<T>(
        _ updates: @escaping @Sendable (Database) throws -> T,
        completion: @escaping @Sendable (Database, Result<T, any Error>) -> Void
    ) {
        asyncWriteWithoutTransaction { db in
            completion(db, Result { try db.transaction(nil) { (try updates(db), .commit) } })
        }
    }

    /// Reads, beside the writer, what it has written so far: see ``DatabaseWriter/spawnConcurrentRead(_:)``.
    public func asyncConcurrentRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        spawnConcurrentRead(value)
    }

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
    public func vacuum() throws {
        try writeWithoutTransaction { db in try db.execute(sql: "VACUUM") }
    }

    /// Writes a compact copy of the database to a new file.
    ///
    /// - Throws: a ``DatabaseError`` when the file exists and is not empty.
    public func vacuum(into path: String) throws {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "there is a NUL character in the path")
        }
        // VACUUM cannot run inside a transaction.
        try writeWithoutTransaction { db in try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }
}
