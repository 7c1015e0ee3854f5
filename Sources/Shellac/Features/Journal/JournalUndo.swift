// Undoes and redoes the transactions that a journal has, in any run of the program.

import CSQLite

/// Undo and redo by the journal, in any run of the program.
///
/// ```swift
/// let undo = JournalUndo()
///
/// try JournalNote.current.withValue(["action": "Delete Team"]) {
///     try dbQueue.write { db in try team.delete(db) }
/// }
/// // In this run of the program, or in a later one:
/// try dbQueue.write { db in
///     print(try undo.nextToUndo(db)?.note["action"])   // "Delete Team"
///     try undo.undo(db)                                // the team is back
/// }
/// ```
///
/// An undo restores the rows that a transaction has changed. It is a transaction like any other:
/// observers see it, and it has an entry in the journal. The entry's note has the number of the
/// undone entry, with the name `undoes`, or `redoes`. Nothing else is stored. So all connections
/// and processes that keep the journal agree about what comes next. Any new transaction ends the
/// redoing of those that were undone before it.
///
/// Stamps and table-wide callbacks are suspended meanwhile. Triggers of the program run, and what
/// they change beside is reset.
///
/// Before anything is written, the rows are compared with the state after the transaction. If
/// something has changed one of them since, a ``DatabaseUndoConflict`` is thrown, and nothing has
/// changed. The same happens if a constraint does not accept an earlier state.
///
/// ``DatabaseUndo`` needs no journal. It keeps its groups in temporary tables, until the program
/// ends, and undoes the changes of one connection alone.
public struct JournalUndo: Sendable {
    private let tables: Set<CaseInsensitiveName>?

    /// Undoes the changes of all tables that the journal keeps.
    public init() { tables = nil }

    /// Undoes the changes of some of the tables that the journal keeps.
    ///
    /// - Parameter names: The names of the tables. Changes of other tables stay.
    public init(tables names: [String]) { tables = Set(names.map { CaseInsensitiveName($0) }) }

    /// Undoes the changes of the tables of some record types.
    ///
    /// - Parameter types: The types. Changes of other tables stay.
    public init(of types: any TableRecord.Type...) {
        self.init(tables: types.map { $0.databaseTableName })
    }

    // MARK: - State

    /// Returns the entry that ``undo(_:)`` would undo, or nil if there is none.
    ///
    /// - Parameter db: A connection. It need not keep the journal.
    /// - Throws: a ``JournalError/damagedEntry(_:reason:)``, or a ``DatabaseError``.
    public func nextToUndo(_ db: Database) throws -> JournalEntry? { try next(.undo, db) }

    /// Returns the entry that ``redo(_:)`` would redo, or nil if there is none.
    ///
    /// - Parameter db: A connection. It need not keep the journal.
    /// - Throws: a ``JournalError/damagedEntry(_:reason:)``, or a ``DatabaseError``.
    public func nextToRedo(_ db: Database) throws -> JournalEntry? { try next(.redo, db) }

    private func next(_ direction: UndoDirection, _ db: Database) throws -> JournalEntry? {
        db.checkAccess()
        guard try db.tableExists(JournalWriter.table, in: "main") else { return nil }
        /// The entries whose last undo or redo was read already.
        var known: Set<Int64> = []
        var undone: Set<Int64> = []
        let cursor = try Row.fetchCursor(
            db, sql: "SELECT * FROM main.\(JournalWriter.table) ORDER BY seq DESC")
        while let row = try cursor.next() {
            if let (played, number) = JournalNote(json: try row["note"]).played {
                guard known.insert(number).inserted, played == .undo else { continue }
                undone.insert(number)
                guard direction == .redo,
                    let entry = try db.journalEntries(after: number - 1, limit: 1).first
                else { continue }
                if entry.number == number, try !changes(of: entry, db).isEmpty { return entry }
            } else {
                let entry = try JournalEntry(row)
                if try undone.contains(entry.number) || changes(of: entry, db).isEmpty { continue }
                return direction == .undo ? entry : nil
            }
        }
        return nil
    }

