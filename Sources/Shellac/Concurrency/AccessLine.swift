import CSQLite
import Dispatch
import Synchronization

/// The line in front of a connection: one access at a time, in the order of arrival.
///
/// Who finds nobody gets in with one atomic operation, on their own thread. Who finds somebody waits in line:
/// a thread by sleeping, a task without blocking any thread. Whoever leaves hands the access over to the first
/// in line, so that nobody can slip in between.
///
/// The life of an asynchronous access: its task makes a ``Ticket``, and enters. When its turn comes, its job is
/// sent to the line's own dispatch queue, takes the access there, and runs. Cancelling the task before that
/// takes the ticket out of the line. Cancelling it while the job runs interrupts the job's statements: this
/// is decided under the line's lock, so that no statement of a later access is ever hit.
final class AccessLine: Sendable {
    /// 0: free. 1: taken. 2: taken, and somebody may be waiting.
    private let word = Atomic<UInt8>(0)
    private let waiting = Lock(WaitingLine<Waiter>())
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    // MARK: - Threads

    /// Waits for the access.
    func enter() {
        if !word.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged { wait() }
    }

    @inline(never)
    private func wait() {
        let sleeper = Sleeper()
        if take(.sleeper(sleeper)) == .waiting { sleeper.sleep() }
    }

    /// Gives the access to the first in line.
    func leave() {
        if !word.compareExchange(expected: 1, desired: 0, ordering: .releasing).exchanged { handOver() }
    }

    // MARK: - Tasks

    /// Runs a ticket's job when its turn comes, on the line's own queue. The job must `leave()`.
    func enter(_ ticket: Ticket) {
        switch take(.ticket(ticket)) {
        case .taken: send(ticket)
        case .waiting: break
        case .refused: ticket.takeJob()?(false)
        }
    }

    /// Cancels a ticket: takes it out of the line, or interrupts its job.
    ///
    /// - Parameter interrupt: Called if the job is running, at a moment when it is sure to be.
    func cancel(_ ticket: Ticket, interrupt: () -> Void) {
        let isOut = waiting.withLock { waiting in
            ticket.isCancelled = true
            if ticket.state == .running { interrupt() }
            guard ticket.state == .waiting else { return false }
            ticket.state = .ended
            waiting.noteLeaving()
            return true
        }
        if isOut { ticket.takeJob()?(false) }
    }

    /// Tells that a ticket's job begins to run. Returns whether the ticket has not been cancelled.
    func begin(_ ticket: Ticket) -> Bool {
        waiting.withLock { _ in
            ticket.state = .running
            return !ticket.isCancelled
        }
    }

    /// Tells that a ticket's job ends. Nothing interrupts it from now on.
    func end(_ ticket: Ticket) {
        waiting.withLock { _ in ticket.state = .ended }
    }

    private func send(_ ticket: Ticket) { queue.async { ticket.takeJob()?(true) } }

    // MARK: - The line

    /// How many wait.
    var waitingCount: Int { waiting.withLock { $0.count } }

    #if DEBUG
    /// How often a place in the line was looked at, or has moved.
    var moveCount: Int { waiting.withLock { $0.moveCount } }
    #endif

    private enum Entrance {
        case taken
        case waiting
        /// It was cancelled before it came.
        case refused
    }

    /// Takes the access if it is free; otherwise waits in line.
    private func take(_ waiter: Waiter) -> Entrance {
        waiting.withLock { waiting in
            if let ticket = waiter.ticket, ticket.isCancelled {
                ticket.state = .ended
                return .refused
            }
            // With 2 in the word, whoever leaves comes through the lock.
            let isFree = word.exchange(2, ordering: .acquiringAndReleasing) == 0
            if isFree {
                if waiting.isEmpty { word.store(1, ordering: .relaxed) }
                waiter.ticket?.state = .granted
            } else {
                waiter.ticket?.state = .waiting
                waiting.append(waiter)
            }
            return isFree ? .taken : .waiting
        }
    }

    @inline(never)
    private func handOver() {
        let next = waiting.withLock { waiting in
            let next = waiting.popFirst()
            next?.ticket?.state = .granted
            if next == nil {
                word.store(0, ordering: .releasing)
            } else if waiting.isEmpty {
                word.store(1, ordering: .releasing)
            }
            return next
        }
        switch next {
        case .sleeper(let sleeper): sleeper.wake()
        case .ticket(let ticket): send(ticket)
        case nil: break
        }
    }
}

extension AccessLine {
    /// Somebody in line.
    fileprivate enum Waiter: LeavingWaiter {
        case sleeper(Sleeper)
        case ticket(Ticket)

        var ticket: Ticket? { if case .ticket(let ticket) = self { ticket } else { nil } }
        var hasLeft: Bool { ticket?.state == .ended }
    }

    /// A thread in line.
    fileprivate final class Sleeper: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        /// Tells the thread sanitizer, which does not see through semaphores, who comes after whom.
        private let isAwake = Atomic<Bool>(false)

        func sleep() {
            semaphore.wait()
            _ = isAwake.load(ordering: .acquiring)
        }

        func wake() {
            isAwake.store(true, ordering: .releasing)
            semaphore.signal()
        }
    }

    /// A task in line.
    ///
    /// It changes under the line's lock alone, but for its job, which it gets before it enters.
    final class Ticket: @unchecked Sendable {
        enum State { case new, waiting, granted, running, ended }

        fileprivate var state = State.new
        fileprivate var isCancelled = false

        /// Tells the thread sanitizer, which does not see through continuations, who comes after whom.
        let hasResult = Atomic<Bool>(false)

        /// The job to do when the turn has come, with the access, or else when there is no turn to come.
        var job: (@Sendable (_ hasAccess: Bool) -> Void)?

        /// Takes the job, for whoever does it. It is done once, by one thread.
        fileprivate func takeJob() -> (@Sendable (_ hasAccess: Bool) -> Void)? {
            defer { job = nil }
            return job
        }
    }
}
