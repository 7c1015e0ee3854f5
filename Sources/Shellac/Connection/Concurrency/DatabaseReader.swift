/// An object that gives read access to a database.
///
/// It is a ``DatabaseQueue``, a ``DatabasePool``, or a snapshot of a pool: a ``DatabaseSnapshot``
/// or a ``DatabaseSnapshotPool``.
///
/// All methods can be called from any thread. The synchronous ones wait until the access is free,
/// on the calling thread; the asynchronous ones wait without blocking a thread.
///
/// In an `async` function, a call with a closure uses the asynchronous method. Two kinds of calls
/// use the synchronous one, and the compiler then warns that no `async` operation occurs. One
/// passes a function by its name whose result is not Sendable: pass a closure. The other is at the
/// top level of `main.swift`, which the compiler takes for synchronous code: put that into an
/// `async` function.
///
/// To wait on purpose in an `async` function, and block its thread meanwhile, call a method that
/// has no asynchronous form. These are ``DatabaseWriter/inDatabase(file:line:_:)``,
/// ``DatabaseWriter/inTransaction(_:file:line:_:)``, ``DatabaseWriter/inSavepoint(file:line:_:)``
/// and ``DatabaseWriter/unsafeReentrantWrite(file:line:_:)``. Inside of these,
/// ``Database/readOnly(_:)`` refuses writes.
///
/// The methods take the file and the line of their call, which appear in
/// ``Configuration/reportHandler``.
//
// They pass them to the methods of the same name with a `CallSite`. Queues, pools and snapshots
// implement these, and the documentation does not show them.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The configuration that the database was opened with.
    var configuration: Configuration { get }

    /// The path of the database, or `:memory:`.
    var path: String { get }

    /// Closes the database. Later accesses throw `SQLITE_MISUSE`.
    ///
    /// - Throws: A ``DatabaseError`` of code `SQLITE_BUSY` if statements are still in use: the
    ///   database then stays open.
    func close() throws

    /// Interrupts the running access, if there is one: its statements throw `SQLITE_INTERRUPT`.
    func interrupt()

    /// Reads from the database, for a call site.
    @_documentation(visibility: internal)
    func read<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T

    /// Reads from the database, for a call site, without blocking a thread.
    @_documentation(visibility: internal)
    nonisolated(nonsending) func read<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Reads from the database without a transaction, for a call site.
    @_documentation(visibility: internal)
    func unsafeRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T

    /// Reads from the database without a transaction, for a call site, without blocking a thread.
    @_documentation(visibility: internal)
    nonisolated(nonsending) func unsafeRead<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Reads from the database, even inside an access of the same thread, for a call site.
    @_documentation(visibility: internal)
    func unsafeReentrantRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T

    /// Reads from the database later, for a call site.
    @_documentation(visibility: internal)
    func asyncRead(at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Reads from the database later, without a transaction, for a call site.
    @_documentation(visibility: internal)
    func asyncUnsafeRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Copies the database over another one: see `backup`.
    @_documentation(visibility: internal)
    func copyAll(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: ((DatabaseBackupProgress) throws -> Void)?) throws

    /// Copies the database over another one, without blocking a thread.
    @_documentation(visibility: internal)
    nonisolated(nonsending) func copyAll(
        to destination: some DatabaseWriter, pagesPerStep: Int,
        progress: (@Sendable (DatabaseBackupProgress) throws -> Void)?) async throws
}

extension DatabaseReader {
    /// Reads from the database.
    ///
    /// ```swift
    /// let count = try dbQueue.read { db in
    ///     try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
    /// }
    /// ```
    ///
    /// The function runs in a transaction, and sees one state of the database.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - value: The reading function, which runs on the calling thread. A statement in it that
    ///     writes throws `SQLITE_READONLY`. It must not return a cursor, which ends with the
    ///     access.
    @inlinable
    public func read<T>(
        file: StaticString = #fileID, line: UInt = #line, _ value: (Database) throws -> T
    ) throws -> T { try read(at: CallSite(.read, file, line), value) }

    /// Reads from the database, without blocking a thread while waiting for the access.
    ///
    /// Cancelling the task removes it from the line, or interrupts its statements. In both cases
    /// the call throws `CancellationError`.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - value: The reading function, which runs in the transaction, on a thread of the database.
    ///     A statement in it that writes throws `SQLITE_READONLY`.
    @inlinable
    public nonisolated(nonsending) func read<T>(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await read(at: CallSite(.read, file, line), value) }

    /// Reads from the database without a transaction: each statement sees the database as it is
    /// when the statement begins.
    ///
    /// In a snapshot, all statements see the same state.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - value: The reading function, which runs on the calling thread.
    /// - Throws: Errors of the function, and a ``DatabaseError`` if the database is closed. A
    ///   statement that writes throws `SQLITE_READONLY`.
    @inlinable
    public func unsafeRead<T>(
        file: StaticString = #fileID, line: UInt = #line, _ value: (Database) throws -> T
    ) throws -> T { try unsafeRead(at: CallSite(.read, file, line), value) }

    /// Reads from the database without a transaction, even inside an access of the same thread.
    ///
    /// That access is used then, with its transaction, if it has one.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - value: The reading function, which runs on the calling thread.
    /// - Throws: Errors of the function, and a ``DatabaseError`` if the database is closed. A
    ///   statement that writes throws `SQLITE_READONLY`.
    @inlinable
    public func unsafeReentrantRead<T>(
        file: StaticString = #fileID, line: UInt = #line, _ value: (Database) throws -> T
    ) throws -> T { try unsafeReentrantRead(at: CallSite(.read, file, line), value) }

    /// Reads from the database later: the caller does not wait.
    ///
    /// ```swift
    /// dbQueue.asyncRead { result in
    ///     do {
    ///         let db = try result.get()
    ///         print(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0)
    ///     } catch {
    ///         print("cannot read: \(error)")
    ///     }
    /// }
    /// ```
    ///
    /// In an `async` function, `try await read { … }` is easier: it returns a result when it ends.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - value: Gets the database, in a read-only transaction, or the error that prevents the
    ///     access.
    public func asyncRead(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { asyncRead(at: CallSite(.read, file, line), value) }

    /// Reads from the database later, without a transaction.
    ///
    /// - Parameters:
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - value: Gets the database, or the error that prevents the access.
    public func asyncUnsafeRead(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { asyncUnsafeRead(at: CallSite(.read, file, line), value) }
}
