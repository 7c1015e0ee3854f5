// Adds and removes transaction observers, and runs callbacks after the next transaction.

extension Slot<Broker> {
    /// What tells the observers of a connection: once somebody has observed.
    static var broker: Self { Slot(3, until: .closed) }
    /// The broker, while somebody observes.
    static var tellingBroker: Self { Slot(of: .changes) }
}

extension Database {
    /// What tells the observers of this connection, if somebody has ever observed.
    var broker: Broker? { object(in: .broker)?.object }

    private func installBroker() -> Broker {
        if let broker { return broker }
        let broker = Broker(self)
        fill(.broker, with: broker)
        return broker
    }

    /// Adds an observer, which is told of changes and transactions from now on.
    ///
    /// ```swift
    /// db.add(transactionObserver: observer, extent: .nextTransaction)
    /// ```
    ///
    /// An observer that was added already is added once more, and told twice.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - extent: How long it is told.
    public func add(
        transactionObserver observer: any TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime
    ) {
        if !isAccessed { trapOutsideOfAccess() }
        guard !isClosed else { return }
        installBroker().add(ObserverRegistration(observer, extent: extent, options: []))
    }

    /// Adds an observer that wants to hear of more than others: of the values of rows, or of changes that SQLite hides.
    ///
    /// ```swift
    /// try db.add(transactionObserver: observer, options: [.rowValues, .hiddenChanges])
    /// ```
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - extent: How long it is told of changes and transactions.
    ///   - options: What it wants to hear of beside.
    /// - Throws: a ``DatabaseError`` where the running SQLite was compiled without `SQLITE_ENABLE_PREUPDATE_HOOK`. The
    ///   observer is not added then.
    public func add(
        transactionObserver observer: any TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime, options: TransactionObservationOptions
    ) throws {
        if !isAccessed { trapOutsideOfAccess() }
        guard !isClosed else { throw closedError() }
        if !options.isEmpty {
            let feature =
                options.contains(.rowValues)
                ? "the values of changed rows cannot be observed"
                : "the changes that SQLite hides cannot be observed"
            _ = try preUpdateHook(for: feature)
        }
        installBroker().add(ObserverRegistration(observer, extent: extent, options: options))
    }

    /// Removes an observer: it is told nothing any more.
    ///
    /// - Parameter observer: The observer, however often it was added. It may be the one that calls, at any time. Nothing is done
    ///   where it is none.
    public func remove(transactionObserver observer: any TransactionObserver) {
        if !isAccessed { trapOutsideOfAccess() }
        broker?.remove(ObjectIdentifier(observer))
    }

    /// Has a function run once, after the present transaction, or else the next one.
    ///
    /// ```swift
    /// try db.inSavepoint {
    ///     try region.insert(db)
    ///     db.afterNextTransaction { _ in
    ///         locationManager.startMonitoring(region)
    ///     }
    ///     return .commit
    /// }
    /// ```
    ///
    /// One of the functions runs, right after the transaction has ended, also if it has changed nothing. In a
    /// savepoint that is then rolled back, `onRollback` runs at once, and `onCommit` never. Both can use the database.
    ///
    /// Outside of a transaction, a statement that writes is one, too. A fetch that runs several statements is none, though all of
    /// them see one state of the database.
    ///
    /// - Parameters:
    ///   - onCommit: Runs when the transaction was committed.
    ///   - onRollback: Runs when it was rolled back.
    public func afterNextTransaction(
        onCommit: @escaping (Database) -> Void, onRollback: @escaping (Database) -> Void = { _ in }
    ) {
        checkAccess()
        guard !isClosed else { return }
        installBroker().add(TransactionHook(onCommit: onCommit, onRollback: onRollback))
    }
}

extension DatabaseWriter {
    /// Adds an observer, which is told of changes and transactions from now on.
    ///
    /// ```swift
    /// let observer = PlayerObserver()
    /// dbQueue.add(transactionObserver: observer)
    /// ```
    ///
    /// This waits for the access, unless it is called inside of one. The observer is used on the connection's side:
    /// by the threads that run accesses, one at a time.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - extent: How long it is told of changes and transactions.
    public func add(
        transactionObserver observer: any TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime
    ) {
        // A database that is closed has nothing to tell.
        try? unsafeReentrantWrite { db in db.add(transactionObserver: observer, extent: extent) }
    }

    /// Adds an observer that wants to hear of more than others: of the values of rows, or of changes that SQLite hides.
    ///
    /// This waits for the access, unless it is called inside of one.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - extent: How long it is told of changes and transactions.
    ///   - options: What it wants to hear of beside.
    /// - Throws: a ``DatabaseError`` where the running SQLite was compiled without `SQLITE_ENABLE_PREUPDATE_HOOK`.
    public func add(
        transactionObserver observer: any TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime, options: TransactionObservationOptions
    ) throws {
        try unsafeReentrantWrite { db in
            try db.add(transactionObserver: observer, extent: extent, options: options)
        }
    }

    /// Removes an observer: it is told nothing any more.
    ///
    /// This waits for the access, unless it is called inside of one.
    ///
    /// - Parameter observer: The observer, however often it was added. Nothing is done where it is none.
    public func remove(transactionObserver observer: any TransactionObserver) {
        try? unsafeReentrantWrite { db in db.remove(transactionObserver: observer) }
    }
}
