// The followers of a connection's statements: transactions, the schema, and changes.

import CSQLite

// # Followers of statements
//
// Three objects follow the statements of a connection. This file declares a base class for each,
// with a method for each event. The layer that does the work has the subclass. The connection calls
// them in this order for the same event:
//
// 1. ``TransactionFollower`` restores the state of objects;
// 2. ``SchemaFollower`` maintains what depends on the schema;
// 3. ``ChangeFollower`` reports changes, after the first two have finished.
//
// The effects of a statement determine which followers are called. For most statements, none are:
// see ``Statement/Concerns``. A follower requests any other event through ``Owed``.
//
// (They are classes rather than protocols because a reference to a class can be followed without
// reference counting.)

/// A follower of transactions, present from the opening of the connection on.
class TransactionFollower {
    /// Called before a statement that opens or ends a transaction or a savepoint, or changes the
    /// schema. If this throws, the statement does not run and throws the error.
    func statementWillRun(_ statement: Statement) throws {}

    /// Returns whether SQLite need not run a statement: the transaction is lost, and the effect of
    /// the statement has already happened.
    func answers(for statement: Statement) -> Bool { false }

    /// Called when a statement has ended that was announced to this follower, or has failed.
    /// ``Owed/nestedStatementDidEnd`` requests a call for every statement. Returns the error to
    /// throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// Called when a statement was stopped. Returns the error that has undone it before, if any.
    func takeLoss(of statement: Statement) -> (any Error)? { nil }

    /// Called when a statement outside of a transaction has ended, together with all statements
    /// nested in it. ``Owed/autocommitStatementDidEnd`` requests this call.
    func autocommitStatementDidEnd() {}

    /// Rolls back what the last access could not roll back.
    func rollBackLate() {}

    /// Releases the objects kept until a statement has ended and all followers were notified. This
    /// may run users' code that calls back.
    func releaseDeferred() {}

    /// Called before the connection closes, to release statements.
    func connectionWillClose() {}
}

/// A follower of the schema, present once something depends on the schema.
class SchemaFollower {
    /// Called before a statement that opens or ends a transaction or a savepoint, or changes the
    /// schema. If this throws, the statement does not run and throws the error.
    func statementWillRun(_ statement: Statement) throws {}

    /// Called when a statement has ended that was announced to this follower, or has failed.
    /// ``Owed/nestedStatementDidEnd`` requests a call for every statement. Returns the error to
    /// throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// Called when a statement outside of a transaction has ended, together with all statements
    /// nested in it. ``Owed/autocommitStatementDidEnd`` requests this call.
    func autocommitStatementDidEnd() {}

    /// Called at the end of the scope of a transaction that SQLite had ended by itself.
    func lostTransactionDidEnd() {}

    /// Called when an access ends and no transaction is open. ``Owed/accessWillEnd`` requests this
    /// call.
    func accessWillEnd() {}

    /// Whether the follower's objects do not match the schema because another connection has
    /// changed it, and can be updated. Read after a statement has failed, perhaps for that reason.
    var isOutdated: Bool { false }

    /// Whether the follower's objects themselves made a statement fail, because they do not match
    /// the schema.
    var hasRefused: Bool { false }

    /// Updates the follower's objects to match the schema.
    func followSchema() throws {}
}

/// A follower of changes, present while there are handlers for them.
class ChangeFollower {
    /// Called before a statement begins that concerns this follower. ``Owed/statementWillBegin``
    /// requests this call.
    func statementWillBegin() {}

    /// Called before the first step of a statement that may write, or that opens or ends a
    /// transaction or a savepoint. If this throws, the statement does not run and throws the error.
    func statementWillStep(_ statement: Statement) throws {}

    /// Called when SQLite has prepared a statement again at its first step, because the schema had
    /// changed. The statement's effects differ from those announced.
    func effectsDidChange(of statement: Statement, from old: StatementEffects) {}

