import CSQLite

// What the broker tells the observers, and when.

extension Broker {
    /// Tells events to those who wanted them.
    func tell(_ events: [HeldEvent]) {
        guard !events.isEmpty else { return }
        database.forbiddingUse {
            events.withUnsafeBufferPointer { events in for index in events.indices { tell(events, index) } }
        }
    }

    /// Tells the events of a lone run.
    func tellLoneEvents(to audience: Unmanaged<Audience>) {
        databaseReference.use { database in
            database.forbiddingUse {
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
        let listeners = database.forbiddingUse {
            observations.filter { observation in
                guard !observation.isPaused, let observer = observation.observer else { return false }
                return kinds.contains { observer.observes(eventsOfKind: $0) }
            }
        }.map { Audience.Listener(observation: $0, kinds: kinds) }
        guard !listeners.isEmpty else { return }
        let event = HeldEvent(undetectedBy: Audience(listeners))
        if let run = runs.last {
            run.events.append(event)
        } else if database.transactionLog.savepoints.depth > 0 {
            held.append(event)
        } else {
            tell([event])
        }
    }

    /// Asks the observers whether the transaction may be committed.
    func askForVeto() throws {
        try database.forbiddingUse {
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
        let told = isSilent ? [] : observations
        for observation in observations { observation.isPaused = false }
        let hooks = self.hooks
        self.hooks = []
        // An observer may open the next transaction, which is not that of those who leave now.
        if !isSilent { removeObservations { $0.extent == .nextTransaction } }
        settle()
        guard !told.isEmpty || !hooks.isEmpty else { return }
        allowingUse {
            for observation in told {
                guard let observer = observation.observer else { continue }
                if isCommitted {
                    observer.databaseDidCommit(database)
                } else {
                    observer.databaseDidRollback(database)
                }
            }
            for hook in hooks { hook.run(isCommitted: isCommitted, database) }
        }
    }

    /// A savepoint was rolled back.
    func undoHooks(since savepoint: Int) {
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
        database.updateObstruction()
        body()
        database.lostTransaction = lost
        database.updateObstruction()
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
