// Over 350 lines: because the life of a transaction's changes is read on one page.

import CSQLite

/// The recorder of a connection's journal.
///
/// ## The life of a change
///
/// 1. A statement that may write is about to take its first step. Outside of a transaction, the
///    recorder opens one around it, since only a transaction can be written together with its
///    entry. The recorder notes where the buffer ends.
/// 2. SQLite's pre-update hook reports each row. Its change is added to the buffer, in SQLite's
///    format for changesets.
/// 3. The statement ends. If it has failed, SQLite has undone its changes, or some of them (OR
///    FAIL), and does not report which. So the rows are read, and the buffer is made to agree.
/// 4. ROLLBACK TO cuts the buffer back to its length when the savepoint was opened.
/// 5. The transaction is about to commit. The changes of each row are joined into one, and the
///    entry is written, inside of the transaction. If that fails, so does the commit. Observers
///    are notified afterwards. So they see what is committed, and their veto undoes the entry,
///    too.
/// 6. If SQLite refuses the commit, the transaction is still open, and the entry is in it. The
///    next COMMIT replaces it.
///
/// SQLite also reports writes by the C interface to the hook, but their statements are not
/// followed. So the rows are read before the next statement, too.
final class JournalRecorder: ChangeRecorder {
    unowned(unsafe) let database: Database  // whose broker owns this

    /// A table that is kept, and its changes in the open transaction.
    struct Kept {
        let name: String
        /// Nil if there is no such table.
        var table: JournaledTable?
        var hasChanges = false
        /// Whether the keys of its changes are row IDs that grow.
        var hasKeys = false
        var lastRowID: Int64 = 0
    }

    /// A statement that is running, and where its changes begin in the buffer.
    struct Run {
        let statement: ObjectIdentifier
        let start: Int
        /// The table whose heading is the last one before it.
        let table: JournaledTable?
        /// Whether the schema was not checked before its first step.
        let isUnchecked: Bool
    }

    private(set) var selection: JournalSelection
    @exclusivity(unchecked) var tables: [Kept] = []
    /// The columns of the tables as the journal knows them: those of the last committed entry.
    private(set) var committedColumns: JournalColumns
    /// The state of the schema that `tables` belong to.
    private var schemaGeneration: UInt64 = 0

    /// Whether the columns of a table have changed since the last transaction.
    private var hasNewColumns = false

    /// The changes of the open transaction, in order of time.
    @exclusivity(unchecked) var buffer = ChangesetBytes()
    @exclusivity(unchecked) var scratch = ChangesetBytes()
    /// The number of the table whose heading was written last, or -1.
    var lastTable = -1
    /// Whether the hook has reported rows of kept tables since the last statement began.
    var hasUncheckedRows = false
    /// Whether a row may have several changes, or a table several headings.
    var mustJoin = false
    /// The places at which the columns of a table have changed. Changes are not joined across
    /// these.
    private(set) var sections: [Int] = []
    /// The places at which the first changes after the opening of a savepoint begin: see
    /// ``MarkedLog``.
    private var marks: [(savepoint: Int, start: Int)] = []
    @exclusivity(unchecked) private(set) var runs: [Run] = []
    /// The place from which on changes have come from statements that are not followed.
    private var unknownStart: (offset: Int, table: JournaledTable?)?
    /// The error that forbids to commit the transaction.
    private var refusal: JournalError?

    /// The note of the transaction.
    private var note: JournalNote?
    /// The number of the entry in the open transaction, if its commit was refused.
    private var writtenNumber: Int64?
    /// Whether there were changes that no entry has. The next one says so.
    var hasGap = false

    /// The statement that the recorder has opened a transaction for.
    private var loneStatement: ObjectIdentifier?
    /// Whether this transaction is being committed.
    private var isClosing = false

    let writer: JournalWriter

    init(
        _ database: Database, _ selection: JournalSelection, _ columns: JournalColumns, origin: Int64,
        _ retention: JournalRetention
    ) {
        self.database = database
        self.selection = selection
        committedColumns = columns
        writer = JournalWriter(database, origin: origin, retention)
    }

    // MARK: - A statement begins

