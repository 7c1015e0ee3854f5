// An actor with a thread of its own, on which asynchronous accesses to a connection run.

import Synchronization

/// Runs asynchronous accesses: on a thread of its own, so that SQLite blocks no thread of Swift's pool, and inside of the
/// task that asks for the access, so that task-local values are there, and a cancellation and a priority reach it.
///
/// It is not what keeps accesses apart: that is the line in front of the connection, where threads stand, too. A task enters the
/// line from where it is, so that the order is that of arrival. If it has to wait, it waits in a room of ours: the turn of one that
/// waited in the main actor, or in Swift's pool, would come to nothing while the main thread, or all threads of the pool, stand in the
/// line behind it. And it does not wait here, where others run meanwhile, and one that is cancelled could not leave.
actor AccessActor {
    private let thread: ActorThread

    init(label: String) { thread = ActorThread(label: label) }

    deinit { thread.end() }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The thread on which tasks wait for their turn, and on which those begin that nobody waits for. Nothing else is done there.
    private static let waitingRoom = TaskThread(label: "Shellac.waiting")

    /// Does some work in the turn of a ticket, which stands in line already, in the actor of the place that it is given. Where it is
    /// cancelled before, nothing is done.
    ///
    /// No thread of Swift's pool is needed on the way: all of them may be standing in the line behind the ticket.
    nonisolated(nonsending) static func run(
        _ ticket: Ticket, in actors: [AccessActor], _ work: @Sendable (Int) -> Void
    ) async {
        if let place = ticket.grantedPlace { return await actors[place].run { work(place) } }
        // What was suspended goes on by the executor that its task prefers, whatever actor it was in.
        await withTaskExecutorPreference(waitingRoom) {
            await withCheckedContinuation { ticket.sleep(at: $0) }
            if let place = ticket.grantedPlace { await actors[place].run { work(place) } }
        }
    }

    /// Does some work for a ticket that has its turn.
    func run(_ work: @Sendable () -> Void) { work() }

    /// Passes the error of a refused access to its callback, on a thread of its own: the callback may wait for another access.
    nonisolated static func fail(_ work: LaterWork, _ error: any Error) {
        Task(executorPreference: TaskThread(label: "Shellac.refused")) {
            work.run(.failure(error))
            work.letGo()
        }
    }

    /// Begins a task for somebody who does not wait for it, and lets go of the work at its end. It has the task-local values of the
    /// caller.
    nonisolated static func begin(_ work: LaterWork, _ operation: @escaping @Sendable () async -> Void) {
        Task(executorPreference: waitingRoom) {
            await operation()
            work.letGo()
        }
    }
}

/// The function of an asynchronous access, and its result: both are let go of by the task alone, where it came from.
///
/// They may hold objects whose `deinit` waits for an access. The actor's thread must not wait for it: nobody else would have a
/// turn.
final class AccessWork<T>: @unchecked Sendable {  // the actor uses it, and then the task
    private var body: ((Database) throws -> T)?
    private var result: Result<T, any Error>?
    /// Tells the thread sanitizer, which does not see through continuations, who comes after whom.
    private let hasResult = Atomic<Bool>(false)

    init(_ body: @escaping (Database) throws -> T) { self.body = body }

    /// Runs the function in an access. Where the ticket has been cancelled, it is not called.
    func run(_ ticket: Ticket, on database: Database) {
        database.beginCancellation()
        if ticket.begin(), let body { result = Result { try database.wholeAccess(body) } }
        ticket.end()
        database.endCancellation()
        hasResult.store(true, ordering: .releasing)
    }

    /// Fails, as the connection could not be opened.
    func fail(_ error: any Error, _ ticket: Ticket) {
        result = .failure(error)
        ticket.end()
        hasResult.store(true, ordering: .releasing)
    }

    /// Takes the result out, which the function sends, and lets go of the function. Tells of the access, where that is measured.
    func takeResult(_ measure: AccessMeasure?) -> sending Result<T, any Error> {
        _ = hasResult.load(ordering: .acquiring)
        nonisolated(unsafe) let taken = result ?? .failure(CancellationError())
        result = nil
        body = nil
        if let measure {
            if case .failure(let error) = taken { measure.note(error) }
            measure.tell()
        }
        return taken
    }
}
