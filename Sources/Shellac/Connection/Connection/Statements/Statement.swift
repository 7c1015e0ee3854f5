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
/// `begin` checks that the statement may run: that its thread holds the access, that the transaction is not
/// lost, that nothing writes in a read-only scope. `step` moves to the next row. The run ends when `step` has
/// no row to give or fails, or else by `abandon`. At its end SQLite's statement is reset, so that it holds
/// no lock, and the layer of transactions is told.
public final class Statement {
    /// The connection of this statement.
    public let database: Database

    /// The SQL, without the statements that may have stood around it.
    public let sql: String

    /// The statement, for what only the C API does.
    public let sqliteStatement: OpaquePointer

    /// The effects of the statement on the database: SQLite tells them when it prepares the statement.
    @exclusivity(unchecked) private(set) var effects: StatementEffects { didSet { changePlan = nil } }
    /// The state of the schema that these are the effects in, or 0 where that is not known.
    var effectsGeneration: UInt64

    /// Whether nobody hears of what the statement writes.
    private var hidesWrites = false
    func hideWrites() {
        hidesWrites = true
        effects.writes = []
    }

    /// The plan that who follows changes has made of the effects.
    @exclusivity(unchecked) var changePlan: AnyObject? {
        didSet { changePlanReference = changePlan.map { Unretained($0) } }
    }
    /// The plan, to be followed without counting: see `Unretained.use(_:)`.
    private(set) var changePlanReference: Unretained<AnyObject>?

    /// Whether the statement writes nothing: see `sqlite3_stmt_readonly()`.
    public let isReadonly: Bool

    /// The number of parameters.
    let parameterCount: Int

    /// The arguments bound last.
    @exclusivity(unchecked) private(set) var boundArguments = StatementArguments()
    private var isBound: Bool
    /// Arguments that wait for the next run, which binds them: see ``arguments``.
    @exclusivity(unchecked) private var waitingArguments: StatementArguments?

    /// The current row.
    @usableFromInline let row: LiveRow

    enum Phase: UInt8 {
        case idle
        /// A run has begun, and nothing has been executed.
        case begun
        /// Who follows transactions has answered for SQLite: nothing is executed.
        case skipped
        case running
        /// The run was stopped, with its transaction.
        case stopped
        /// The run was stopped, with its access.
        case orphaned

        /// Whether the statement is among those that run.
        var isLinked: Bool { self == .running || self == .begun || self == .skipped }
    }
    var phase = Phase.idle

    /// Whom the runs concern: see StatementFollowers.swift.
    struct Concerns: OptionSet {
        let rawValue: UInt8

        /// They open or end transactions or savepoints.
        static let transactions = Concerns(rawValue: 1)
        /// Those who follow transactions and the schema are told of them: they open or end transactions, or change the
        /// schema, or the way in which the connection works.
        static let schema = Concerns(rawValue: 2)
        /// The one that follows changes is told of them: they write, or open or end transactions.
        static let changes = Concerns(rawValue: 4)
    }
    let concerns: Concerns
    /// The generation of the row before the first run.
    let firstGeneration: UInt64
    private var isFirstStep = false
    private var preparationCount: Int32 = 0
    #if DEBUG
    /// The version of the advice when the statement was looked at, or -1 for one that nobody looks at.
    var adviceVersion = 0
    #endif

    /// What is measured of a run, where somebody hears of it.
    @exclusivity(unchecked) var measure: StatementMeasure?

    // The statements that run are linked, so that they can be stopped together. Whoever runs a statement holds it.
    var nextRunning: Unretained<Statement>?
    var previousRunning: Unretained<Statement>?

