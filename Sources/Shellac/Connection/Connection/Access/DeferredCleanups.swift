// Work that an access has left to the next one: statements to finalize, a transaction to roll back.

import Synchronization

/// The work that an access leaves to the next one. It finalizes or resets statements that were
/// released outside of an access, and rolls back a transaction that stayed open.
struct DeferredCleanups: ~Copyable, Sendable {
    enum Cleanup: @unchecked Sendable {  // its owner does not use it again
        case finalize(ParkedStatement)
        case abandon(Statement)
        case rollBack(TransactionFollower)
    }

    private struct State {
        var waiting: [Cleanup] = []
        /// Whether there will be no more accesses.
        var isAbandoned = false
    }
    private let state = Lock(State())
    private let hasWaiting = Atomic<Bool>(false)
    /// A lock for the thread that uses the connection after the last access.
    private let abandoning = Lock(())

    /// Whether there are no cleanups waiting.
    var isEmpty: Bool { !hasWaiting.load(ordering: .relaxed) }

    /// Adds a cleanup for the next access. If there will be none, it is done at once.
    func add(_ cleanup: Cleanup) {
        var isAbandoned = false
        state.withLock { state in
            if !state.isAbandoned {
                state.waiting.append(cleanup)
                hasWaiting.store(true, ordering: .relaxed)
            }
            isAbandoned = state.isAbandoned
        }
        guard isAbandoned, case .finalize(let parked) = cleanup else { return }
        // One thread at a time: SQLite closes the connection together with its last statement.
        abandoning.withLock { _ in parked.finalize() }
    }

    /// Performs the waiting cleanups.
    func finish() { finish(isLast: false) }

    /// Performs the waiting cleanups, and then closes the connection. Later cleanups are done at
    /// once, on any thread.
    func finishForGood(closing close: () -> Void) {
        abandoning.withLock { _ in
            finish(isLast: true)
            close()
        }
    }

    private func finish(isLast: Bool) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            hasWaiting.store(false, ordering: .relaxed)
            state.isAbandoned = isLast
            return state.waiting
        }
        for cleanup in waiting {
            switch cleanup {
            case .finalize(let parked): parked.finalize()
            case .abandon(let statement): statement.abandon()
            // (A connection that is closed rolls back by itself.)
            case .rollBack(let log): if !isLast { log.rollBackLate() }
            }
        }
    }
}
