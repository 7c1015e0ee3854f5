// Finds the violated foreign key: runs the failed statement again, then rolls that back.

import CSQLite

/// A second run of a statement that has violated a foreign key. It finds the key, and is then
/// undone.
///
/// SQLite only counts the rows that violate keys. So the statement runs again with deferred keys,
/// which keeps its changes for a moment. Only the rows that it has changed are examined. A row that
/// violated a key before is not taken for its work.
struct ForeignKeyRehearsal {
    private let statement: Statement
    private let database: Database
    private let hook: PreUpdateHook
    private let schemas: [ConcernedKeys]

    /// The most changed rows that are examined.
    private static var greatestRowCount: Int { 10_000 }

    /// Returns nil if the statement cannot run again. It may call functions whose effects cannot be
    /// undone, or run inside of another statement.
    init?(_ statement: Statement) {
        let (database, effects) = (statement.database, statement.effects)
        let impure = database.added.functions.contains {
            !$0.isPure && !$0.name.hasPrefix("shellac_") && effects.functions.contains($0.name.lowercased())
        }
        // An interruption would undo the whole transaction, so a statement that takes long is not
        // run again.
        func count(_ counter: Int32) -> Int {
            Int(UInt32(bitPattern: sqlite3_stmt_status(statement.sqliteStatement, counter, 0)))
        }
        let steps = count(SQLITE_STMTSTATUS_VM_STEP) / max(count(SQLITE_STMTSTATUS_RUN), 1)
        guard !impure, database.callbackDepth == 0, !effects.writes.isEmpty, !statement.isReadonly,
            steps / 1000 <= ConstraintInquiry.greatestSteps, !database.hasBusyStatement,
            database.lostTransaction == nil, let hook = try? database.preUpdateHook(for: "foreign keys"),
            let schemas = try? database.concernedKeys(effects)
        else { return nil }
        self.statement = statement
        self.database = database
        self.hook = hook
        self.schemas = schemas
    }

    /// Returns the first foreign key that a row changed by the statement violates.
    func violatedKey() -> ForeignKeyInfo? {
        guard schemas.contains(where: { !$0.keys.isEmpty }) else { return nil }
        var key: ForeignKeyInfo?
        let run = {
            key = undoing {
                let changed = try database.unheard(steps: nil) { try rehearse() }
                return try database.unheard(steps: ConstraintInquiry.greatestSteps) {
                    try changed.firstViolation(database)
                }
            }
        }
        if let changes = database.object(in: .changes) { changes.object.silently(run) } else { run() }
        return key
    }

    /// Runs a function, and undoes its changes.
    private func undoing<Result>(_ body: () throws -> Result?) -> Result? {
        let pointer = database.pointer
        func execute(_ sql: String) -> Bool {
            database.unheard(steps: nil) { database.executeUninterrupted(sql) == SQLITE_OK }
        }
        let isAlone = sqlite3_get_autocommit(pointer) != 0
        let wasDeferred = database.unheard(steps: nil) {
            (try? database.querySilently("PRAGMA defer_foreign_keys").first?.first) == 1.databaseValue
        }
        let changeCount = sqlite3_total_changes(pointer)
        // The statement may set the date of the hidden transaction.
        let date = database.currentDate
        defer { database.currentDate = date }
        guard execute(isAlone ? "BEGIN IMMEDIATE" : "SAVEPOINT \"shellac rehearsal\"") else { return nil }
        defer {
            // Reset the number of changed rows to zero, because the statement has failed.
            _ = statement.effects.writes.contains {
                execute("DELETE FROM \($0.table.quotedDatabaseIdentifier) WHERE 0")
            }
            database.unheardChangeCount += Int(sqlite3_total_changes(pointer) - changeCount)
            // (At the end of a transaction, SQLite resets the deferral of keys, but not the
            // statements prepared in the meantime.)
            if !wasDeferred { _ = execute("PRAGMA defer_foreign_keys = OFF") }
            if isAlone {
                _ = execute("ROLLBACK")
            } else {
                _ = execute("ROLLBACK TO \"shellac rehearsal\"")
                _ = execute("RELEASE \"shellac rehearsal\"")
            }
        }
        if !wasDeferred, !execute("PRAGMA defer_foreign_keys = ON") { return nil }
        return (try? body()) ?? nil
    }

    /// Runs the statement, and returns the rows that it has changed.
    private func rehearse() throws -> ChangedKeys {
        let changed = ChangedKeys(schemas, limit: Self.greatestRowCount)
        hook.add(changed)
        defer { hook.remove(changed) }
        // The statement was reset, and its values are still bound.
        var code: Int32
        repeat { code = sqlite3_step(statement.sqliteStatement) } while code == SQLITE_ROW
        sqlite3_reset(statement.sqliteStatement)
        guard code == SQLITE_DONE else { throw database.error(code) }
        return changed
    }
}

/// The rows changed by a statement that may violate foreign keys.
private final class ChangedKeys: PreUpdateListener {
    private let schemas: [ConcernedKeys]
    private let limit: Int
    private var rows: [Changed] = []

    private struct Changed {
        let schema: Int
        let table: CaseInsensitiveName
        /// The values of the row before the change, and the values that identify it afterwards. The
        /// first are nil for an inserted row, the second for a deleted one.
        let old: [DatabaseValue]?
        let new: [DatabaseValue]?
    }

