// The event broker of a connection: buffers row events and delivers them to its observers.

import CSQLite

/// The broker between SQLite and the observers of a connection.
///
/// ## The life of an event
///
/// 1. A statement that may write is about to take its first step. For each kind of change that it
///    may make, the broker asks the observers whether they are interested. The interested ones form
///    the statement's ``Audience``. SQLite's update hook is installed only if there is one. The
///    statement's ``Run`` begins.
/// 2. The hook fires for each row. The event is added to those of the run, because SQLite may still
///    undo it.
/// 3. The statement ends. If it has failed, and SQLite says that it has changed nothing, its events
///    are dropped. Otherwise they go to the run inside of which it ran, if there is one, because
///    that may undo them. If a savepoint is open, they wait for the end of the outermost one.
///    Otherwise they are delivered.
/// 4. ROLLBACK TO drops the events held since its savepoint was opened. The release of the
///    outermost savepoint delivers the remaining ones, and so does a COMMIT before it runs.
///
/// An autocommit statement commits when it ends, inside of its last step. Its events are delivered
/// in SQLite's commit hook, where a veto can still undo it. All other ends of transactions are
/// derived from statements, and from `sqlite3_get_autocommit()`. SQLite's hooks do not report all
/// of them, and also report other events.
///
/// The transaction layer has restored objects before observers are notified of a rollback.
final class Broker: ChangeFollower, PreUpdateListener {
    unowned(unsafe) let database: Database  // owns this
    /// The database, as a reference without retain and release.
    private let databaseReference: Unretained<Database>

    let observers = ObserverList()
    let ends: TransactionEnds
    /// The active runs.
    @exclusivity(unchecked) private(set) var runs = RunStack()
    /// The events that wait for the end of a savepoint, or of an autocommit statement.
    @exclusivity(unchecked) private(set) var held = MarkedLog<RowEvent>()
    @exclusivity(unchecked) private(set) var tables = TableNames()
    @exclusivity(unchecked) private(set) var hooks = UpdateHooks()
    /// The recorder of all changes, if an upper layer has one.
    @exclusivity(unchecked) var recorder: ChangeRecorder?
    /// The row that the pre-update hook reported last, if no observer is interested in it.
    @exclusivity(unchecked) var unwantedRow: (rowID: Int64, table: Int32, kind: DatabaseEvent.Kind)?

    init(_ database: Database) {
        self.database = database
        databaseReference = Unretained(database)
        ends = TransactionEnds(database)
    }

    // MARK: - A run begins

    override func statementWillStep(_ statement: Statement) throws {
        guard let recorder else { return try prepareRun(of: statement) }
        try recorder.statementWillStep(statement)
        do { try prepareRun(of: statement) } catch {
            recorder.statementDidStep(statement, error: error)
            throw recorder.statementDidEnd(statement, error: error) ?? error
        }
    }

    @inline(__always)
    private func prepareRun(of statement: Statement) throws {
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        let isSilent =
            database.isReadOnlyScope && sqlite3_txn_state(database.pointer, nil) != SQLITE_TXN_WRITE
        var audience: Unretained<Audience>?
        if !statement.concerns.contains(.transactions) {
            if !observers.isEmpty {
                audience = try databaseReference.use { database in
                    try observers.audience(of: statement, isInside: isInside, on: database) {
                        tables.number($0.schemaName, $0.name)
                    }
                }
            }
            // Reading the schema for the observers may have lost the transaction.
            if database.access.isObstructed { try database.checkObstruction(for: nil) }
        } else if isInside, !isSilent, database.transactionLog.isCommit(statement) {
            try willCommit()
        }
        // The last observer may have removed itself when it was asked or notified.
        if isInstalled { begin(statement, isInside: isInside, isSilent: isSilent, audience) }
    }

    @inline(__always)
    private func begin(
        _ statement: Statement, isInside: Bool, isSilent: Bool, _ audience: Unretained<Audience>?
    ) {
        let isOnlyRun = runs.isEmpty
        runs.add().use {
            $0.begin(
                statement, depth: database.callbackDepth, isInside: isInside, isSilent: isSilent, audience)
        }
        if let audience { observers.keep(audience) }
        hooks.install(for: audience, isOnlyRun: isOnlyRun, self)
        if !isInside, !statement.concerns.contains(.transactions) {
            if !database.hooks.commit.contains(.changes) { database.setCommitHook(for: .changes, true) }
            if observers.isDiscerning { runs.last?.use { $0.notePreparation(of: statement) } }
        }
    }

