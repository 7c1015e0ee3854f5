// The observers of a broker, the ends of their transactions, and changes SQLite does not report.

extension Broker {
    // MARK: - The observers

    func add(_ registration: ObserverRegistration) {
        observers.add(registration)
        observersDidChange()
    }

    /// Adds a function to run when the transaction has ended.
    func add(_ hook: TransactionHook) {
        ends.add(hook)
        observersDidChange()
    }

    /// Sets the recorder of all changes.
    func setRecorder(_ recorder: ChangeRecorder?) {
        self.recorder = recorder
        observersDidChange()
    }

    /// Removes an observer. It gets no further notifications.
    func remove(_ identifier: ObjectIdentifier) {
        for registration in observers.registrations where registration.identifier == identifier {
            registration.remove()
        }
        ends.remove(identifier)
        if observers.remove(where: \.isRemoved) { observersDidChange() }
    }

    /// Uninstalls the broker after the last observer is removed.
    @inline(__always)
    func tidyUp() { if observers.hasFreedObserver || isUseless { leave() } }

    private func leave() {
        if observers.hasFreedObserver, observers.removeFreed() { return observersDidChange() }
        if isUseless { uninstall() }
    }

    @inline(__always)
    var isUseless: Bool { observers.isEmpty && runs.isEmpty && ends.isEmpty && recorder == nil }

    /// Whether the broker participates in statements.
    var isInstalled: Bool { database.object(in: .tellingBroker) != nil }

    /// Asks observers again for their interests. Uninstalls the broker if there is no observer and
    /// no waiting function.
    func observersDidChange() {
        observers.askAgain()
        if isUseless {
            uninstall()
        } else if !isInstalled {
            database.fill(.tellingBroker, with: self)
        }
    }

    // MARK: - The end of a transaction

    /// Called when a transaction has ended.
    ///
    /// - Parameter isSilent: Whether the transaction has only read, in a read-only access.
    ///   Observers are then not notified.
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

    /// Called when SQLite has ended a transaction by itself, or undone the statements that ran
    /// outside of one.
    func lose(isTransaction: Bool) {
        recorder?.changesWereLost()
        forgetTransaction()
        guard isTransaction else { return }
        observers.setEnding(true)
        ends.keepLoss(isSilent: database.transactionLog.wasReadOnly)
    }

    /// Reports a transaction that SQLite ended by itself, once no function runs inside of a
    /// statement. Changes that observers write earlier would be undone with that statement.
    func tellLoss() {
        guard database.callbackDepth == 0, let isSilent = ends.takeLoss() else { return }
        complete(isCommitted: false, isSilent: isSilent)
    }
}

// MARK: - Changes that SQLite does not report

extension Broker {
    /// Reports an unknown change to the observers of the given kinds of changes.
    func tellUndetectedChanges(_ kinds: [DatabaseEventKind]) {
        let listeners = observers.listeners(to: kinds, on: database)
        if !listeners.isEmpty { tellUndetectedChange(to: Audience(listeners), with: runs.last) }
    }

    /// Reports changes missed because another connection changed the schema right before the
    /// statement took the lock. It is unknown which rows its new triggers and cascades have changed
    /// so far.
    func tellMissedChanges(of statement: Statement, from old: StatementEffects) {
        let known = Set(DatabaseEventKind.kinds(of: old))
        let missed = DatabaseEventKind.kinds(of: statement.effects).filter { !known.contains($0) }
        if missed.isEmpty { return }
        let listeners = observers.listeners(to: missed, on: database)
        guard !listeners.isEmpty, let run = runs.run(of: statement) else { return }
        tellUndetectedChange(to: Audience(listeners), with: run)
    }
}
