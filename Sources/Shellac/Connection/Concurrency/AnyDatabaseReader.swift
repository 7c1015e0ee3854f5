/// A type-erased reader of a database: a queue, a pool, or a snapshot.
///
/// `any DatabaseReader` does the same, and needs no object.
public final class AnyDatabaseReader: DatabaseReader {
    private let base: any DatabaseReader

    /// Wraps another reader.
    ///
    /// - Parameter base: The reader. This one keeps it alive.
    public init(_ base: some DatabaseReader) { self.base = base }

    public var configuration: Configuration { base.configuration }
    public var path: String { base.path }
    public func close() throws { try base.close() }
    public func interrupt() { base.interrupt() }
}

@_documentation(visibility: internal)
extension AnyDatabaseReader {
    public func read<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try base.read(at: site, value)
    }

    public nonisolated(nonsending) func read<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await base.read(at: site, value) }

    public func unsafeRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try base.unsafeRead(at: site, value)
    }

    public nonisolated(nonsending) func unsafeRead<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await base.unsafeRead(at: site, value) }

    public func unsafeReentrantRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try base.unsafeReentrantRead(at: site, value)
    }

    public func asyncRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        base.asyncRead(at: site, value)
    }

    public func asyncUnsafeRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { base.asyncUnsafeRead(at: site, value) }
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

@_documentation(visibility: internal)
extension AnyDatabaseWriter {
    public func read<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try base.read(at: site, value)
    }

    public nonisolated(nonsending) func read<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await base.read(at: site, value) }

    public func unsafeRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try base.unsafeRead(at: site, value)
    }

    public nonisolated(nonsending) func unsafeRead<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await base.unsafeRead(at: site, value) }

    public func unsafeReentrantRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try base.unsafeReentrantRead(at: site, value)
    }

    public func asyncRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        base.asyncRead(at: site, value)
    }

    public func asyncUnsafeRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { base.asyncUnsafeRead(at: site, value) }

    @discardableResult
    public func write<T>(
        at site: CallSite, priority: WritePriority, _ updates: (Database) throws -> T
    ) throws -> T { try base.write(at: site, priority: priority, updates) }

    @discardableResult
    public nonisolated(nonsending) func write<T>(
        at site: CallSite, priority: WritePriority,
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await base.write(at: site, priority: priority, updates) }

    @discardableResult
    public func writeWithoutTransaction<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T {
        try base.writeWithoutTransaction(at: site, updates)
    }

    @discardableResult
    public nonisolated(nonsending) func writeWithoutTransaction<T>(
        at site: CallSite, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await base.writeWithoutTransaction(at: site, updates) }

    @discardableResult
    public func barrierWriteWithoutTransaction<T>(
        at site: CallSite, _ updates: (Database) throws -> T
    ) throws -> T { try base.barrierWriteWithoutTransaction(at: site, updates) }

    @discardableResult
    public nonisolated(nonsending) func barrierWriteWithoutTransaction<T>(
        at site: CallSite, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await base.barrierWriteWithoutTransaction(at: site, updates) }

    public func asyncBarrierWriteWithoutTransaction(
        at site: CallSite, _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { base.asyncBarrierWriteWithoutTransaction(at: site, updates) }

    public func asyncWriteWithoutTransaction(
        at site: CallSite, _ updates: @escaping @Sendable (Database, _ refusal: (any Error)?) -> Void
    ) { base.asyncWriteWithoutTransaction(at: site, updates) }

    public func spawnConcurrentRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) { base.spawnConcurrentRead(at: site, value) }

    @discardableResult
    public func unsafeReentrantWrite<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T {
        try base.unsafeReentrantWrite(at: site, updates)
    }
}

extension DatabaseWriter {
    /// The pool that the writer is, or wraps.
    var pool: DatabasePool? { self as? DatabasePool ?? (self as? AnyDatabaseWriter)?.base.pool }
}
