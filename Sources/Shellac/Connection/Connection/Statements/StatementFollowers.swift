// Who follows the statements of a connection: transactions, the schema, and changes.

import CSQLite

// # Followers of statements
//
// Three objects follow the statements of a connection. Each has a class of its own here, with what it is told, and a subclass in
// the layer that does the work. Of one event they hear in this order:
//
// 1. ``TransactionFollower`` gives objects their state back;
// 2. ``SchemaFollower`` keeps what depends on the schema;
// 3. ``ChangeFollower`` tells others of changes, who find the first two done.
//
// A statement knows from its effects whom it concerns, and most concern nobody: see ``Statement/Concerns``. What is told beside that,
// a follower has asked for: see ``Owed``.
//
// (They are classes, and no protocols, since a reference to one can be followed without counting it.)

/// Follows transactions, from the opening of the connection on.
class TransactionFollower {
    /// Hears that a statement is about to run that opens or ends a transaction or a savepoint, or changes the schema.
    /// What is thrown here is thrown by the statement, which does not run.
    func statementWillRun(_ statement: Statement) throws {}

    /// Whether SQLite need not run a statement: a transaction is lost, and what it asks for has been done.
    func answers(for statement: Statement) -> Bool { false }

    /// Hears that a statement has ended that it heard of before, or that has failed, or any where
    /// ``Owed/nestedStatementDidEnd`` asked for it. Returns the error to throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// Hears that a statement was stopped. Returns the error that has undone it before, if any.
    func takeLoss(of statement: Statement) -> (any Error)? { nil }

    /// Hears that a statement outside of a transaction has ended, and with it all that ran inside of it. It is told
    /// where ``Owed/autocommitStatementDidEnd`` asked for it.
    func autocommitStatementDidEnd() {}

    /// Lets go of what was kept until a statement has ended and everybody has heard of it. Users' code may run
    /// meanwhile that comes back.
    func letGo() {}

    /// Hears that the connection closes: statements are to be let go of.
    func connectionWillClose() {}
}

/// Follows the schema, once something depends on it.
class SchemaFollower {
    /// Hears that a statement is about to run that opens or ends a transaction or a savepoint, or changes the schema.
    /// What is thrown here is thrown by the statement, which does not run.
    func statementWillRun(_ statement: Statement) throws {}

    /// Hears that a statement has ended that it heard of before, or that has failed, or any where
    /// ``Owed/nestedStatementDidEnd`` asked for it. Returns the error to throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// Hears that a statement outside of a transaction has ended, and with it all that ran inside of it. It is told
    /// where ``Owed/autocommitStatementDidEnd`` asked for it.
    func autocommitStatementDidEnd() {}

    /// Hears that the scope of a transaction has ended which SQLite had ended by itself.
    func lostTransactionDidEnd() {}

    /// Hears that an access ends, and no transaction is open. It is told where ``Owed/accessWillEnd`` asked for it.
    func accessWillEnd() {}

    /// Whether what depends on the schema does not fit it, as another connection has changed it since, and can be made
    /// to: a statement has failed, perhaps for that reason.
    var isOutdated: Bool { false }

    /// Whether what depends on the schema has itself had a statement fail, since it does not fit the schema.
    var hasRefused: Bool { false }

    /// Makes what depends on the schema fit it.
    func followSchema() throws {}
}

/// Follows changes, while somebody wants to hear of them.
class ChangeFollower {
    /// Hears that a statement is about to begin that concerns it. It is told where ``Owed/statementWillBegin`` asked for it.
    func statementWillBegin() {}

    /// Hears that a statement is about to take its first step that may write, or that opens or ends a transaction or a
    /// savepoint. What is thrown here is thrown by the statement, which does not run.
    func statementWillStep(_ statement: Statement) throws {}

    /// Hears that SQLite has prepared a statement again when it took its first step, since the schema had changed: it
    /// does something else than was announced.
    func effectsDidChange(of statement: Statement, from old: StatementEffects) {}

    /// Hears that SQLite is about to commit, inside of the last step of a statement. Returns whether it may. It is told where
    /// ``CommitHookUses/changes`` asked for it.
    func commitHookDidFire() -> Bool { true }

    /// Hears that a statement has ended that took a step. Returns the error to throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// Hears that a statement has failed which was not announced: it only reads.
    func statementDidFail() {}

    /// Hears that this connection may have changed the schema, or undone that.
    func schemaDidChange() {}

    /// Hears that a table has changed as a whole, by statements that nobody was told of.
    func tableDidChange(_ name: String) throws {}

    /// Hears that SQLite has ended the transaction by itself, or undone the statements that ran outside of one: the
    /// changes that were not told yet never were. The statement that did it is about to end, and was undone with all
    /// others.
    ///
    /// - Parameter isTransaction: Whether it was a transaction that others know of, and are to hear of its end.
    func changesWereLost(isTransaction: Bool) {}

    /// Runs a function that makes changes which are undone in the end, and hears nothing of them.
    func hearingNothing(_ body: () -> Void) { body() }
}

/// The events to tell next, where somebody has asked for them: most statements and accesses concern nobody.
struct Owed: OptionSet {
    let rawValue: UInt8

    /// A statement that concerns the one that follows changes will begin.
    static let statementWillBegin = Owed(rawValue: 1)
    /// The last of the statements that run ends, outside of a transaction: with it ends its date, and what followers
    /// keep for it.
    static let autocommitStatementDidEnd = Owed(rawValue: 2)
    /// The end of any statement: there is something that ends with one, because a function was called inside of it.
    static let nestedStatementDidEnd = Owed(rawValue: 4)
    /// The access ends.
    static let accessWillEnd = Owed(rawValue: 8)

    /// The end of the statement that commits: see ``CommitNumber``.
    static let commitDidEnd = Owed(rawValue: 16)

    /// The end of each statement, as long as the connection is there: see ``Reporter``.
    static let report = Owed(rawValue: 32)

    /// The end of each statement, as long as the connection is there: see ``CommitConfirmation``.
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
    /// Creates the slot of a follower, for the layer that fills it with an object of its own class.
    init(of follower: Slot<some AnyObject>) { self.init(follower.number, until: follower.lifetime) }
}

extension Database {
    /// Tells of the end of a run those that follow transactions and the schema. Returns the error to throw, if any.
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

    /// Notes that the last of the statements that ran has ended. Outside of a transaction, it was a transaction of its own.
    func endAutocommitStatement() {
        guard sqlite3_get_autocommit(pointer) != 0 else { return }
        owed.remove(.autocommitStatementDidEnd)
        currentDate = nil
        object(in: .transactions)?.object.autocommitStatementDidEnd()
        object(in: .schema)?.object.autocommitStatementDidEnd()
    }

    /// Whether the end of a statement outside of a transaction is owed to somebody.
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
