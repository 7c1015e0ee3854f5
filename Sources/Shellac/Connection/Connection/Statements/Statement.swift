// Over 350 lines: because the life of a run, with its second try, is read on one page.

import CSQLite

/// A prepared statement.
///
/// ```swift
/// try dbQueue.write { db in
///     let statement = try db.makeStatement(sql: "INSERT INTO player (name, score) VALUES (?, ?)")
///     try statement.execute(arguments: ["Arthur", 1000])
///     try statement.execute(arguments: ["Barbara", 500])
/// }
/// ```
///
/// Fetch from it as from SQL: `try Player.fetchAll(statement, arguments: ["Arthur"])`.
///
/// ## The life of a run
///
/// `begin` checks that the statement may run. Its thread must hold the access, and the transaction
/// must not be lost. A write must not be in a read-only scope. `step` moves to the next row. The
/// run ends when `step` finds no more rows or fails, or else with `abandon`. At its end SQLite's
/// statement is reset, so that it holds no lock, and the layer of transactions is notified.
public final class Statement {
    /// The connection of this statement.
    public let database: Database

    /// The SQL, without any surrounding statements.
    public let sql: String

    /// The underlying statement, for features that only the C API offers.
    public let sqliteStatement: OpaquePointer

    /// The effects of the statement on the database, which SQLite reports during the preparation.
    @exclusivity(unchecked) private(set) var effects: StatementEffects { didSet { changePlan = nil } }
    /// The state of the schema for which these effects are valid, or 0 if unknown.
    var effectsGeneration: UInt64

    /// Whether the writes of the statement are hidden from change handlers.
    private var hidesWrites = false
    func hideWrites() {
        hidesWrites = true
        effects.writes = []
    }

    /// The plan that the follower of changes has derived from the effects.
    @exclusivity(unchecked) var changePlan: AnyObject? {
        didSet { changePlanReference = changePlan.map { Unretained($0) } }
    }
    /// The plan, without reference counting: see `Unretained.use(_:)`.
    private(set) var changePlanReference: Unretained<AnyObject>?

    /// Whether the statement writes nothing: see `sqlite3_stmt_readonly()`.
    public let isReadonly: Bool

    /// The number of parameters.
    let parameterCount: Int

    /// The arguments that were bound last.
    @exclusivity(unchecked) private(set) var boundArguments = StatementArguments()
    private var isBound: Bool
    /// The arguments that the next run will bind: see ``arguments``.
    @exclusivity(unchecked) private var waitingArguments: StatementArguments?

    /// The current row.
    @usableFromInline let row: LiveRow

    enum Phase: UInt8 {
        case idle
        /// A run has begun, and nothing has been executed.
        case begun
        /// The follower of transactions has answered in place of SQLite, and nothing is executed.
        case skipped
        case running
        /// The run was stopped, together with its transaction.
        case stopped
        /// The run was stopped, together with its access.
        case orphaned

        /// Whether the statement is in the list of running statements.
        var isLinked: Bool { self == .running || self == .begun || self == .skipped }
    }
    var phase = Phase.idle

    /// The followers that must be notified of the runs: see StatementFollowers.swift.
    struct Concerns: OptionSet {
        let rawValue: UInt8

        /// The runs open or end transactions or savepoints.
        static let transactions = Concerns(rawValue: 1)
        /// The followers of transactions and the schema are notified. The runs open or end
        /// transactions, or change the schema, or the connection's behaviour.
        static let schema = Concerns(rawValue: 2)
        /// The follower of changes is notified. The runs write, or open or end transactions.
        static let changes = Concerns(rawValue: 4)
    }
    let concerns: Concerns
    /// The generation of the row before the first run.
    let firstGeneration: UInt64
    private var isFirstStep = false
    private var preparationCount: Int32 = 0
    #if DEBUG
    /// The version of the advice when the statement was checked, or -1 for an exempt statement.
    var adviceVersion = 0
    #endif

    /// The measurement of a run, if runs are reported.
    @exclusivity(unchecked) var measure: StatementMeasure?

    // Running statements are linked, so that they can be stopped together. The caller that runs a
    // statement retains it.
    var nextRunning: Unretained<Statement>?
    var previousRunning: Unretained<Statement>?

