import CSQLite

extension AccessLine {
    /// Runs a function with the access, on the line's own queue, and ends the access properly.
    ///
    /// The callers, which the compiler checks, have been sent the function, and it sends its result.
    nonisolated(nonsending) func run<T>(
        on database: Database, _ body: @escaping (Database) throws -> T
    ) async throws -> sending T {
        let work = Work(body)
        let ticket = Ticket()
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                ticket.job = { hasAccess in
                    if hasAccess { self.perform(work, ticket, on: database) }
                    ticket.hasResult.store(true, ordering: .releasing)
                    continuation.resume()
                }
                enter(ticket)
            }
        } onCancel: {
            cancel(ticket) { database.cancel() }
        }
        _ = ticket.hasResult.load(ordering: .acquiring)
        return try work.takeResult().get()
    }

    /// Does the work of a ticket that has the access, and hands the access over.
    private func perform<T>(_ work: Work<T>, _ ticket: Ticket, on database: Database) {
        database.access.take()
        database.beginCancellation()
        if begin(ticket) { work.run(on: database) }
        end(ticket)
        database.endCancellation()
        database.access.release()
        leave()
    }
}

/// The function of an asynchronous access, and its result: both are let go of by the task alone.
///
/// They may hold objects whose `deinit` waits for the access. The line's own queue must not wait for it: nobody else would
/// have a turn.
private final class Work<T>: @unchecked Sendable {  // the job uses it, and then the task
    private var body: ((Database) throws -> T)?
    private var result: Result<T, any Error>?

    init(_ body: @escaping (Database) throws -> T) { self.body = body }

    func run(on database: Database) {
        guard let body else { return }
        result = Result { try database.wholeAccess(body) }
    }

    /// Takes the result out, which the function sends, and lets go of the function.
    func takeResult() -> sending Result<T, any Error> {
        nonisolated(unsafe) let taken = result ?? .failure(CancellationError())
        result = nil
        body = nil
        return taken
    }
}
