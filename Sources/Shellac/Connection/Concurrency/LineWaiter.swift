// The waiters in an access line: sleeping threads, and the cancellable tickets of tasks.

import Dispatch
import Synchronization

/// A waiter in line: a thread, or a task.
enum LineWaiter: LeavingWaiter {
    case sleeper(Sleeper)
    case ticket(Ticket)

    var hasLeft: Bool { if case .ticket(let ticket) = self { ticket.hasLeft } else { false } }

    /// Gives the waiter its turn, under the lock of the line. Returns the wake-up for it, to use
    /// outside of the lock, or nil if it has left.
    func grant(_ place: Int) -> LineWakeUp? {
        switch self {
        case .sleeper(let sleeper): .sleeper(sleeper, place)
        case .ticket(let ticket): ticket.grant(place).map { .ticket($0) }
        }
    }
}

/// The wake-up of a waiter whose turn has come, for when the lock of the line is free.
enum LineWakeUp {
    case sleeper(Sleeper, Int)
    case ticket(CheckedContinuation<Void, Never>?)

    func wake() {
        switch self {
        case .sleeper(let sleeper, let place): sleeper.wake(place)
        case .ticket(let continuation): continuation?.resume()
        }
    }
}

/// A thread in line.
final class Sleeper: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    /// The place that the thread was given. It also orders the two threads for the thread
    /// sanitizer, which does not see through semaphores.
    private let place = Atomic<Int>(0)

    /// Sleeps until the turn has come. Returns the place.
    func sleep() -> Int {
        semaphore.wait()
        return place.load(ordering: .acquiring)
    }

    func wake(_ place: Int) {
        self.place.store(place, ordering: .releasing)
        semaphore.signal()
    }
}

/// A task in line.
///
/// Its life: it *waits* or is *granted* a place at once, *runs*, and has *ended*. A ticket that is
/// cancelled before its turn ends without a place.
final class Ticket: Sendable {
    private enum Phase {
        case new
        case waiting
        case granted(Int)
        case running
        case ended
    }
    private struct State {
        var phase = Phase.new
        var isCancelled = false
        /// The continuation on which the task sleeps.
        var continuation: CheckedContinuation<Void, Never>?
    }
    private let state = Lock(State())
    let priority: WritePriority

    init(_ priority: WritePriority = .normal) { self.priority = priority }

    /// Whether there is no turn to wait for any more.
    var hasLeft: Bool { state.withLock { if case .ended = $0.phase { true } else { false } } }

    // MARK: - In line

    /// Begins to wait. Returns false if the ticket was cancelled before it came.
    func wait() -> Bool {
        state.withLock { state in
            state.phase = state.isCancelled ? .ended : .waiting
            return !state.isCancelled
        }
    }

    /// Gives the ticket its turn. Returns the continuation of the task if it sleeps, or nil if the
    /// ticket has left.
    func grant(_ place: Int) -> CheckedContinuation<Void, Never>?? {
        state.withLock { state in
            if case .ended = state.phase { return nil }
            if state.isCancelled {
                state.phase = .ended
                return nil
            }
            state.phase = .granted(place)
            defer { state.continuation = nil }
            return .some(state.continuation)
        }
    }

    /// Cancels the ticket: it leaves the line, or its work is interrupted.
    ///
    /// - Parameter interrupt: Called if the work is running. It still runs during the call.
    /// - Returns: Whether it has waited, and the continuation on which its task sleeps.
    func cancel(_ interrupt: () -> Void) -> (hasLeft: Bool, CheckedContinuation<Void, Never>?) {
        state.withLock { state in
            state.isCancelled = true
            switch state.phase {
            case .running: interrupt()
            case .waiting:
                state.phase = .ended
                defer { state.continuation = nil }
                return (true, state.continuation)
            case .new, .granted, .ended: break
            }
            return (false, nil)
        }
    }

    // MARK: - The task

    /// Resumes a task when the turn has come: at once if there is nothing to wait for.
    func sleep(at continuation: CheckedContinuation<Void, Never>) {
        let isWaiting = state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.continuation = continuation
            return true
        }
        if !isWaiting { continuation.resume() }
    }

    /// The place, if the ticket has got one and does not wait.
    var grantedPlace: Int? {
        state.withLock { if case .granted(let place) = $0.phase { place } else { nil } }
    }

    /// Notes that the ticket's work begins. Returns whether it has not been cancelled.
    func begin() -> Bool {
        state.withLock { state in
            state.phase = .running
            return !state.isCancelled
        }
    }

    /// Notes that the ticket's work has ended. Nothing interrupts it from now on.
    func end() { state.withLock { $0.phase = .ended } }
}
