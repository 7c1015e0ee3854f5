import CSQLite

extension AccessLine {
    /// Runs a function with the access, on the line's own queue, and ends the access properly.
    ///
    /// The callers, which the compiler checks, have been sent the function, and it sends its result.
    nonisolated(nonsending) func run<T>(
        on database: Database, _ body: @escaping (Database) throws -> T
    ) async throws -> sending T {
        nonisolated(unsafe) let body = body  // called once, by the job
        let ticket = Ticket()
        defer { _ = ticket.hasResult.load(ordering: .acquiring) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
                ticket.job = { hasAccess in
                    guard hasAccess else { return continuation.resume(throwing: CancellationError()) }
                    // The function sends its result.
                    nonisolated(unsafe) let result = self.perform(ticket, on: database, body)
                    ticket.hasResult.store(true, ordering: .releasing)
                    continuation.resume(with: result)
                }
                enter(ticket)
            }
        } onCancel: {
            cancel(ticket) { database.cancel() }
        }
    }

    /// Runs the function of a ticket that has the access, and hands the access over.
    private func perform<T>(
        _ ticket: Ticket, on database: Database, _ body: (Database) throws -> T
    ) -> Result<T, any Error> {
        database.access.take()
        database.beginCancellation()
        let isWanted = begin(ticket)
        let result = Result {
            guard isWanted else { throw CancellationError() }
            return try database.wholeAccess(body)
        }
        end(ticket)
        database.endCancellation()
        database.access.release()
        leave()
        return result
    }
}
