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

    /// What the statement does to the database: SQLite tells when it prepares the statement.
    @exclusivity(unchecked) private(set) var effects: StatementEffects { didSet { observationPlan = nil } }
    /// The state of the schema that these are the effects in, or 0 where that is not known.
    @exclusivity(unchecked) var effectsGeneration: UInt64

    /// Whether observers hear nothing of what the statement writes.
    private var hidesWrites = false
    func hideWrites() {
        hidesWrites = true
        effects.writes = []
    }

    /// What is kept of the effects: a slot for the layer of observation.
    @exclusivity(unchecked) var observationPlan: AnyObject? {
        didSet { observationReference = observationPlan.map { Unmanaged.passUnretained($0) } }
    }
    @exclusivity(unchecked) private(set) var observationReference: Unmanaged<AnyObject>?

    /// Whether the statement writes nothing: see `sqlite3_stmt_readonly()`.
    public let isReadonly: Bool

    /// The number of parameters.
    let parameterCount: Int

    /// The arguments bound last.
    @exclusivity(unchecked) private(set) var boundArguments = StatementArguments()
    @exclusivity(unchecked) private var isBound: Bool

    /// The current row.
    @usableFromInline let row: LiveRow

    enum Phase: UInt8 {
        case idle
        /// A run has begun, and nothing has been executed.
        case begun
        /// The listener has answered for SQLite: nothing is executed.
        case skipped
        case running
        /// The run was stopped, with its transaction.
        case stopped
        /// The run was stopped, with its access.
        case orphaned

        /// Whether the statement is among those that run.
        @inline(__always)
        var isLinked: Bool { self == .running || self == .begun || self == .skipped }
    }
    @exclusivity(unchecked) var phase = Phase.idle
    /// Whether the listener is told of the runs: they open or end transactions, or change the schema.
    let concernsListener: Bool
    let concernsTransaction: Bool
    /// Whether the observer is told of the runs: they write, or open or end transactions.
    let concernsObserver: Bool
    @exclusivity(unchecked) private var isFirstStep = false
    @exclusivity(unchecked) private var preparationCount: Int32 = 0
    #if DEBUG
    /// What the bypass advisor knew when it looked at the statement, or -1 for one that it never looks at.
    @exclusivity(unchecked) var adviceVersion = 0
    #endif

    // The statements that run are linked, so that they can be stopped together. Whoever runs a statement holds it.
    @exclusivity(unchecked) var nextRunning: Unmanaged<Statement>?
    @exclusivity(unchecked) var previousRunning: Unmanaged<Statement>?

    /// Takes ownership of a prepared statement.
    init(_ pointer: OpaquePointer, sql: String, effects: StatementEffects, database: Database) {
        sqliteStatement = pointer
        self.sql = sql
        self.effects = effects
        self.database = database
        effectsGeneration = database.preparedSchemaGeneration
        // To explain a statement is not to execute it.
        let isExplained = sqlite3_stmt_isexplain(pointer) != 0
        isReadonly = sqlite3_stmt_readonly(pointer) != 0 || isExplained
        concernsTransaction = effects.transaction != nil
        concernsListener =
            (concernsTransaction || effects.changesSchema || effects.changesRules) && !isExplained
        concernsObserver = (concernsTransaction || !isReadonly) && !isExplained
        parameterCount = Int(sqlite3_bind_parameter_count(pointer))
        isBound = parameterCount == 0
        row = LiveRow.make(statement: pointer, sql: sql, connection: database)
    }

    deinit {
        row.recycle()
        if database.isAccessed {
            sqlite3_finalize(sqliteStatement)
        } else {
            database.leave(.statement(ParkedStatement(pointer: sqliteStatement)))
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

    /// Binds arguments for the runs to come.
    ///
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
        if value.isLarge { database.hasLargeBindings = true }
        let code = value.bind(to: sqliteStatement, at: Int32(truncatingIfNeeded: index))
        if code != SQLITE_OK { throw database.error(code, sql: sql) }
    }

    // MARK: - Running

    /// Executes the statement, and drops the rows that it may give.
    ///
    /// - Parameter arguments: The arguments to bind. When there are none, those bound last are used again.
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
            try bind(StatementArguments())
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
        if database.isObstructed.load(ordering: .relaxed) { try checkObstruction() }
    }

    /// What is owed to observers is done before the statement is bound: they may use it.
    @inline(never)
    private func checkObstruction() throws {
        if database.owesObserver, concernsObserver, let observer = database.statementObserver {
            observer.statementWillBegin()
            guard phase == .idle || phase == .begun else { throw busyError() }
        }
        try database.checkObstruction(for: effects.transaction)
    }

    @inline(__always)
    private func start() throws {
        if !isReadonly, database.isReadOnlyScope, !effects.leavesContent { throw readOnlyError() }
        #if DEBUG
        if adviceVersion != database.adviceVersion, !isReadonly { database.advise(on: self) }
        #endif
        var next = Phase.begun
        if concernsListener, let listener = database.listenerReference {
            next = try listener.use { try $0.statementWillRun(self) } ? .begun : .skipped
        }
        if database.lastBegun == nil { database.functionError = nil }
        link()
        phase = next
    }

    /// Whether a run has begun.
    var isInUse: Bool { phase != .idle }

    /// Moves to the next row. Returns false when there is none: the run has ended.
    @usableFromInline
    func step() throws -> Bool {
        database.checkAccess()
        if phase != .running, try !beginStepping() { return false }
        let code = sqlite3_step(sqliteStatement)
        if code == SQLITE_ROW {
            if isFirstStep { noticePreparation() }
            row.moveOn()
            return true
        }
        if code != SQLITE_DONE, isFirstStep, database.schemaFollower != nil {
            return try endOrRunAgain(failure(code))
        }
        try end(error: code == SQLITE_DONE ? nil : failure(code))
        return false
    }

    /// Returns whether there is something to execute.
    @inline(never)
    private func beginStepping() throws -> Bool {
        switch phase {
        case .begun:
            // Something may have happened since the run began.
            if database.isObstructed.load(ordering: .relaxed) {
                do { try checkObstruction() } catch { try end(error: error) }
            }
            if concernsObserver, let observer = database.observerReference {
                do { try observer.use { try $0.statementWillStep(self) } } catch { try end(error: error) }
            }
            phase = .running
            // (What opens and ends transactions depends on no schema.)
            isFirstStep = !concernsTransaction
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
            database.leave(.run(self))
            return
        }
        do {
            try end(error: nil)
        } catch {
            // Whoever stops reading is not interested in the rest, but in what was written.
            if !isReadonly, database.forgottenError == nil { database.forgottenError = error }
        }
    }

    // MARK: - The end of a run

    private func end(error: (any Error)?) throws {
        var error = error
        let code = sqlite3_reset(sqliteStatement)
        // A lone statement that gives rows commits when it ends, and the commit may fail.
        if code != SQLITE_OK, error == nil, phase == .running { error = failure(code) }
        if isFirstStep { noticePreparation() }
        let hasRun = phase != .begun
        let isObserved = concernsObserver && phase == .running
        if phase.isLinked { unlink() }
        row.moveOut()
        phase = .idle
        if concernsListener && hasRun || error != nil || database.hasNestedState || database.hasLoneState {
            return try tellOfEnd(error: error, hasRun: hasRun, isObserved: isObserved)
        }
        if isObserved, let observer = database.observerReference {
            error = observer.use { $0.statementDidEnd(self, error: nil) }
            if let error { throw error }
        }
    }

    /// Ends a run that has failed in its first step. Where it has failed since triggers of ours do not fit what another
    /// connection has made of the schema, it is run again with those that do.
    ///
    /// One that has failed for its own reasons may have called the user's functions before, and is not run again.
    @inline(never)
    private func endOrRunAgain(_ error: any Error) throws -> Bool {
        let isOutdated =
            !isReadonly && (error as? DatabaseError)?.resultCode == .SQLITE_ERROR
            && database.schemaFollower?.isOutdated == true
        do {
            try end(error: error)
            return false
        } catch {
            guard isOutdated, database.lostTransaction == nil, let follower = database.schemaFollower else {
                throw error
            }
            // (To prepare it may have the triggers follow.)
            let hasBegun =
                (try? database.prepare(sql: sql, persistent: false)) != nil && follower.isOutdated
                && !follower.hasRefused && !effects.changesSchema
            guard (try? follower.followSchema()) != nil, !hasBegun else { throw error }
            try start()
            return try step()
        }
    }

    /// SQLite prepares a statement again when the schema has changed: its columns may be others, too.
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
        if concernsObserver, phase == .running {
            database.statementObserver?.effectsDidChange(of: self, from: old)
        }
    }

    /// Learns anew what the statement does, from SQLite's present idea of the schema.
    func refreshEffects() throws { try take(database.prepare(sql: sql, persistent: false).effects) }

    private func take(_ fresh: StatementEffects) {
        effects = fresh
        if hidesWrites { effects.writes = [] }
    }
}

@available(*, unavailable, message: "a statement belongs to the access that made it")
extension Statement: Sendable {}

/// SQLITE_ABORT_ROLLBACK: what SQLite says of a statement whose transaction was rolled back.
private let abortRollback: Int32 = SQLITE_ABORT | 2 << 8
