// Who observes, how a transaction ends for them, and what SQLite does not tell.

extension Broker {
    // MARK: - The observers

    func add(_ registration: ObserverRegistration) {
        observers.add(registration)
        observersDidChange()
    }

    /// Adds what is to be done when the transaction has ended.
    func add(_ hook: TransactionHook) {
        ends.add(hook)
        observersDidChange()
    }

    /// Removes an observer: it is told nothing any more.
    func remove(_ identifier: ObjectIdentifier) {
        for registration in observers.registrations where registration.identifier == identifier {
            registration.remove()
        }
        ends.remove(identifier)
        if observers.remove(where: \.isRemoved) { observersDidChange() }
    }

    /// Leaves nothing behind where nobody observes any more.
    @inline(__always)
    func tidyUp() { if observers.hasFreedObserver || isUseless { leave() } }

    private func leave() {
        if observers.hasFreedObserver, observers.removeFreed() { return observersDidChange() }
        if isUseless { uninstall() }
    }

    @inline(__always)
    var isUseless: Bool { observers.isEmpty && runs.isEmpty && ends.isEmpty }

    /// Whether statements are heard of.
    var isInstalled: Bool { database.object(in: .tellingBroker) != nil }

    /// Observers are asked anew; without any, and without functions that wait, nothing is left behind.
    func observersDidChange() {
        observers.askAgain()
        if isUseless {
            uninstall()
        } else if !isInstalled {
            database.fill(.tellingBroker, with: self)
        }
    }

    // MARK: - The end of a transaction

    /// A transaction has ended.
    ///
    /// - Parameter isSilent: Whether it has only read, in a read-only access: observers are not told.
    func complete(isCommitted: Bool, isSilent: Bool) {
        forgetTransaction()
        ends.add(observers.endTransaction(isSilent: isSilent), isCommitted: isCommitted)
        observersDidChange()
        tellEnds()
    }

    func tellEnds() {
        ends.tell()
        tidyUp()
    }

    /// SQLite has ended a transaction by itself, or undone the statements that ran outside of one.
    func lose(isTransaction: Bool) {
        forgetTransaction()
        guard isTransaction else { return }
        observers.setEnding(true)
        ends.keepLoss(isSilent: database.transactionLog.wasReadOnly)
    }

    /// Tells of the transaction that SQLite has ended by itself, as soon as no function runs inside of a statement: what
    /// observers write meanwhile would be undone with that statement.
    func tellLoss() {
        guard database.callbackDepth == 0, let isSilent = ends.takeLoss() else { return }
        complete(isCommitted: false, isSilent: isSilent)
    }
}

// MARK: - What SQLite does not tell

extension Broker {
    /// Tells those who want some kinds of changes that something unknown was changed.
    func tellUndetectedChanges(_ kinds: [DatabaseEventKind]) {
        let listeners = observers.listeners(to: kinds, on: database)
        if !listeners.isEmpty { tellUndetectedChange(to: Audience(listeners), with: runs.last) }
    }

    /// Another connection has changed the schema right before the statement took the lock. The rows that its new triggers
    /// and cascades have changed so far are not known.
    func tellMissedChanges(of statement: Statement, from old: StatementEffects) {
        let known = Set(DatabaseEventKind.kinds(of: old))
        let missed = DatabaseEventKind.kinds(of: statement.effects).filter { !known.contains($0) }
        if missed.isEmpty { return }
        let listeners = observers.listeners(to: missed, on: database)
        guard !listeners.isEmpty, let run = runs.run(of: statement) else { return }
        tellUndetectedChange(to: Audience(listeners), with: run)
    }
}
