/// An object that is notified of a database's changes and transactions.
///
/// ```swift
/// final class PlayerObserver: TransactionObserver {
///     var changedIDs: Set<Int64> = []
///
///     func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "player" }
///
///     func databaseDidChange(with event: DatabaseEvent) { changedIDs.insert(event.rowID) }
///
///     func databaseDidCommit(_ db: Database) {
///         print("changed: \(changedIDs)")
///         changedIDs = []
///     }
///
///     func databaseDidRollback(_ db: Database) { changedIDs = [] }
/// }
///
/// let observer = PlayerObserver()
/// dbQueue.add(transactionObserver: observer)
/// ```
///
/// All methods have a default. They are called in the connection's isolation: by the thread that
/// runs the access, one at a time.
///
/// ## Notifications and their order
///
/// ```swift
/// try dbQueue.write { db in
///     try db.execute(sql: "INSERT …")     // 1. didChange
///     try db.execute(sql: "UPDATE …")     // 2. didChange, for each row
/// }                                       // 3. willCommit, 4. didCommit
/// ```
///
/// - Changes are reported after their statement has ended. A statement that failed, and whose
///   changes SQLite has undone, reports nothing.
/// - Changes inside savepoints are reported when the outermost one is released, or before the
///   commit. Changes undone by `ROLLBACK TO` are not reported.
/// - A statement outside of a transaction is a transaction: didChange, willCommit, didCommit.
/// - Changes made by triggers and foreign key actions are reported like others. So is each row
///   deleted by a `DELETE` without `WHERE`.
/// - A transaction that changes nothing is reported, unless it was opened in a read-only access.
/// - An error thrown by ``databaseWillCommit()`` rolls the transaction back, is followed by
///   ``databaseDidRollback(_:)``, and reaches the caller.
/// - If SQLite refuses to commit, the transaction may remain open, and `databaseWillCommit()` may
///   be called again. Changes in savepoints that were reported before such a commit can still be
///   undone by `ROLLBACK TO`.
///
/// ## Changes that SQLite does not report
///
/// SQLite does not report changes to `sqlite_…` tables, to virtual tables, or by other connections:
/// see ``Database/notifyChanges(in:)``. Changes to WITHOUT ROWID tables, and deletions of rows that
/// `ON CONFLICT REPLACE` replaces, are reported only to observers that request them: see
/// ``TransactionObservationOptions/hiddenChanges``. Suppose an `OR FAIL` statement fails at its
/// first row, in a transaction. The earlier writes of a BEFORE trigger are not reported. See "Data
/// Change Notification Callbacks" in the SQLite documentation.
public protocol TransactionObserver: AnyObject, SendableMetatype {
    /// Whether ``databaseDidChange(with:)`` is called for changes of the given kind. By default, it
    /// is called for all.
    ///
    /// This is called when a statement begins that may make such changes. The answer holds for this
    /// statement until the end of the transaction. To get no more changes of the transaction, call
    /// ``stopObservingDatabaseChangesUntilNextTransaction()``.
    ///
    /// - Parameter eventKind: The kind of change the statement may make, with its table and
    ///   columns. Or a change reported by ``Database/notifyChanges(in:)``.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// Called when a row was inserted, updated or deleted. The change is not committed yet.
    ///
    /// Using the database here traps with a message.
    ///
    /// - Parameter event: The change, of a kind that the observer has requested. It is a value, and
    ///   can be kept.
    func databaseDidChange(with event: DatabaseEvent)

    /// Called after a change that SQLite does not report: see ``Database/notifyChanges(in:)``.
    ///
    /// Using the database here traps with a message.
    func databaseDidChange()

    /// Called when a row was changed, with its values before and after. This happens just before
    /// ``databaseDidChange(with:)``, for observers added with
    /// ``TransactionObservationOptions/rowValues``.
    ///
    /// Like all changes, it is reported once its statement and the savepoints around it have ended.
    /// A change undone by a failed statement or `ROLLBACK TO` is never reported.
    ///
    /// ```swift
    /// func databaseWillChange(with event: DatabasePreUpdateEvent) {
    ///     let old = event.initialDatabaseValue(named: "score")
    ///     let new = event.finalDatabaseValue(named: "score")
    ///     if old != new { print("the score of \(event.finalRowID ?? 0) has changed") }
    /// }
    ///
    /// try dbQueue.add(transactionObserver: observer, options: .rowValues)
    /// ```
    ///
    /// In WITHOUT ROWID tables, SQLite may report a whole number in a column without a declared
    /// type as a real one.
    ///
    /// Using the database here traps with a message.
    ///
    /// - Parameter event: The change with its values, of a kind that the observer has requested. It
    ///   is a value, and can be kept.
    func databaseWillChange(with event: DatabasePreUpdateEvent)

    /// Called when the transaction is about to be committed. An error rolls it back instead, and is
    /// thrown to the caller.
    ///
    /// Using the database here traps with a message.
    ///
    /// - Throws: the error that rolls the transaction back.
    func databaseWillCommit() throws

    /// Called when the transaction was committed. The database can be used, and written to in a new
    /// transaction.
    func databaseDidCommit(_ db: Database)

    /// Called when the transaction was rolled back. The database can be used, and written to in a
    /// new transaction.
    func databaseDidRollback(_ db: Database)
}

extension TransactionObserver {
    public func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    public func databaseDidChange(with event: DatabaseEvent) {}
    public func databaseDidChange() {}
    public func databaseWillChange(with event: DatabasePreUpdateEvent) {}
    public func databaseWillCommit() throws {}
    public func databaseDidCommit(_ db: Database) {}
    public func databaseDidRollback(_ db: Database) {}

    /// Stops notifications of changes until the end of the transaction, for an observer that needs
    /// no more of them.
    ///
    /// ```swift
    /// func databaseDidChange(with event: DatabaseEvent) {
    ///     isDirty = true
    ///     stopObservingDatabaseChangesUntilNextTransaction()
    /// }
    /// ```
    ///
    /// Commits and rollbacks are still reported. Call it from ``databaseDidChange(with:)``, or
    /// inside an access. Elsewhere it does nothing.
    public func stopObservingDatabaseChangesUntilNextTransaction() {
        for database in Database.accessed { database.broker?.observers.pause(self) }
    }
}

/// The time for which a ``TransactionObserver`` is notified of changes and transactions.
public enum TransactionObservationExtent: Hashable, Sendable {
    /// The lifetime of the observer. The database holds it weakly.
    case observerLifetime
    /// Until the end of the current transaction, or else of the next one. The database retains it
    /// until then.
    case nextTransaction
    /// Until the database is closed. The database retains it.
    case databaseLifetime
}

extension Database {
    /// The time for which an observer is notified of changes.
    public typealias TransactionObservationExtent = Shellac.TransactionObservationExtent
}
