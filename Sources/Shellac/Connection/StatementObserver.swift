/// What hears of the statements of a connection that may write, and of those that open and end transactions and
/// savepoints. It is asked nothing while nobody observes.
protocol StatementObserver: AnyObject {
    /// A statement is about to take its first step. What is thrown here is thrown by the statement, which does not
    /// run.
    func statementWillStep(_ statement: Statement) throws

    /// A statement that was announced has ended, with an error or without. The ``StatementListener`` has heard of it.
    /// Returns the error to throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)?
}

extension Database {
    /// Runs a function of somebody who must not use the database now: that traps.
    @inline(__always)
    func forbiddingUse<Result>(_ body: () throws -> Result) rethrows -> Result {
        // The number of a thread is even.
        let thread = owner.load(ordering: .relaxed)
        owner.store(thread | 1, ordering: .relaxed)
        defer { owner.store(thread, ordering: .relaxed) }
        return try body()
    }
}
