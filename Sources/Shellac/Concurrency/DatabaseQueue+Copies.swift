extension DatabaseQueue {
    /// Opens a copy of a database file in memory, which is read once and left alone.
    ///
    /// ```swift
    /// let preview = try DatabaseQueue.inMemoryCopy(fromPath: "fixtures.sqlite")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file. It must exist.
    ///   - configuration: How the copy is opened and used.
    /// - Throws: a ``DatabaseError`` when the file cannot be opened, or is no database.
    public static func inMemoryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(of: path, to: DatabaseQueue(configuration: configuration.openingCopy))
    }

    /// Opens a copy of a database file in a temporary file, which is gone when the queue is: for copies that are too large for
    /// memory.
    ///
    /// - Parameters:
    ///   - path: The file. It must exist.
    ///   - configuration: How the copy is opened and used.
    /// - Throws: a ``DatabaseError`` when the file cannot be opened, or is no database.
    public static func temporaryCopy(
        fromPath path: String, configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        try copy(of: path, to: DatabaseQueue(path: "", configuration: configuration.openingCopy))
    }

    private static func copy(of path: String, to copy: DatabaseQueue) throws -> DatabaseQueue {
        var reading = Configuration()
        reading.readonly = true
        reading.label = "the source of a copy"
        let source = try DatabaseQueue(path: path, configuration: reading)
        try source.backup(to: copy)
        try source.close()
        return copy
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
