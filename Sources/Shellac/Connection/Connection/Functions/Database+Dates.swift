// The date of a transaction, constant until its end, and a variant unique to each transaction.

import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Database {
    /// The date of the transaction, which is the same from its beginning to its end.
    ///
    /// It comes from ``Configuration/transactionClock``, which is called when the date is first
    /// needed. Outside of a transaction, it is a new date each time. It is one date for all rows
    /// and triggers of one statement.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     let now = try db.transactionDate
    ///     try db.execute(sql: "UPDATE player SET seenAt = ?", arguments: [now])
    /// }
    /// ```
    ///
    /// - Throws: the error of ``Configuration/transactionClock``.
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

    /// The date of the transaction, made unique among the transactions of these connections. If
    /// another one has already used the date, it is advanced by milliseconds. So it distinguishes
    /// the changes of this transaction from those of others.
    var distinctTransactionDate: Date {
        get throws {
            let date = try transactionDate
            guard currentDate != nil else { return group.distinctDates.next(after: date) }
            if let distinct = transactionState.distinctDate { return distinct }
            let distinct = group.distinctDates.next(after: date)
            transactionState.distinctDate = distinct
            return distinct
        }
    }

    /// Whether a transaction is open, or a savepoint outside of a transaction.
    public var isInsideTransaction: Bool {
        checkAccess()
        return !isClosed && sqlite3_get_autocommit(pointer) == 0
    }
}

/// The dates that each belong to only one transaction.
final class DistinctDates: Sendable {
    /// The last date, in milliseconds since the reference date, which is the precision of stored
    /// dates.
    private let last = Lock<Int64?>(nil)

    /// Returns the given date, or the next one that is unused. If the clock was set back by more
    /// than a second, the new time is accepted.
    func next(after date: Date) -> Date {
        let milliseconds = (date.timeIntervalSinceReferenceDate * 1000).rounded()
        guard let own = Int64(exactly: milliseconds), own.magnitude < 1 << 52 else { return date }
        return last.withLock { last in
            guard let taken = last, own <= taken, taken - own < 1000 else {
                last = own
                return date
            }
            last = taken + 1
            return Date(timeIntervalSinceReferenceDate: Double(taken + 1) / 1000)
        }
    }
}
