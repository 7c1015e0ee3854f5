// The fair lock of a connection for threads and tasks, by priority and order of arrival.

import Synchronization

/// The line in front of a connection: one access at a time, in the order of arrival, urgent ones
/// first.
///
/// If the connection is free, the caller enters with one atomic operation, on its own thread.
/// Otherwise it waits in line: a thread by sleeping, a task without blocking any thread. An access
/// that ends hands the connection to the first waiter, so no other one can slip in between.
final class AccessLine: Sendable {
    /// 0: free. 1: taken. 2: taken, and the line may not be empty.
    private let word = Atomic<UInt8>(0)
    private let waiting = Lock(Waiting())

    /// The waiters.
    private struct Waiting {
        private var urgent = WaitingLine<LineWaiter>()
        private var normal = WaitingLine<LineWaiter>()
        /// The number of urgent waiters that went ahead of a normal one.
        private var passed = 0

        var count: Int { urgent.count + normal.count }
        var isEmpty: Bool { urgent.isEmpty && normal.isEmpty }
        #if DEBUG
        var moveCount: Int { urgent.moveCount + normal.moveCount }
        #endif

        mutating func append(_ waiter: LineWaiter, _ priority: WritePriority) {
            if priority == .urgent { urgent.append(waiter) } else { normal.append(waiter) }
        }

        mutating func noteLeaving(_ priority: WritePriority) {
            if priority == .urgent { urgent.noteLeaving() } else { normal.noteLeaving() }
        }

        mutating func popFirst() -> LineWaiter? {
            if normal.isEmpty {
                passed = 0
                return urgent.popFirst()
            }
            if urgent.isEmpty || passed == WritePriority.maximumUrgentInARow {
                passed = 0
                return normal.popFirst()
            }
            passed += 1
            return urgent.popFirst()
        }
    }

    // MARK: - Threads

    /// Waits for the access.
    func enter(_ priority: WritePriority = .normal) {
        if !word.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged { wait(priority) }
    }

    /// Takes the access if it is free. Returns whether it was taken.
    func enterIfFree() -> Bool {
        word.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
    }

    @inline(never)
    private func wait(_ priority: WritePriority) {
        let sleeper = Sleeper()
        if !take(.sleeper(sleeper), priority) { _ = sleeper.sleep() }
    }

    /// Hands the access to the first in line.
    func leave() {
        if !word.compareExchange(expected: 1, desired: 0, ordering: .releasing).exchanged { handOver() }
    }

    // MARK: - Tasks

    /// Puts a ticket in line. Its task waits for its turn afterwards: see ``Ticket/sleep(at:)``.
    func enter(_ ticket: Ticket) { _ = take(.ticket(ticket), ticket.priority) }

    /// Cancels a ticket: takes it out of the line, or interrupts its work.
    ///
    /// - Parameter interrupt: Called if the work is running. It still runs during the call.
    func cancel(_ ticket: Ticket, interrupt: () -> Void) {
        let continuation = waiting.withLock { waiting in
            let (hasLeft, continuation) = ticket.cancel(interrupt)
            if hasLeft { waiting.noteLeaving(ticket.priority) }
            return continuation
        }
        continuation?.resume()
    }

    // MARK: - The line

    /// The number of waiters.
    var waitingCount: Int { waiting.withLock { $0.count } }

    #if DEBUG
    /// The number of times that a place in the line was inspected, or has moved.
    var moveCount: Int { waiting.withLock { $0.moveCount } }
    #endif

    /// Takes the access if it is free. Otherwise puts the waiter in line, and returns false.
    private func take(_ waiter: LineWaiter, _ priority: WritePriority) -> Bool {
        waiting.withLock { waiting in
            if case .ticket(let ticket) = waiter, !ticket.wait() { return false }
            // With 2 in the word, an access that ends comes through the lock.
            let isFree = word.exchange(2, ordering: .acquiringAndReleasing) == 0
            // (The ticket may be cancelled meanwhile, but under this lock.)
            if isFree {
                if waiting.isEmpty { word.store(1, ordering: .relaxed) }
                _ = waiter.grant(0)
            } else {
                waiting.append(waiter, priority)
            }
            return isFree
        }
    }

    @inline(never)
    private func handOver() {
        let next = waiting.withLock { waiting -> LineWakeUp? in
            while let waiter = waiting.popFirst() {
                guard let wakeUp = waiter.grant(0) else { continue }
                if waiting.isEmpty { word.store(1, ordering: .releasing) }
                return wakeUp
            }
            word.store(0, ordering: .releasing)
            return nil
        }
        next?.wake()
    }
}