    /// Takes ownership of a prepared statement.
    init(_ pointer: OpaquePointer, sql: String, effects: StatementEffects, database: Database) {
        sqliteStatement = pointer
        self.sql = sql
        self.effects = effects
        self.database = database
        effectsGeneration = database.knownSchema.prepared
        // Explaining a statement does not execute it.
        let isExplained = sqlite3_stmt_isexplain(pointer) != 0
        isReadonly = sqlite3_stmt_readonly(pointer) != 0 || isExplained
        concerns = Concerns(effects, isReadonly: isReadonly, isExplained: isExplained)
        parameterCount = Int(sqlite3_bind_parameter_count(pointer))
        isBound = parameterCount == 0
        row = LiveRow.make(statement: pointer, sql: sql, connection: database)
        firstGeneration = row.generation
    }

    deinit {
        row.recycle()
        if database.isAccessed {
            sqlite3_finalize(sqliteStatement)
        } else {
            database.deferredCleanups.add(.finalize(ParkedStatement(pointer: sqliteStatement)))
        }
    }

    /// Frees the arguments that were bound last.
    func releaseArguments() {
        forgetArguments()
        boundArguments = StatementArguments()
        sqlite3_clear_bindings(sqliteStatement)
    }

    /// Forgets the arguments that were bound last, by the previous user of the statement.
    func forgetArguments() {
        isBound = parameterCount == 0
        waitingArguments = nil
    }

    // MARK: - Arguments

    /// The names of the parameters, in order, with nil for nameless parameters.
    public var parameterNames: [String?] {
        (0..<parameterCount).map { index in
            sqlite3_bind_parameter_name(sqliteStatement, Int32(index) + 1).flatMap {
                // ?NNN is a position, not a name.
                $0.pointee == UInt8(ascii: "?") ? nil : String(cString: $0 + 1)
            }
        }
    }

    /// The arguments for later runs.
    ///
    /// New arguments are bound by the next run. That run throws an error if there are too many or
    /// too few, or if a name is unknown. ``setArguments(_:)`` throws at once.
    public var arguments: StatementArguments {
        get { waitingArguments ?? (isBound ? boundArguments : StatementArguments()) }
        set {
            isBound = false
            waitingArguments = newValue
        }
    }

    /// Binds arguments for later runs.
    ///
    /// - Parameter arguments: The arguments, which replace all previous ones. A named parameter
    ///   takes the value of that name, or else the next positional value.
    /// - Throws: a ``DatabaseError`` if there are too many or too few, or if a name is unknown.
    public func setArguments(_ arguments: StatementArguments) throws {
        database.checkAccess()
        guard phase == .idle else { throw busyError() }
        try bind(arguments)
    }

    @inline(__always)
    private func bind(_ arguments: StatementArguments) throws {
        if arguments.namedValues == nil, arguments.positional.count == parameterCount {
            try bindValues(arguments.positional)
        } else {
            try bindValues(.many(arguments.resolved(for: self)))
        }
        boundArguments = arguments
        waitingArguments = nil
        isBound = true
    }

    private func bindValues(_ values: PositionalValues) throws {
        isBound = false
        switch values {
        case .one(let value): try bindValue(value, at: 1)
        case .many(let values):
            for index in values.indices { try bindValue(values[index], at: index &+ 1) }
        }
    }

    @inline(__always)
    private func bindValue(_ value: DatabaseValue, at index: Int) throws {
        if value.isLarge { database.statementCache.mayHoldLargeValues = true }
        let code = value.bind(to: sqliteStatement, at: Int32(truncatingIfNeeded: index))
        if code != SQLITE_OK { throw database.error(code, sql: sql) }
    }

    // MARK: - Running

    /// Executes the statement, and ignores the rows that it may return.
    ///
    /// - Parameter arguments: The arguments to bind. If nil, the previous arguments are used again.
    /// - Throws: a ``DatabaseError`` if the statement fails.
    public func execute(arguments: StatementArguments? = nil) throws {
        try begin(arguments)
        while try step() {}
    }

    /// Begins a run.
    @usableFromInline
    func begin(_ arguments: StatementArguments?) throws {
        try checkIdle()
        if let arguments {
            try bind(arguments)
        } else if !isBound {
            try bind(waitingArguments ?? StatementArguments())
        }
        try start()
    }

    /// Begins a run with values that a function binds. The values must stay in place until the run
    /// has ended.
    @inline(__always)
    func begin(binding bind: (OpaquePointer) -> Int32) throws {
        try checkIdle()
        isBound = false
        let code = bind(sqliteStatement)
        if code != SQLITE_OK { throw database.error(code, sql: sql) }
        try start()
    }

