// The accesses of a pool.
//
// A read takes a reader connection. A write waits for the writer, and must not be inside a read of
// the same thread.

@_documentation(visibility: internal)
extension DatabasePool {
    // MARK: - Reading

    public func read<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try readers.access(at: site) { db in try db.readTransaction(value) }
    }

    public nonisolated(nonsending) func read<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await readers.run(at: site) { db in try db.readTransaction(value) }
    }

    public func unsafeRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        try readers.access(at: site) { db in try db.readOnly { try value(db) } }
    }

    public nonisolated(nonsending) func unsafeRead<T>(
        at site: CallSite, _ value: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        try await readers.run(at: site) { db in try db.readOnly { try value(db) } }
    }

    public func unsafeReentrantRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        if let result = try readers.reenter({ db in try db.readOnly { try value(db) } }) { return result }
        return try unsafeRead(at: site, value)
    }

    public func asyncRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        readers.later(at: site, for: self) { result in result.giveReading(value) }
    }

    public func asyncUnsafeRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        readers.later(at: site, for: self) { result in result.giveReadOnly(value) }
    }

    public func spawnConcurrentRead(
        at site: CallSite, _ value: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.database.checkConcurrentRead()
        readers.laterFromNow(at: site, for: self, value)
    }

    // MARK: - Writing

    @discardableResult
    public func write<T>(at site: CallSite, priority: WritePriority, _ updates: (Database) throws -> T) throws
        -> T
    {
        checkOutsideOfRead("written to")
        return try writer.write(at: site, priority: priority, updates)
    }

    @discardableResult
    public nonisolated(nonsending) func write<T>(
        at site: CallSite, priority: WritePriority,
        _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await writer.write(at: site, priority: priority, updates) }

    @discardableResult
    public func writeWithoutTransaction<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T {
        checkOutsideOfRead("written to")
        return try writer.access(at: site, updates)
    }

    @discardableResult
    public nonisolated(nonsending) func writeWithoutTransaction<T>(
        at site: CallSite, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T { try await writer.run(at: site, updates) }

    @discardableResult
    public func barrierWriteWithoutTransaction<T>(at site: CallSite, _ updates: (Database) throws -> T) throws
        -> T
    {
        checkOutsideOfRead("written to")
        return try writer.access(at: site) { db in try behindBarrier { try updates(db) } }
    }

    @discardableResult
    public nonisolated(nonsending) func barrierWriteWithoutTransaction<T>(
        at site: CallSite, _ updates: sending @escaping (Database) throws -> sending T
    ) async throws -> sending T {
        let claim = ReaderLine.Claim()
        let line = readers.line
        let leave: @Sendable () -> Void = { line.cancel(claim) }
        return try await writer.run(at: site, alsoOnCancel: leave) { db in
            try self.behindBarrier(claim) { try updates(db) }
        }
    }

    public func asyncBarrierWriteWithoutTransaction(
        at site: CallSite, _ updates: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        // (This access cannot be cancelled.)
        writer.later(at: site, for: self) { result in try? self.behindBarrier { updates(result) } }
    }

    /// Runs a function while no connection reads.
    private func behindBarrier<T>(
        _ claim: ReaderLine.Claim = ReaderLine.Claim(), _ body: () throws -> T
    ) throws -> T {
        guard readers.line.claimAll(claim) else { throw CancellationError() }
        defer { readers.line.giveAllBack() }
        return try body()
    }

    @discardableResult
    public func unsafeReentrantWrite<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T {
        if !writer.database.isAccessed { checkOutsideOfRead("written to") }
        return try writer.reentrantWrite(at: site, updates)
    }

    public func asyncWriteWithoutTransaction(
        at site: CallSite, _ updates: @escaping @Sendable (Database, _ refusal: (any Error)?) -> Void
    ) { writer.laterEvenIfRefused(at: site, for: self, updates) }
}
