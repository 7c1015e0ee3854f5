/// A type-erased reader of a database: a queue, a pool, or a snapshot.
///
/// `any DatabaseReader` does the same, and needs no object.
public final class AnyDatabaseReader: DatabaseReader {
    let base: any DatabaseReader

    /// Wraps another reader.
    ///
    /// - Parameter base: The reader. This one keeps it alive.
    public init(_ base: some DatabaseReader) { self.base = base }

    public var configuration: Configuration { base.configuration }
    public var path: String { base.path }
    public func close() throws { try base.close() }
    public func interrupt() { base.interrupt() }
}

/// A type-erased writer of a database: a queue, or a pool.
///
/// `any DatabaseWriter` does the same, and needs no object.
public final class AnyDatabaseWriter: DatabaseWriter {
    let base: any DatabaseWriter

    /// Wraps another writer.
    ///
    /// - Parameter base: The writer. This one keeps it alive.
    public init(_ base: some DatabaseWriter) { self.base = base }

    public var configuration: Configuration { base.configuration }
    public var path: String { base.path }
    public func close() throws { try base.close() }
    public func interrupt() { base.interrupt() }
    public func run() async throws { try await base.run() }
}

extension DatabaseReader {
    /// The database itself, if this is a wrapper.
    var unwrapped: any DatabaseReader {
        (self as? AnyDatabaseReader)?.base.unwrapped ?? (self as? AnyDatabaseWriter)?.base.unwrapped ?? self
    }
}

extension DatabaseWriter {
    /// The pool that the writer is, or wraps.
    var pool: DatabasePool? { self as? DatabasePool ?? (self as? AnyDatabaseWriter)?.base.pool }
}
