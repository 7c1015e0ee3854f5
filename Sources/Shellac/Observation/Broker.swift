import CSQLite

/// What stands between SQLite and the observers of a connection.
///
/// ## The life of an event
///
/// 1. A statement that may write is about to take its first step. The observers are asked, for each kind of change that
///    it may make, what they want. Those who want something are the statement's ``Audience``, and only where there is
///    one is SQLite's update hook installed.
/// 2. The hook fires for each row. The event is put with those of the statement's run: SQLite may still undo it.
/// 3. The statement ends. If it has failed, and SQLite says that it has changed nothing, its events are dropped.
///    Otherwise they go to the run inside of which it ran, if there is one (it may undo them); or wait for the
///    end of the outermost savepoint, if one is open; or are told.
/// 4. ROLLBACK TO drops the events held since its savepoint was opened. The release of the outermost savepoint tells
///    those that are left, and so does a COMMIT before it runs.
///
/// A lone statement commits when it ends, inside of its last step: its events are told in SQLite's commit hook, where a
/// veto can still undo it. All other ends of transactions are found out from statements, and from
/// `sqlite3_get_autocommit()`: SQLite's hooks say neither all of them nor these alone.
///
/// The layer of transactions hears of the end of a statement first: records have their state back when observers are
/// told of a rollback.
final class Broker: StatementObserver {
    unowned let database: Database

    /// The observers, in the order of their addition.
    private(set) var observations: [Observation] = []
    /// Changes with the list of observers.
    private var version: UInt = 0
    var hooks: [TransactionHook] = []

    /// The runs that have begun, in that order.
    @exclusivity(unchecked) private(set) var runs: [Run] = []
    /// A run that has ended, to be used again.
    @exclusivity(unchecked) private var spareRun: Run?

    /// The events that wait for the end of a savepoint, or of a lone statement.
    @exclusivity(unchecked) var held: [HeldEvent] = []
    /// Where the events of each savepoint begin.
    @exclusivity(unchecked) var marks: [(savepoint: Int, start: Int)] = []
    @exclusivity(unchecked) private(set) var tables = TableNames()

    @exclusivity(unchecked) private var hasUpdateHook = false
    @exclusivity(unchecked) private var hasCommitHook = false
    @exclusivity(unchecked) private var answers: [Bool] = []
    @exclusivity(unchecked) private var hasFreedObserver = false

    init(_ database: Database) { self.database = database }

    // MARK: - The observers

    func add(_ observation: Observation) {
        observations.append(observation)
        observationsDidChange()
    }

    func removeObservations(where isUnwanted: (Observation) -> Bool) {
        guard observations.contains(where: isUnwanted) else { return }
        observations.removeAll(where: isUnwanted)
        observationsDidChange()
    }

    func pause(_ observer: any TransactionObserver) {
        for observation in observations where observation.identifier == ObjectIdentifier(observer) {
            observation.isPaused = true
        }
    }

    /// The list of observers, or of hooks, has changed: without any, nothing is left behind.
    func observationsDidChange() {
        version &+= 1
        if observations.isEmpty, hooks.isEmpty, runs.isEmpty {
            leave()
        } else {
            database.statementObserver = self
        }
    }

    /// Nobody observes any more.
    private func leave() {
        database.statementObserver = nil
        guard !database.isClosed else { return }
        setUpdateHook(false)
        if hasCommitHook {
            sqlite3_commit_hook(database.pointer, nil, nil)
            hasCommitHook = false
        }
        if !database.tablesWithObservedDeletions.isEmpty { database.tablesWithObservedDeletions = [] }
    }

    // MARK: - The beginning of a run

    func statementWillStep(_ statement: Statement) throws {
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        let isSilent =
            database.isReadOnlyScope && sqlite3_txn_state(database.pointer, nil) != SQLITE_TXN_WRITE
        var audience: Audience?
        switch statement.effects.transaction {
        case .commit where isInside: if !isSilent { try willCommit() }
        case .release(let name) where isInside && database.transactionLog.isCommit(releasing: name):
            if !isSilent { try willCommit() }
        case nil where !observations.isEmpty: audience = self.audience(of: statement)
        default: break
        }
        let run = spareRun ?? Run(ObjectIdentifier(statement))
        spareRun = nil
        run.statement = ObjectIdentifier(statement)
        run.depth = database.callbackDepth
        run.wasInsideTransaction = isInside
        run.isSilent = isSilent
        run.audience = audience
        runs.append(run)
        if audience != nil {
            if !hasUpdateHook { setUpdateHook(true) }
        } else if hasUpdateHook, runs.count == 1 {
            setUpdateHook(false)
        }
        if !isInside, !hasCommitHook, statement.effects.transaction == nil { installCommitHook() }
    }

