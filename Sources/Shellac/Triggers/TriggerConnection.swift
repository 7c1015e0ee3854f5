import CSQLite

/// What a connection keeps for triggers that call Swift: the stamps and the callbacks that were asked for, and the
/// temporary triggers that run them.
///
/// ## The life of such a trigger
///
/// It is temporary, since other connections lack the functions that it calls, and belongs to a table of `main`. What is
/// there is compared with what is wanted:
///
/// - when stamps or a callback are added, or removed;
/// - right after each statement of this connection that changes the schema, in its transaction. A table that is dropped
///   takes its triggers along; one that is created again, or altered, has them again. A rollback gives both back;
/// - when a transaction begins that may write, if another connection has changed the schema. One that is deferred takes
///   no lock by that: it is asked just before it begins.
final class TriggerConnection: SchemaFollower {
    unowned(unsafe) let database: Database  // which owns this

    /// The stamps of tables, in the order in which they were registered.
    private(set) var stamps: [(table: CaseInsensitiveName, stamps: DatabaseStamps)] = []
    private(set) var callbacks: [CallbackRegistration] = []
    let running = RunningCallbacks()
    private(set) var recorders: [UndoRecorder] = []
    /// Those whose function may still be there.
    private var formerRecorders: [UndoRecorder] = []

    /// The schema that the triggers fit.
    private var generation: UInt64?
    private var isInstalling = false
    /// Whether the triggers are away because a column is being dropped.
    private var hasDropped = false

    /// What the names of all our triggers begin with.
    static let prefix = "shellac "
    static let undoPrefix = Database.undoTablePrefix

    init(_ database: Database) { self.database = database }

    // MARK: - What is wanted

    /// Registers the stamps of a table.
    func register(_ declared: DatabaseStamps, on table: String) throws {
        let old = stamps
        let key = CaseInsensitiveName(table)
        stamps.removeAll { $0.table == key }
        if !declared.isEmpty { stamps.append((key, declared)) }
        do {
            if !declared.isEmpty { try StampTriggers.check(declared, on: table, database) }
            try install()
        } catch {
            stamps = old
            throw error
        }
    }

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

    /// The triggers that the schema lets us have: name and SQL.
    private func wanted() throws -> [(name: String, sql: String)] {
        var wanted: [(name: String, sql: String)] = []
        for (table, declared) in stamps {
            guard let schema = try database.schema.table(table.name, in: "main") else { continue }
            let isHeard = callbacks.contains { $0.table == table && $0.hearsUpdates }
            wanted += try StampTriggers(declared, schema, isHeard: isHeard)?.all(database) ?? []
        }
        for callback in callbacks {
            guard let schema = try database.schema.table(callback.table.name, in: "main") else { continue }
            wanted += callback.triggers(schema, running)
        }
        for recorder in recorders { wanted += try recorder.triggers(tablesWithTriggers(wanted)) }
        return wanted
    }

