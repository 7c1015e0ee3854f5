// The accesses of a pool.
//
// A read takes a reader connection. A write waits for the writer, and must not be inside a read of
// the same thread. The accesses that do no more than that are spellings: see
// Connections+Accesses.swift.

@_documentation(visibility: internal)
extension DatabasePool {
    // MARK: - Reading

    public func unsafeReentrantRead<T>(at site: CallSite, _ value: (Database) throws -> T) throws -> T {
        if let result = try readers.reenter({ db in try db.readOnly { try value(db) } }) { return result }
        return try unsafeRead(at: site, value)
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
    public func writeWithoutTransaction<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T {
        checkOutsideOfRead("written to")
        return try writer.access(at: site, updates)
    }

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
}