    /// Returns the number of a table's name, as SQLite reports it.
    @inline(__always)
    func number(_ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>) -> Int32 {
        tables.number(schema, table)
    }

    // MARK: - A run ends

    override func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? {
        guard let recorder else { return endRun(of: statement, error: error) }
        recorder.statementDidStep(statement, error: error)
        return recorder.statementDidEnd(statement, error: endRun(of: statement, error: error))
    }

    @inline(__always)
    private func endRun(of statement: Statement, error: (any Error)?) -> (any Error)? {
        guard let run = runs.run(of: statement) else {
            tellLoss()
            return error
        }
        let outer = runs.remove(run)
        let error = run.use { end($0, of: statement, inside: outer, error) }
        runs.recycle(run)
        if ends.hasLoss { tellLoss() }
        tidyUp()
        return error
    }

    /// Ends a run. Returns the error to throw, if any.
    private func end(
        _ run: Run, of statement: Statement, inside outer: Unretained<Run>?, _ error: (any Error)?
    ) -> (any Error)? {
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        guard isInside else { return endTransaction(run, of: statement, inside: outer, error) }
        if observers.isEnding { observers.setEnding(false) }
        if error == nil, statement.concerns.contains(.transactions) { followSavepoints(statement) }
        if !run.events.isEmpty { pass(run, to: outer, error) }
        return error
    }

    /// Ends a run that has ended the transaction, or that ran outside of one.
    @inline(never)
    private func endTransaction(
        _ run: Run, of statement: Statement, inside outer: Unretained<Run>?, _ error: (any Error)?
    ) -> (any Error)? {
        let failure = run.veto ?? error
        if run.mayBeOutdated, (try? database.schemaGeneration) != run.schemaGeneration {
            observers.tellSchemaMayHaveChanged()
        }
        if run.wasInsideTransaction {
            let isCommitted = failure == nil && statement.effects.transaction?.commits == true
            complete(isCommitted: isCommitted, isSilent: run.isSilent)
        } else if run.isCommitting {
            let isCommitted = run.veto == nil && isCommitted(error)
            // These events were added after the commit.
            if isCommitted { tell(run.events.events) }
            complete(isCommitted: isCommitted, isSilent: run.isSilent)
        } else if runs.isEmpty {
            // The statement has written nothing, or SQLite has undone everything. Or it is no
            // transaction, such as VACUUM.
            held.removeAll()
            if failure == nil { observers.tellMayHaveChanged() }
        } else {
            // Another statement that writes is still running. It will commit for both.
            pass(run, to: outer, error)
        }
        return failure
    }

