import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One connection to a database, shared by all threads and tasks: one access at a time, in order of arrival.
///
/// ```swift
/// let dbQueue = try DatabaseQueue(path: "game.sqlite")
///
/// try dbQueue.write { db in
///     try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
/// }
///
/// let names = try dbQueue.read { db in
///     try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name")
/// }
/// ```
///
/// These methods exist for `async` functions: `try await dbQueue.read { … }`.
///
/// An access inside an access to the same queue would wait for itself: it stops the program, with a sentence.
/// Pass the `Database` on instead. The connection closes when the queue is freed.
public final class DatabaseQueue: DatabaseWriter {
    public let configuration: Configuration
    public let path: String

    private let database: Database
    let line: AccessLine

    /// Opens a database file, and creates it where there is none.
    ///
    /// - Parameters:
    ///   - path: A path, or a URI: see "Uniform Resource Identifiers" in the SQLite documentation.
    ///   - configuration: How the database is opened and used.
    /// - Throws: a ``DatabaseError`` that names the path and the reason.
    public init(path: String, configuration: Configuration = Configuration()) throws {
        self.path = path
        self.configuration = configuration
        let description = configuration.label ?? (path.isEmpty ? "temporary" : path)
        line = AccessLine(label: "Shellac.\(description)")
        database = try Database(path: path, configuration: configuration, description: description)
        try inside { db in
            db.installTransactionLog()
            try db.setUp(path: path)
            try db.endAccess()
        }
    }

    /// Opens a database in memory.
    ///
    /// - Parameters:
    ///   - name: Databases of the same name, in one process, are the same database, which lives as long as one of them.
    ///     A database without a name is alone.
    ///   - configuration: How the database is opened and used.
    public convenience init(named name: String? = nil, configuration: Configuration = Configuration()) throws
    {
        guard let name else {
            try self.init(path: ":memory:", configuration: configuration)
            return
        }
        let safe = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        // Escaped once more than a URI asks for: SQLite stops reading a name at a NUL.
        let escaped = name.utf8.map { byte in
            safe.contains(byte)
                ? String(UnicodeScalar(byte)) : "%25" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        var configuration = configuration
        if configuration.label == nil { configuration.label = name }
        try self.init(
            path: "file:/named/\(escaped.joined())?mode=memory&cache=shared", configuration: configuration)
    }

    deinit {
        // Nobody else has the queue any more, so nobody else has the access.
        database.access.take()
        database.abandon()
        database.access.release()
    }

    public func close() throws {
        try inside { db in try db.close() }
    }

    public func interrupt() { database.interruptFromOutside() }

    // MARK: - Synchronous accesses

    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try access { db in try db.readTransaction(value) }
    }

    @discardableResult
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try access { db in try db.transaction(nil) { (try updates(db), .commit) } }
    }

    @discardableResult
    public func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) throws -> T {
        try access(updates)
    }

    @discardableResult
    public func unsafeReentrantWrite<T>(_ updates: (Database) throws -> T) throws -> T {
        if database.isAccessed { return try updates(database) }
        return try access(updates)
    }

    /// Runs a function with the access, and ends the access properly.
    @inline(__always)
    private func access<T>(_ body: (Database) throws -> T) throws -> T {
        try inside { db in try db.wholeAccess(body) }
    }

    /// Runs a function while no other access runs.
    @inline(__always)
    private func inside<T>(_ body: (Database) throws -> T) rethrows -> T {
        if database.isAccessed { trapReentrance() }
        line.enter()
        database.access.take()
        defer {
            database.access.release()
            line.leave()
        }
        return try body(database)
    }

    @inline(never)
    private func trapReentrance() -> Never {
        Misuse.trap(
            "the database \(database.description) was accessed from inside an access to it, which would wait "
                + "for itself. Pass the Database on to the functions that need it, "
                + "or use unsafeReentrantWrite.")
    }

    // MARK: - Asynchronous accesses

    public nonisolated(nonsending) func read<T>(
        _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await line.run(on: database) { db in try db.readTransaction(value) }
    }

    @discardableResult
    public nonisolated(nonsending) func write<T>(
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await line.run(on: database) { db in try db.transaction(nil) { (try updates(db), .commit) } }
    }

    @discardableResult
    public nonisolated(nonsending) func write<R, T>(
        sending record: sending R, _ updates: sending @escaping (Database, sending R) throws -> sending T
    ) async throws -> sending T {
        let handover = Handover(record)
        return try await write { db in try updates(db, handover.take()) }
    }

    @discardableResult
    public nonisolated(nonsending) func writeWithoutTransaction<T>(
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await line.run(on: database, updates)
    }
}

/// Something on its way from one region to another: put in once, taken out once.
private final class Handover<Value>: @unchecked Sendable {  // `value` is read once, after it was written once
    private var value: Value?

    init(_ value: sending Value) { self.value = value }

    func take() -> sending Value {
        guard let value else { Misuse.trap("a record was handed over twice") }
        self.value = nil
        nonisolated(unsafe) let taken = value
        return taken
    }
}
