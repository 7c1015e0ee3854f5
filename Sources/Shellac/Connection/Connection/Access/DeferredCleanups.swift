// Statements released outside of an access, to be finalized or reset by the next access.

import Synchronization

/// Statements released outside of an access: the next access finalizes or resets them.
struct DeferredCleanups: ~Copyable, Sendable {
    /// A statement to finalize, or to reset.
    enum Cleanup: @unchecked Sendable {  // its owner does not use it again
        case finalize(ParkedStatement)
        case abandon(Statement)
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
            }
        }
    }
}
