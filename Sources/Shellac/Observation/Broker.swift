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
/// The layer of transactions hears of the end of a statement first: objects have their state back when observers are
/// told of a rollback.
final class Broker: StatementParticipant {
    unowned(unsafe) let database: Database  // which owns this
    /// The same, to be used without counting a reference.
    let databaseReference: Unmanaged<Database>

    /// The observers, in the order of their addition.
    @exclusivity(unchecked) private(set) var observations: [Observation] = []
    /// Changes with the list of observers.
    @exclusivity(unchecked) private(set) var version: UInt = 1
    /// Changes whenever observers are to be asked again.
    @exclusivity(unchecked) private(set) var moment: UInt = 1
    @exclusivity(unchecked) var hooks: [TransactionHook] = []
    /// Those who have not been told yet of the end of a transaction. The next one is the last.
    @exclusivity(unchecked) var ends: [End] = []
    /// Whether the transaction is about to end: observers that are added now hear nothing of it.
    @exclusivity(unchecked) private(set) var isEnding = false
    /// Whether SQLite has ended the transaction by itself, and observers are to be told when its statement has ended.
    @exclusivity(unchecked) var untoldLoss: Loss?

    /// The runs that have begun, in that order.
    @exclusivity(unchecked) var runs: [Run] = []
    /// A run that has ended, to be used again.
    @exclusivity(unchecked) var spareRun: Run?
    /// The only run, in a transaction, its events, and who wants to hear of them: it is put with ``runs`` when another
    /// one begins, and does without what the pre-update hook tells.
    @exclusivity(unchecked) var loneRun: LoneRun?
    @exclusivity(unchecked) var loneEvents = LoneEvents()
    /// (It is kept between runs.)
    @exclusivity(unchecked) var loneAudience: Audience? {
        didSet { loneAudienceReference = loneAudience.map { Unmanaged.passUnretained($0) } }
    }
    @exclusivity(unchecked) private(set) var loneAudienceReference: Unmanaged<Audience>?

    /// The events that wait for the end of a savepoint, or of a lone statement.
    @exclusivity(unchecked) var held: [HeldEvent] = []
    /// Where the events of each savepoint begin.
    @exclusivity(unchecked) var marks: [(savepoint: Int, start: Int)] = []
    @exclusivity(unchecked) var tables = TableNames()
    /// The columns of the tables whose rows are told with their values, by the number of the table's name, and the state
    /// of the schema that they are of.
    @exclusivity(unchecked) var columns: [Int32: StoredColumns] = [:]
    @exclusivity(unchecked) var schemaGeneration: UInt64 = 0

    @exclusivity(unchecked) var hasUpdateHook = false
    @exclusivity(unchecked) var hasPreUpdateHook = false
    @exclusivity(unchecked) var hasCommitHook = false
    @exclusivity(unchecked) var hasFreedObserver = false

    init(_ database: Database) {
        self.database = database
        databaseReference = Unmanaged.passUnretained(database)
    }

    // MARK: - The observers

    func add(_ observation: Observation) {
        observation.isLate = isEnding
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
        askAgain()
    }

    /// Observers are asked anew of the statements that run from now on.
    func askAgain() { moment &+= 1 }

    private func observationsDidChange() {
        version &+= 1
        settle()
    }

    /// Observers are asked anew; without any, and without hooks, nothing is left behind.
    func settle() {
        askAgain()
        if isUseless { leave() } else if !isInstalled { database.fill(.tellingBroker, with: self) }
    }

    @inline(__always)
    var isUseless: Bool {
        observations.isEmpty && hooks.isEmpty && runs.isEmpty && loneRun == nil && ends.isEmpty
            && untoldLoss == nil
    }

    /// Whether statements are heard of.
    var isInstalled: Bool { database.object(in: .tellingBroker) != nil }

    /// The transaction is about to end, or goes on after all: SQLite has refused to commit.
    func setEnding(_ isEnding: Bool) {
        self.isEnding = isEnding
        if !isEnding { for observation in observations { observation.isLate = false } }
    }

