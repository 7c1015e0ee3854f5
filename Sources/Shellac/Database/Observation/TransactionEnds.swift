/// Tells of the ends of transactions: the observers, and the functions that wait for one.
final class TransactionEnds {
    private unowned(unsafe) let database: Database  // whose broker owns this

    /// Somebody who is to be told of the end of a transaction.
    private enum End {
        case observer(ObserverRegistration, isCommitted: Bool)
        case hook(TransactionHook, isCommitted: Bool)
    }
    /// Those who have not been told yet. The next one is the last.
    @exclusivity(unchecked) private var ends: [End] = []
    @exclusivity(unchecked) private var hooks = MarkedLog<TransactionHook>()
    /// Whether SQLite has ended a transaction by itself, and observers are to be told when its statement has ended. It is
    /// silent if it was one of a read-only access: they are not told then.
    private var loss: (isSilent: Bool, Void)?

    init(_ database: Database) { self.database = database }

    /// Whether nobody waits for an end, nor is still to be told of one.
    var isEmpty: Bool { ends.isEmpty && hooks.isEmpty && loss == nil }

    /// How many are still to be told.
    var count: Int { ends.count }

    // MARK: Who is told

    func add(_ hook: TransactionHook) {
        hooks.append(hook, after: database.transactionLog.savepoints.lastNumber)
    }

    /// A transaction has ended. Those who are told of it are told after those whose transaction has ended inside of their
    /// telling.
    func add(_ observers: [ObserverRegistration], isCommitted: Bool) {
        // Functions wait for a transaction that the program has asked for.
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

    /// An observer is removed. One that was observing until the end of a transaction may not have heard of it yet.
    func remove(_ identifier: ObjectIdentifier) {
        for case .observer(let registration, _) in ends where registration.identifier == identifier {
            registration.remove()
        }
    }

    // MARK: Telling

    /// Tells of the end of a transaction. Whoever is told may begin the next one: all others are told before it does, so
    /// that nobody hears of two transactions at once.
    func tell() {
        while let end = ends.popLast() {
            oweEnds()
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

    /// Has the next statement that opens a transaction ask first whether somebody is still to be told.
    private func oweEnds() {
        guard database.owed.contains(.statementWillBegin) == ends.isEmpty else { return }
        database.owed.formSymmetricDifference(.statementWillBegin)
        database.updateObstruction()
    }

    /// A savepoint was rolled back. Returns whether somebody has waited for the end of the transaction inside of it.
    func rollBackHooks(since savepoint: Int) -> Bool {
        let undone = hooks.takeElements(since: savepoint)
        if undone.isEmpty { return false }
        allowingUse { for hook in undone { hook.run(isCommitted: false, database) } }
        return true
    }

    /// Runs a function that may use the database, also after a transaction that SQLite has ended by itself, whose error
    /// is for the program.
    private func allowingUse(_ body: () -> Void) {
        guard let lost = database.lostTransaction else { return body() }
        database.lostTransaction = nil
        body()
        database.lostTransaction = lost
    }

    // MARK: Transactions that SQLite ends

    /// Whether observers are still to be told of a transaction that SQLite has ended by itself.
    var hasLoss: Bool { loss != nil }

    /// Keeps a transaction that SQLite has ended by itself, until its statement has ended.
    func keepLoss(isSilent: Bool) { loss = (isSilent, ()) }

    /// Takes that transaction. Returns whether it is silent, or nil where there is none.
    func takeLoss() -> Bool? {
        defer { loss = nil }
        return loss?.isSilent
    }
}

/// What is done once, when a transaction has ended. See ``Database/afterNextTransaction(onCommit:onRollback:)``.
struct TransactionHook {
    let onCommit: (Database) -> Void
    let onRollback: (Database) -> Void

    func run(isCommitted: Bool, _ database: Database) {
        if isCommitted { onCommit(database) } else { onRollback(database) }
    }
}
