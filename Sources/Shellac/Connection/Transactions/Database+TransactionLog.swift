// The slot for a connection's transaction log, and its installation.

extension Slot<TransactionLog> {
    static var transactionLog: Self { Slot(of: .transactions) }
}

extension Database {
    /// The log of this connection's transaction. It exists from the opening on: see
    /// `installTransactionLog()`.
    var transactionLog: TransactionLog { withTransactionLog { $0 } }

    /// Runs a function with the log of this connection's transaction.
    func withTransactionLog<Result>(_ body: (TransactionLog) throws -> Result) rethrows -> Result {
        try (object(in: .transactionLog) ?? Unretained(installTransactionLog())).use(body)
    }

    @discardableResult
    func installTransactionLog() -> TransactionLog {
        let log = TransactionLog(self)
        fill(.transactionLog, with: log)
        return log
    }
}
