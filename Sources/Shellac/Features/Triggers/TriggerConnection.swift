// Over 350 lines: because whatever makes triggers follow the schema shares what is known of those that are there.

import CSQLite

/// The state that a connection keeps for triggers which call Swift: the callbacks that were asked for, and the
/// temporary triggers that run them, and those of a ``TriggerSource``.
///
/// ## The life of such a trigger
///
/// It is temporary, since other connections lack the functions that it calls, and belongs to a table of `main`. What is
/// there is compared with what is wanted:
///
/// - when a callback is added, or removed, and when what a source wants has changed;
/// - right after each statement of this connection that changes the schema, in its transaction. A table that is dropped
///   takes its triggers along; one that is created again, or altered, has them again. A rollback gives both back;
/// - after a rollback, which may have taken triggers along that are still wanted, or brought others back: what was
///   asked for does not follow transactions;
/// - when a transaction begins that may write, if another connection has changed the schema. One that is deferred takes
///   no lock by that: it is asked just before it begins;
/// - before a statement that changes the schema, for the same reason: SQLite alters nothing as long as a trigger does not
///   compile;
/// - when a statement fails, and the triggers turn out not to be those that the schema lets us have: it is run again. So
///   a program that never begins a transaction goes on, too, and nobody who writes asks for the version of the schema.
final class TriggerConnection: SchemaFollower {
    unowned(unsafe) let database: Database  // which owns this

    private(set) var callbacks: [CallbackRegistration] = []
    let running = RunningCallbacks()
    private(set) var recorders: [UndoRecorder] = []
    /// Those whose function may still be there.
    private var formerRecorders: [UndoRecorder] = []

    /// The schema that the triggers fit.
    private var generation: UInt64?
    /// The data version, which changes with the commits of other connections, when the triggers were last found to fit.
    private var dataVersion: Int64?
    private var own: OwnTriggers
    /// Whether a transaction that is open has changed triggers, and would take that back.
    private var hasInstalledInTransaction = false
    private var isInstalling = false
    /// Whether a trigger has had a statement fail, since the triggers do not fit the schema.
    private var hasRefusedStatement = false
    /// Whether the triggers are away because something is being altered.
    private var hasDropped = false

    static let prefix = OwnTriggers.prefix
    static let undoPrefix = OwnName.prefix + "undo "

    init(_ database: Database) {
        self.database = database
        own = OwnTriggers(database)
    }

    // MARK: - What is wanted

    func add(_ callback: CallbackRegistration) throws {
        try callback.check(on: database)
        callbacks.append(callback)
        do { try install() } catch {
            callbacks.removeAll { $0 === callback }
            throw error
        }
    }

    func remove(_ isUnwanted: (CallbackRegistration) -> Bool) throws {
        callbacks.removeAll(where: isUnwanted)
        try install()
    }

    /// Returns the triggers that the schema lets us have: name and SQL.
    private func wanted() throws -> [(name: String, sql: String)] {
        var wanted: [(name: String, sql: String)] = []
        for recorder in recorders { try recorder.updateLayouts() }
        func notes(_ table: CaseInsensitiveName) -> String {
            recorders.compactMap { $0.noteOfInsertion(into: table) }.map { $0 + " " }.joined()
        }
        var filled: Set<CaseInsensitiveName> = []
        if let source = database.object(in: .triggerSource)?.object {
            let made = try source.triggers(heardBy: callbacks, notes: notes)
            wanted = made.triggers
            filled = made.tables
        }
        for callback in callbacks {
            let table = callback.table
            guard let schema = try database.schema.table(table.name, in: "main") else { continue }
            wanted += callback.triggers(
                schema, running, isFilled: filled.contains(table), notes: notes(table))
        }
        if recorders.isEmpty { return wanted }
        let others = Set(
            try database.schema.objects(.trigger, in: "temp").filter { !own.contains($0.name) }
                .map { CaseInsensitiveName($0.tableName) })
        for recorder in recorders { wanted += try recorder.triggers(others) }
        return wanted
    }

    // MARK: - Undo

