import Synchronization

// What was let go of outside of an access waits for the next one.

extension Database {
    /// A statement to finalize, or to reset.
    enum Leftover: @unchecked Sendable {  // whoever left it does not use it again
        case statement(ParkedStatement)
        case run(Statement)
    }

    struct Leftovers {
        var waiting: [Leftover] = []
        /// Whether no access will come any more.
        var isAbandoned = false
    }

    /// Leaves something to the access that comes next.
    func leave(_ leftover: Leftover) {
        var isAbandoned = false
        leftovers.withLock { leftovers in
            if !leftovers.isAbandoned {
                leftovers.waiting.append(leftover)
                hasLeftovers.store(true, ordering: .relaxed)
            }
            isAbandoned = leftovers.isAbandoned
        }
        guard isAbandoned, case .statement(let parked) = leftover else { return }
        // One thread at a time. SQLite closes the connection with its last statement.
        abandoning.withLock { _ in parked.finalize() }
    }

    /// Finishes what was let go of outside of an access.
    func finishLeftovers(abandon: Bool = false) {
        let waiting = leftovers.withLock { leftovers in
            defer { leftovers.waiting = [] }
            hasLeftovers.store(false, ordering: .relaxed)
            leftovers.isAbandoned = abandon
            return leftovers.waiting
        }
        for leftover in waiting {
            switch leftover {
            case .statement(let parked): parked.finalize()
            case .run(let statement): statement.abandon()
            }
        }
    }
}