    /// Whether an autocommit statement whose commit had begun was committed.
    private func isCommitted(_ error: (any Error)?) -> Bool {
        // A statement that fails with OR FAIL commits its earlier changes. A failed commit is no
        // constraint error.
        guard let error else { return true }
        if database.refusedCommit != nil { return false }
        return sqlite3_changes(database.pointer) > 0
            || (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT
    }

    /// Passes on the events of an ended run.
    private func pass(_ run: Run, to outer: Unretained<Run>?, _ error: (any Error)?) {
        if error != nil, sqlite3_changes(database.pointer) == 0 {
            let survivors = Survivors(database: database, tables: tables, columns: observers.columns)
            run.events.replace(with: survivors.find(among: run.events.events))
        }
        guard !run.events.isEmpty else { return }
        if let outer {
            for var event in run.events.events {
                event.marks.insert(.nested)
                outer.use { $0.events.append(event) }
            }
        } else if !run.wasInsideTransaction || isSavepointOpen {
            held.append(contentsOf: run.events.events, after: lastSavepoint)
        } else {
            tell(run.events.events)
        }
    }

    @inline(__always)
    private var isSavepointOpen: Bool {
        databaseReference.use { $0.withTransactionLog { $0.savepoints.depth } } > 0
    }

    private var lastSavepoint: Int { database.transactionLog.savepoints.lastNumber }

    /// Delivers events to the interested observers. Using the database is forbidden meanwhile, so
    /// no events are added.
    private func tell(_ events: UnsafeBufferPointer<RowEvent>) {
        databaseReference.use { database in
            database.access.forbidding { for index in events.indices { tell(events, index) } }
        }
    }

    private func tell(_ events: [RowEvent]) { if !events.isEmpty { events.withUnsafeBufferPointer(tell) } }

    private func tell(_ events: UnsafeBufferPointer<RowEvent>, _ index: Int) {
        events[index].audience.use { audience in
            if events[index].marks.contains(.undetected) { return audience.tellUndetectedChange() }
            audience.withRoute(events[index].kind, events[index].table, tables) { route in
                let told = DatabaseEvent(events[index].kind, events[index].rowID, route)
                for wanted in 0..<route.wantedReferences.count {
                    route.wantedReferences[wanted].use { observer in
                        if !observer.options.isEmpty {
                            observer.tell(told, events[index], route)
                        } else if !events[index].marks.contains(.hidden) {
                            observer.tell(told)
                        }
                    }
                }
            }
        }
    }

    /// Follows a statement that has opened or ended a savepoint. The transaction layer has
    /// processed it already.
    private func followSavepoints(_ statement: Statement) {
        let savepoints = database.transactionLog.savepoints
        switch statement.effects.transaction {
        case .release:
            guard savepoints.depth == 0, !held.isEmpty else { return }
            tell(held.takeAll())
        case .rollbackTo:
            guard let savepoint = savepoints.innermost else { return }
            _ = held.takeElements(since: savepoint)
            if ends.rollBackHooks(since: savepoint) { observersDidChange() }
        case .begin, .commit, .rollback, .savepoint, nil: break
        }
    }

    // MARK: - A transaction ends

    /// Called when a statement is about to commit. A veto rolls back.
    private func willCommit() throws {
        tell(held.takeAll())
        do {
            try observers.askForVeto(on: database)
        } catch {
            try? database.rollback()
            throw error
        }
    }

    override func silently(_ body: () -> Void) {
        let installed = hooks
        let wasPaused = recorder?.isPaused ?? false
        hooks.restore(UpdateHooks(), self)
        recorder?.isPaused = true
        body()
        recorder?.isPaused = wasPaused
        hooks.restore(installed, self)
    }

    /// Called when the transaction commits, or a statement outside of one. Returns whether it may.
    override func commitHookDidFire() -> Bool {
        guard let run = currentRun, run.use({ !$0.wasInsideTransaction }) else { return true }
        run.use { $0.isCommitting = true }
        do {
            tell(held.takeAll() + runs.takeEvents())
            try observers.askForVeto(on: database)
            return true
        } catch {
            run.use { $0.veto = error }
            return false
        }
    }

    /// Drops everything held after a transaction has ended. Statements that still run belong to no
    /// other transaction.
    func forgetTransaction() {
        held.removeAll()
        runs.removeAll()
        observers.releaseAudiences()
    }

    /// Reports an unknown change along with the changes of a run, or else with those of a
    /// savepoint.
    func tellUndetectedChange(to audience: Audience, with run: Unretained<Run>?) {
        let reference = Unretained(audience)
        observers.keep(reference)
        let event = RowEvent(undetectedBy: reference)
        if let run {
            run.use { $0.events.append(event) }
        } else if isSavepointOpen {
            held.append(event, after: lastSavepoint)
        } else {
            tell([event])
        }
    }

    #if DEBUG
    /// Changes the held state, so that tests can check the reported violations.
    func _corrupt(
        _ change: (inout MarkedLog<RowEvent>, inout RunStack, inout UpdateHooks) throws -> Void
    ) rethrows {
        try change(&held, &runs, &hooks)
    }
    #endif

    // MARK: - Notifications outside of runs

    override func statementWillBegin() { tellEnds() }
    override func statementDidFail() { tellLoss() }
    override func schemaDidChange() {
        observers.askAgain()
        // (In a transaction, its commit does so.)
        if sqlite3_get_autocommit(database.pointer) != 0 { observers.tellMayHaveChanged() }
    }
    override func changesWereLost(isTransaction: Bool) { lose(isTransaction: isTransaction) }
    override func effectsDidChange(of statement: Statement, from old: StatementEffects) {
        tellMissedChanges(of: statement, from: old)
    }
    override func tableDidChange(_ name: String) throws {
        recorder?.tableDidChange(name)
        tellUndetectedChanges(try DatabaseRegion(table: name).eventKinds(database))
    }

    // MARK: - Installing and uninstalling

    /// Called when the last observer is removed.
    func uninstall() {
        database.fill(.tellingBroker, with: nil)
        held.removeAll()
        observers.setEnding(false)
        guard !database.isClosed else { return }
        hooks.remove(self)
        if !database.tablesWithNotifiedDeletions.isEmpty { database.tablesWithNotifiedDeletions = [] }
    }
}
