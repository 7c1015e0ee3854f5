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

    /// The schema that the triggers fit.
    private var generation: UInt64?
    private var isInstalling = false

    /// What the names of all our triggers begin with.
    static let prefix = "shellac "

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
        return wanted
    }

    // MARK: - Installing

    /// Drops what is not wanted, and creates what is missing.
    func install() throws {
        guard !isInstalling else { return }
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
            sqlite3_get_autocommit(database.pointer) != 0, database.lostTransaction == nil
        else { return }
        switch statement.effects.transaction {
        case .begin where !statement.sql.takesLock, .savepoint: try installIfNeeded()
        default: break
        }
    }

    func schemaDidChange() throws { try install() }

    func transactionDidBegin() throws {
        guard sqlite3_txn_state(database.pointer, "main") == SQLITE_TXN_WRITE else { return }
        try installIfNeeded()
    }

    func statementDidFail() {
        if database.callbackDepth == 0 { running.forget() }
    }
}

extension String {
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
