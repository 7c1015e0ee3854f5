extension Broker {
    /// A run of a statement.
    final class Run {
        @exclusivity(unchecked) var statement: ObjectIdentifier
        /// How many functions called by SQLite were running.
        @exclusivity(unchecked) var depth = 0
        @exclusivity(unchecked) var wasInsideTransaction = false
        /// Whether the transaction is one that has only read.
        @exclusivity(unchecked) var isSilent = false
        @exclusivity(unchecked) var audience: Audience?
        @exclusivity(unchecked) var events: [HeldEvent] = []
        /// Whether the commit hook has fired: the statement is a transaction of its own.
        @exclusivity(unchecked) var isCommitting = false
        /// What an observer has thrown in the commit hook.
        @exclusivity(unchecked) var veto: (any Error)?

        init(_ statement: ObjectIdentifier) { self.statement = statement }

        init(_ run: QuietRun) {
            statement = run.statement
            depth = run.depth
            wasInsideTransaction = true
        }
    }

    /// A run, in a transaction, that has no audience.
    struct QuietRun {
        let statement: ObjectIdentifier
        let depth: Int
    }
}

extension StatementEffects.Transaction {
    /// Whether the transaction was committed, if the statement has ended it.
    var commits: Bool {
        switch self {
        case .commit, .release: true
        case .begin, .rollback, .savepoint, .rollbackTo: false
        }
    }
}