    override func statementWillStep(_ statement: Statement) throws {
        if isPaused { return }
        followUnknownChanges()
        switch statement.effects.transaction {
        case nil: break
        case .commit, .release:
            if sqlite3_get_autocommit(database.pointer) == 0, database.transactionLog.isCommit(statement) {
                try transactionWillCommit()
            }
            return
        case .begin, .rollback, .savepoint, .rollbackTo: return
        }
        guard sqlite3_get_autocommit(database.pointer) != 0 else { return try beginRun(of: statement) }
        // (All statements that write rows: a function that they call may write kept tables.)
        guard !statement.effects.writes.isEmpty else { return }
        try open(for: statement)
        do { try beginRun(of: statement) } catch { throw close(after: statement, error: error) ?? error }
    }

    /// Whether the transaction has the lock of a writer.
    private var hasLock: Bool { sqlite3_txn_state(database.pointer, "main") == SQLITE_TXN_WRITE }

    /// Whether a statement is known to write a kept table.
    private func writesKeptTable(_ statement: Statement) -> Bool {
        statement.effects.writes.contains { write in
            tables.contains { CaseInsensitiveName.matches($0.name, write.table) }
        }
    }

    private func beginRun(of statement: Statement) throws {
        var isChecked = hasLock
        if !isChecked, writesKeptTable(statement) {
            // Otherwise another connection could change the columns before the statement gets it.
            try writer.takeLock()
            isChecked = true
        }
        if isChecked { try followSchema() }
        if runs.isEmpty { hasUncheckedRows = false }
        if buffer.isEmpty { note = JournalNote.current.get() }
        let savepoint = database.transactionLog.savepoints.lastNumber
        if marks.last?.savepoint != savepoint { marks.append((savepoint, buffer.count)) }
        runs.append(
            Run(
                statement: ObjectIdentifier(statement), start: buffer.count, table: lastHeading,
                isUnchecked: !isChecked))
    }

    // MARK: - A statement ends

    override func statementDidStep(_ statement: Statement, error: (any Error)?) {
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        switch statement.effects.transaction {
        case .commit, .release:
            if !isInside { transactionDidEnd(committed: error == nil) }
        case .rollback: if !isInside { transactionDidEnd(committed: false) }
        case .rollbackTo:
            guard error == nil, let savepoint = database.transactionLog.savepoints.innermost else { return }
            cut(since: savepoint)
        case .begin:
            // The C interface has ended a transaction.
            if error == nil, !buffer.isEmpty {
                hasGap = true
                transactionDidEnd(committed: false)
            }
        case .savepoint: break
        case nil:
            let identifier = ObjectIdentifier(statement)
            guard let index = runs.lastIndex(where: { $0.statement == identifier }) else { return }
            let run = runs.remove(at: index)
            guard isInside else { return transactionDidEnd(committed: false) }
            if error != nil { agree(from: run.start, after: run.table) }
            if run.isUnchecked, hasUncheckedRows { checkSchema() }
        }
    }

    override func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? {
        guard let loneStatement, !isClosing else { return error }
        if loneStatement == ObjectIdentifier(statement) || runs.isEmpty {
            return close(after: statement, error: error)
        }
        return error
    }

    // MARK: - Transactions around single statements

    /// Opens a transaction for a statement outside of one.
    private func open(for statement: Statement) throws {
        let log = database.transactionLog
        // (IMMEDIATE would lock attached databases, too.)
        let locks = !database.hasAttachments && writesKeptTable(statement)
        try log.execute(locks ? .beginImmediate : .beginDeferred)
        log.openScopes += 1
        loneStatement = ObjectIdentifier(statement)
    }

    /// Commits the transaction of a single statement. Returns the error to throw.
    ///
    /// Other statements that began inside of it may still be running: SQLite commits when the
    /// last one that writes has ended, and so does this.
    private func close(after statement: Statement, error: (any Error)?) -> (any Error)? {
        let log = database.transactionLog
        guard log.isOpen, database.lostTransaction == nil else {
            endScope(log)
            return error
        }
        guard runs.isEmpty, log.savepoints.depth == 0 else { return error }
        (isClosing, log.closesScope) = (true, true)
        defer {
            (isClosing, log.closesScope) = (false, false)
            endScope(log)
        }
        do {
            try writer.counted.pinning { try log.execute(.commit) }
            return error
        } catch let failure {
            if log.isOpen { try? database.rollback() }
            guard error == nil else { return error }
            guard let failure = failure as? DatabaseError else { return failure }
            return DatabaseError(
                resultCode: failure.extendedResultCode, message: failure.message, sql: statement.sql)
        }
    }