    init(_ schemas: [ConcernedKeys], limit: Int) {
        self.schemas = schemas
        self.limit = limit
    }

    func rowWillChange(_ row: ChangingRow) {
        guard rows.count < limit else { return }
        let schemaName = String(cString: row.schema)
        let table = CaseInsensitiveName(String(cString: row.table))
        guard let index = schemas.firstIndex(where: { CaseInsensitiveName.matches($0.name, schemaName) }),
            let columns = schemas[index].columns[table]
        else { return }
        let new: [DatabaseValue]? =
            if row.operation == SQLITE_DELETE {
                nil
            } else if columns.hasRowID {
                [row.finalRowID.databaseValue]
            } else {
                columns.primaryKey.map { row.finalValue(at: $0, columns) ?? .null }
            }
        rows.append(Changed(schema: index, table: table, old: row.initialValues(columns), new: new))
    }

    /// Returns the first foreign key that a changed row violates, or one that refers to it.
    func firstViolation(_ database: Database) throws -> ForeignKeyInfo? {
        for row in rows {
            let schema = schemas[row.schema]
            guard let columns = schema.columns[row.table] else { continue }
            for key in schema.keys {
                if CaseInsensitiveName(key.originTable) == row.table, let new = row.new,
                    try !database.querySilently(schema.searchForOrigin(of: key, columns), new).isEmpty
                {
                    return key
                }
                guard CaseInsensitiveName(key.destinationTable) == row.table, let old = row.old else {
                    continue
                }
                let values = key.destinationColumns.compactMap { name in
                    columns.columns.firstIndex { CaseInsensitiveName.matches($0.name, name) }.map { old[$0] }
                }
                guard values.count == key.destinationColumns.count, !values.contains(.null) else { continue }
                if try !database.querySilently(schema.searchForReferences(to: key), values).isEmpty {
                    return key
                }
            }
        }
        return nil
    }
}

/// The foreign keys of a database that refer from or to the tables that a statement writes.
private struct ConcernedKeys {
    /// The name of the database.
    let name: String
    var keys: [ForeignKeyInfo] = []
    /// The columns of the written tables.
    var columns: [CaseInsensitiveName: StoredColumns] = [:]

    private func place(_ table: String) -> String { table.quoted(in: name) }

    /// Returns the SQL that finds a row with a foreign key by the row's identifier, if the key
    /// refers to a missing row.
    func searchForOrigin(of key: ForeignKeyInfo, _ columns: StoredColumns) -> String {
        let identifiers =
            columns.hasRowID
            ? ["rowid"] : columns.primaryKey.map { columns.columns[$0].name.quotedDatabaseIdentifier }
        let found = identifiers.map { "o.\($0) = ?" }
        let isSet = key.originColumns.map { "o.\($0.quotedDatabaseIdentifier) IS NOT NULL" }
        // The plus sign makes the destination's column alone decide how to compare, as SQLite does.
        let refers = key.mapping.map {
            "d.\($0.destination.quotedDatabaseIdentifier) = +o.\($0.origin.quotedDatabaseIdentifier)"
        }
        return """
            SELECT 1 FROM \(place(key.originTable)) o WHERE \((found + isSet).joined(separator: " AND ")) AND NOT EXISTS \
            (SELECT 1 FROM \(place(key.destinationTable)) d WHERE \(refers.joined(separator: " AND "))) LIMIT 1
            """
    }

    /// Returns the SQL that finds a row that refers to a key, if no row has that key.
    func searchForReferences(to key: ForeignKeyInfo) -> String {
        let refers = key.originColumns.enumerated().map { "o.\($1.quotedDatabaseIdentifier) = ?\($0 + 1)" }
        let isThere = key.destinationColumns.enumerated().map {
            "d.\($1.quotedDatabaseIdentifier) = ?\($0 + 1)"
        }
        return """
            SELECT 1 FROM \(place(key.originTable)) o WHERE \(refers.joined(separator: " AND ")) AND NOT EXISTS \
            (SELECT 1 FROM \(place(key.destinationTable)) d WHERE \(isThere.joined(separator: " AND "))) LIMIT 1
            """
    }
}

extension Database {
    /// Returns the foreign keys that refer from or to the tables that a statement writes.
    fileprivate func concernedKeys(_ effects: StatementEffects) throws -> [ConcernedKeys] {
        let written = Set(effects.writes.map { CaseInsensitiveName($0.table) })
        return try unheard(steps: nil) {
            try effects.databases.sorted().map { name in
                var concerned = ConcernedKeys(name: name)
                for object in try schema.objects(.table, in: name) where object.hasPages {
                    guard let table = try schema.table(object.name, in: name) else { continue }
                    if written.contains(CaseInsensitiveName(table.name)) {
                        concerned.columns[CaseInsensitiveName(table.name)] = StoredColumns(table, self)
                    }
                    concerned.keys += try schema.foreignKeys(of: table).filter {
                        written.contains(CaseInsensitiveName($0.originTable))
                            || written.contains(CaseInsensitiveName($0.destinationTable))
                    }
                }
                return concerned
            }
        }
    }
}