    /// Called when SQLite is about to commit, inside of the last step of a statement. Returns
    /// whether it may. ``CommitHookUses/changes`` requests this call.
    func commitHookDidFire() -> Bool { true }

    /// Called when a statement that took a step has ended. Returns the error to throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// Called when a statement has failed that was not announced, because it only reads.
    func statementDidFail() {}

    /// Called when this connection may have changed the schema, or undone such a change.
    func schemaDidChange() {}

    /// Called when a whole table has changed by statements that were not reported.
    func tableDidChange(_ name: String) throws {}

    /// Called when SQLite has ended the transaction by itself, or has undone the statements that
    /// ran outside of one. Changes not reported yet never happened. The statement that caused this
    /// is about to end, and was undone with all others.
    ///
    /// - Parameter isTransaction: Whether it was a transaction that handlers know of, so that its
    ///   end must be reported.
    func changesWereLost(isTransaction: Bool) {}

    /// Runs a function whose changes are undone in the end, without reporting them.
    func silently(_ body: () -> Void) { body() }
}

/// The next events that followers have requested. Most statements and accesses concern no follower.
struct Owed: OptionSet {
    let rawValue: UInt8

    /// The beginning of a statement that concerns the follower of changes.
    static let statementWillBegin = Owed(rawValue: 1)
    /// The end of the last running statement outside of a transaction. Its date ends with it, and
    /// so do the objects that followers keep for it.
    static let autocommitStatementDidEnd = Owed(rawValue: 2)
    /// The end of any statement. Something ends with it, because a function was called inside of
    /// it.
    static let nestedStatementDidEnd = Owed(rawValue: 4)
    /// The end of the access.
    static let accessWillEnd = Owed(rawValue: 8)

    /// The end of the statement that commits: see ``CommitNumber``.
    static let commitDidEnd = Owed(rawValue: 16)

    /// The end of each statement, for as long as the connection exists: see ``Reporter``.
    static let report = Owed(rawValue: 32)

    /// The end of each statement, for as long as the connection exists: see ``CommitConfirmation``.
    static let confirmation = Owed(rawValue: 64)

    /// The events that may be owed when a statement ends.
    static let atEndOfStatement: Owed = [
        .autocommitStatementDidEnd, .nestedStatementDidEnd, .commitDidEnd, .report, .confirmation,
    ]
}

extension Slot<TransactionFollower> {
    static var transactions: Self { Slot(0) }
}

extension Slot<SchemaFollower> {
    static var schema: Self { Slot(1) }
}

extension Slot<ChangeFollower> {
    static var changes: Self { Slot(2, until: .closed) }
}

extension Slot {
    /// Creates the slot of a follower for the layer that fills it with an object of its own class.
    init(of follower: Slot<some AnyObject>) { self.init(follower.number, until: follower.lifetime) }
}

extension Database {
    /// Notifies the followers of transactions and of the schema that a run has ended. Returns the
    /// error to throw, if any.
    func endRun(of statement: Statement, error: (any Error)?) -> (any Error)? {
        var error = error
        if let transactions = object(in: .transactions) {
            error = transactions.use { $0.statementDidEnd(statement, error: error) }
        }
        if let schema = object(in: .schema) {
            error = schema.use { $0.statementDidEnd(statement, error: error) }
        }
        return error
    }

    /// Notes that the last running statement has ended. Outside of a transaction, it was a
    /// transaction of its own.
    func endAutocommitStatement() {
        guard sqlite3_get_autocommit(pointer) != 0 else { return }
        owed.remove(.autocommitStatementDidEnd)
        currentDate = nil
        object(in: .transactions)?.object.autocommitStatementDidEnd()
        object(in: .schema)?.object.autocommitStatementDidEnd()
    }

    /// Whether a follower has requested the end of a statement outside of a transaction.
    var owesAutocommitEnd: Bool {
        get { owed.contains(.autocommitStatementDidEnd) }
        set {
            if newValue {
                owed.insert(.autocommitStatementDidEnd)
            } else {
                owed.remove(.autocommitStatementDidEnd)
            }
        }
    }
}
