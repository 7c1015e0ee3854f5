// Adds and removes transaction observers, and runs callbacks after the next transaction.

extension Slot<Broker> {
    /// The broker of a connection, from its first observation on.
    static var broker: Self { Slot(3, until: .closed) }
    /// The broker, as long as there are observers.
    static var tellingBroker: Self { Slot(of: .changes) }
}

extension Database {
    /// The broker of this connection, if there was ever an observer.
    var broker: Broker? { object(in: .broker)?.object }

    private func installBroker() -> Broker {
        if let broker { return broker }
        let broker = Broker(self)
        fill(.broker, with: broker)
        return broker
    }

    /// Adds an observer, which is notified of changes and transactions from now on.
    ///
    /// ```swift
    /// db.add(transactionObserver: observer, extent: .nextTransaction)
    /// ```
    ///
    /// An observer added twice is notified twice.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - extent: The time for which it is notified.
    public func add(
        transactionObserver observer: any TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime
    ) {
        if !isAccessed { trapOutsideOfAccess() }
        guard !isClosed else { return }
        installBroker().add(ObserverRegistration(observer, extent: extent, options: []))
    }

    /// Adds an observer with further needs: the values of rows, or the changes that SQLite hides.
    ///
    /// ```swift
    /// try db.add(transactionObserver: observer, options: [.rowValues, .hiddenChanges])
    /// ```
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - extent: The time for which it is notified of changes and transactions.
    ///   - options: Its further needs.
    /// - Throws: a ``DatabaseError`` if the running SQLite was compiled without
    ///   `SQLITE_ENABLE_PREUPDATE_HOOK`. The observer is not added then.
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

    /// Removes an observer. It gets no further notifications.
    ///
    /// - Parameter observer: The observer, however often it was added. An observer may remove
    ///   itself at any time. An observer that was not added is ignored.
    public func remove(transactionObserver observer: any TransactionObserver) {
        if !isAccessed { trapOutsideOfAccess() }
        broker?.remove(ObjectIdentifier(observer))
    }

    /// Runs a function once, after the current transaction, or else after the next one.
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
    /// One of the functions runs right after the transaction has ended, also if it has changed
    /// nothing. In a savepoint that is later rolled back, `onRollback` runs at once, and `onCommit`
    /// never. Both can use the database.
    ///
    /// Outside of a transaction, a single writing statement counts as one. A fetch that runs
    /// several statements does not, although they all see one state of the database.
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
    /// Adds an observer, which is notified of changes and transactions from now on.
    ///
    /// ```swift
    /// let observer = PlayerObserver()
    /// dbQueue.add(transactionObserver: observer)
    /// ```
    ///
    /// This waits for the access, unless it is called inside of one. The observer is called in the
    /// connection's isolation: by the threads that run accesses, one at a time.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - extent: The time for which it is notified of changes and transactions.
    public func add(
        transactionObserver observer: any TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime
    ) {
        // A closed database has no notifications.
        try? unsafeReentrantWrite { db in db.add(transactionObserver: observer, extent: extent) }
    }

    /// Adds an observer with further needs: the values of rows, or the changes that SQLite hides.
    ///
    /// This waits for the access, unless it is called inside of one.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - extent: The time for which it is notified of changes and transactions.
    ///   - options: Its further needs.
    /// - Throws: a ``DatabaseError`` if the running SQLite was compiled without
    ///   `SQLITE_ENABLE_PREUPDATE_HOOK`.
    public func add(
        transactionObserver observer: any TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime, options: TransactionObservationOptions
    ) throws {
        try unsafeReentrantWrite { db in
            try db.add(transactionObserver: observer, extent: extent, options: options)
        }
    }

    /// Removes an observer. It gets no further notifications.
    ///
    /// This waits for the access, unless it is called inside of one.
    ///
    /// - Parameter observer: The observer, however often it was added. An observer that was not
    ///   added is ignored.
    public func remove(transactionObserver observer: any TransactionObserver) {
        try? unsafeReentrantWrite { db in db.remove(transactionObserver: observer) }
    }
}
