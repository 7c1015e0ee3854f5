import CSQLite

// What the broker tells the observers, and when.

extension Broker {
    /// Tells events to those who wanted them.
    func tell(_ events: [HeldEvent]) {
        guard !events.isEmpty else { return }
        database.access.forbidding {
            events.withUnsafeBufferPointer { events in for index in events.indices { tell(events, index) } }
        }
    }

    /// Tells the events of a lone run.
    func tellLoneEvents(to audience: Unmanaged<Audience>) {
        databaseReference.use { database in
            database.access.forbidding {
                // Nobody adds another one meanwhile: the use of the database is forbidden.
                for index in 0..<loneEvents.count { tell(loneEvents[index], to: audience) }
            }
        }
    }

    @inline(__always)
    private func tell(_ event: LoneEvent, to audience: Unmanaged<Audience>) {
        audience.use {
            $0.withRoute(event.kind, event.table, tables) { route in
                let told = DatabaseEvent(event.kind, event.rowID, route)
                for index in 0..<route.wantedReferences.count {
                    route.wantedReferences[index].use { $0.tell(told) }
                }
            }
        }
    }

    @inline(__always)
    private func tell(_ events: UnsafeBufferPointer<HeldEvent>, _ index: Int) {
        let audience = events[index].audience
        if events[index].isUndetected {
            for listener in audience.listeners where !listener.observation.isPaused {
                listener.observation.observer?.databaseDidChange()
            }
            return
        }
        let route = audience.route(events[index].kind, events[index].table, tables)
        for observation in route.wanted {
            if !observation.options.isEmpty {
                guard !observation.isPaused, let observer = observation.observer else { continue }
                tell(events[index], route, to: observation, observer)
            } else if !events[index].isHidden {
                observation.tell(DatabaseEvent(events[index].kind, events[index].rowID, route))
            }
        }
    }

    /// Tells an event to an observer that has options.
    private func tell(
        _ event: HeldEvent, _ route: Audience.Route, to observation: Observation,
        _ observer: any TransactionObserver
    ) {
        if event.isHidden, !observation.options.contains(.hiddenChanges) { return }
        if let values = event.values, observation.options.contains(.rowValues) {
            observer.databaseWillChange(with: DatabasePreUpdateEvent(route, values))
            if observation.isPaused || observation.isRemoved { return }
        }
        let hasNoRowID = event.values?.columns.hasRowID == false
        observer.databaseDidChange(
            with: DatabaseEvent(event.kind, event.rowID, route, hasNoRowID: hasNoRowID))
    }

    /// Tells those who want some kinds of changes that something unknown was changed.
    func tellUndetectedChanges(_ kinds: [DatabaseEventKind]) {
        guard let event = undetectedChange(kinds) else { return }
        if let run = runs.last {
            run.events.append(event)
        } else if database.transactionLog.savepoints.depth > 0 {
            held.append(event)
        } else {
            tell([event])
        }
    }

    private func undetectedChange(_ kinds: [DatabaseEventKind]) -> HeldEvent? {
        let listeners = database.access.forbidding {
            observations.filter { observation in
                guard !observation.isPaused, let observer = observation.observer else { return false }
                return kinds.contains { observer.observes(eventsOfKind: $0) }
            }
        }.map { Audience.Listener(observation: $0, kinds: kinds) }
        return listeners.isEmpty ? nil : HeldEvent(undetectedBy: Audience(listeners))
    }

    /// Another connection has changed the schema right before the statement took the lock. The rows that its new triggers
    /// and cascades have changed so far are not known.
    func tellMissedChanges(of statement: Statement, from old: StatementEffects) {
        let known = Set(DatabaseEventKind.kinds(of: old))
        let missed = DatabaseEventKind.kinds(of: statement.effects).filter { !known.contains($0) }
        guard !missed.isEmpty, let event = undetectedChange(missed) else { return }
        putLoneRunWithOthers()
        runs.last { $0.statement == ObjectIdentifier(statement) }?.events.append(event)
    }