    private func changes(of entry: JournalEntry, _ db: Database) throws -> Changeset {
        try own(entry.changeset, db)
    }

    /// Returns the changes of the tables that are undone, without updates of nothing but counters.
    private func own(_ changeset: Changeset, _ db: Database) throws -> Changeset {
        var counters: [String: Set<Int>] = [:]
        for table in changeset.tables {
            guard let schema = try db.schema.table(table, in: "main") else { continue }
            let names = try db.changesetColumns(of: table)
            counters[table] = Set(names.indices.filter { schema.isMaintained(names[$0]) })
        }
        return changeset.leavingOut { change in
            if let tables, !tables.contains(CaseInsensitiveName(change.table)) { return true }
            guard change.operation == .update, let counters = counters[change.table] else { return false }
            return counters.isSuperset(of: change.changedColumns)
        }
    }

    // MARK: - Undo and redo

    /// Undoes the last transaction that was not undone yet.
    ///
    /// - Parameter db: A connection that keeps the journal. The transaction must not have changed
    ///   any kept row before.
    /// - Returns: The entry that was undone, or nil if there is none.
    /// - Throws: A ``DatabaseUndoConflict`` if rows have changed since, or if a constraint does not
    ///   accept their earlier states. A ``JournalError/schemaChanged(entry:table:migration:)`` if
    ///   columns were dropped or renamed since. A ``DatabaseError``. Nothing has changed then.
    @discardableResult
    public func undo(_ db: Database) throws -> JournalEntry? { try play(.undo, db) }

    /// Redoes the transaction that was undone last.
    ///
    /// - Parameter db: A connection that keeps the journal. The transaction must not have changed
    ///   any kept row before.
    /// - Returns: The entry that was redone, or nil if there is none.
    /// - Throws: The errors of ``undo(_:)``.
    @discardableResult
    public func redo(_ db: Database) throws -> JournalEntry? { try play(.redo, db) }

