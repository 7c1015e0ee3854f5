import CSQLite

/// Measures an open transaction, for who hears of it: see ``Configuration/report``.
struct TransactionMeasure {
    private let start = shellac_time()
    private let totalChangesCount: Int

    init(_ database: Database) { totalChangesCount = database.totalChangesCount }

    /// Returns what there is to tell of the transaction, which has ended.
    ///
    /// - Parameters:
    ///   - completion: How it has ended.
    ///   - statement: The statement that has ended it.
    ///   - error: The error for which SQLite has ended it by itself.
    ///   - isReadOnly: Whether it was begun by an access that only reads.
    func end(
        _ completion: TransactionCompletion, by statement: Statement, error: (any Error)?, isReadOnly: Bool
    ) -> TransactionReport {
        TransactionReport(
            completion: completion, isReadOnly: isReadOnly, duration: .since(start),
            ending: statement.measure.map { .since($0.start) } ?? .zero,
            changedRowCount: statement.database.totalChangesCount - totalChangesCount,
            resultCode: ResultCode(of: error))
    }
}
