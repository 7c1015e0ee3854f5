/// A recorder of all changes of a connection, which an upper layer provides.
///
/// The broker calls it before it looks at a statement itself, and again when observers were
/// notified. So a recorder can open a transaction around a statement, and end it. It gets rows
/// from the pre-update hook, to which it adds itself.
class ChangeRecorder {
    /// Called before the first step of a statement that may write, or that opens or ends a
    /// transaction or a savepoint. Observers have not been asked for a veto yet. If this throws,
    /// the statement does not run and throws the error.
    func statementWillStep(_ statement: Statement) throws {}

    /// Called when a statement that took a step has ended, before observers are notified.
    func statementDidStep(_ statement: Statement, error: (any Error)?) {}

    /// Called when a statement has ended that took a step, or was about to, after observers were
    /// notified. Returns the error to throw, if any.
    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? { error }

    /// Called when SQLite has ended the transaction by itself, or has undone the statements that
    /// ran outside of one.
    func changesWereLost() {}

    /// Called when a whole table has changed by statements that were not reported.
    func tableDidChange(_ name: String) {}

    /// Whether changes are ignored, because they are undone in the end.
    var isPaused = false
}

extension Database {
    /// Sets the recorder of all changes of this connection.
    func setChangeRecorder(_ recorder: ChangeRecorder?) {
        let broker = broker ?? Broker(self)
        if self.broker == nil { fill(.broker, with: broker) }
        broker.setRecorder(recorder)
    }
}
