// Threads outside of Swift's pool that run the jobs of actors and tasks, which may block.

import Dispatch
import Synchronization

/// A thread that runs jobs one after the other, in the order of their arrival. Jobs may block: the
/// thread does not belong to Swift's pool.
///
/// Dispatch provides the thread. On Apple's systems Dispatch gets each job, and raises the priority
/// of the thread for an urgent one. Elsewhere, Dispatch starts another thread for a queue that gets
/// work if the last one has not gone to sleep yet. Thousands of tasks that hand an access on would
/// leave hundreds of idle threads. So this thread is kept for a moment after its last job.
class JobThread: @unchecked Sendable {  // `state` has a lock
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    /// Runs a job. Each subclass is an executor, and runs the job as that executor.
    func run(_ job: UnownedJob) { Misuse.trap("a thread without an executor") }

    #if canImport(Darwin)

    final func add(_ job: UnownedJob) { queue.async { self.run(job) } }

    /// Ends the thread: no more jobs come.
    final func end() {}

    #else

    private enum Phase {
        /// The thread belongs to Dispatch.
        case absent
        case running
        case resting
    }
    private struct State {
        var jobs: [UnownedJob] = []
        var phase = Phase.absent
        /// Whether no more jobs come.
        var isOver = false
    }
    private let state = Lock(State())
    /// The semaphore at which the thread rests.
    private let wakeUp = DispatchSemaphore(value: 0)
    /// The time that the thread is kept without a job.
    private static var rest: DispatchTimeInterval { .seconds(1) }

    final func add(_ job: UnownedJob) {
        let before = state.withLock { state in
            defer { state.phase = .running }
            state.jobs.append(job)
            return state.phase
        }
        switch before {
        case .absent: queue.async { self.runJobs() }
        case .running: break
        case .resting: wakeUp.signal()
        }
    }

    /// Ends the thread: no more jobs come.
    final func end() {
        let wasResting = state.withLock { state in
            state.isOver = true
            guard state.phase == .resting else { return false }
            state.phase = .running
            return true
        }
        if wasResting { wakeUp.signal() }
    }

    private func runJobs() {
        var jobs: [UnownedJob] = []
        while true {
            switch takeJobs(&jobs) {
            case .running: for job in jobs { run(job) }
            case .resting: guard rest() else { return }
            case .absent: return
            }
        }
    }

    /// Takes all waiting jobs. Returns the next phase of the thread.
    private func takeJobs(_ jobs: inout [UnownedJob]) -> Phase {
        // The memory of a large batch is freed.
        jobs.removeAll(keepingCapacity: jobs.count < 100)
        return state.withLock { state in
            if state.jobs.isEmpty {
                state.phase = state.isOver || !Self.mayRest() ? .absent : .resting
            } else {
                swap(&jobs, &state.jobs)
            }
            return state.phase
        }
    }

    /// The number of resting threads. Dispatch has 255 threads on Linux, and a resting one can do
    /// no other work.
    private static let restCount = Atomic<Int>(0)
    private static let maximumRestCount = 32

    private static func mayRest() -> Bool {
        if restCount.add(1, ordering: .relaxed).newValue <= maximumRestCount { return true }
        restCount.subtract(1, ordering: .relaxed)
        return false
    }

    /// Waits for a job. Returns false if none came for some time: then Dispatch gets the thread
    /// back.
    private func rest() -> Bool {
        defer { Self.restCount.subtract(1, ordering: .relaxed) }
        if wakeUp.wait(timeout: .now() + Self.rest) == .success { return true }
        let isWoken = state.withLock { state in
            if state.phase == .resting { state.phase = .absent }
            return state.phase == .running
        }
        // The signal is on its way.
        if isWoken { wakeUp.wait() }
        return isWoken
    }

    #endif
}

/// A thread that runs the jobs of an actor.
final class ActorThread: JobThread, SerialExecutor, @unchecked Sendable {  // as its superclass
    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }

    override func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedSerialExecutor()) }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

/// A thread that runs the jobs of tasks.
final class TaskThread: JobThread, TaskExecutor, @unchecked Sendable {  // as its superclass
    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }

    override func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}
