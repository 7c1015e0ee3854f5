// Transaction state held by the connection: date, error of a lost transaction, failed commit.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state of a transaction, as the connection itself knows it: which date it has, and how it has failed.
struct TransactionState {
    /// The date of the open transaction, or of the running statement.
    var date: Date?
    /// The one that it has to itself, once somebody has asked for it.
    var distinctDate: Date?
    /// The error of a transaction that SQLite has ended by itself. Every statement throws it until the scope of that
    /// transaction ends.
    var loss: (any Error)?
    /// The error of a statement outside of a transaction whose rows were not read to the end: its commit failed when it was
    /// let go of. The end of the access throws it.
    private var commitFailure: (any Error)?

    /// Keeps the error of a commit for the end of the access: the first one.
    mutating func keepCommitFailure(_ error: any Error) { if commitFailure == nil { commitFailure = error } }

    /// Keeps the error of a commit that has taken the place of the one before.
    mutating func replaceCommitFailure(_ error: any Error) { commitFailure = error }

    /// Takes the error of a commit.
    mutating func takeCommitFailure() -> (any Error)? {
        defer { commitFailure = nil }
        return commitFailure
    }
}

extension Database {
    /// The error of a transaction that SQLite has ended by itself, until its scope ends.
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
