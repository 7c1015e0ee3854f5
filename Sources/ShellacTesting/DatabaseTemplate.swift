// A migrated database that is made once, and copied for each test.

import Foundation
import Shellac

/// A database that is made once, and copied for each test.
///
/// ```swift
/// let template = DatabaseTemplate { dbQueue in try makeMigrator().migrate(dbQueue) }
///
/// @Test func insertion() throws {
///     let dbQueue = try template.makeQueue()
///     …
/// }
/// ```
///
/// The database is made when its first copy is requested. A copy is a whole database that belongs
/// to one test: what it commits is seen by no other test.
public final class DatabaseTemplate: Sendable {
    private let configuration: Configuration
    private let prepare: @Sendable (DatabaseQueue) throws -> Void
    private let original = OnceValue<Result<DatabaseQueue, any Error>>()

    /// Makes a template.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the template and of its copies.
    ///   - prepare: Migrates an empty database, and inserts rows. It is called once. If it throws,
    ///     each request for a copy throws the same error.
    public init(
        configuration: Configuration = Configuration(),
        prepare: @escaping @Sendable (DatabaseQueue) throws -> Void
    ) {
        self.configuration = configuration
        self.prepare = prepare
    }

    /// Makes a template with the schema of a migrator.
    public convenience init(migrator: DatabaseMigrator, configuration: Configuration = Configuration()) {
        self.init(configuration: configuration) { dbQueue in try migrator.migrate(dbQueue) }
    }

    /// Returns a copy in memory.
    ///
    /// - Throws: The error of the template's preparation.
    public func makeQueue() throws -> DatabaseQueue {
        let copy = try DatabaseQueue(configuration: configuration)
        try source().backup(to: copy)
        return copy
    }

    /// Returns a copy in a file, opened as a queue.
    ///
    /// - Parameter path: The path of the file, which must not exist yet.
    /// - Throws: The error of the template's preparation, or of the file.
    public func makeQueue(path: String) throws -> DatabaseQueue { try makeQueue(path: path, vfs: nil) }

    /// Returns a copy in a file, opened as a pool.
    ///
    /// - Parameter path: The path of the file, which must not exist yet.
    /// - Throws: The error of the template's preparation, or of the file.
    public func makePool(path: String) throws -> DatabasePool {
        try write(to: path)
        return try DatabasePool(path: path, configuration: configuration)
    }

    /// Returns a copy in a file that is accessed through a VFS of SQLite, or through the usual one.
    func makeQueue(path: String, vfs: String?) throws -> DatabaseQueue {
        try write(to: path)
        return try open(path: path, vfs: vfs)
    }

    /// Opens the file of a copy.
    func open(path: String, vfs: String? = nil) throws -> DatabaseQueue {
        var configuration = configuration
        if let vfs { configuration.vfs = vfs }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private func write(to path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "the copy of a template needs a new file: \(path) exists")
        }
        try source().backup(to: DatabaseQueue(path: path))
    }

    private func source() throws -> DatabaseQueue {
        try original.value {
            Result {
                let queue = try DatabaseQueue(configuration: configuration)
                try prepare(queue)
                return queue
            }
        }.get()
    }
}

/// A value that is computed at its first use, once. Other threads wait.
private final class OnceValue<Value: Sendable>: @unchecked Sendable {  // `lock` guards `stored`
    private let lock = NSLock()
    private var stored: Value?

    func value(_ make: () -> Value) -> Value {
        lock.lock()
        defer { lock.unlock() }
        if let stored { return stored }
        let value = make()
        stored = value
        return value
    }
}