    /// Asks the observers whether the transaction may be committed.
    func askForVeto() throws {
        setEnding(true)
        try database.access.forbidding {
            for observation in observations { try observation.observer?.databaseWillCommit() }
        }
    }

    /// A statement is about to commit. A veto rolls back.
    func willCommit() throws {
        let events = held
        held = []
        for index in marks.indices { marks[index].start = 0 }
        tell(events)
        do {
            try askForVeto()
        } catch {
            try? database.rollback()
            throw error
        }
    }

    /// A transaction has ended.
    ///
    /// - Parameter isSilent: Whether it has only read, in a read-only access: observers are not told.
    func complete(isCommitted: Bool, _ isSilent: Bool) {
        forgetTransaction()
        var ends: [End] = hooks.reversed().map { .hook($0, isCommitted: isCommitted) }
        hooks = []
        if !isSilent {
            for observation in observations.reversed() where !observation.isLate {
                ends.append(.observation(observation, isCommitted: isCommitted))
            }
        }
        for observation in observations { observation.isPaused = false }
        // An observer may open the next transaction, which is not that of those who leave now.
        if !isSilent {
            for observation in observations
            where observation.extent == .nextTransaction && !observation.isLate {
                observation.hasEnded = true
            }
            removeObservations { $0.hasEnded }
        }
        setEnding(false)
        self.ends.insert(contentsOf: ends, at: 0)
        settle()
        tellEnds()
    }

    /// Tells of the end of a transaction. Whoever is told may begin the next one: all others are told before it does, so
    /// that nobody hears of two transactions at once.
    func tellEnds() {
        while let end = ends.popLast() {
            oweEnds()
            allowingUse {
                switch end {
                case .observation(let observation, let isCommitted):
                    if isCommitted {
                        observation.observer?.databaseDidCommit(database)
                    } else {
                        observation.observer?.databaseDidRollback(database)
                    }
                    if observation.hasEnded { observation.remove() }
                case .hook(let hook, let isCommitted): hook.run(isCommitted: isCommitted, database)
                }
            }
        }
        tidyUp()
    }

    /// Has the next statement that opens a transaction ask first whether somebody is still to be told.
    private func oweEnds() {
        guard database.owed.contains(.statementWillBegin) == ends.isEmpty else { return }
        database.owed.formSymmetricDifference(.statementWillBegin)
        database.updateObstruction()
    }

    /// Tells of the transaction that SQLite has ended by itself, as soon as no function runs inside of a statement: what
    /// observers write meanwhile would be undone with that statement.
    func tellLoss() {
        guard let loss = untoldLoss, database.callbackDepth == 0 else { return }
        untoldLoss = nil
        complete(isCommitted: false, loss.isSilent)
    }

    /// A savepoint was rolled back.
    func rollBackHooks(since savepoint: Int) {
        let undone = hooks.filter { $0.isUndone(by: savepoint) }
        guard !undone.isEmpty else { return }
        hooks.removeAll { $0.isUndone(by: savepoint) }
        allowingUse { for hook in undone { hook.run(isCommitted: false, database) } }
        settle()
    }

    /// Runs a function that may use the database, also after a transaction that SQLite has ended by itself, whose error
    /// is for the program.
    private func allowingUse(_ body: () -> Void) {
        guard let lost = database.lostTransaction else { return body() }
        database.lostTransaction = nil
        body()
        database.lostTransaction = lost
    }
}

extension DatabaseEvent {
    @inline(__always)
    fileprivate init(_ kind: Kind, _ rowID: Int64, _ route: Audience.Route, hasNoRowID: Bool = false) {
        self.init(
            kind: kind, tableName: route.tableName, rowID: rowID, databaseName: route.databaseName,
            mayHaveMoved: route.mayHaveMoved, hasNoRowID: hasNoRowID)
    }
}
