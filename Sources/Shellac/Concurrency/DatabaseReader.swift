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
/// form: ``DatabaseWriter/inDatabase(_:)``, ``DatabaseWriter/inTransaction(_:_:)``, ``DatabaseWriter/inSavepoint(_:)`` or
/// ``DatabaseWriter/unsafeReentrantWrite(_:)``. Inside of these, ``Database/readOnly(_:)`` refuses what writes.
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

    /// Reads from the database.
    ///
    /// ```swift
    /// let count = try dbQueue.read { db in
    ///     try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") ?? 0
    /// }
    /// ```
    ///
    /// The function runs in a transaction, and sees one state of the database. A statement that writes throws
    /// `SQLITE_READONLY`.
    func read<T>(_ value: (Database) throws -> T) throws -> T

    /// Reads from the database, without blocking a thread while waiting for the access.
    ///
    /// Cancelling the task takes it out of the line, or interrupts its statements: either throws
    /// `CancellationError`.
    nonisolated(nonsending) func read<T>(
        _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Reads from the database without a transaction: each statement sees the database as it is when the statement begins.
    ///
    /// A snapshot has one state for all of them.
    func unsafeRead<T>(_ value: (Database) throws -> T) throws -> T

    /// Reads from the database without a transaction, and without blocking a thread while waiting for the access.
    nonisolated(nonsending) func unsafeRead<T>(
        _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T

    /// Reads from the database without a transaction, also from inside an access of the same thread, which is then used: its
    /// transaction, too, if it has one.
    func unsafeReentrantRead<T>(_ value: (Database) throws -> T) throws -> T

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
    /// - Parameter value: Gets the database, in a transaction that only reads, or the error that stands in the way.
    func asyncRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)

    /// Reads from the database later, without a transaction.
    ///
    /// - Parameter value: Gets the database, or the error that stands in the way.
    func asyncUnsafeRead(_ value: @escaping @Sendable (Result<Database, any Error>) -> Void)
}
