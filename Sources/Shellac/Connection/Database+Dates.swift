import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Database {
    /// The date of the transaction: the same from its beginning to its end.
    ///
    /// It comes from ``Configuration/transactionClock``, which is asked when the date is first needed. Outside of
    /// a transaction, it is a new date each time, and one date for all rows and triggers of one statement.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     let now = try db.transactionDate
    ///     try db.execute(sql: "UPDATE player SET seenAt = ?", arguments: [now])
    /// }
    /// ```
    public var transactionDate: Date {
        get throws {
            checkAccess()
            if let currentDate { return currentDate }
            let date = try configuration.transactionClock.now(self)
            if isInsideTransaction {
                currentDate = date
            } else if lastBegun != nil {
                currentDate = date
                owesAutocommitEnd = true
            }
            return date
        }
    }

    /// Whether a transaction is open, or a savepoint outside of a transaction.
    public var isInsideTransaction: Bool {
        checkAccess()
        return !isClosed && sqlite3_get_autocommit(pointer) == 0
    }
}