    @inline(__always)
    private func checkIdle() throws {
        database.checkAccess()
        guard phase == .idle else { throw busyError() }
        if database.access.isObstructed {
            if !database.isOnlyWatched || database.access.isStopped {
                try checkObstruction()
                try database.readRecorder?.note(self)
            }
            if let activity = database.activity, effects.transaction == nil { activity.note(sql) }
            if database.reporter != nil { beginMeasure() }
        }
    }

    /// Notifies followers before the statement is bound, because they may use it themselves.
    @inline(never)
    private func checkObstruction() throws {
        if database.owed.contains(.statementWillBegin), concerns.contains(.changes),
            let changes = database.object(in: .changes)
        {
            changes.object.statementWillBegin()
            guard phase == .idle || phase == .begun else { throw busyError() }
        }
        try database.checkObstruction(for: effects.transaction)
        if !isReadonly, let place = database.hooks.place, let refusal = place.refusal, place.loss != nil {
            throw refusal
        }
    }

    @inline(__always)
    private func start() throws {
        if !isReadonly, database.isReadOnlyScope, !effects.leavesContent { throw readOnlyError() }
        // VACUUM writes the file without calling SQLite's commit hook, which checks its place: see
        // FilePlace.
        if !isReadonly, effects.commitsWithoutHook { try database.checkPlace() }
        #if DEBUG
        if adviceVersion != database.advice.version, !isReadonly { database.advice.look(at: self) }
        #endif
        let next = concerns.contains(.schema) ? try announce() : .begun
        database.running.add(self)
        phase = next
    }

    /// Notifies the followers of transactions and the schema that the statement is about to
    /// run.
    @inline(__always)
    private func announce() throws -> Phase {
        if let change = effects.journalMode { try database.check(change, sql: sql) }
        if let transactions = database.object(in: .transactions) {
            try transactions.use { try $0.statementWillRun(self) }
        }
        if let schema = database.object(in: .schema) { try schema.use { try $0.statementWillRun(self) } }
        if database.lostTransaction != nil, let transactions = database.object(in: .transactions),
            transactions.use({ $0.answers(for: self) })
        {
            return .skipped
        }
        return .begun
    }

    /// Whether a run has begun.
    var isInUse: Bool { phase != .idle }

    /// Moves to the next row. Returns false if there is none: the run has ended.
    @usableFromInline
    func step() throws -> Bool {
        database.checkAccess()
        if phase != .running, try !beginStepping() { return false }
        var code = sqlite3_step(sqliteStatement)
        if code != SQLITE_ROW, code & 0xFF == SQLITE_BUSY, effects.journalMode != nil {
            code = tryAgain(code)
        }
        if code == SQLITE_ROW {
            if isFirstStep { noticePreparation() }
            row.moveOn()
            return true
        }
        if code != SQLITE_DONE, isFirstStep, database.object(in: .schema) != nil {
            return try endOrRunAgain(failure(code))
        }
        try end(error: code == SQLITE_DONE ? nil : failure(code))
        return false
    }

    /// Retries a change of the journal mode, which another connection may attempt at the same time.
    /// Such a statement first reads, and then raises its lock.
    @inline(never)
    private func tryAgain(_ code: Int32) -> Int32 {
        database.hooks.busyHandler?.tryAgain(code) {
            sqlite3_reset(sqliteStatement)
            return sqlite3_step(sqliteStatement)
        } ?? code
    }

    /// Returns whether there is something to execute.
    @inline(never)
    private func beginStepping() throws -> Bool {
        switch phase {
        case .begun:
            // The situation may have changed since the run began.
            if database.access.isObstructed {
                do { try checkObstruction() } catch { try end(error: error) }
            }
            if concerns.contains(.changes) {
                database.contentVersion.note(effects, isReadonly: isReadonly)
                if let changes = database.object(in: .changes) {
                    do { try changes.use { try $0.statementWillStep(self) } } catch { try end(error: error) }
                }
            }
            phase = .running
            // (Statements that begin or end transactions do not depend on the schema.)
            isFirstStep = !concerns.contains(.transactions)
            return true
        case .skipped: try end(error: nil)
        case .stopped:
            let error = failure(abortRollback)
            try end(error: error)
        case .orphaned: database.trapOutsideOfAccess()
        case .idle, .running: break
        }
        return false
    }

