/// What hears of the statements of a connection that may write, and of those that open and end transactions and
/// savepoints. It is asked nothing while nobody observes.
///
/// (It is a class, and no protocol, since a reference to one can be followed without counting it.)
class StatementObserver {
    /// A statement is about to take its first step. What is thrown here is thrown by the statement, which does not
    /// run.
    func statementWillStep(_ statement: Statement) throws {}

    /// A statement that was announced has ended, with an error or without. The ``StatementListener`` has heard of it.
    /// Returns the error to throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// SQLite has prepared a statement again when it took its first step, since the schema had changed: it does something
    /// else than was announced.
    func effectsDidChange(of statement: Statement, from old: StatementEffects) {}

    /// This connection may have changed the schema, or undone that.
    func schemaDidChange() {}

    /// A statement that was not announced has failed: it only reads.
    func statementDidFail() {}

    /// A statement that is to be announced is about to begin. It is told where ``Database/owesObserver`` asked for it.
    func statementWillBegin() {}

    /// SQLite has ended the transaction by itself, or undone the statements that ran outside of one: the changes that
    /// were not told yet never were. The statement that did it is about to end, and was undone with all others.
    ///
    /// - Parameter isTransaction: Whether observers know of the transaction, and are to hear of its end.
    func changesWereLost(isTransaction: Bool) {}

    /// A table has changed as a whole, by statements that nobody was told of.
    func tableDidChange(_ name: String) throws {}
}

/// What hears that the schema may have changed, and keeps what depends on it. It hears of the statements that the
/// ``StatementListener`` hears of.
protocol SchemaFollower: AnyObject {
    /// A statement that opens or ends a transaction or a savepoint, or changes the schema, is about to run. What is
    /// thrown here is thrown by the statement, which does not run.
    func schemaStatementWillRun(_ statement: Statement) throws

    /// This connection has changed the schema, and is still in the transaction in which it did.
    func schemaDidChange() throws

    /// A transaction has begun that may write.
    func transactionDidBegin() throws

    /// A transaction was rolled back, to a savepoint or altogether.
    func transactionDidRollBack() throws

    /// Whether what depends on the schema does not fit it, as another connection has changed it since, and can be made
    /// to: a statement has failed, perhaps for that reason.
    var isOutdated: Bool { get }

    /// Whether what depends on the schema has itself had a statement fail, since it does not fit the schema.
    var hasRefused: Bool { get }

    /// Makes what depends on the schema fit it.
    func followSchema() throws

    /// A statement has failed.
    func statementDidFail()

    /// A statement outside of a transaction has ended: see ``StatementListener/loneStatementDidEnd()``.
    func loneStatementDidEnd()

    /// An access ends, and no transaction is open. It is told where ``Database/owesFollower`` asked for it.
    func accessWillEnd()
}

extension Database {
    /// What the names of the temporary tables begin with that record what can be undone. Nobody hears of them.
    static var undoTablePrefix: String { "shellac undo " }

    /// Runs a function of somebody who must not use the database now: that traps.
    @inline(__always)
    func forbiddingUse<Result>(_ body: () throws -> Result) rethrows -> Result {
        // The number of a thread is even.
        let thread = owner.load(ordering: .relaxed)
        owner.store(thread | 1, ordering: .relaxed)
        defer { owner.store(thread, ordering: .relaxed) }
        return try body()
    }
}
