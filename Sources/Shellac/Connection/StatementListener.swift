/// What hears of the statements of a connection that open and end transactions, of those that change the schema,
/// of all that fail, and of those that end while ``Database/hasNestedState`` is set.
///
/// (It is a class, and no protocol, since a reference to one can be followed without counting it.)
class StatementListener {
    /// A statement is about to run. Returns whether SQLite should run it.
    func statementWillRun(_ statement: Statement) throws -> Bool { true }

    /// A statement has ended, with an error or without. Returns the error to throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// A statement was stopped. Returns the error that has undone it before, if any.
    func takeLoss(of statement: Statement) -> (any Error)? { nil }

    /// A statement outside of a transaction has ended, and with it all that ran inside of it. It is told where
    /// ``Database/hasLoneState`` asked for it.
    func loneStatementDidEnd() {}

    /// A statement has ended, and everybody has heard of it: what was kept until then may go. Users' code may run meanwhile
    /// that comes back. It is told where the listener may have heard of the end.
    func letGo() {}

    /// The connection closes.
    func connectionWillClose() {}
}