    private func play(_ direction: UndoDirection, _ db: Database) throws -> JournalEntry? {
        db.checkAccess()
        func misuse(_ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "\(direction.word)(_:) was called \(reason)")
        }
        guard let recorder = db.journalRecorder else {
            throw misuse("on a connection that keeps no journal: call keepJournal(of:) after opening")
        }
        guard recorder.buffer.isEmpty else {
            throw misuse(
                "in a transaction that has changed rows before, and that is no entry yet: call it in a "
                    + "transaction of its own")
        }
        guard let entry = try next(direction, db) else { return nil }
        let changes = try changes(of: entry, db)
        try checkColumns(of: changes.tables, after: entry.number, db)
        try db.checkForeignKeyActions(
            of: changes.tables,
            areAmong: recorder.tables.map(\.name).filter {
                tables?.contains(CaseInsensitiveName($0)) ?? true
            })
        var note = JournalNote.current.get() ?? JournalNote()
        note.played = (direction, entry.number)
        try JournalNote.current.withValue(note) {
            try db.inSavepoint {
                try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
                try db.withoutFilling {
                    try db.withoutTableCallbacks {
                        try make(direction == .undo ? changes.inverted() : changes, recorder, direction)
                    }
                }
                if db.hasForeignKeyViolations { throw conflict(direction, nil, nil, db) }
                return .commit
            }
        }
        return entry
    }

    /// Throws an error if columns of some tables have changed since an entry, other than by
    /// getting more. Changesets have values in the order of the columns.
    private func checkColumns(of tables: [String], after number: Int64, _ db: Database) throws {
        let sql = "SELECT * FROM main.\(JournalWriter.table) WHERE seq > ? AND schema IS NOT NULL"
        for entry in try Row.fetchAll(db, sql: sql, arguments: [number]).map(JournalEntry.init) {
            for (table, change) in entry.columnChanges.tables where tables.contains(table) {
                guard let before = change.before, let after = change.after, before.key == after.key,
                    after.columns.starts(with: before.columns)
                else {
                    throw JournalError.schemaChanged(
                        entry: entry.number, table: table, migration: entry.columnChanges.migration)
                }
            }
        }
    }

    /// Makes changes, and takes back all others that triggers make meanwhile.
    private func make(_ wanted: Changeset, _ recorder: JournalRecorder, _ direction: UndoDirection) throws {
        let db = recorder.database
        let columns = Dictionary(wanted.map { (Key($0), $0) }, uniquingKeysWith: { a, _ in a })
            .mapValues { $0.operation == .update ? Set($0.changedColumns) : nil }
        let first = wanted.first { _ in true }
        var failure: DatabaseError?
        do {
            for pass in 1...5 {
                let start = recorder.buffer.count
                // Some triggers of the program change a row at each update, such as its date. This
                // pass writes such rows without triggers.
                let hasTriggers = pass != 4
                if !hasTriggers { try db.enableTriggers(false) }
                defer { if !hasTriggers { try? db.enableTriggers(true) } }
                if pass > 1 {
                    let strays = try own(recorder.openChanges(), db).keeping { change in
                        // (Of a row that is updated, triggers may have changed other columns.)
                        guard let wanted = columns[Key(change)] else { return nil }
                        guard let wanted, change.operation == .update else { return [] }
                        return Set(change.changedColumns).subtracting(wanted)
                    }
                    try strays.inverted().apply(db) { _ in .takeTheirs }
                }
                try wanted.apply(db) { conflict in
                    failure = conflict.error
                    return pass == 1 || conflict.reason == .missing ? .fail : .takeTheirs
                }
                if !hasTriggers { try db.recountMaintainedColumns(of: wanted.tables) }
                if pass > 1, recorder.buffer.count == start { break }
                if pass == 5 { throw conflict(direction, first, nil, db) }
            }
        } catch ChangesetError.conflict(let table, let key, _) {
            throw conflict(direction, wanted.first { $0.table == table && $0.key == key }, failure, db)
        }
        // Something has made all of the changes before.
        if recorder.buffer.isEmpty { throw conflict(direction, first, nil, db) }
    }

    private func conflict(
        _ direction: UndoDirection, _ change: Changeset.Change?, _ error: DatabaseError?, _ db: Database
    ) -> DatabaseUndoConflict {
        let columns = change.flatMap { try? db.tableSchema($0.table, in: "main").primaryKey.columns } ?? []
        return DatabaseUndoConflict(
            direction, change?.table,
            Dictionary(zip(columns, change?.key ?? []), uniquingKeysWith: { a, _ in a }), error)
    }

    /// A row of a table.
    private struct Key: Hashable {
        let table: String
        let values: [DatabaseValue]

        init(_ change: Changeset.Change) { (table, values) = (change.table, change.key) }
    }
}

extension Database {
    /// Whether the open transaction has left rows whose foreign keys fail, and its commit would.
    fileprivate var hasForeignKeyViolations: Bool {
        var (isViolated, unused): (Int32, Int32) = (0, 0)
        sqlite3_db_status(pointer, SQLITE_DBSTATUS_DEFERRED_FKS, &isViolated, &unused, 0)
        return isViolated != 0
    }
}

extension JournalNote {
    private static func name(_ direction: UndoDirection) -> String {
        direction == .undo ? "undoes" : "redoes"
    }

    /// The number of the entry that a transaction has undone or redone.
    fileprivate var played: (direction: UndoDirection, number: Int64)? {
        get {
            for direction in [UndoDirection.undo, .redo] {
                if let number = self[Self.name(direction)].flatMap({ Int64($0) }) {
                    return (direction, number)
                }
            }
            return nil
        }
        set {
            for direction in [UndoDirection.undo, .redo] {
                self[Self.name(direction)] =
                    newValue?.direction == direction ? newValue.map { "\($0.number)" } : nil
            }
        }
    }
}