    /// Takes ownership of a prepared statement.
    init(_ pointer: OpaquePointer, sql: String, effects: StatementEffects, database: Database) {
        sqliteStatement = pointer
        self.sql = sql
        self.effects = effects
        self.database = database
        effectsGeneration = database.knownSchema.prepared
        // To explain a statement is not to execute it.
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

    /// Frees the arguments bound last.
    func releaseArguments() {
        forgetArguments()
        boundArguments = StatementArguments()
        sqlite3_clear_bindings(sqliteStatement)
    }

    /// Forgets the arguments bound last: those of who used the statement before.
    func forgetArguments() {
        isBound = parameterCount == 0
        waitingArguments = nil
    }

    // MARK: - Arguments

    /// The names of the parameters, in their order, with nil for those that have none.
    public var parameterNames: [String?] {
        (0..<parameterCount).map { index in
            sqlite3_bind_parameter_name(sqliteStatement, Int32(index) + 1).flatMap {
                // ?NNN is a position, not a name.
                $0.pointee == UInt8(ascii: "?") ? nil : String(cString: $0 + 1)
            }
        }
    }

    /// The arguments for the runs to come.
    ///
    /// Those that are set wait for the next run, and it is the run that throws where there are too many or too few, or where a name is
    /// unknown. ``setArguments(_:)`` throws at once.
    public var arguments: StatementArguments {
        get { waitingArguments ?? (isBound ? boundArguments : StatementArguments()) }
        set {
            isBound = false
            waitingArguments = newValue
        }
    }

    /// Binds arguments for the runs to come.
    ///
    /// - Parameter arguments: The arguments, instead of all that were bound before. A parameter that has a name takes the value
    ///   of that name, or else the next one that has no name.
    /// - Throws: a ``DatabaseError`` when there are too many or too few, or when a name is unknown.
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

    /// Executes the statement, and drops the rows that it may give.
    ///
    /// - Parameter arguments: The arguments to bind. When there are none, those bound last are used again.
    /// - Throws: a ``DatabaseError`` when the statement fails.
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

    /// Begins a run with values that a function binds, and that stand still until the run has ended.
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

    /// Does what is owed before the statement is bound: whoever is told may use it.
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
        // VACUUM writes the file without SQLite's commit hook, which looks for it: see FilePlace.
        if !isReadonly, effects.commitsWithoutHook { try database.checkPlace() }
        #if DEBUG
        if adviceVersion != database.advice.version, !isReadonly { database.advice.look(at: self) }
        #endif
        let next = concerns.contains(.schema) ? try announce() : .begun
        database.running.add(self)
        phase = next
    }

    /// Tells those who follow transactions and the schema that the statement is about to run.
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

    /// Moves to the next row. Returns false when there is none: the run has ended.
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

    /// Tries again to set the journal mode, which somebody else may have done meanwhile: it reads first, and raises its lock.
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
            // Something may have happened since the run began.
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
            // (What opens and ends transactions depends on no schema.)
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
            // Whoever stops reading is not interested in the rest, but in what was written.
            if !isReadonly { database.transactionState.keepCommitFailure(error) }
        }
    }

    // MARK: - The end of a run

    private func end(error: (any Error)?) throws {
        var error = error
        let code = sqlite3_reset(sqliteStatement)
        // Outside of a transaction, a statement that gives rows commits when it ends, and the commit may fail.
        if code != SQLITE_OK, error == nil, phase == .running { error = failure(code) }
        if isFirstStep { noticePreparation() }
        let hasRun = phase != .begun
        let isFollowed = concerns.contains(.changes) && phase == .running
        if phase.isLinked { database.running.remove(self) }
        row.moveOut()
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

    /// Ends a run that has failed in its first step. Where it has failed since what depends on the schema does not fit what
    /// another connection has made of it, it is run again when that does.
    ///
    /// One that has failed for its own reasons may have called the user's functions before, and is not run again.
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
            // (To prepare it may have what depends on the schema follow.)
            let hasBegun =
                (try? database.prepare(sql: sql, persistent: false)) != nil && follower.isOutdated
                && !follower.hasRefused && !effects.changesSchema
            guard (try? follower.followSchema()) != nil, !hasBegun else { throw error }
            if database.reporter != nil { beginMeasure() }
            try start()
            return try step()
        }
    }

    /// Notices that SQLite has prepared the statement again, as the schema has changed: its columns may be others, too.
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

    /// Learns anew what the statement does, from SQLite's present idea of the schema.
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

/// SQLITE_ABORT_ROLLBACK: what SQLite says of a statement whose transaction was rolled back.
private let abortRollback: Int32 = SQLITE_ABORT | 2 << 8