    private func endScope(_ log: TransactionLog) {
        loneStatement = nil
        log.openScopes -= 1
        log.endLostTransaction()
    }

    // MARK: - The buffer

    /// Cuts the changes back to those before a savepoint was opened.
    private func cut(since savepoint: Int) {
        guard let index = marks.firstIndex(where: { $0.savepoint >= savepoint }) else { return }
        cut(to: marks[index].start)
        marks.removeSubrange(index...)
    }

    private func cut(to offset: Int) {
        guard offset < buffer.count else { return }
        buffer.cut(to: offset)
        sections.removeAll { $0 > offset }
        marks.removeAll { $0.start > offset }
        if let start = unknownStart, start.offset >= offset { unknownStart = nil }
        // (The heading of the last table may be gone.)
        lastTable = -1
        if buffer.isEmpty { forgetKeys() }
    }

    /// The table whose heading was written last.
    private var lastHeading: JournaledTable? { lastTable < 0 ? nil : tables[lastTable].table }

    private func forgetKeys() {
        lastTable = -1
        mustJoin = false
        for index in tables.indices {
            tables[index].hasChanges = false
            tables[index].hasKeys = false
        }
    }

    override func changesWereLost() { transactionDidEnd(committed: false) }

    private func transactionDidEnd(committed: Bool) {
        if committed, writtenNumber != nil {
            hasGap = false
            if let columns = writer.pendingColumns { committedColumns = columns }
        }
        writer.transactionDidEnd(committed: committed)
        buffer.removeAll()
        sections = []
        marks = []
        runs = []
        unknownStart = nil
        refusal = nil
        note = nil
        writtenNumber = nil
        hasNewColumns = false
        forgetKeys()
    }

    /// Refuses the commit of the open transaction.
    func refuse(_ error: JournalError) { if refusal == nil { refusal = error } }

    // MARK: - Changes of statements that are not followed

    /// Notes a change outside of a transaction that this recorder knows of. It is committed
    /// already when the hook could do something, so no entry has it.
    func noteUnkeptChange() { hasGap = true }

    /// Notes that a row is changed by a statement of the C interface.
    func noteUnknownCaller() {
        if unknownStart != nil { return }
        unknownStart = (buffer.count, lastHeading)
        let savepoint = database.transactionLog.savepoints.lastNumber
        if marks.last?.savepoint != savepoint { marks.append((savepoint, buffer.count)) }
    }

    private func followUnknownChanges() {
        guard let start = unknownStart else { return }
        unknownStart = nil
        agree(from: start.offset, after: start.table)
    }

    /// Makes the changes from an offset on agree with the rows.
    ///
    /// - Parameter table: The table to which the first change belongs, unless it has a heading.
    private func agree(from start: Int, after table: JournaledTable?) {
        guard start < buffer.count else { return }
        var changes = ChangesetBytes()
        table?.heading.withUnsafeBytes { changes.append($0) }
        changes.append(UnsafeRawBufferPointer(rebasing: buffer.bytes[start...]))
        cut(to: start)
        mustJoin = true
        do {
            try JournalAgreement(database, tables.compactMap(\.table)).add(changes, to: &buffer)
        } catch {
            refuse(error as? JournalError ?? .unknownChanges(table: tables.first?.name ?? ""))
        }
    }

    // MARK: - The schema

    /// Reads the tables again if the schema has changed.
    func followSchema() throws {
        let generation = try database.schemaGeneration
        guard generation != schemaGeneration else { return }
        let current = try selection.tables(of: database)
        schemaGeneration = generation
        take(current)
    }

