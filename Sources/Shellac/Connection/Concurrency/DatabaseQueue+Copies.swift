// Copies of a database file, opened as a queue in memory or in a temporary file.

extension DatabaseQueue {
    /// Opens a copy of a database file in memory, which is read once and left alone.
    ///
    /// ```swift
    /// let preview = try DatabaseQueue.inMemoryCopy(fromPath: "fixtures.sqlite")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file. It must exist.
    ///   - configuration: How the copy is opened and used. One that is ``Configuration/readonly`` cannot be written to.
    /// - Throws: a ``DatabaseError`` when the file cannot be opened, or is no database.
    public static func inMemoryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(of: path, to: ":memory:", configuration)
    }

    /// Opens a copy of a database file in a temporary file, which is gone when the queue is: for copies that are too large for
    /// memory.
    ///
    /// - Parameters:
    ///   - path: The file. It must exist.
    ///   - configuration: How the copy is opened and used. One that is ``Configuration/readonly`` cannot be written to.
    /// - Throws: a ``DatabaseError`` when the file cannot be opened, or is no database.
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
    /// Has all that is left of the connection's life be one read-only access.
    fileprivate func stayReadOnly() throws {
        isReadOnlyScope = true
        // For what writes by the C interface.
        try asking { try makeStatement(sql: "PRAGMA query_only = 1").execute() }
    }
}

extension Configuration {
    /// The configuration of a copy, which is written once at least, and has no journal file.
    fileprivate var openingCopy: Configuration {
        var configuration = self
        configuration.readonly = false
        configuration.journalMode = .default
        return configuration
    }
}
