// The access state of a connection: the owning thread, cancellation, refusal of statements.

import CSQLite
import Synchronization

/// The access to a connection: the owning thread, and whether statements can run without a check.
/// Other threads can read and set it.
struct ConnectionAccess: ~Copyable, Sendable {
    /// The thread that holds the access, or 0. Its number is even. An odd number means that the
    /// thread must not use the connection now.
    private let owner = Atomic<UInt>(0)
    /// Whether the next statement may have to be refused.
    private let obstruction = Atomic<Bool>(false)
    /// The reason to interrupt and refuse statements, if there is one.
    private let stop = Atomic<Stop>(.none)
    /// A reason to interrupt and refuse the statements of an access.
    enum Stop: UInt8, AtomicRepresentable {
        case none
        /// The task that holds the access was cancelled.
        case cancellation
        /// The database was shut down: see ``ServiceEnd``.
        case end
    }
    /// Whether the connection is open, for threads that interrupt it without holding the access.
    private let openness = Lock(true)

    // MARK: The thread

    /// Whether the running thread may use the connection.
    var isUsable: Bool { owner.load(ordering: .relaxed) == shellac_thread() }

    /// Whether the running thread holds the access.
    var isHeld: Bool { owner.load(ordering: .relaxed) & ~1 == shellac_thread() }

    /// Whether the running thread holds the access, but must not use the connection now.
    var isForbidden: Bool { owner.load(ordering: .relaxed) == shellac_thread() | 1 }

    /// Gives the access to the running thread. No other thread may be able to get it.
    func take() { owner.store(shellac_thread(), ordering: .relaxed) }

    /// Takes the access from the running thread.
    func release() { owner.store(0, ordering: .relaxed) }

    /// Calls a function that must not use the connection.
    func forbidding<Result>(_ body: () throws -> Result) rethrows -> Result {
        let thread = owner.load(ordering: .relaxed)
        owner.store(thread | 1, ordering: .relaxed)
        defer { owner.store(thread, ordering: .relaxed) }
        return try body()
    }

    // MARK: Obstructions

    /// Whether the next statement may have to be refused: see `Database.checkObstruction(for:)`.
    var isObstructed: Bool { obstruction.load(ordering: .relaxed) }

    /// Whether statements are interrupted and refused, because the task was cancelled or the
    /// database was shut down.
    var isStopped: Bool { stop.load(ordering: .relaxed) != .none }

    /// Whether the database was shut down.
    var isEnded: Bool { stop.load(ordering: .relaxed) == .end }

    /// Sets whether statements must be refused for a reason other than a stop.
    func obstruct(_ isObstructed: Bool) {
        obstruction.store(isObstructed, ordering: .sequentiallyConsistent)
        // Another thread may stop them at any time, so check this after the store.
        if stop.load(ordering: .sequentiallyConsistent) != .none {
            obstruction.store(true, ordering: .sequentiallyConsistent)
        }
    }

    /// Cancels the work of the task that holds the access. Any thread may call this.
    func cancel() {
        _ = stop.compareExchange(
            expected: .none, desired: .cancellation, ordering: .sequentiallyConsistent)
        obstruction.store(true, ordering: .sequentiallyConsistent)
    }

    /// Clears a cancellation, because the access has ended.
    func endCancellation() {
        _ = stop.compareExchange(
            expected: .cancellation, desired: .none, ordering: .sequentiallyConsistent)
    }

    /// Stops all work on the connection. Any thread may call this.
    func end() {
        stop.store(.end, ordering: .sequentiallyConsistent)
        obstruction.store(true, ordering: .sequentiallyConsistent)
    }

    /// Allows the running thread, which holds the access, to use the connection nevertheless.
    func reopen() { stop.store(.none, ordering: .sequentiallyConsistent) }

    /// Whether a thread other than the running one holds the access.
    var isHeldElsewhere: Bool { ![0, shellac_thread()].contains(owner.load(ordering: .relaxed) & ~1) }

    // MARK: Closing

    /// Marks the connection as about to close.
    func close() { openness.withLock { $0 = false } }

    /// Calls a function on any thread, unless the connection is closed.
    func whileOpen(_ body: () -> Void) { openness.withLock { if $0 { body() } } }
}

extension Database {
    /// Traps unless the running thread holds the access to this connection.
    func checkAccess() { if !access.isUsable { trapOutsideOfAccess() } }

    @inline(never)
    func trapOutsideOfAccess() -> Never {
        reporter?.checkOutside()
        if access.isForbidden {
            Misuse.trap(
                "the Database of \(description) was used by an observer while it received a change, or the "
                    + "notice of a coming commit: the changes are not committed yet. Use it in "
                    + "databaseDidCommit(_:) or databaseDidRollback(_:).")
        }
        Misuse.trap(
            "the Database of \(description) was used outside of its access, or on another thread. "
                + "Use a database, its statements and its cursors inside the closure that received it, "
                + "and return what you need from there.")
    }

    /// Whether the running thread holds the access.
    var isAccessed: Bool { access.isHeld }

    /// Throws an error if a statement must not run: the access was cancelled, its transaction is
    /// lost, or the database is closed.
    @inline(never)
    func checkObstruction(for effect: StatementEffects.Transaction?) throws {
        if isClosed { throw closedError() }
        if effect == .rollback { return }
        if let lostTransaction { throw lostTransaction }
        if let refusedCommit { throw refusedCommit }
        if case .rollbackTo = effect { return }
        if access.isStopped { throw stopError }
    }

    /// Updates whether statements can run without a check.
    func updateObstruction() {
        let isRefusing =
            isClosed || lostTransaction != nil || refusedCommit != nil || hooks.place?.loss != nil
            || owed.contains(.statementWillBegin) || readRecorder != nil
        let isWatched = activity != nil || reporter != nil
        isOnlyWatched = isWatched && !isRefusing
        access.obstruct(isRefusing || isWatched)
    }

    func closedError() -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database \(description) is closed")
            .ofClosedDatabase
    }
}