    /// Those who want to hear of a statement's changes.
    private func audience(of statement: Statement) -> Audience? {
        let plan: ObservationPlan
        if let kept = statement.observationPlan {
            plan = unsafeDowncast(kept, to: ObservationPlan.self)  // nobody else fills the slot
        } else {
            plan = ObservationPlan(DatabaseEventKind.kinds(of: statement.effects))
            statement.observationPlan = plan
        }
        guard !plan.kinds.isEmpty else { return nil }
        // What a nested statement asks must not disturb.
        var answers = self.answers
        self.answers = []
        answers.removeAll(keepingCapacity: true)
        database.forbiddingUse {
            for observation in observations {
                guard let observer = observation.observer else {
                    hasFreedObserver = true
                    answers.append(contentsOf: repeatElement(false, count: plan.kinds.count))
                    continue
                }
                for kind in plan.kinds {
                    answers.append(!observation.isPaused && observer.observes(eventsOfKind: kind))
                }
            }
        }
        if plan.version != version || plan.answers != answers {
            plan.version = version
            plan.answers = answers
            plan.audience = makeAudience(plan, answers)
        }
        self.answers = answers
        return plan.audience
    }

    @inline(never)
    private func makeAudience(_ plan: ObservationPlan, _ answers: [Bool]) -> Audience? {
        var listeners: [Audience.Listener] = []
        var unseen: Set<CaseInsensitiveName> = []
        let kindCount = plan.kinds.count
        for (index, observation) in observations.enumerated() where (index + 1) * kindCount <= answers.count {
            let kinds = plan.kinds.indices.filter { answers[index * kindCount + $0] }.map { plan.kinds[$0] }
            guard !kinds.isEmpty else { continue }
            listeners.append(Audience.Listener(observation: observation, kinds: kinds))
            for case .delete(let table) in kinds { unseen.insert(CaseInsensitiveName(table)) }
        }
        if !unseen.isSubset(of: database.tablesWithObservedDeletions) {
            database.tablesWithObservedDeletions.formUnion(unseen)
        }
        return listeners.isEmpty ? nil : Audience(listeners)
    }

    // MARK: - SQLite's hooks

