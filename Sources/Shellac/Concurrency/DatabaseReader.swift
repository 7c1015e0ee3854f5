/// An object that gives access to a database for reading: a ``DatabaseQueue``.
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
}

/// An object that gives access to a database for reading and writing: a ``DatabaseQueue``.
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

    /// Uses the database without opening a transaction, also from inside an access of the same thread.
    ///
    /// It is unsafe because whoever called may be in the middle of something, such as a transaction.
    @discardableResult
    func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) throws -> T
}

extension DatabaseWriter {
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
