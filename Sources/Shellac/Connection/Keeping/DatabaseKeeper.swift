// The keeper of many databases: one for each key, such as a tenant, opened when it is needed.

import CSQLite
import Dispatch

/// Many databases, one for each key, of which a limited number is open.
///
/// A program with a database for each tenant, document or user cannot keep them all open. A keeper
/// opens a database when it is first used, and closes the least recently used one to make room.
///
/// ```swift
/// let tenants = DatabaseKeeper(maximumCount: 100) { (tenant: Int64) in
///     let dbQueue = try DatabaseQueue(path: "\(folder)/\(tenant).sqlite", configuration: .server)
///     try migrator.migrate(dbQueue)
///     return dbQueue
/// }
///
/// let count = try await tenants.use(7) { dbQueue in
///     try await dbQueue.read { db in try Order.fetchCount(db) }
/// }
/// ```
///
/// - A database is opened once, even if many tasks ask for it at the same time. They share it.
/// - A database in use is never closed.
/// - If as many databases are in use as ``maximumCount`` allows, a request for another one waits.
///   Requests are granted in the order of their arrival. After ``timeout``, a request throws.
/// - If a database cannot be opened, all that wait for it get the error. The next request tries
///   again.
///
/// All methods can be called from any thread. The asynchronous ones block no thread of the caller.
public final class DatabaseKeeper<Key: Hashable & Sendable, Writer: DatabaseWriter>: Sendable {
    /// The largest number of databases that are open at the same time.
    public let maximumCount: Int

    /// The time that a request waits if too many databases are in use. It throws at once if this is
    /// zero.
    public let timeout: Duration

    private let opening: @Sendable (Key) throws -> Writer
    let state: Lock<KeptDatabases<Key, Writer>>
    /// The thread on which requests time out.
    private let timer = DispatchQueue(label: "Shellac.keeper.timer")

    /// Creates a keeper, which opens no database yet.
    ///
    /// Each queue has one connection, and each pool has one and its readers. A connection uses up
    /// to five file descriptors, so that the system limits ``maximumCount``, too: see `ulimit -n`.
    /// If there are too few for a database, the keeper closes unused ones, and then throws.
    ///
    /// - Parameters:
    ///   - maximumCount: The largest number of databases that are open at the same time.
    ///   - timeout: The time that a request waits if so many databases are in use.
    ///   - open: Opens the database of a key, and migrates it. Several keys may be opened at the
    ///     same time. The function runs outside of the tasks' threads, so it may block.
    public init(
        maximumCount: Int, timeout: Duration = .seconds(5), open: @escaping @Sendable (Key) throws -> Writer
    ) {
        if maximumCount < 1 {
            Misuse.trap("a DatabaseKeeper has to keep one database at least, and not \(maximumCount).")
        }
        (self.maximumCount, self.timeout, opening) = (maximumCount, timeout, open)
        state = Lock(KeptDatabases(maximumCount: maximumCount))
    }

    /// The keys of the open databases. The least recently used is first, and those in use are last.
    public var openKeys: [Key] { state.withLock { $0.openKeys } }

    /// The number of requests that wait: for tests.
    var waiterCount: Int { state.withLock { $0.waiterCount } }

    // MARK: - Using

    /// Uses the database of a key, without blocking a thread. It opens the database if necessary.
    ///
    /// The database is in use until the function returns, and is not closed before. Do not keep it
    /// for longer: once the keeper has closed it, its accesses throw `SQLITE_MISUSE`. The function
    /// may use other databases of the keeper. Then ``maximumCount`` must allow for it.
    ///
    /// Cancelling the task ends the waiting, and not the opening of a database.
    ///
    /// - Parameters:
    ///   - key: The key of the database.
    ///   - body: The function that uses the database.
    /// - Throws: Errors of the function, and of opening the database. A ``DatabaseError`` of code
    ///   `SQLITE_BUSY` if too many databases were in use for ``timeout``, or if those that are not
    ///   cannot be closed. `SQLITE_MISUSE` if the keeper is closed. `CancellationError`.
    public nonisolated(nonsending) func use<T>(
        _ key: Key, _ body: nonisolated(nonsending) (Writer) async throws -> T
    ) async throws -> T {
        let writer = try await database(of: key)
        defer { change { $0.didEndUse(of: key) } }
        return try await body(writer)
    }

    /// Uses the database of a key in a function without `await`, and opens it without blocking a
    /// thread.
    ///
    /// The function runs on the thread of the task. For a read or a write, use `await` in it, which
    /// calls the other form.
    ///
    /// - Parameters:
    ///   - key: The key of the database.
    ///   - body: The function that uses the database.
    /// - Throws: The errors of the other form.
    public nonisolated(nonsending) func use<T>(
        _ key: Key, _ body: (Writer) throws -> T
    ) async throws -> T {
        let writer = try await database(of: key)
        defer { change { $0.didEndUse(of: key) } }
        return try body(writer)
    }

