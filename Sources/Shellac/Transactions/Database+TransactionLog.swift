extension Database {
    /// What this connection knows of its transaction. It is there from the opening on: see `installTransactionLog()`.
    var transactionLog: TransactionLog { withTransactionLog { $0 } }

    /// Runs a function with what this connection knows of its transaction.
    @inline(__always)
    func withTransactionLog<Result>(_ body: (TransactionLog) throws -> Result) rethrows -> Result {
        let listener = listenerReference ?? .passUnretained(installTransactionLog())
        // Nobody else fills the slot.
        return try listener.use { try body(unsafeDowncast($0, to: TransactionLog.self)) }
    }

    @discardableResult
    func installTransactionLog() -> TransactionLog {
        let log = TransactionLog(self)
        statementListener = log
        return log
    }
}
