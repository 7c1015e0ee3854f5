// An actor with a thread of its own, on which asynchronous accesses to a connection run.

import Synchronization

/// The actor that runs asynchronous accesses to a connection.
///
/// It has a thread of its own, so SQLite blocks no thread of Swift's pool. An access runs inside of
/// the task that asked for it. So task-local values are there, and cancellation and priority reach
/// it.
///
/// The actor does not keep accesses apart. The line in front of the connection does, in which
/// threads wait, too. A task enters the line from wherever it runs, so the order is that of
/// arrival.
///
/// A task that has to wait does so in a waiting room of its own, for two reasons. In the main
/// actor, or in Swift's pool, it might be unable to resume when its turn comes. The main thread, or
/// all threads of the pool, may then be blocked in the line behind it. In this actor, it could not
/// leave when it is cancelled, as other accesses run here meanwhile.
actor AccessActor {
    private let thread: ActorThread

    init(label: String) { thread = ActorThread(label: label) }

    deinit { thread.end() }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The thread on which tasks wait for their turn, and on which tasks begin that no caller waits
    /// for. It does nothing else.
    private static let waitingRoom = TaskThread(label: "Shellac.waiting")

    /// Runs a function in the actor of the granted place, when the turn of a ticket comes. The
    /// ticket is in line already. If it is cancelled before its turn, the function is not called.
    ///
    /// This needs no thread of Swift's pool: all of them may be blocked in the line behind the
    /// ticket.
    nonisolated(nonsending) static func run(
        _ ticket: Ticket, in actors: [AccessActor], _ work: @Sendable (Int) -> Void
    ) async {
        if let place = ticket.grantedPlace { return await actors[place].run { work(place) } }
        // A suspended task resumes on the executor that it prefers, whatever actor it was in.
        await withTaskExecutorPreference(waitingRoom) {
            await withCheckedContinuation { ticket.sleep(at: $0) }
            if let place = ticket.grantedPlace { await actors[place].run { work(place) } }
        }
    }

    /// Runs a function for a ticket that has its turn.
    func run(_ work: @Sendable () -> Void) { work() }

    /// Passes the error of a refused access to its callback, on a thread of its own: the callback
    /// may wait for another access.
    nonisolated static func fail(_ work: LaterWork, _ error: any Error) {
        Task(executorPreference: TaskThread(label: "Shellac.refused")) {
            work.run(.failure(error))
            work.release()
        }
    }

    /// Begins a task that the caller does not wait for, and releases the work at its end. The task
    /// has the caller's task-local values.
    nonisolated static func begin(_ work: LaterWork, _ operation: @escaping @Sendable () async -> Void) {
        Task(executorPreference: waitingRoom) {
            await operation()
            work.release()
        }
    }
}

/// The function of an asynchronous access, and its result. Only the task that made them releases
/// both.
///
/// They may hold objects whose `deinit` waits for an access. If the actor's thread waited for that,
/// no other access would get a turn.
final class AccessWork<T>: @unchecked Sendable {  // used by the actor, and then by the task
    private var body: ((Database) throws -> T)?
    private var result: Result<T, any Error>?
    /// Orders the two uses for the thread sanitizer, which does not see through continuations.
    private let hasResult = Atomic<Bool>(false)

    init(_ body: @escaping (Database) throws -> T) { self.body = body }

    /// Runs the function in an access. If the ticket has been cancelled, the function is not
    /// called.
    func run(_ ticket: Ticket, on database: Database) {
        database.beginCancellation()
        if ticket.begin(), let body { result = Result { try database.wholeAccess(body) } }
        ticket.end()
        database.endCancellation()
        hasResult.store(true, ordering: .releasing)
    }

    /// Fails because the connection could not be opened.
    func fail(_ error: any Error, _ ticket: Ticket) {
        result = .failure(error)
        ticket.end()
        hasResult.store(true, ordering: .releasing)
    }

    /// Returns the result, which the function sends, and releases the function. Reports the access
    /// if it is measured.
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
