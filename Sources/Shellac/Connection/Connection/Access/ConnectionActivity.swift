// The current activity of a pool connection, readable by any thread: thread, SQL, duration.

import CSQLite
import Synchronization

/// The current work of a pool's connection, as other threads can see it.
final class ConnectionActivity: Sendable {
    /// The name of the connection in its pool.
    let label: String
    /// The thread that has the access, or 0.
    private let thread = Atomic<UInt>(0)
    /// The time when the access began, or 0. It is in nanoseconds of a clock that advances every
    /// few milliseconds.
    private let start = Atomic<UInt64>(0)
    /// The number of accesses so far. An access that sees the same state as the previous one is not
    /// counted.
    private let access = Atomic<UInt64>(0)
    /// The last statement, and the number of the access that ran it.
    private let statement = Lock<(sql: String, access: UInt64)?>(nil)

    /// Whether the connection keeps its snapshot from one access to the next.
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
        // No other thread writes it.
        access.store(access.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    @inline(__always)
    func end() {
        if !keepsState { start.store(0, ordering: .relaxed) }
        thread.store(0, ordering: .relaxed)
    }

    /// Ends the thread's access, while the connection stays busy.
    func leave() { thread.store(0, ordering: .relaxed) }

    /// Notes the statement that is about to run.
    func note(_ sql: String) {
        let access = access.load(ordering: .relaxed)
        statement.withLock { $0 = (sql, access) }
    }

    /// Forgets the statement, because it only prepared the connection.
    func forgetStatement() { statement.withLock { $0 = nil } }

    /// The last statement that was run on the current snapshot.
    var sql: String? {
        let access = access.load(ordering: .relaxed)
        return statement.withLock { $0?.access == access ? $0?.sql : nil }
    }

    /// The time for which the connection has been busy, or nil if it is idle.
    var age: Duration? {
        let start = start.load(ordering: .relaxed)
        guard start != 0 else { return nil }
        return .nanoseconds(Int64(clamping: max(shellac_coarse_time(), start) - start))
    }

    /// Whether the connection keeps its snapshot, or has been busy for longer than the given
    /// duration.
    func lasts(longerThan duration: Duration) -> Bool { age.map { keepsState || $0 > duration } ?? false }
}