    /// Ends a run before its last row.
    @usableFromInline
    func abandon() {
        guard phase != .idle else { return }
        guard database.isAccessed else {
            database.deferredCleanups.add(.abandon(self))
            return
        }
        do {
            try end(error: nil)
        } catch {
            // A caller that stops reading does not care about the remaining rows, but about its
            // writes.
            if !isReadonly { database.transactionState.keepCommitFailure(error) }
        }
    }

    // MARK: - The end of a run

    private func end(error: (any Error)?) throws {
        var error = error
        let code = sqlite3_reset(sqliteStatement)
        // Outside of a transaction, a statement that returns rows commits when it ends, and the
        // commit may fail.
        if code != SQLITE_OK, error == nil, phase == .running { error = failure(code) }
        if isFirstStep { noticePreparation() }
        let hasRun = phase != .begun
        let isFollowed = concerns.contains(.changes) && phase == .running
        if phase.isLinked { database.running.remove(self) }
        row.invalidate()
        phase = .idle
        if concerns.contains(.schema) && hasRun || error != nil
            || !database.owed.isDisjoint(with: .atEndOfStatement)
        {
            return try tellOfEnd(error: error, hasRun: hasRun, isFollowed: isFollowed)
        }
        if isFollowed, let changes = database.object(in: .changes) {
            error = changes.use { $0.statementDidEnd(self, error: nil) }
            if let error { throw error }
        }
    }

    /// Ends a run that has failed in its first step. The failure may come from objects that depend
    /// on the schema and that do not fit another connection's changes. The statement is then run
    /// again after these objects are updated.
    ///
    /// A statement that has failed for its own reasons may already have called the user's
    /// functions, and is not run again.
    @inline(never)
    private func endOrRunAgain(_ error: any Error) throws -> Bool {
        let isOutdated =
            !isReadonly && (error as? DatabaseError)?.resultCode == .SQLITE_ERROR
            && database.object(in: .schema)?.object.isOutdated == true
        do {
            try end(error: error)
            return false
        } catch {
            guard isOutdated, database.lostTransaction == nil,
                let follower = database.object(in: .schema)?.object
            else { throw error }
            // (Preparing the statement may already update the objects that depend on the schema.)
            let hasBegun =
                (try? database.prepare(sql: sql, persistent: false)) != nil && follower.isOutdated
                && !follower.hasRefused && !effects.changesSchema
            guard (try? follower.followSchema()) != nil, !hasBegun else { throw error }
            if database.reporter != nil { beginMeasure() }
            try start()
            return try step()
        }
    }

    /// Handles a repeated preparation by SQLite after a change of the schema, which may also change
    /// the columns.
    @inline(never)
    private func noticePreparation() {
        isFirstStep = false
        let count = sqlite3_stmt_status(sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0)
        guard count != preparationCount else { return }
        preparationCount = count
        row.forgetColumns()
        let old = effects
        guard let fresh = try? database.prepare(sql: sql, persistent: false), fresh.effects != old else {
            return
        }
        take(fresh.effects)
        effectsGeneration = 0
        if concerns.contains(.changes), phase == .running {
            database.object(in: .changes)?.object.effectsDidChange(of: self, from: old)
        }
    }

    /// Updates the statement's effects from SQLite's current view of the schema.
    func refreshEffects() throws { try take(database.prepare(sql: sql, persistent: false).effects) }

    private func take(_ fresh: StatementEffects) {
        effects = fresh
        if hidesWrites { effects.writes = [] }
    }
}

extension Statement.Concerns {
    init(_ effects: StatementEffects, isReadonly: Bool, isExplained: Bool) {
        self = []
        if effects.transaction != nil { insert(.transactions) }
        if isExplained { return }
        if effects.transaction != nil || effects.changesSchema || effects.changesRules
            || effects.journalMode != nil
        {
            insert(.schema)
        }
        if effects.transaction != nil || !isReadonly { insert(.changes) }
    }
}

@available(*, unavailable, message: "a statement belongs to the access that made it")
extension Statement: Sendable {}

/// SQLITE_ABORT_ROLLBACK: SQLite's code for a statement whose transaction was rolled back.
private let abortRollback: Int32 = SQLITE_ABORT | 2 << 8