    private func setUpdateHook(_ isOn: Bool) {
        guard isOn != hasUpdateHook else { return }
        hasUpdateHook = isOn
        guard isOn else {
            sqlite3_update_hook(database.pointer, nil, nil)
            return
        }
        sqlite3_update_hook(
            database.pointer,
            { context, kind, schema, table, rowID in
                guard let context, let schema, let table else { return }
                Unmanaged<Broker>.fromOpaque(context).takeUnretainedValue().record(kind, schema, table, rowID)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func record(
        _ kind: Int32, _ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>, _ rowID: Int64
    ) {
        guard let run = currentRun, let audience = run.audience else { return }
        let event: DatabaseEvent.Kind =
            switch kind {
            case SQLITE_INSERT: .insert
            case SQLITE_UPDATE: .update
            default: .delete
            }
        run.events.append(
            HeldEvent(audience: audience, rowID: rowID, table: tables.number(schema, table), kind: event))
    }

    /// The run that takes a step: the last one that was not begun inside of a function that has returned.
    private var currentRun: Run? {
        let depth = database.callbackDepth
        if let last = runs.last, last.depth <= depth { return last }
        return runs.last { $0.depth <= depth }
    }

    private func installCommitHook() {
        hasCommitHook = true
        sqlite3_commit_hook(
            database.pointer,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Broker>.fromOpaque(context).takeUnretainedValue().loneStatementWillCommit()
                    ? 0 : 1
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// A statement outside of a transaction commits. Returns whether it may.
    private func loneStatementWillCommit() -> Bool {
        guard let run = currentRun, !run.wasInsideTransaction else { return true }
        run.isCommitting = true
        do {
            var events: [HeldEvent] = []
            swap(&events, &held)
            for run in runs {
                events += run.events
                run.events.removeAll()
            }
            tell(events)
            try askForVeto()
            return true
        } catch {
            run.veto = error
            return false
        }
    }

    // MARK: - The end of a run

    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? {
        let identifier = ObjectIdentifier(statement)
        guard let index = runs.lastIndex(where: { $0.statement == identifier }) else { return error }
        let changesCount = sqlite3_changes(database.pointer)
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        let run = runs.remove(at: index)
        let failure = run.veto ?? error
        let isSilent = run.isSilent
        defer { recycle(run) }
        guard isInside else {
            if run.wasInsideTransaction {
                complete(
                    isCommitted: failure == nil && statement.effects.transaction?.commits == true, isSilent)
            } else if run.isCommitting {
                complete(isCommitted: run.veto == nil && isCommitted(error, changesCount), isSilent)
            } else if runs.isEmpty {
                // It has written nothing, or SQLite has undone all.
                held.removeAll()
            } else {
                // Another statement that writes is still running: it will commit for both.
                pass(run, at: index, failed: error != nil && changesCount == 0)
            }
            return failure
        }
        if failure == nil, let effect = statement.effects.transaction { follow(effect) }
        if !run.events.isEmpty { pass(run, at: index, failed: error != nil && changesCount == 0) }
        return failure
    }

    private func recycle(_ run: Run) {
        run.events.removeAll(keepingCapacity: run.events.capacity <= 256)
        run.audience = nil
        run.isCommitting = false
        run.veto = nil
        spareRun = run
        if hasFreedObserver {
            hasFreedObserver = false
            removeObservations { $0.observer == nil }
        }
        if observations.isEmpty, hooks.isEmpty, runs.isEmpty { leave() }
    }

    /// Whether a lone statement whose commit had begun was committed.
    private func isCommitted(_ error: (any Error)?, _ changesCount: Int32) -> Bool {
        // One that fails with OR FAIL commits what it has done before. A commit that fails is no constraint.
        guard let error else { return true }
        return changesCount > 0 || (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT
    }

    /// Passes the events of a run that has ended on.
    private func pass(_ run: Run, at index: Int, failed: Bool) {
        if failed { run.events = survivors(of: run.events) }
        guard !run.events.isEmpty else { return }
        if index > 0 {
            for event in run.events {
                var event = event
                event.isNested = true
                runs[index - 1].events.append(event)
            }
        } else if database.transactionLog.savepoints.depth > 0 || !run.wasInsideTransaction {
            held += run.events
        } else {
            var events: [HeldEvent] = []
            swap(&events, &run.events)
            tell(events)
            events.removeAll(keepingCapacity: true)
            if run.events.isEmpty { swap(&events, &run.events) }
        }
    }

    /// Follows the savepoints, of which the layer of transactions has heard before.
    private func follow(_ effect: StatementEffects.Transaction) {
        let savepoints = database.transactionLog.savepoints
        switch effect {
        case .savepoint:
            if let savepoint = savepoints.innermost { marks.append((savepoint, held.count)) }
        case .release:
            marks.removeAll { !savepoints.contains($0.savepoint) }
            for index in hooks.indices { hooks[index].moveOut(of: savepoints) }
            guard savepoints.depth == 0, !held.isEmpty else { return }
            let events = held
            held = []
            tell(events)
        case .rollbackTo:
            guard let savepoint = savepoints.innermost else { return }
            // Without a mark, it was opened before anybody observed.
            let start = marks.first { $0.savepoint >= savepoint }?.start ?? 0
            if start < held.count { held.removeSubrange(start...) }
            marks.removeAll { $0.savepoint > savepoint }
            undoHooks(since: savepoint)
        case .begin, .commit, .rollback: break
        }
    }

    /// A transaction has ended: nothing is held any more.
    func forgetTransaction() {
        held.removeAll()
        marks.removeAll()
        for run in runs { run.events.removeAll() }
    }
}
