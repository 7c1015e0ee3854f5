// Begins and ends to keep a journal on a connection.

import CSQLite

extension DatabaseWriter {
    /// Keeps a journal of some types of records: each transaction that changes their tables has
    /// an entry with its changes.
    ///
    /// ```swift
    /// let dbQueue = try DatabaseQueue(path: "game.sqlite")
    /// try dbQueue.keepJournal(of: Player.self, Team.self)
    /// ```
    ///
    /// Call it each time after opening the database, and after migrating it. The entries are in
    /// the table `shellac_journal` of the file. An entry is written inside of its transaction:
    /// both are committed, or none. A statement outside of a transaction gets one of its own.
    ///
    /// SQL, cascades and triggers count as well as records. The writes of other connections are
    /// not in the journal, unless they keep it, too.
    ///
    /// - Parameters:
    ///   - types: The types of records.
    ///   - retention: The entries that are kept.
    /// - Throws: a ``JournalError/unfitTable(_:reason:)`` for a table without a declared primary
    ///   key. A ``DatabaseError`` if a table does not exist, or if the running SQLite was
    ///   compiled without `SQLITE_ENABLE_PREUPDATE_HOOK`.
    public func keepJournal(
        of types: any TableRecord.Type..., for retention: JournalRetention = .ever
    ) throws {
        try keepJournal(of: .tables(types.map { $0.databaseTableName }), for: retention)
    }

    /// Keeps a journal of some tables: each transaction that changes them has an entry with its
    /// changes.
    ///
    /// ```swift
    /// try dbQueue.keepJournal(of: .all)
    /// ```
    ///
    /// - Parameters:
    ///   - selection: The tables.
    ///   - retention: The entries that are kept.
    /// - Throws: a ``JournalError/unfitTable(_:reason:)`` for a table without a declared primary
    ///   key. A ``DatabaseError`` if a table does not exist, or if the running SQLite was
    ///   compiled without `SQLITE_ENABLE_PREUPDATE_HOOK`.
    public func keepJournal(of selection: JournalSelection, for retention: JournalRetention = .ever) throws {
        try writeWithoutTransaction { db in try db.keepJournal(of: selection, for: retention) }
    }

    /// Ends to keep the journal. Its entries stay. Later changes are missing in it.
    ///
    /// - Throws: a ``DatabaseError`` if the database is closed, or inside of a transaction.
    public func stopJournal() throws { try writeWithoutTransaction { db in try db.stopJournal() } }
}

extension Database {
    /// The recorder of this connection's journal.
    var journalRecorder: JournalRecorder? { broker?.recorder as? JournalRecorder }

    func keepJournal(of selection: JournalSelection, for retention: JournalRetention = .ever) throws {
        try checkOutsideOfTransaction()
        let hook = try preUpdateHook(for: "a journal cannot be kept")
        try stopJournal()
        var state: (columns: JournalColumns, origin: Int64) = (JournalColumns(), 0)
        try inTransaction(.immediate) {
            state = try prepareJournal(selection)
            return .commit
        }
        let recorder = JournalRecorder(self, selection, state.columns, origin: state.origin, retention)
        try recorder.followSchema()
        hook.add(recorder)
        setChangeRecorder(recorder)
        // (Statements that were prepared without the hook empty a table without visiting its
        // rows.)
        tablesWithNotifiedDeletions.formUnion(recorder.tables.map { CaseInsensitiveName($0.name) })
    }

    func stopJournal() throws {
        try checkOutsideOfTransaction()
        guard let recorder = journalRecorder else { return }
        hooks.preUpdate?.remove(recorder)
        setChangeRecorder(nil)
    }

    private func checkOutsideOfTransaction() throws {
        checkAccess()
        guard !isClosed else { throw closedError() }
        guard !isInsideTransaction else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "a journal cannot begin or end inside of a transaction: use writeWithoutTransaction")
        }
    }

    /// Creates the tables of the journal, and notes the columns of the kept tables.
    private func prepareJournal(_ selection: JournalSelection) throws -> (JournalColumns, Int64) {
        try execute(
            sql: """
                CREATE TABLE IF NOT EXISTS main.\(JournalWriter.table) (
                    seq INTEGER PRIMARY KEY, clock INTEGER NOT NULL, origin INTEGER NOT NULL, note TEXT,
                    schema TEXT, gap INTEGER, changeset BLOB NOT NULL);
                CREATE TABLE IF NOT EXISTS main.\(JournalWriter.stateTable) (name TEXT PRIMARY KEY, value)
                    WITHOUT ROWID;
                """)
        try execute(
            sql: """
                INSERT OR IGNORE INTO main.\(JournalWriter.stateTable)
                VALUES ('columns', ?), ('origin', abs(random() % 9223372036854775807))
                """, arguments: [JournalJSON.text(JournalColumns())])
        let kept = try selection.tables(of: self)
        for (name, table) in kept {
            guard let table else { throw DatabaseError(message: "no such table: \(name)") }
            if let sql = table.selectionOfNullKeys, try Row.fetchOne(self, sql: sql) != nil {
                throw JournalError.keyIsNull(table: table.name)
            }
        }
        let origin = try journalState("origin", as: Int64.self) ?? 0
        let known = try JournalJSON.value(
            JournalColumns.self, journalState("columns", as: String.self) ?? "")
        let columns = JournalColumns(kept.compactMap(\.table))
        var change = known.changes(to: columns)
        change.isBeginning = true
        // Another program has changed the columns of a table, and kept no journal.
        let hasGap = change.tables.values.contains { $0.before != nil && $0.after != nil }
        let entry = JournalWriter.Entry(
            note: JournalNote.current.get(),
            columns: change.isEmpty ? nil : JournalWriter.NewColumns(columns: columns, changes: change),
            hasGap: hasGap)
        let writer = JournalWriter(self, origin: origin, .ever)
        _ = try writer.write(UnsafeRawBufferPointer(start: nil, count: 0), entry, replacing: nil)
        return (columns, origin)
    }

    private func journalState<Value: DatabaseValueConvertible>(
        _ name: String, as type: Value.Type
    ) throws -> Value? {
        try Value.fetchOne(
            self, sql: "SELECT value FROM main.\(JournalWriter.stateTable) WHERE name = ?", arguments: [name])
    }
}