    /// The tables that have temporary triggers which record nothing.
    private func tablesWithTriggers(
        _ wanted: [(name: String, sql: String)]
    ) throws -> Set<CaseInsensitiveName> {
        var tables = Set(stamps.map(\.table)).union(callbacks.map(\.table))
        for trigger in try database.schema.objects(.trigger, in: "temp")
        where !trigger.name.hasPrefix(Self.undoPrefix) {
            tables.insert(CaseInsensitiveName(trigger.tableName))
        }
        return tables
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
            recorders.append(recorder)
            try install()
            try database.touchingNothing {
                try recorder.keepVersion()
                try recorder.publish()
            }
            recorder.transactionWillBegin()
        } catch {
            recorders.removeAll { $0 === recorder }
            formerRecorders.append(recorder)
            try? install()
            throw error
        }
        return recorder
    }

    func loneStatementDidEnd() { for recorder in recorders { recorder.loneStatementDidEnd() } }

    func accessWillEnd() {
        guard !isInstalling, sqlite3_get_autocommit(database.pointer) != 0 else { return }
        var isDone = true
        if recorders.contains(where: \.isEnded) {
            do { try install() } catch { isDone = false }
            formerRecorders += recorders.filter(\.isEnded)
            recorders.removeAll(where: \.isEnded)
        }
        // A rollback may have given another schema back.
        do { if !recorders.isEmpty { try installIfNeeded() } } catch { isDone = false }
        if isDone { for recorder in recorders where !recorder.accessWillEnd() { isDone = false } }
        database.owesFollower = !isDone
    }

    // MARK: - Installing

    /// Drops what is not wanted, and creates what is missing.
    ///
    /// - Parameter isMigration: Whether this connection has changed the schema just now.
    func install(isMigration: Bool = false) throws {
        guard !isInstalling else { return }
        hasDropped = false
        isInstalling = true
        defer { isInstalling = false }
        try database.touchingNothing {
            let wanted = try wanted()
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql:
                        "SELECT name, sql FROM temp.sqlite_master WHERE type = 'trigger' AND substr(name, 1, 8) = ?"
                ),
                arguments: [Self.prefix])
            var present: [String: String] = [:]
            for row in rows { present[try row["name"]] = try row["sql"] }
            for name in present.keys.sorted()
            where !wanted.contains(where: { $0.name == name && $0.sql == present[name] }) {
                try drop(name)
                present[name] = nil
            }
            for recorder in recorders { try recorder.createTables(isMigration: isMigration) }
            for (name, sql) in wanted where present[name] == nil {
                try database.execute(definition: "CREATE TEMP" + sql.dropFirst("CREATE".count))
            }
        }
        // The version of the schema is compared for those databases alone that an answer came from.
        _ = try database.schema.contains(.table, "sqlite_schema", in: "main")
        generation = try database.schemaGeneration
    }

    /// Drops a trigger.
    ///
    /// One whose table was dropped by another connection is an orphan: SQLite forgets it when it reads the schema again,
    /// and leaves it in the list of triggers, where it would be in the way of its successor.
    private func drop(_ name: String) throws {
        try database.execute(definition: "DROP TRIGGER IF EXISTS temp.\(name.quotedDatabaseIdentifier)")
        let count = try Int.fetchOne(
            database.cachedStatement(sql: "SELECT COUNT(*) FROM temp.sqlite_master WHERE name = ?"),
            arguments: [name])
        guard count != 0 else { return }
        // A defensive connection, as Apple's are, keeps even this list from being written.
        let pointer = database.pointer
        let isDefensive = shellac_db_config_value(pointer, SQLITE_DBCONFIG_DEFENSIVE) != 0
        if isDefensive { _ = shellac_db_config(pointer, SQLITE_DBCONFIG_DEFENSIVE, 0) }
        defer { if isDefensive { _ = shellac_db_config(pointer, SQLITE_DBCONFIG_DEFENSIVE, 1) } }
        try database.execute(sql: "PRAGMA writable_schema = ON")
        defer { try? database.execute(sql: "PRAGMA writable_schema = OFF") }
        try database.execute(
            sql: "DELETE FROM temp.sqlite_master WHERE type = 'trigger' AND name = ?", arguments: [name])
    }

    private func installIfNeeded() throws {
        guard !isInstalling, try database.schemaGeneration != generation else { return }
        try install()
    }

    // MARK: - Hearing of statements

    func schemaStatementWillRun(_ statement: Statement) throws {
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
            try database.touchingNothing { for recorder in recorders { try recorder.schemaWillChange() } }
            if statement.sql.dropsColumn { try dropAll() }
        }
    }

    private func transactionWillCommit() throws {
        try database.touchingNothing { for recorder in recorders { try recorder.transactionWillCommit() } }
    }

    func schemaDidChange() throws {
        if isInstalling { return }
        try install(isMigration: true)
        if recorders.isEmpty { return }
        try database.touchingNothing { for recorder in recorders { try recorder.schemaDidChange() } }
    }

    func transactionDidBegin() throws {
        guard sqlite3_txn_state(database.pointer, "main") == SQLITE_TXN_WRITE else { return }
        try installIfNeeded()
    }

    /// Drops our triggers: SQLite drops no column that a trigger names. They are there again when it has done so, or
    /// has failed.
    private func dropAll() throws {
        guard !isInstalling else { return }
        isInstalling = true
        defer { isInstalling = false }
        hasDropped = true
        try database.touchingNothing {
            let names = try String.fetchAll(
                database.makeStatement(
                    sql:
                        "SELECT name FROM temp.sqlite_master WHERE type = 'trigger' AND substr(name, 1, 8) = ?"
                ),
                arguments: [Self.prefix])
            for name in names { try drop(name) }
        }
    }

    func statementDidFail() {
        if hasDropped, !isInstalling { try? install() }
        if database.callbackDepth == 0 { running.forget() }
    }
}

extension String {
    /// Whether a statement drops a column.
    fileprivate var dropsColumn: Bool {
        let words = uppercased()
        return words.contains("ALTER") && words.contains("DROP")
    }

    /// Whether a BEGIN takes the lock of a writer at once.
    fileprivate var takesLock: Bool {
        let words = uppercased()
        return words.contains("IMMEDIATE") || words.contains("EXCLUSIVE")
    }
}

extension Database {
    /// What this connection keeps for triggers.
    var triggerConnection: TriggerConnection {
        get throws {
            if let schemaFollower { return unsafeDowncast(schemaFollower, to: TriggerConnection.self) }
            if isClosed { throw closedError() }
            let triggers = TriggerConnection(self)
            try triggers.running.addFunctions(to: self, triggers)
            schemaFollower = triggers
            return triggers
        }
    }
}
