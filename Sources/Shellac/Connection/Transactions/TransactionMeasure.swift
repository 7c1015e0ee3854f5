// Measures a transaction for its report: duration, time of its end, changed rows.

import CSQLite

/// Measures an open transaction, for who hears of it: see ``Configuration/report``.
struct TransactionMeasure {
    private let start: UInt64
    private let changes: ChangeCount

    /// - Parameter statement: The statement that has begun it, and may have waited for a lock.
    init(begunBy statement: Statement) {
        start = statement.measure?.start ?? shellac_time()
        changes = ChangeCount(statement.database)
    }

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
            ending: error == nil ? statement.measure.map { .since($0.start) } ?? .zero : .zero,
            changedRowCount: changes.count(statement.database),
            resultCode: ResultCode(of: error))
    }
}
