// Transaction state held by the connection: date, error of a lost transaction, failed commit.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state of a transaction, tracked by the connection itself: its date, and its failure.
struct TransactionState {
    /// The date of the open transaction, or of the running statement.
    var date: Date?
    /// The unique date of the transaction, once it was requested.
    var distinctDate: Date?
    /// The error of a transaction that SQLite has ended itself. Every statement throws it until the
    /// scope of that transaction ends.
    var loss: (any Error)?
    /// The error of a failed commit, made by a statement outside of a transaction that was released
    /// before its last row. The end of the access throws it.
    private var commitFailure: (any Error)?

    /// Keeps the error of a failed commit for the end of the access. Only the first one is kept.
    mutating func keepCommitFailure(_ error: any Error) { if commitFailure == nil { commitFailure = error } }

    /// Replaces the error of a failed commit.
    mutating func replaceCommitFailure(_ error: any Error) { commitFailure = error }

    /// Returns the error of a failed commit, and forgets it.
    mutating func takeCommitFailure() -> (any Error)? {
        defer { commitFailure = nil }
        return commitFailure
    }
}

extension Database {
    /// The error of a transaction that SQLite has ended itself, until its scope ends.
    var lostTransaction: (any Error)? {
        get { transactionState.loss }
        set {
            transactionState.loss = newValue
            updateObstruction()
        }
    }

    /// The date of the open transaction, or of the running statement.
    var currentDate: Date? {
        get { transactionState.date }
        set {
            transactionState.date = newValue
            if newValue == nil { transactionState.distinctDate = nil }
        }
    }
}