    private func take(_ current: [(name: String, table: JournaledTable?)]) {
        let isSame =
            current.count == tables.count
            && zip(current, tables).allSatisfy { new, old in
                guard let new = new.table, let old = old.table else {
                    return new.table == nil && old.table == nil
                }
                return new.isSame(as: old)
            }
        if isSame {
            // (Defaults, and with them the values of older rows, may have changed.)
            for (index, new) in current.enumerated() { tables[index].table = new.table }
            return
        }
        if !buffer.isEmpty, sections.last != buffer.count { sections.append(buffer.count) }
        hasNewColumns = true
        tables = current.map { Kept(name: $0.name, table: $0.table) }
        lastTable = -1
        mustJoin = true
    }

    /// Checks the schema after a statement has written the first rows of a transaction. Until
    /// then, the transaction had no lock, and another connection may have changed the schema.
    private func checkSchema() {
        guard let generation = try? database.schemaGeneration, generation != schemaGeneration else { return }
        let old = tables
        guard (try? followSchema()) != nil else {
            return refuse(.schemaWasChanged(table: tables.first?.name ?? ""))
        }
        for kept in old {
            let new = tables.first { $0.name == kept.name }?.table
            guard let old = kept.table else { continue }
            if let new, new.isSame(as: old) { continue }
            refuse(.schemaWasChanged(table: kept.name))
        }
    }

    override func tableDidChange(_ name: String) {
        // (The table has had another name until now. The commit finds out whether it is kept.)
        writer.rebuiltTables.insert(name)
    }

    // MARK: - The entry

    /// Writes the entry of the transaction, which is about to commit.
    private func transactionWillCommit() throws {
        defer { writer.counted.restorePinned() }
        if let refusal { throw refusal }
        if buffer.isEmpty, schemaGeneration == database.knownSchema.held, !hasNewColumns,
            writtenNumber == nil, !hasGap, writer.rebuiltTables.isEmpty
        {
            return
        }
        // A transaction that has written nothing has no lock, and needs no entry.
        guard hasLock else { return }
        try followSchema()
        if !writer.rebuiltTables.isEmpty {
            writer.rebuiltTables.formIntersection(tables.compactMap { $0.table?.name })
        }
        let entry = JournalWriter.Entry(
            note: note ?? JournalNote.current.get(), columns: hasNewColumns ? try newColumns() : nil,
            hasGap: hasGap)
        if mustJoin || hasNewColumns, !buffer.isEmpty {
            // (The commit may be refused, and ROLLBACK TO cut the buffer back. So it stays.)
            var joined = ChangesetBytes()
            try join(into: &joined)
            if hasNewColumns { leaveOutPassingTables(&joined) }
            writtenNumber = try writer.write(joined.bytes, entry, replacing: writtenNumber)
        } else {
            writtenNumber = try writer.write(buffer.bytes, entry, replacing: writtenNumber)
        }
    }

    /// Removes the changes of tables that the transaction has created and dropped, or renamed,
    /// such as those that rebuild another one.
    private func leaveOutPassingTables(_ changes: inout ChangesetBytes) {
        let names = Set(tables.compactMap { $0.table?.name }).union(committedColumns.tables.keys)
        let all = Changeset(unchecked: changes.bytes)
        guard !names.isSuperset(of: all.tables) else { return }
        changes.cut(to: 0)
        all.leavingOut { !names.contains($0.table) }.data.withUnsafeBytes { changes.append($0) }
    }

    /// Returns the columns of the tables, if they are others than those that the journal has.
    private func newColumns() throws -> JournalWriter.NewColumns? {
        let columns = JournalColumns(tables.compactMap(\.table))
        // Another connection that keeps the journal may have written the change.
        if columns != committedColumns { committedColumns = try writer.storedColumns() }
        let changes = committedColumns.changes(to: columns)
        return changes.isEmpty ? nil : JournalWriter.NewColumns(columns: columns, changes: changes)
    }

    /// Returns the changes of the open transaction so far, with one at most for each row.
    func openChanges() throws -> Changeset {
        var joined = ChangesetBytes()
        try join(into: &joined)
        return Changeset(unchecked: joined.bytes)
    }

    /// Joins the changes of each row, between two changes of a table's columns.
    private func join(into joined: inout ChangesetBytes) throws {
        var start = 0
        for end in sections + [buffer.count] where end > start {
            try ChangesetJoiner.join(
                UnsafeRawBufferPointer(rebasing: buffer.bytes[start..<end]), into: &joined)
            start = end
        }
    }
}
