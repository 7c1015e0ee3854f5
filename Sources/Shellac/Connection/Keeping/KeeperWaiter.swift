// A request to a keeper of databases, and the thread or the task that waits for its outcome.

import Dispatch

/// A request to a ``DatabaseKeeper`` for one key.
///
/// The lock of the keeper guards the stored properties, except for the semaphore.
final class KeeperWaiter<Key: Hashable & Sendable, Writer: DatabaseWriter>: @unchecked Sendable {
    enum Purpose {
        case use
        case close
    }

    enum Outcome {
        /// The database may be used, and is counted as in use.
        case use(Writer)
        /// The waiter has to open the database. Before, it closes another one.
        case open(closing: Key?)
        /// The waiter has to close the database if it is open. It stays closed meanwhile.
        case close
        case failure(any Error)
    }

    let key: Key
    let purpose: Purpose
    /// The outcome, once there is one.
    var outcome: Outcome?
    /// Whether its time is over. It may still wait for a database that is being opened or closed.
    var isLate = false
    /// The continuation on which the task sleeps.
    var continuation: CheckedContinuation<Void, Never>?
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ key: Key, _ purpose: Purpose) { (self.key, self.purpose) = (key, purpose) }

    /// Wakes the thread or the task. Called once for each outcome, outside of the lock.
    func wake(_ continuation: CheckedContinuation<Void, Never>?) {
        if let continuation { continuation.resume() } else { semaphore.signal() }
    }

    /// Sleeps on this thread until there is an outcome. Returns false if there is none in time.
    func sleep(until time: DispatchTime) -> Bool { semaphore.wait(timeout: time) == .success }
}