    /// Adds what records the changes of some tables.
    func addRecorder(
        _ tables: [String], limit: Int?, shared: UndoRecorder.Shared
    ) throws -> UndoRecorder {
        let number = recorders.count + formerRecorders.count + 1
        let recorder = try UndoRecorder(database, tables, limit: limit, number: number, shared: shared)
        do {
            try recorder.check()
            let writes = recorder.statementsThatWrite().filter { (try? prepare($0)) != nil }
            recorders.append(recorder)
            try install()
            // SQLite compiles triggers with the statements that run them, and not before.
            for sql in writes {
                do { try prepare(sql) } catch let error as DatabaseError {
                    throw recorder.refusal(of: error)
                }
            }
            try database.touchingNothing {
                try recorder.keepVersion()
                try recorder.publish()
            }
            recorder.transactionWillBegin()
        } catch {
            shared.isEnded.store(true, ordering: .relaxed)
            try? install()
            recorders.removeAll { $0 === recorder }
            formerRecorders.append(recorder)
            throw error
        }
        return recorder
    }

    private func prepare(_ sql: String) throws {
        _ = try database.touchingNothing { try database.prepare(sql: sql, persistent: false) }
    }

    override func autocommitStatementDidEnd() {
        for recorder in recorders { recorder.autocommitStatementDidEnd() }
    }

    override func accessWillEnd() {
        guard !isInstalling, sqlite3_get_autocommit(database.pointer) != 0 else { return }
        var isDone = true
        if recorders.contains(where: \.isEnded) {
            do { try install() } catch { isDone = false }
            formerRecorders += recorders.filter(\.isEnded)
            recorders.removeAll(where: \.isEnded)
        }
        // A rollback may have given another schema back.
        do {
            if !recorders.isEmpty || hasInstalledInTransaction { try installIfNeeded() }
            hasInstalledInTransaction = false
        } catch { isDone = false }
        if isDone { for recorder in recorders where !recorder.accessWillEnd() { isDone = false } }
        if isDone { database.owed.remove(.accessWillEnd) } else { database.owed.insert(.accessWillEnd) }
    }

    // MARK: - Installing

    /// Drops what is not wanted, and creates what is missing.
    ///
    /// - Parameter isMigration: Whether this connection has changed the schema just now.
    func install(isMigration: Bool = false) throws {
        guard !isInstalling else { return }
        hasDropped = false
        hasRefusedStatement = false
        isInstalling = true
        defer { isInstalling = false }
        try database.touchingNothing {
            let wanted = try wanted()
            var present = try own.present()
            for name in present.keys.sorted()
            where !wanted.contains(where: { $0.name == name && $0.sql == present[name] }) {
                try own.drop(name)
                present[name] = nil
            }
            for recorder in recorders { try recorder.createTables(isMigration: isMigration) }
            for (name, sql) in wanted where present[name] == nil { try own.create(name, sql) }
        }
        if sqlite3_get_autocommit(database.pointer) == 0 {
            hasInstalledInTransaction = true
            database.owed.insert(.accessWillEnd)
        }
        if !recorders.isEmpty { dataVersion = currentDataVersion() }
        // The version of the schema is compared for those databases alone that an answer came from.
        _ = try database.schema.contains(.table, "sqlite_schema", in: "main")
        generation = try database.schemaGeneration
    }

    private func installIfNeeded() throws {
        guard !isInstalling, try database.schemaGeneration != generation else { return }
        try install()
    }

    /// Whether the triggers are not those that the schema lets us have, and can be installed now.
    override var isOutdated: Bool {
        guard !isInstalling, running.depth == 0, database.callbackDepth == 0, !database.isReadOnlyScope,
            database.lostTransaction == nil, let current = try? database.schemaGeneration
        else { return false }
        return current != generation
    }

    override func followSchema() throws { try installIfNeeded() }

    override var hasRefused: Bool { hasRefusedStatement }

    /// Notes that a trigger has a statement fail, since the triggers do not fit the schema.
    func refuse() { hasRefusedStatement = true }

    /// Whether the triggers fit the schema, which another connection may have changed: for those that run inside of a
    /// statement.
    func fit(_ version: Int64?) -> Bool {
        if version != nil, version == dataVersion { return true }
        guard let current = try? database.schemaGeneration, current == generation else { return false }
        dataVersion = version
        return true
    }

    /// The number that tells of other connections' commits, or nil where it cannot be asked: see `Database.dataVersion()`.
    func currentDataVersion() -> Int64? { try? database.dataVersion() }

    // MARK: - Hearing of statements

