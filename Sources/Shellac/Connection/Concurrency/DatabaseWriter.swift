/// An object that gives read and write access to a database.
///
/// It is a ``DatabaseQueue`` or a ``DatabasePool``.
public protocol DatabaseWriter: DatabaseReader {
    /// Writes to the database with a priority, for a call site.
    @_documentation(visibility: internal)
    @discardableResult
    func write<T>(
        at site: CallSite, priority: WritePriority, _ updates: (Database) throws -> T
    ) throws -> T

    /// Writes to the database with a priority, for a call site, without blocking a thread.
    @_documentation(visibility: internal)
    @discardableResult
    nonisolated(nonsending) func write<T>(
        at site: CallSite, priority: WritePriority,
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Uses the database without opening a transaction, for a call site.
    @_documentation(visibility: internal)
    @discardableResult
    func writeWithoutTransaction<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T

    /// Uses the database without opening a transaction, for a call site, without blocking a thread.
    @_documentation(visibility: internal)
    @discardableResult
    nonisolated(nonsending) func writeWithoutTransaction<T>(
        at site: CallSite, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Uses the database exclusively, for a call site.
    @_documentation(visibility: internal)
    @discardableResult
    func barrierWriteWithoutTransaction<T>(
        at site: CallSite, _ updates: (Database) throws -> T
    ) throws -> T

    /// Uses the database exclusively, for a call site, without blocking a thread.
    @_documentation(visibility: internal)
    @discardableResult
    nonisolated(nonsending) func barrierWriteWithoutTransaction<T>(
        at site: CallSite, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Uses the database exclusively and later, for a call site.
    @_documentation(visibility: internal)
    func asyncBarrierWriteWithoutTransaction(
        at site: CallSite, _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Uses the database later, without opening a transaction, for a call site. If the access is
    /// refused, the function is called with the error.
    @_documentation(visibility: internal)
    func asyncWriteWithoutTransaction(
        at site: CallSite, _ updates: @escaping @Sendable (Database, _ refusal: (any Error)?) -> Void)

    /// Reads, beside the writer, the committed state of the database, for a call site.
    @_documentation(visibility: internal)
    func spawnConcurrentRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Uses the database, even inside an access of the same thread, for a call site.
    @_documentation(visibility: internal)
    @discardableResult
    func unsafeReentrantWrite<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T

    /// Runs the database as a service until the task is cancelled, and then shuts it down in order.
    ///
    /// ```swift
    /// let service = Task { try await dbPool.run() }
    /// // The program is asked to end.
    /// service.cancel()
    /// try await service.value
    /// ```
    ///
    /// From then on, new accesses throw an error. Accesses that run, or wait in line, go on, also
    /// those of cursors, snapshots and backups. After ``Configuration/shutdownTimeout`` they are
    /// interrupted and rolled back: they throw `SQLITE_INTERRUPT`. Sequences of live values end.
    /// The write-ahead log is copied, and the database is closed. No log stays behind, unless
    /// another process has the database open.
    ///
    /// It has the shape of `Service` of the package swift-service-lifecycle. The article
    /// "Servers" shows the service that calls it.
    ///
    /// - Throws: A ``DatabaseError`` of code `SQLITE_INTERRUPT` that names the interrupted
    ///   accesses: the database is closed then. An error of code `SQLITE_BUSY` names what keeps the
    ///   database open a second after the deadline. That is a function that does not return, or a
    ///   snapshot that is alive.
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
    /// The function runs in a transaction of kind ``Configuration/defaultTransactionKind``. It is
    /// committed when the function returns, and rolled back when it throws.
    ///
    /// - Parameters:
    ///   - priority: The priority among the waiting writes.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function that runs in the transaction.
    /// - Throws: Errors of the function, once the transaction is rolled back, and the error of a
    ///   commit that fails.
    @inlinable
    @discardableResult
    public func write<T>(
        priority: WritePriority = .normal, file: StaticString = #fileID, line: UInt = #line,
        _ updates: (Database) throws -> T
    ) throws -> T { try write(at: CallSite(.write, file, line), priority: priority, updates) }

    /// Writes to the database, without blocking a thread while waiting for the access.
    ///
    /// Cancelling the task removes it from the line, or interrupts its statements and rolls back.
    /// In both cases the call throws `CancellationError`.
    ///
    /// - Parameters:
    ///   - priority: The priority among the waiting writes.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function that runs in the transaction.
    @inlinable
    @discardableResult
    public nonisolated(nonsending) func write<T>(
        priority: WritePriority = .normal, file: StaticString = #fileID, line: UInt = #line,
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await write(at: CallSite(.write, file, line), priority: priority, updates)
    }

    /// Writes to the database, and hands a record that is not Sendable over to the access, which
    /// may keep it or return it.
    ///
    /// ```swift
    /// let player = Player()
    /// try await dbQueue.write(sending: player) { db, player in
    ///     try player.insert(db)
    /// }
    /// ```
    ///
    /// The compiler makes sure that the caller does not use the record any more. Return it to get
    /// it back.
    ///
    /// - Parameters:
    ///   - record: The value to hand over.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function that runs in the transaction, with the record.
    /// - Throws: Errors of the function, once the transaction is rolled back, and the error of a
    ///   commit that fails. `CancellationError` if the task is cancelled.
    @discardableResult
    public nonisolated(nonsending) func write<R, T>(
        sending record: sending R, file: StaticString = #fileID, line: UInt = #line,
        _ updates: sending @escaping (Database, sending R) throws -> sending T
    ) async throws -> sending T {
        let handover = Handover(record)
        return try await write(file: file, line: line) { db in try updates(db, handover.take()) }
    }

    /// Uses the database without opening a transaction. If the function opens one, it must close
    /// it.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function, which runs on the calling thread. If it leaves a transaction
    ///     open, that is rolled back, and the call throws, unless
    ///     ``Configuration/allowsUnsafeTransactions`` is true.
    /// - Throws: Errors of the function, and a ``DatabaseError`` if the database is closed.
    @inlinable
    @discardableResult
    public func writeWithoutTransaction<T>(
        file: StaticString = #fileID, line: UInt = #line, _ updates: (Database) throws -> T
    ) throws -> T { try writeWithoutTransaction(at: CallSite(.write, file, line), updates) }

    /// Uses the database exclusively, without opening a transaction. In a pool, running reads end
    /// first, and new ones wait.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function, which runs on the calling thread. If it leaves a transaction
    ///     open, that is rolled back, and the call throws, unless
    ///     ``Configuration/allowsUnsafeTransactions`` is true.
    /// - Throws: Errors of the function. Inside of a read of the same thread, the call would wait
    ///   for itself, so it traps.
    @inlinable
    @discardableResult
    public func barrierWriteWithoutTransaction<T>(
        file: StaticString = #fileID, line: UInt = #line, _ updates: (Database) throws -> T
    ) throws -> T { try barrierWriteWithoutTransaction(at: CallSite(.write, file, line), updates) }

    /// Uses the database exclusively and later: the caller does not wait.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: Gets the database, or the error that prevents the access.
    public func asyncBarrierWriteWithoutTransaction(
        file: StaticString = #fileID, line: UInt = #line,
        _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { asyncBarrierWriteWithoutTransaction(at: CallSite(.write, file, line), updates) }

    /// Uses the database later, without opening a transaction: the caller does not wait. Functions
    /// that one thread passes to this run in the order of the calls. The database stays alive until
    /// then.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: Gets the database. It is not called if the access is refused, because
    ///     ``DatabaseReader/close()`` has closed the database, or its service has ended.
    public func asyncWriteWithoutTransaction(
        file: StaticString = #fileID, line: UInt = #line, _ updates: @escaping @Sendable (Database) -> Void
    ) {
        asyncWriteWithoutTransaction(at: CallSite(.write, file, line)) { db, refusal in
            if refusal == nil { updates(db) }
        }
    }

    /// Reads, beside the writer, the committed state of the database. The caller goes on writing,
    /// and the reader does not see that.
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
    /// Call it inside of `writeWithoutTransaction`, but outside of a transaction: no other
    /// connection can see uncommitted changes. It returns as soon as the reader has its state. A
    /// ``DatabaseQueue`` has no other connection, and reads at once.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - value: Gets the database, in a read-only transaction, or the error that prevents the
    ///     access.
    public func spawnConcurrentRead(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { spawnConcurrentRead(at: CallSite(.read, file, line), value) }

    /// Uses the database without opening a transaction, even inside an access of the same thread.
    ///
    /// It is unsafe because the caller may be in the middle of something, such as a transaction.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - updates: The function, which runs on the calling thread. Inside of an access, it may
    ///     leave a transaction open for the rest of that access.
    /// - Throws: Errors of the function, and a ``DatabaseError`` if the database is closed.
    @inlinable
    @discardableResult
    public func unsafeReentrantWrite<T>(
        file: StaticString = #fileID, line: UInt = #line, _ updates: (Database) throws -> T
    ) throws -> T { try unsafeReentrantWrite(at: CallSite(.write, file, line), updates) }
}
