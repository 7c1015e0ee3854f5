// Measures a transaction for its report: duration, time of its end, changed rows.

import CSQLite

/// The measurement of an open transaction, for its report: see ``Configuration/reportHandler``.
struct TransactionMeasure {
    private let start: UInt64
    private let changes: ChangeCount

    /// - Parameter statement: The statement that has begun it, and may have waited for a lock.
    init(begunBy statement: Statement) {
        start = statement.measure?.start ?? shellac_time()
        changes = ChangeCount(statement.database)
    }

    /// Returns the report of the transaction, which has ended.
    ///
    /// - Parameters:
    ///   - completion: Whether it was committed or rolled back.
    ///   - statement: The statement that has ended it.
    ///   - error: The error for which SQLite has ended it by itself.
    ///   - isReadOnly: Whether it was begun by a read-only access.
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