    /// Uses the database of a key, on this thread. It opens the database if necessary.
    ///
    /// - Parameters:
    ///   - key: The key of the database.
    ///   - body: The function that uses the database.
    /// - Throws: The errors of the asynchronous form, but for `CancellationError`.
    public func use<T>(_ key: Key, _ body: (Writer) throws -> T) throws -> T {
        let writer = try database(of: key)
        defer { change { $0.didEndUse(of: key) } }
        return try body(writer)
    }

    private func database(of key: Key) throws -> Writer {
        let waiter = KeeperWaiter<Key, Writer>(key, .use)
        let deadline = deadline
        change { $0.place(waiter) }
        while true {
            switch wait(waiter, until: deadline) {
            case .use(let writer): return writer
            case .failure(let error): throw error
            case .open(let victim): if let writer = try open(waiter, closing: victim) { return writer }
            case .close, nil: break
            }
        }
    }

    private nonisolated(nonsending) func database(of key: Key) async throws -> Writer {
        try Task.checkCancellation()
        let waiter = KeeperWaiter<Key, Writer>(key, .use)
        change { $0.place(waiter) }
        // Only a request that has to wait needs a timer.
        if state.withLock({ _ in waiter.outcome == nil }) {
            timer.asyncAfter(deadline: deadline) { [weak self] in self?.change { $0.timeOut(waiter) } }
        }
        while true {
            switch await wait(waiter) {
            case .use(let writer): return writer
            case .failure(let error): throw error
            case .open(let victim):
                let writer = try await onOwnThread("Shellac.keeper.opening") {
                    try self.open(waiter, closing: victim)
                }
                if let writer { return writer }
            case .close, nil: break
            }
        }
    }

    /// Opens the database of a waiter, after it has closed another one. Returns nil if that was
    /// impossible, and the waiter is in line again.
    private func open(_ waiter: KeeperWaiter<Key, Writer>, closing victim: Key?) throws -> Writer? {
        let key = waiter.key
        var victim = victim
        var tried: Set<Key> = []
        while let other = victim {
            do {
                try closeNow(other)
                victim = nil
            } catch {
                tried.insert(other)
                let failure = DatabaseError(
                    resultCode: .SQLITE_BUSY,
                    message:
                        "the database of \(key) cannot be opened: \(maximumCount) databases are open, as "
                        + "many as their keeper allows, and that of \(other) cannot be closed (\(error))")
                switch change({ $0.nextStep(of: waiter, after: tried, failure) }) {
                case .open(let next): victim = next
                case .wait: return nil
                case .fail(let error): throw error
                }
            }
        }
        let result = Result { try openNow(key) }
        change { $0.didOpen(key, result) }
        return try result.get()
    }

    /// Opens a database. If the process has no file descriptor left for it, this closes unused
    /// databases, one by one.
    private func openNow(_ key: Key) throws -> Writer {
        var tried: Set<Key> = []
        while true {
            do { return try opening(key) } catch {
                // A queue needs five at the most.
                if shellac_can_open_files(8) { throw error }
                guard let victim = change({ $0.takeVictim(besides: tried) }) else {
                    throw DatabaseError(
                        resultCode: .SQLITE_CANTOPEN,
                        message: "the database of \(key) cannot be opened: the process has too few file "
                            + "descriptors for the \(openKeys.count) databases that its keeper has open. Allow "
                            + "the process more (ulimit -n), or the keeper less (maximumCount). (\(error))")
                }
                tried.insert(victim)
                // If it cannot be closed, another one may be.
                try? closeNow(victim)
            }
        }
    }

    // MARK: - Waiting

    var deadline: DispatchTime {
        let (seconds, attoseconds) = timeout.components
        let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
        return .now() + .nanoseconds(Int(min(max(0, nanoseconds), 1e18)))
    }

    /// Changes the state, and wakes the waiters that have got an outcome.
    @discardableResult
    func change<T>(_ body: (inout KeptDatabases<Key, Writer>) -> T) -> T {
        let (result, woken) = state.withLock { state in (body(&state), state.takeWoken()) }
        for (waiter, continuation) in woken { waiter.wake(continuation) }
        return result
    }

    /// Sleeps on this thread until a waiter has an outcome.
    func wait(
        _ waiter: KeeperWaiter<Key, Writer>, until deadline: DispatchTime
    ) -> KeeperWaiter<Key, Writer>.Outcome? {
        if !waiter.sleep(until: deadline) {
            change { $0.timeOut(waiter) }
            _ = waiter.sleep(until: .distantFuture)
        }
        return state.withLock { _ in waiter.outcome }
    }

    /// Suspends the task until a waiter has an outcome, or the task is cancelled.
    nonisolated(nonsending) func wait(
        _ waiter: KeeperWaiter<Key, Writer>
    ) async -> KeeperWaiter<Key, Writer>.Outcome? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { _ in
                    if waiter.outcome == nil { waiter.continuation = continuation }
                    return waiter.outcome != nil
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            change { $0.leave(waiter, CancellationError()) }
        }
        return state.withLock { _ in waiter.outcome }
    }
}
