// Copies of a database file, opened as a queue in memory or in a temporary file.

extension DatabaseQueue {
    /// Opens an in-memory copy of a database file. The file is read once and not changed.
    ///
    /// ```swift
    /// let preview = try DatabaseQueue.inMemoryCopy(fromPath: "fixtures.sqlite")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file. It must exist.
    ///   - configuration: The options for opening and using the copy. With
    ///     ``Configuration/readonly``, the copy cannot be written to.
    /// - Throws: A ``DatabaseError`` if the file cannot be opened, or is no database.
    public static func inMemoryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(of: path, to: ":memory:", configuration)
    }

    /// Opens a copy of a database file in a temporary file, for copies that are too large for
    /// memory. The temporary file is deleted with the queue.
    ///
    /// - Parameters:
    ///   - path: The file. It must exist.
    ///   - configuration: The options for opening and using the copy. With
    ///     ``Configuration/readonly``, the copy cannot be written to.
    /// - Throws: A ``DatabaseError`` if the file cannot be opened, or is no database.
    public static func temporaryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(of: path, to: "", configuration)
    }

    private static func copy(
        of path: String, to copyPath: String, _ configuration: Configuration
    ) throws -> DatabaseQueue {
        let copy = try DatabaseQueue(
            path: copyPath, configuration: configuration, opening: configuration.openingCopy)
        var reading = Configuration()
        reading.readonly = true
        reading.label = "the source of a copy"
        let source = try DatabaseQueue(path: path, configuration: reading)
        try source.backup(to: copy)
        try source.close()
        if configuration.readonly { try copy.connection.inside { db in try db.stayReadOnly() } }
        return copy
    }
}

extension Database {
    /// Makes the connection read-only for the rest of its life.
    fileprivate func stayReadOnly() throws {
        isReadOnlyScope = true
        // For code that writes through the C interface.
        try asking { try makeStatement(sql: "PRAGMA query_only = 1").execute() }
    }
}

extension Configuration {
    /// The configuration for opening a copy, which is written at least once, and has no journal
    /// file.
    fileprivate var openingCopy: Configuration {
        var configuration = self
        configuration.readonly = false
        configuration.journalMode = .default
        return configuration
    }
}
