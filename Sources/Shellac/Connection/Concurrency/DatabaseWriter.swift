/// An object that gives access to a database for reading and writing: a ``DatabaseQueue``, or a ``DatabasePool``.
public protocol DatabaseWriter: DatabaseReader {
    /// Writes to the database, ahead of others or behind them, for a place in the program.
    @_documentation(visibility: internal)
    @discardableResult
    func write<T>(
        at site: CallSite, priority: WritePriority, _ updates: (Database) throws -> T
    ) throws -> T

    /// Writes to the database, ahead of others or behind them, for a place in the program, without blocking a thread.
    @_documentation(visibility: internal)
    @discardableResult
    nonisolated(nonsending) func write<T>(
        at site: CallSite, priority: WritePriority,
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Uses the database without opening a transaction, for a place in the program.
    @_documentation(visibility: internal)
    @discardableResult
    func writeWithoutTransaction<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T

    /// Uses the database without opening a transaction, for a place in the program, without blocking a thread.
    @_documentation(visibility: internal)
    @discardableResult
    nonisolated(nonsending) func writeWithoutTransaction<T>(
        at site: CallSite, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Uses the database while nobody else uses it, for a place in the program.
    @_documentation(visibility: internal)
    @discardableResult
    func barrierWriteWithoutTransaction<T>(
        at site: CallSite, _ updates: (Database) throws -> T
    ) throws -> T

    /// Uses the database while nobody else uses it, for a place in the program, without blocking a thread.
    @_documentation(visibility: internal)
    @discardableResult
    nonisolated(nonsending) func barrierWriteWithoutTransaction<T>(
        at site: CallSite, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Uses the database later, while nobody else does, for a place in the program.
    @_documentation(visibility: internal)
    func asyncBarrierWriteWithoutTransaction(
        at site: CallSite, _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Uses the database later, without opening a transaction, for a place in the program. Where that is refused, the function gets
    /// the error, too.
    @_documentation(visibility: internal)
    func asyncWriteWithoutTransaction(
        at site: CallSite, _ updates: @escaping @Sendable (Database, _ refusal: (any Error)?) -> Void)

    /// Reads, beside the writer, what it has written so far, for a place in the program.
    @_documentation(visibility: internal)
    func spawnConcurrentRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Uses the database, also from inside an access of the same thread, for a place in the program.
    @_documentation(visibility: internal)
    @discardableResult
    func unsafeReentrantWrite<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T

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
    /// - Parameters:
    ///   - priority: Who goes first, of those who wait.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done in the transaction.
    /// - Throws: what the function throws, once the transaction is rolled back, and the error of a commit that fails.
    @inlinable
    @discardableResult
    public func write<T>(
        priority: WritePriority = .normal, file: StaticString = #fileID, line: UInt = #line,
        _ updates: (Database) throws -> T
    ) throws -> T { try write(at: CallSite(.write, file, line), priority: priority, updates) }

    /// Writes to the database, without blocking a thread while waiting for the access.
    ///
    /// Cancelling the task takes it out of the line, or interrupts its statements and rolls back: either throws
    /// `CancellationError`.
    ///
    /// - Parameters:
    ///   - priority: Who goes first, of those who wait.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done in the transaction.
    @inlinable
    @discardableResult
    public nonisolated(nonsending) func write<T>(
        priority: WritePriority = .normal, file: StaticString = #fileID, line: UInt = #line,
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await write(at: CallSite(.write, file, line), priority: priority, updates)
    }

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
    ///
    /// - Parameters:
    ///   - record: What is handed over.
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done in the transaction, with the record.
    /// - Throws: what the function throws, once the transaction is rolled back, and the error of a commit that fails.
    ///   `CancellationError` where the task is cancelled.
    @discardableResult
    public nonisolated(nonsending) func write<R, T>(
        sending record: sending R, file: StaticString = #fileID, line: UInt = #line,
        _ updates: sending @escaping (Database, sending R) throws -> sending T
    ) async throws -> sending T {
        let handover = Handover(record)
        return try await write(file: file, line: line) { db in try updates(db, handover.take()) }
    }

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
    public func writeWithoutTransaction<T>(
        file: StaticString = #fileID, line: UInt = #line, _ updates: (Database) throws -> T
    ) throws -> T { try writeWithoutTransaction(at: CallSite(.write, file, line), updates) }

    /// Uses the database without opening a transaction, without blocking a thread while waiting for the access.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done, on a thread of the database. A transaction that it leaves open is rolled back, and makes this
    ///     throw, unless ``Configuration/allowsUnsafeTransactions`` is true.
    /// - Throws: what the function throws, and a ``DatabaseError`` where the database is closed.
    @inlinable
    @discardableResult
    public nonisolated(nonsending) func writeWithoutTransaction<T>(
        file: StaticString = #fileID, line: UInt = #line,
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await writeWithoutTransaction(at: CallSite(.write, file, line), updates)
    }

    /// Uses the database without opening a transaction, while nobody else uses it: also those who read, of a pool, have ended, and
    /// new ones wait.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done, on the thread of the caller. A transaction that it leaves open is rolled back, and makes this
    ///     throw, unless ``Configuration/allowsUnsafeTransactions`` is true.
    /// - Throws: what the function throws. Where it is called inside of a read of the same thread, it stops the program: it would
    ///   wait for itself.
    @inlinable
    @discardableResult
    public func barrierWriteWithoutTransaction<T>(
        file: StaticString = #fileID, line: UInt = #line, _ updates: (Database) throws -> T
    ) throws -> T { try barrierWriteWithoutTransaction(at: CallSite(.write, file, line), updates) }

    /// Uses the database without opening a transaction, while nobody else uses it, without blocking a thread while waiting for the
    /// access.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done, on a thread of the database. A transaction that it leaves open is rolled back, and makes this
    ///     throw, unless ``Configuration/allowsUnsafeTransactions`` is true.
    /// - Throws: what the function throws, and a ``DatabaseError`` where the database is closed.
    @inlinable
    @discardableResult
    public nonisolated(nonsending) func barrierWriteWithoutTransaction<T>(
        file: StaticString = #fileID, line: UInt = #line,
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await barrierWriteWithoutTransaction(at: CallSite(.write, file, line), updates)
    }

    /// Uses the database later, while nobody else does: the caller does not wait.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: Gets the database, or the error that stands in the way.
    public func asyncBarrierWriteWithoutTransaction(
        file: StaticString = #fileID, line: UInt = #line,
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { asyncBarrierWriteWithoutTransaction(at: CallSite(.write, file, line), updates) }

    /// Uses the database later, without opening a transaction: the caller does not wait. What is called so from one thread runs in
    /// the order of the calls. The database stays alive until then.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: Gets the database. It is not called where the access is refused, as ``DatabaseReader/close()`` has closed the
    ///     database, or its service has ended.
    public func asyncWriteWithoutTransaction(
        file: StaticString = #fileID, line: UInt = #line, _ updates: @escaping @Sendable (Database) -> Void
    ) {
        asyncWriteWithoutTransaction(at: CallSite(.write, file, line)) { db, refusal in
            if refusal == nil { updates(db) }
        }
    }

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
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: Gets the database, in a transaction that only reads, or the error that stands in the way.
    public func spawnConcurrentRead(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { spawnConcurrentRead(at: CallSite(.read, file, line), value) }

    /// Uses the database without opening a transaction, also from inside an access of the same thread.
    ///
    /// It is unsafe because whoever called may be in the middle of something, such as a transaction.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - updates: What is done, on the thread of the caller. Inside of an access, a transaction that it opens may stay open
    ///     for the rest of that.
    /// - Throws: what the function throws, and a ``DatabaseError`` where the database is closed.
    @inlinable
    @discardableResult
    public func unsafeReentrantWrite<T>(
        file: StaticString = #fileID, line: UInt = #line, _ updates: (Database) throws -> T
    ) throws -> T { try unsafeReentrantWrite(at: CallSite(.write, file, line), updates) }
}
