/// What is done once, when a transaction has ended. See ``Database/afterNextTransaction(onCommit:onRollback:)``.
struct TransactionHook {
    /// The savepoint that it depends on.
    private var savepoint: Int?
    private let onCommit: (Database) -> Void
    private let onRollback: (Database) -> Void

    init(
        savepoint: Int?, onCommit: @escaping (Database) -> Void, onRollback: @escaping (Database) -> Void
    ) {
        self.savepoint = savepoint
        self.onCommit = onCommit
        self.onRollback = onRollback
    }

    /// Savepoints were released: it depends on the one around them.
    mutating func moveOut(of savepoints: SavepointStack) {
        if let savepoint, !savepoints.contains(savepoint) { self.savepoint = savepoints.innermost }
    }

    /// Whether the rollback of a savepoint undoes what it belongs to.
    func isUndone(by rolledBack: Int) -> Bool { savepoint.map { $0 >= rolledBack } ?? false }

    func run(isCommitted: Bool, _ database: Database) {
        if isCommitted { onCommit(database) } else { onRollback(database) }
    }
}

/// Somebody who is to be told of the end of a transaction.
enum End {
    case observation(Observation, isCommitted: Bool)
    case hook(TransactionHook, isCommitted: Bool)
}

/// A transaction that SQLite has ended by itself.
struct Loss {
    /// Whether it was one of a read-only access: observers are not told.
    let isSilent: Bool
}
