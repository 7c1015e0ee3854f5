// The current activity of a pool connection, readable by any thread: thread, SQL, duration.

import CSQLite
import Synchronization

/// What a connection of a pool is doing, as other threads may see it.
final class ConnectionActivity: Sendable {
    /// The name of the connection among those of its pool.
    let label: String
    /// The thread that has the access, or 0.
    private let thread = Atomic<UInt>(0)
    /// When the access began, in nanoseconds of a clock that moves every few milliseconds, or 0.
    private let start = Atomic<UInt64>(0)
    /// How many accesses have begun that see another state than those before.
    private let access = Atomic<UInt64>(0)
    /// The statement that was run last, and in which access.
    private let statement = Lock<(sql: String, access: UInt64)?>(nil)

    /// Whether the connection keeps its state from one access to the next one.
    private let keepsState: Bool

    init(label: String, keepsState: Bool = false) {
        (self.label, self.keepsState) = (label, keepsState)
        if keepsState { start.store(shellac_coarse_time(), ordering: .relaxed) }
    }

    /// Whether the running thread has the access.
    @inline(__always)
    var isOfThisThread: Bool { thread.load(ordering: .relaxed) == shellac_thread() }

    /// Whether a thread has the access.
    var isRunning: Bool { thread.load(ordering: .relaxed) != 0 }

    @inline(__always)
    func begin() {
        thread.store(shellac_thread(), ordering: .relaxed)
        if keepsState { return }
        start.store(shellac_coarse_time(), ordering: .relaxed)
        // Nobody else writes it.
        access.store(access.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    @inline(__always)
    func end() {
        if !keepsState { start.store(0, ordering: .relaxed) }
        thread.store(0, ordering: .relaxed)
    }

    /// The running thread has the access no longer, and the connection is busy still.
    func leave() { thread.store(0, ordering: .relaxed) }

    /// Notes the statement that is about to run.
    func note(_ sql: String) {
        let access = access.load(ordering: .relaxed)
        statement.withLock { $0 = (sql, access) }
    }

    /// Forgets it: the connection was only prepared.
    func forgetStatement() { statement.withLock { $0 = nil } }

    /// The statement that was run last since the connection has seen its state.
    var sql: String? {
        let access = access.load(ordering: .relaxed)
        return statement.withLock { $0?.access == access ? $0?.sql : nil }
    }

    /// How long the connection has been busy, or nil where it is not.
    var age: Duration? {
        let start = start.load(ordering: .relaxed)
        guard start != 0 else { return nil }
        return .nanoseconds(Int64(clamping: max(shellac_coarse_time(), start) - start))
    }

    /// Whether the connection sees a state that it keeps, or has seen for longer than some time.
    func lasts(longerThan duration: Duration) -> Bool { age.map { keepsState || $0 > duration } ?? false }
}
