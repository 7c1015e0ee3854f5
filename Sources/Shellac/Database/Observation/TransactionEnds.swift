/// The ends of transactions: notifies the observers, and runs the functions that wait for an end.
final class TransactionEnds {
    private unowned(unsafe) let database: Database  // whose broker owns this

    /// A handler of the end of a transaction.
    private enum End {
        case observer(ObserverRegistration, isCommitted: Bool)
        case hook(TransactionHook, isCommitted: Bool)
    }
    /// The handlers that have not run yet. The last one runs next.
    @exclusivity(unchecked) private var ends: [End] = []
    @exclusivity(unchecked) private var hooks = MarkedLog<TransactionHook>()
    /// Whether SQLite has ended a transaction by itself, so that observers must be notified after
    /// its statement. It is silent if it belonged to a read-only access: they are then not
    /// notified.
    private var loss: (isSilent: Bool, Void)?

    init(_ database: Database) { self.database = database }

    /// Whether no handler waits for an end or has still to run.
    var isEmpty: Bool { ends.isEmpty && hooks.isEmpty && loss == nil }

    /// The number of handlers that have still to run.
    var count: Int { ends.count }

    // MARK: Adding and removing handlers

    func add(_ hook: TransactionHook) {
        hooks.append(hook, after: database.transactionLog.savepoints.lastNumber)
    }

    /// Adds the observers of a transaction that has ended. They are notified after those of a
    /// transaction that has ended inside of their notification.
    func add(_ observers: [ObserverRegistration], isCommitted: Bool) {
        // Functions wait for a transaction that the program has requested.
        let ended = database.transactionLog.isReadingOneState || hooks.isEmpty ? [] : hooks.takeAll()
        if ended.isEmpty, observers.count < 2 {
            if let only = observers.first { ends.insert(.observer(only, isCommitted: isCommitted), at: 0) }
            return
        }
        let new =
            ended.reversed().map { End.hook($0, isCommitted: isCommitted) }
            + observers.reversed().map { .observer($0, isCommitted: isCommitted) }
        ends.insert(contentsOf: new, at: 0)
    }

    /// Removes an observer. One added for a single transaction may not have been notified of its
    /// end yet.
    func remove(_ identifier: ObjectIdentifier) {
        for case .observer(let registration, _) in ends where registration.identifier == identifier {
            registration.remove()
        }
    }

    // MARK: Running handlers

    /// Runs the handlers of the end of a transaction. A handler may begin the next transaction. All
    /// others run before it begins, so that no handler handles two transactions at once.
    func tell() {
        while let end = ends.popLast() {
            deferEnds()
            allowingUse {
                switch end {
                case .observer(let registration, let isCommitted):
                    if isCommitted {
                        registration.observer?.databaseDidCommit(database)
                    } else {
                        registration.observer?.databaseDidRollback(database)
                    }
                    if registration.hasEnded { registration.remove() }
                case .hook(let hook, let isCommitted): hook.run(isCommitted: isCommitted, database)
                }
            }
        }
    }

    /// Requires the next statement that opens a transaction to run the pending handlers first.
    private func deferEnds() {
        guard database.owed.contains(.statementWillBegin) == ends.isEmpty else { return }
        database.owed.formSymmetricDifference(.statementWillBegin)
        database.updateObstruction()
    }

    /// Runs the handlers inside of a savepoint that was rolled back. Returns whether there were
    /// any.
    func rollBackHooks(since savepoint: Int) -> Bool {
        let undone = hooks.takeElements(since: savepoint)
        if undone.isEmpty { return false }
        allowingUse { for hook in undone { hook.run(isCommitted: false, database) } }
        return true
    }

    /// Runs a function that may use the database, even after SQLite has ended a transaction by
    /// itself. The error of that transaction is still thrown to the program.
    private func allowingUse(_ body: () -> Void) {
        guard let lost = database.lostTransaction else { return body() }
        database.lostTransaction = nil
        body()
        database.lostTransaction = lost
    }

    // MARK: Transactions that SQLite ends

    /// Whether observers must still be notified of a transaction that SQLite has ended by itself.
    var hasLoss: Bool { loss != nil }

    /// Keeps a transaction that SQLite has ended by itself until its statement has ended.
    func keepLoss(isSilent: Bool) { loss = (isSilent, ()) }

    /// Removes that transaction. Returns whether it is silent, or nil if there is none.
    func takeLoss() -> Bool? {
        defer { loss = nil }
        return loss?.isSilent
    }
}

/// The functions that run once after a transaction. See
/// ``Database/afterNextTransaction(onCommit:onRollback:)``.
struct TransactionHook {
    let onCommit: (Database) -> Void
    let onRollback: (Database) -> Void

    func run(isCommitted: Bool, _ database: Database) {
        if isCommitted { onCommit(database) } else { onRollback(database) }
    }
}
