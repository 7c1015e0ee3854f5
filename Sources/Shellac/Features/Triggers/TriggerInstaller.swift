// Over 350 lines: because everything that makes triggers follow the schema shares one state.

import CSQLite

/// The state that a connection keeps for triggers that call Swift. It has the added callbacks, the
/// temporary triggers that run them, and those of a ``TriggerSource``.
///
/// ## The life of such a trigger
///
/// It is temporary, since other connections lack the functions that it calls, and belongs to a
/// table of `main`. The existing triggers are compared with the required ones:
///
/// - when a callback is added, or removed, and when the needs of a source have changed;
/// - right after each statement of this connection that changes the schema, in its transaction. A
///   table that is dropped loses its triggers; one that is created again, or altered, gets them
///   again. A rollback restores both;
/// - after a rollback, which may have removed triggers that are still required, or restored others:
///   added callbacks do not follow transactions;
/// - when a transaction begins that may write, if another connection has changed the schema. A
///   deferred one takes no lock by that, so the comparison happens just before it begins;
/// - before a statement that changes the schema, for the same reason: SQLite alters nothing as long
///   as a trigger does not compile;
/// - when a statement fails, and the triggers turn out not to fit the schema: it is run again. So a
///   program that never begins a transaction works, too, and no write needs to read the version of
///   the schema.
final class TriggerInstaller: SchemaFollower {
    unowned(unsafe) let database: Database  // which owns this

    private(set) var callbacks: [CallbackRegistration] = []
    let running = RunningCallbacks()
    private(set) var recorders: [UndoRecorder] = []
    /// The ended recorders whose SQL function may still exist.
    private var formerRecorders: [UndoRecorder] = []

    /// The schema that the triggers fit.
    private var generation: UInt64?
    /// The data version when the triggers were last found to fit. It changes with the commits of
    /// other connections.
    private var dataVersion: Int64?
    private var own: OwnTriggers
    /// Whether an open transaction has changed triggers, so that its rollback would revert that.
    private var hasInstalledInTransaction = false
    private var isInstalling = false
    /// Whether a trigger has failed a statement, since the triggers do not fit the schema.
    private var hasRefusedStatement = false
    /// Whether the triggers are dropped because of an ALTER statement.
    private var hasDropped = false

    static let prefix = OwnTriggers.prefix
    static let undoPrefix = OwnName.prefix + "undo "

    init(_ database: Database) {
        self.database = database
        own = OwnTriggers(database)
    }

    // MARK: - Required triggers

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

    /// Returns the triggers that the schema permits: name and SQL.
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

    /// Adds a recorder for the changes of some tables.
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
            // SQLite compiles triggers only with the statements that run them.
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
        // A rollback may have restored another schema.
        do {
            if !recorders.isEmpty || hasInstalledInTransaction { try installIfNeeded() }
            hasInstalledInTransaction = false
        } catch { isDone = false }
        if isDone { for recorder in recorders where !recorder.accessWillEnd() { isDone = false } }
        if isDone { database.owed.remove(.accessWillEnd) } else { database.owed.insert(.accessWillEnd) }
    }

    // MARK: - Installing

    /// Drops triggers that are no longer required, and creates missing ones.
    ///
    /// - Parameter isMigration: Whether this connection has just changed the schema.
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
        // The schema cache compares versions only of databases that it has read from.
        _ = try database.schema.contains(.table, "sqlite_schema", in: "main")
        generation = try database.schemaGeneration
    }

    private func installIfNeeded() throws {
        guard !isInstalling, try database.schemaGeneration != generation else { return }
        try install()
    }

    /// Whether the triggers do not fit the schema, and can be installed now.
    override var isOutdated: Bool {
        guard !isInstalling, running.depth == 0, database.callbackDepth == 0, !database.isReadOnlyScope,
            database.lostTransaction == nil, let current = try? database.schemaGeneration
        else { return false }
        return current != generation
    }

    override func followSchema() throws { try installIfNeeded() }

    override var hasRefused: Bool { hasRefusedStatement }

    /// Notes that a trigger has failed a statement, since the triggers do not fit the schema.
    func refuse() { hasRefusedStatement = true }

    /// Whether the triggers fit the schema, which another connection may have changed. For triggers
    /// that run inside of a statement.
    func fit(_ version: Int64?) -> Bool {
        if version != nil, version == dataVersion { return true }
        guard let current = try? database.schemaGeneration, current == generation else { return false }
        dataVersion = version
        return true
    }

    /// Returns the number that changes with other connections' commits, or nil if it cannot be
    /// read: see `Database.dataVersion()`.
    func currentDataVersion() -> Int64? { try? database.dataVersion() }

    // MARK: - Notifications of statements

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

    /// Follows a statement that succeeded, and that no function has run.
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

    /// Installs the triggers again after this connection has changed the schema, in the same
    /// transaction.
    private func installAfterMigration() throws {
        if isInstalling { return }
        try install(isMigration: true)
        if recorders.isEmpty { return }
        try database.touchingNothing { for recorder in recorders { try recorder.schemaDidChange() } }
    }

    /// Handles the beginning of a transaction that may write.
    private func transactionDidBegin() throws {
        guard sqlite3_txn_state(database.pointer, "main") == SQLITE_TXN_WRITE else { return }
        try installIfNeeded()
    }

    /// Drops Shellac's triggers. SQLite drops no column that a trigger names. It also refuses a new
    /// name that would change the meaning of a trigger. An example is a temporary table that gets
    /// the name of the trigger's table. The triggers are created again when the statement has
    /// succeeded, or has failed.
    private func dropAll() throws {
        guard !isInstalling else { return }
        isInstalling = true
        defer { isInstalling = false }
        hasDropped = true
        try database.touchingNothing { try own.dropAll() }
    }

    // If this fails, the end of the access does it.
    override func lostTransactionDidEnd() { try? transactionDidRollBack() }

    /// Handles a rollback, to a savepoint or of the whole transaction.
    private func transactionDidRollBack() throws {
        guard hasInstalledInTransaction, !isInstalling, database.callbackDepth == 0,
            database.lostTransaction == nil
        else { return }
        hasInstalledInTransaction = sqlite3_get_autocommit(database.pointer) == 0
        try installIfNeeded()
    }
}

extension String {
    /// Whether a statement drops a column, or renames a column or a table.
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

extension Slot<TriggerInstaller> {
    static var triggers: Self { Slot(of: .schema) }
}

extension Database {
    /// The state that this connection keeps for triggers.
    var triggerInstaller: TriggerInstaller {
        get throws {
            if let triggers = object(in: .triggers) { return triggers.object }
            if isClosed { throw closedError() }
            let triggers = TriggerInstaller(self)
            try triggers.running.addFunctions(to: self, triggers)
            fill(.triggers, with: triggers)
            return triggers
        }
    }
}
