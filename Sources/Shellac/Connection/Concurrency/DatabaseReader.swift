/// An object that gives access to a database for reading: a ``DatabaseQueue``, a ``DatabasePool``, or a snapshot of one, which
/// is a ``DatabaseSnapshot`` or a ``DatabaseSnapshotPool``.
///
/// All methods can be called from any thread. The synchronous ones wait until the access is free, on the
/// calling thread; the asynchronous ones wait without blocking a thread.
///
/// In an `async` function, a closure goes to the asynchronous method. Two things go to the synchronous one, which the
/// compiler tells with the warning that no `async` operation occurs: a function that is given by its name, and an access
/// at the top level of `main.swift`, which the compiler takes for synchronous code. Put the latter into an `async` function.
///
/// To wait on purpose in an `async` function, and block its thread meanwhile, call a method that has no asynchronous
/// form: ``DatabaseWriter/inDatabase(file:line:_:)``, ``DatabaseWriter/inTransaction(_:file:line:_:)``,
/// ``DatabaseWriter/inSavepoint(file:line:_:)`` or ``DatabaseWriter/unsafeReentrantWrite(file:line:_:)``. Inside of these,
/// ``Database/readOnly(_:)`` refuses what writes.
///
/// The methods know the file and the line that they are called in, which ``Configuration/report`` tells.
//
// They hand them on to those of the same name that take a `CallSite`, which queues, pools and snapshots implement, and which the
// documentation does not show.
public protocol DatabaseReader: AnyObject, Sendable {
    /// The configuration that the database was opened with.
    var configuration: Configuration { get }

    /// The path of the database, or `:memory:`.
    var path: String { get }

    /// Closes the database. Later accesses throw `SQLITE_MISUSE`.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_BUSY` when statements are still in use: the database
    ///   then stays open.
    func close() throws

    /// Interrupts the access that is running, if there is one: its statements throw `SQLITE_INTERRUPT`.
    func interrupt()

    /// Reads from the database, for a place in the program.
    @_documentation(visibility: internal)
    func read<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T

    /// Reads from the database, for a place in the program, without blocking a thread.
    @_documentation(visibility: internal)
    nonisolated(nonsending) func read<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Reads from the database without a transaction, for a place in the program.
    @_documentation(visibility: internal)
    func unsafeRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T

    /// Reads from the database without a transaction, for a place in the program, without blocking a thread.
    @_documentation(visibility: internal)
    nonisolated(nonsending) func unsafeRead<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Reads from the database, also from inside an access of the same thread, for a place in the program.
    @_documentation(visibility: internal)
    func unsafeReentrantRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T

    /// Reads from the database later, for a place in the program.
    @_documentation(visibility: internal)
    func asyncRead(at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Reads from the database later, without a transaction, for a place in the program.
    @_documentation(visibility: internal)
    func asyncUnsafeRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void)
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
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: What is read, on the thread of the caller. A statement in it that writes throws `SQLITE_READONLY`. It
    ///     returns no cursor: that ends with the access.
    @inlinable
    public func read<T>(
        file: StaticString = #fileID, line: UInt = #line, _ value: (Database) throws -> T
    ) throws -> T { try read(at: CallSite(.read, file, line), value) }

    /// Reads from the database, without blocking a thread while waiting for the access.
    ///
    /// Cancelling the task takes it out of the line, or interrupts its statements: either throws
    /// `CancellationError`.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: What is read in the transaction, on a thread of the database. A statement in it that writes throws
    ///     `SQLITE_READONLY`.
    @inlinable
    public nonisolated(nonsending) func read<T>(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await read(at: CallSite(.read, file, line), value) }

    /// Reads from the database without a transaction: each statement sees the database as it is when the statement begins.
    ///
    /// A snapshot has one state for all of them.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: What is read, on the thread of the caller.
    /// - Throws: what the function throws, and a ``DatabaseError`` where the database is closed. A statement that writes throws
    ///   `SQLITE_READONLY`.
    @inlinable
    public func unsafeRead<T>(
        file: StaticString = #fileID, line: UInt = #line, _ value: (Database) throws -> T
    ) throws -> T { try unsafeRead(at: CallSite(.read, file, line), value) }

    /// Reads from the database without a transaction, and without blocking a thread while waiting for the access.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: What is read, on a thread of the database. It is not called where the task is cancelled before its turn.
    /// - Throws: what the function throws, and a ``DatabaseError`` where the database is closed. A statement that writes throws
    ///   `SQLITE_READONLY`.
    @inlinable
    public nonisolated(nonsending) func unsafeRead<T>(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await unsafeRead(at: CallSite(.read, file, line), value) }

    /// Reads from the database without a transaction, also from inside an access of the same thread, which is then used: its
    /// transaction, too, if it has one.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: What is read, on the thread of the caller.
    /// - Throws: what the function throws, and a ``DatabaseError`` where the database is closed. A statement that writes throws
    ///   `SQLITE_READONLY`.
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
    /// In an `async` function, `try await read { … }` is easier: it has a result, and an end.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: Gets the database, in a transaction that only reads, or the error that stands in the way.
    public func asyncRead(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { asyncRead(at: CallSite(.read, file, line), value) }

    /// Reads from the database later, without a transaction.
    ///
    /// - Parameters:
    ///   - file: The file that asks.
    ///   - line: The line that asks.
    ///   - value: Gets the database, or the error that stands in the way.
    public func asyncUnsafeRead(
        file: StaticString = #fileID, line: UInt = #line,
        _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { asyncUnsafeRead(at: CallSite(.read, file, line), value) }
}