    override func statementWillRun(_ statement: Statement) throws {
        if statement.effects.changesRules { return }
        if running.depth > 0 { throw running.refusal(of: statement) }
        guard !isInstalling, database.callbackDepth == 0, !database.isReadOnlyScope,
            database.lostTransaction == nil
        else { return }
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        switch statement.effects.transaction {
        case .begin, .savepoint:
            if isInside { return }
            if statement.effects.transaction != .begin || !statement.sql.takesLock { try installIfNeeded() }
            for recorder in recorders { recorder.transactionWillBegin() }
        case .commit: if isInside { try transactionWillCommit() }
        case .release(let name):
            if isInside, database.transactionLog.isCommit(releasing: name) { try transactionWillCommit() }
        case .rollback, .rollbackTo: break
        case nil:
            guard statement.effects.changesSchema else { return }
            try installIfNeeded()
            try database.touchingNothing { for recorder in recorders { try recorder.schemaWillChange() } }
            if statement.sql.altersBesideTriggers { try dropAll() }
        }
    }

    private func transactionWillCommit() throws {
        try database.touchingNothing { for recorder in recorders { try recorder.transactionWillCommit() } }
    }

    override func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? {
        if error != nil {
            if hasDropped, !isInstalling { try? install() }
            running.forget(depth: database.callbackDepth)
            return error
        }
        if database.callbackDepth > 0 { return nil }
        do {
            try follow(statement)
            return nil
        } catch {
            return error
        }
    }

    /// Follows a statement that did not fail, and that no function has run.
    private func follow(_ statement: Statement) throws {
        if statement.effects.changesSchema { return try installAfterMigration() }
        guard let transaction = statement.effects.transaction else { return }
        if transaction.undoes { return try transactionDidRollBack() }
        if database.isReadOnlyScope || sqlite3_get_autocommit(database.pointer) != 0 { return }
        switch transaction {
        case .begin: try transactionDidBegin()
        case .savepoint: if database.transactionLog.hasBegunBySavepoint { try transactionDidBegin() }
        case .commit, .rollback, .release, .rollbackTo: break
        }
    }

    /// Installs the triggers again: this connection has changed the schema, and is still in the transaction in which it
    /// did.
    private func installAfterMigration() throws {
        if isInstalling { return }
        try install(isMigration: true)
        if recorders.isEmpty { return }
        try database.touchingNothing { for recorder in recorders { try recorder.schemaDidChange() } }
    }

    /// Hears that a transaction has begun that may write.
    private func transactionDidBegin() throws {
        guard sqlite3_txn_state(database.pointer, "main") == SQLITE_TXN_WRITE else { return }
        try installIfNeeded()
    }

    /// Drops our triggers: SQLite drops no column that a trigger names, and gives nothing a name that would have a trigger
    /// mean something else, such as that of the trigger's table to a temporary one. They are there again when it has done
    /// so, or has failed.
    private func dropAll() throws {
        guard !isInstalling else { return }
        isInstalling = true
        defer { isInstalling = false }
        hasDropped = true
        try database.touchingNothing { try own.dropAll() }
    }

    // Whatever fails here is done at the end of the access.
    override func lostTransactionDidEnd() { try? transactionDidRollBack() }

    /// Hears that a transaction was rolled back, to a savepoint or altogether.
    private func transactionDidRollBack() throws {
        guard hasInstalledInTransaction, !isInstalling, database.callbackDepth == 0,
            database.lostTransaction == nil
        else { return }
        hasInstalledInTransaction = sqlite3_get_autocommit(database.pointer) == 0
        try installIfNeeded()
    }
}

extension String {
    /// Whether a statement drops a column, or gives a column or a table another name.
    fileprivate var altersBesideTriggers: Bool {
        let words = uppercased()
        return words.contains("ALTER") && (words.contains("DROP") || words.contains("RENAME"))
    }

    /// Whether a BEGIN takes the lock of a writer at once.
    fileprivate var takesLock: Bool {
        let words = uppercased()
        return words.contains("IMMEDIATE") || words.contains("EXCLUSIVE")
    }
}

extension Slot<TriggerConnection> {
    static var triggers: Self { Slot(of: .schema) }
}

extension Database {
    /// The state that this connection keeps for triggers.
    var triggerConnection: TriggerConnection {
        get throws {
            if let triggers = object(in: .triggers) { return triggers.object }
            if isClosed { throw closedError() }
            let triggers = TriggerConnection(self)
            try triggers.running.addFunctions(to: self, triggers)
            fill(.triggers, with: triggers)
            return triggers
        }
    }
}
