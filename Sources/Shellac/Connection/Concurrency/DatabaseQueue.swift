// The database queue: a single connection that serializes all reads and writes.

import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One connection to a database, shared by all threads and tasks: one access at a time, in order of
/// arrival.
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
/// In `async` functions, call the same methods with `await`: `try await dbQueue.read { … }`.
///
/// An access inside an access to the same queue would wait for itself, so it traps with a message.
/// Pass the `Database` on instead. The connection closes when the queue is deallocated.
public final class DatabaseQueue: DatabaseWriter {
    public let configuration: Configuration
    public let path: String

    let connection: SerialConnection
    private var database: Database { connection.database }
    var line: AccessLine { connection.line }

    /// Opens a database file, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - path: A path, or a URI: see "Uniform Resource Identifiers" in the SQLite documentation.
    ///   - configuration: The options for opening and using the database.
    /// - Throws: A ``DatabaseError`` that names the path and the reason.
    public convenience init(path: String, configuration: Configuration = Configuration()) throws {
        try self.init(path: path, configuration: configuration, opening: configuration)
    }

    /// Opens a database with another configuration than the public one.
    init(path: String, configuration: Configuration, opening: Configuration) throws {
        self.path = path
        self.configuration = configuration
        let description = configuration.label ?? (path.isEmpty ? "temporary" : path)
        connection = SerialConnection(
            try Database(path: path, configuration: opening, description: description))
        try connection.inside { db in
            db.installTransactionLog()
            try db.setUp(path: path)
            try db.endAccess()
        }
    }

    /// Opens a database in memory.
    ///
    /// - Parameters:
    ///   - name: A name that makes the database shared. Queues with the same name, in one process,
    ///     use the same database, which lives as long as one of them. Without a name, the database
    ///     is private.
    ///   - configuration: The options for opening and using the database.
    /// - Throws: A ``DatabaseError`` if the database cannot be opened, and errors of
    ///   ``Configuration/prepareDatabase(_:)``.
    public convenience init(named name: String? = nil, configuration: Configuration = Configuration()) throws
    {
        guard let name else {
            try self.init(path: ":memory:", configuration: configuration)
            return
        }
        let safe = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
        // Escaped once more than a URI needs, as SQLite stops reading a name at a NUL.
        let escaped = name.utf8.map { byte in
            safe.contains(byte)
                ? String(UnicodeScalar(byte)) : "%25" + byte.twoHexadecimalDigits
        }
        var configuration = configuration
        if configuration.label == nil { configuration.label = name }
        try self.init(
            path: "file:/named/\(escaped.joined())?mode=memory&cache=shared", configuration: configuration)
    }

    deinit {
        database.giveUp()
    }

    public func close() throws {
        try connection.inside { db in
            db.optimizeBeforeClosing()
            try db.close()
        }
    }

    public func run() async throws {
        try await ServiceRun(writer: connection, close: { try self.close() }).run()
    }

    public func interrupt() { database.interruptFromOutside() }
}

// The other accesses are spellings: see Connections+Accesses.swift.
@_documentation(visibility: internal)
extension DatabaseQueue {
    public func spawnConcurrentRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        database.checkConcurrentRead()
        Result.success(database).giveReading(value)
    }
}

extension DatabaseQueue {
    /// Reads without checking for a report handler: a benchmark compares `read` with this.
    package func querySilently<T>(_ value: (Database) throws -> T) throws -> T {
        try connection.inside { db in try db.wholeAccess { db in try db.readTransaction(value) } }
    }
}