    /// A run has ended.
    func tidyUp() {
        if hasFreedObserver {
            hasFreedObserver = false
            removeObservations { $0.observer == nil }
        }
        if isUseless { leave() }
    }

    /// Nobody observes any more.
    private func leave() {
        database.fill(.tellingBroker, with: nil)
        held.removeAll()
        marks.removeAll()
        isEnding = false
        guard !database.isClosed else { return }
        setUpdateHook(false)
        setPreUpdateHook(false)
        if hasCommitHook {
            sqlite3_commit_hook(database.pointer, nil, nil)
            hasCommitHook = false
        }
        if !database.tablesWithNotifiedDeletions.isEmpty { database.tablesWithNotifiedDeletions = [] }
    }

    // MARK: - The beginning and the end of a run

    override func statementWillStep(_ statement: Statement) throws {
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        if isInside, beginLoneRunAgain(of: statement) { return }
        let isSilent =
            database.isReadOnlyScope && sqlite3_txn_state(database.pointer, nil) != SQLITE_TXN_WRITE
        var audience: Audience?
        if !statement.concerns.contains(.transactions) {
            if !observations.isEmpty { audience = try self.audience(of: statement, isInside: isInside) }
            if isInside, !isSilent, loneRun == nil, runs.isEmpty, audience?.needsPreUpdateHook != true {
                if !isInstalled { return }
                if let audience { loneAudience = audience }
                return beginLoneRun(of: statement, hasAudience: audience != nil)
            }
        } else if isInside, !isSilent {
            switch statement.effects.transaction {
            case .commit: try willCommit()
            case .release(let name) where database.transactionLog.isCommit(releasing: name):
                try willCommit()
            default: break
            }
        }
        try begin(statement, isInside: isInside, isSilent: isSilent, audience)
    }

    override func tableDidChange(_ name: String) throws {
        tellUndetectedChanges(try DatabaseRegion(table: name).eventKinds(database))
    }

    override func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? {
        guard let loneRun, loneRun.statement == ObjectIdentifier(statement) else {
            let error = endRun(of: statement, error)
            if untoldLoss != nil { tellLoss() }
            return error
        }
        endLoneRun(error)
        return error
    }

    override func schemaDidChange() { askAgain() }

    override func effectsDidChange(of statement: Statement, from old: StatementEffects) {
        tellMissedChanges(of: statement, from: old)
    }

    override func statementDidFail() { if untoldLoss != nil { tellLoss() } }

    override func statementWillBegin() { tellEnds() }

    override func changesWereLost(isTransaction: Bool) {
        forgetTransaction()
        guard isTransaction else { return }
        setEnding(true)
        untoldLoss = Loss(isSilent: database.transactionLog.wasReadOnly)
    }

    private func begin(
        _ statement: Statement, isInside: Bool, isSilent: Bool, _ audience: Audience?
    ) throws {
        // Whoever was asked, or told, may have been the last one, and have left.
        if !isInstalled { return }
        putLoneRunWithOthers()
        let run = spareRun ?? Run(ObjectIdentifier(statement))
        spareRun = nil
        run.statement = ObjectIdentifier(statement)
        run.depth = database.callbackDepth
        run.wasInsideTransaction = isInside
        run.isSilent = isSilent
        run.audience = audience
        runs.append(run)
        if let audience {
            if !hasUpdateHook { setUpdateHook(true) }
            if audience.needsPreUpdateHook, !hasPreUpdateHook { setPreUpdateHook(true) }
        }
        if runs.count == 1 {
            if hasUpdateHook, audience == nil { setUpdateHook(false) }
            if hasPreUpdateHook, audience?.needsPreUpdateHook != true { setPreUpdateHook(false) }
        }
        if !isInside, !hasCommitHook, !statement.concerns.contains(.transactions) { installCommitHook() }
    }
}
