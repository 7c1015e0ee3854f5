/// An object that is told of the changes of a database, and of its transactions.
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
/// All methods have a default. They are called on the connection's side: by the thread that runs the access, one at a
/// time.
///
/// ## What is told, and when
///
/// ```swift
/// try dbQueue.write { db in
///     try db.execute(sql: "INSERT …")     // 1. didChange
///     try db.execute(sql: "UPDATE …")     // 2. didChange, for each row
/// }                                       // 3. willCommit, 4. didCommit
/// ```
///
/// - A statement's changes are told when it has ended. One that failed, and whose changes SQLite has undone, tells
///   nothing.
/// - The changes made inside savepoints are told when the outermost one is released, or before the commit. Those that
///   `ROLLBACK TO` undoes are not told.
/// - A statement outside of a transaction is a transaction: didChange, willCommit, didCommit.
/// - Changes made by triggers and foreign key actions are told like others, and so is each row that a `DELETE` without
///   `WHERE` deletes.
/// - A transaction that changes nothing is told of, unless it was opened in a read-only access.
/// - An error thrown by ``databaseWillCommit()`` rolls the transaction back, is followed by
///   ``databaseDidRollback(_:)``, and reaches the caller.
/// - Where SQLite refuses to commit, the transaction may stay open, and `databaseWillCommit()` come again. Changes
///   made in savepoints that were told before such a commit can still be undone by `ROLLBACK TO`.
///
/// ## What SQLite does not tell
///
/// Changes to `sqlite_…` tables, to virtual tables and by other connections: see ``Database/notifyChanges(in:)``. Changes
/// to WITHOUT ROWID tables, and the deletion of the rows that `ON CONFLICT REPLACE` replaces, are told to observers that
/// ask for them: see ``TransactionObservationOptions/hiddenChanges``. A statement with `OR FAIL` that fails at its first row, in a
/// transaction, does not tell what a BEFORE trigger wrote until then. See "Data Change Notification Callbacks" in the
/// SQLite documentation.
public protocol TransactionObserver: AnyObject, SendableMetatype {
    /// Whether ``databaseDidChange(with:)`` is called for the changes of a kind. By default, all are wanted.
    ///
    /// It is asked when a statement begins to run that may make such changes, and the answer holds for this statement
    /// until the end of the transaction. To hear no more of the transaction, call
    /// ``stopObservingDatabaseChangesUntilNextTransaction()``.
    ///
    /// - Parameter eventKind: What the statement may do, to which table, and in which columns: or what
    ///   ``Database/notifyChanges(in:)`` tells.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// A row was inserted, updated or deleted. The change is not committed yet.
    ///
    /// Use of the database stops the program here, with a sentence.
    ///
    /// - Parameter event: The change, of a kind that the observer has asked for. It is a value, and can be kept.
    func databaseDidChange(with event: DatabaseEvent)

    /// Something was changed that SQLite does not tell: see ``Database/notifyChanges(in:)``.
    ///
    /// Use of the database stops the program here, with a sentence.
    func databaseDidChange()

    /// A row was changed: with its values, before and after. It is called just before ``databaseDidChange(with:)``, for
    /// observers that were added with ``TransactionObservationOptions/rowValues``.
    ///
    /// Like all changes it is told when its statement, and the savepoints around it, stand: never of a change that a
    /// failed statement or `ROLLBACK TO` has undone.
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
    /// In WITHOUT ROWID tables, SQLite may tell a whole number in a column that was declared without a type as a real
    /// one.
    ///
    /// Use of the database stops the program here, with a sentence.
    ///
    /// - Parameter event: The change, of a kind that the observer has asked for, with its values. It is a value, and can be kept.
    func databaseWillChange(with event: DatabasePreUpdateEvent)

    /// The transaction is about to be committed. An error rolls it back instead, and reaches the caller.
    ///
    /// Use of the database stops the program here, with a sentence.
    ///
    /// - Throws: the error that rolls the transaction back.
    func databaseWillCommit() throws

    /// The transaction was committed. The database can be used, and written to in a new transaction.
    func databaseDidCommit(_ db: Database)

    /// The transaction was rolled back. The database can be used, and written to in a new transaction.
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

    /// Has no more changes told until the end of the transaction: for an observer that knows enough.
    ///
    /// ```swift
    /// func databaseDidChange(with event: DatabaseEvent) {
    ///     isDirty = true
    ///     stopObservingDatabaseChangesUntilNextTransaction()
    /// }
    /// ```
    ///
    /// Commits and rollbacks are still told. Call it from ``databaseDidChange(with:)``, or inside an access: elsewhere
    /// it does nothing.
    public func stopObservingDatabaseChangesUntilNextTransaction() {
        for database in Database.accessed { database.broker?.observers.pause(self) }
    }
}

/// How long a ``TransactionObserver`` is told of changes and transactions.
public enum TransactionObservationExtent: Hashable, Sendable {
    /// As long as it lives: the database holds it weakly.
    case observerLifetime
    /// Until the end of the present transaction, or else of the next one. The database holds it until then.
    case nextTransaction
    /// Until the database is closed. The database holds it.
    case databaseLifetime
}

extension Database {
    /// The time that an observer is told of changes for.
    public typealias TransactionObservationExtent = Shellac.TransactionObservationExtent
}
