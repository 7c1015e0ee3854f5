// Records row changes by triggers and temporary tables, for undo and redo.

import CSQLite
import Synchronization

/// The recorder that a connection keeps for a ``DatabaseUndo``: it records changes, makes groups of
/// them, and plays these back.
///
/// ## The life of a change
///
/// 1. A trigger notes the row as it was, in a temporary table, unless the transaction has noted it
///    before. Temporary tables follow transactions as others do. So a change that is rolled back,
///    by ROLLBACK, by ROLLBACK TO, or because a statement fails, loses its notes, too.
/// 2. Right before the COMMIT, in the same transaction, the noted rows are compared with their
///    present states. The changed ones make a group, with their states before and after. A
///    commit that is refused leaves the group to the transaction, and the next COMMIT completes it.
/// 3. A statement outside of a transaction has committed when it ends, and its count of changes
///    belongs to the program (``Database/changesCount``). So its group is made at the end of the
///    access, or with that of the next transaction. Each has a number, the epoch, to distinguish
///    them: the state of a row before the next one is its state after this one.
/// 4. Undo compares the rows of the last group with their later states. If one has another state by
///    now, it throws. Otherwise it gives all rows their earlier states, with foreign keys deferred.
///    Everything is recorded meanwhile. Rows that foreign key actions or the program's own triggers
///    have changed as well are reset, and the group is made again from the record.
///
/// The state of all groups is in temporary tables, and so follows transactions, too.
/// ``DatabaseUndo`` returns a copy, made at the end of the access.
final class UndoRecorder {
    unowned(unsafe) let database: Database  // whose triggers own this
    let tables: [String]
    let limit: Int?
    /// The prefix of the recorder's names.
    let prefix: String
    /// The SQL function that the triggers call.
    let function: String
    /// The state that other threads read and set.
    let shared: Shared

    /// The state that other threads read and set.
    final class Shared: Sendable {
        struct State: Sendable {
            var undoCount = 0
            var redoCount = 0
            var undoName: String?
            var redoName: String?
        }
        let state = Lock(State())
        /// The reasons why groups were dropped.
        let notices = Lock<[String]>([])
        /// Whether the ``DatabaseUndo`` is gone, so that nothing can be undone any more.
        let isEnded = Atomic<Bool>(false)
    }

    /// All layouts so far.
    private(set) var layouts: [UndoTables] = []
    /// The present layouts of the tables. Nil for a table that does not exist.
    private(set) var current: [UndoTables?] = []

    /// The numbers of the previous layouts.
    private var earlier: Set<Int> = []

    /// The number of scopes that suspend the recording.
    var suspensions = 0
    /// The number of the transaction.
    var epoch: Int64 = 1
    /// The transactions that may have touched rows, and do not have their groups yet.
    @exclusivity(unchecked) var pendingEpochs: [Int64] = []
    /// The results of ``TriggerInstaller/currentDataVersion()`` in single statements, whose groups
    /// are made after their commit. It is -1 for one that was recorded in a layout that no longer
    /// fits.
    @exclusivity(unchecked) var autocommitVersions: [Int64: Int64] = [:]
    /// The layouts that may have been touched, by their numbers.
    @exclusivity(unchecked) var touched: [Bool] = []
    /// Whether the running statement has no transaction around it.
    private var isAutocommit = false
    /// Whether the layouts may differ from those of the groups.
    var mayHaveOtherLayouts = true
    /// Whether the public state must be copied.
    var hasNews = true
    /// Whether the groups may be wrong.
    var isBroken = false

    init(
        _ database: Database, _ tables: [String], limit: Int?, number: Int, shared: Shared
    ) throws {
        self.database = database
        self.tables = tables
        self.limit = limit
        self.shared = shared
        prefix = "\(TriggerInstaller.undoPrefix)\(number)"
        function = "shellac_undo_\(number)"
        let code = sqlite3_create_function_v2(
            database.pointer, function, 1, SQLITE_UTF8, Unretained(self).context,
            { context, _, arguments in
                let recorder = Unretained<UndoRecorder>(
                    context:
                        sqlite3_user_data(context).unsafelyUnwrapped
                ).object
                let number = sqlite3_value_int64(arguments.unsafelyUnwrapped[0])
                recorder.giveEpoch(touching: Int(number), to: context)
            }, nil, nil, nil)
        try database.check(code)
    }

    var isEnded: Bool { shared.isEnded.load(ordering: .relaxed) }

    /// Returns the number of the running transaction, which touches a table, to SQLite. Returns 0
    /// if nothing must be recorded.
    private func giveEpoch(touching layout: Int, to context: OpaquePointer?) {
        if suspensions > 0 { return sqlite3_result_int64(context, 0) }
        if layout >= touched.count || !touched[layout] || pendingEpochs.last != epoch || isEnded
            || isOutsideOfTransaction != isAutocommit
        {
            guard beginRecording(layout) else {
                return sqlite3_result_error(
                    context, "the schema was changed by another connection: try again", -1)
            }
            if isEnded { return sqlite3_result_int64(context, 0) }
        }
        sqlite3_result_int64(context, epoch)
    }

    /// Begins to record changes in a layout.
    ///
    /// - Returns: Whether the triggers fit the schema. If they do not, the statement must fail: it
    ///   is run again with those that do.
    @inline(never)
    private func beginRecording(_ layout: Int) -> Bool {
        database.owed.insert(.accessWillEnd)
        if isEnded { return true }
        if isOutsideOfTransaction != isAutocommit {
            isAutocommit.toggle()
            if isAutocommit { epoch += 1 }  // the last one belonged to a transaction
        }
        if isAutocommit { database.owed.insert(.autocommitStatementDidEnd) }
        if pendingEpochs.last != epoch {
            guard let triggers = try? database.triggerInstaller else { return true }
            let version = triggers.currentDataVersion()
            let fits = triggers.fit(version)
            // Inside of a function the schema cannot be changed, and the statement is not run
            // again.
            if !fits, database.callbackDepth == 0 {
                triggers.refuse()
                return false
            }
            if isAutocommit || !fits { autocommitVersions[epoch] = fits ? version ?? -1 : -1 }
            pendingEpochs.append(epoch)
        }
        if touched.indices.contains(layout) { touched[layout] = true }
        return true
    }

    private var isOutsideOfTransaction: Bool { sqlite3_get_autocommit(database.pointer) != 0 }

    /// Handles the beginning of a transaction.
    func transactionWillBegin() { epoch += 1 }

    /// Handles the end of a statement that was a transaction of its own.
    func autocommitStatementDidEnd() {
        guard isAutocommit else { return }
        isAutocommit = false
        epoch += 1
    }

    // MARK: - Layouts

    /// Throws if a table cannot be recorded.
    func check() throws {
        for name in tables {
            func refuse(_ reason: String) -> DatabaseError {
                DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "the changes of \(name) cannot be undone: \(reason)")
            }
            _ = try UndoLayout(database.tableForTriggers(name, refuse), refuse)
        }
        try checkActions()
    }

    /// Returns statements that run all triggers of the tables.
    func statementsThatWrite() -> [String] {
        tables.flatMap { name in
            let columns = (try? database.schema.table(name, in: "main"))??.columns ?? []
            let names = columns.filter { !$0.isGenerated }.map(\.name.quotedDatabaseIdentifier)
            let table = "main.\(name.quotedDatabaseIdentifier)"
            return [
                "INSERT INTO \(table) DEFAULT VALUES", "DELETE FROM \(table)",
                "UPDATE \(table) SET \(names.map { "\($0) = \($0)" }.joined(separator: ", "))",
            ]
        }
    }

    /// Returns the error for recording tables whose triggers do not compile.
    func refusal(of error: DatabaseError) -> DatabaseError {
        DatabaseError(
            resultCode: error.resultCode,
            message:
                "the changes of \(tables.joined(separator: ", ")) cannot be undone: the triggers that would record them do "
                + "not compile: \(error.message ?? "\(error.resultCode)")", sql: error.sql)
    }

    /// Determines the present layouts of the tables.
    func updateLayouts() throws {
        mayHaveOtherLayouts = true
        database.owed.insert(.accessWillEnd)
        if isEnded {
            current = tables.map { _ in nil }
            return
        }
        earlier = Set(current.compactMap { $0?.number })
        current = try tables.map { name in
            guard let table = try database.schema.table(name, in: "main"), table.kind == .table,
                let layout = try? UndoLayout(table, { DatabaseError(message: $0) })
            else { return nil }
            return tables(for: layout)
        }
    }

    /// Returns the note of an insertion, with which Shellac's triggers begin that run after an
    /// insertion and may change the new row. Nil if the table is not recorded.
    func noteOfInsertion(into table: CaseInsensitiveName) -> String? {
        current.compactMap(\.self).first { CaseInsensitiveName($0.layout.table) == table }?
            .noteOfInsertion(function: function)
    }

    /// Returns the names and the SQL of the triggers that the schema permits, once the layouts are
    /// known.
    ///
    /// - Parameter others: The tables that have temporary triggers of the program.
    func triggers(_ others: Set<CaseInsensitiveName>) throws -> [(name: String, sql: String)] {
        var triggers: [(name: String, sql: String)] = []
        for tables in current.compactMap(\.self) {
            let table = try database.tableSchema(tables.layout.table, in: "main")
            let objects = try database.schema.objects(.index, in: "main")
            let indexes = table.indexes.filter(\.isUnique).filter { index in
                // The key of a table without row ids is looked up anyway.
                table.primaryKey.tableHasRowID || index.origin != .primaryKeyConstraint
            }.map { index in UniqueKey(index: index, sql: objects.first { $0.name == index.name }?.sql ?? "")
            }
            let sql = try database.schema.objects(.table, in: "main").first { $0.name == table.name }?.sql
            triggers += tables.triggers(
                table, indexes, function: function,
                foreseesRowIDs: others.contains(CaseInsensitiveName(table.name)),
                isAutoIncremented: sql?.uppercased().contains("AUTOINCREMENT") ?? false)
        }
        return triggers
    }

    private func tables(for layout: UndoLayout) -> UndoTables {
        if let known = layouts.first(where: { $0.layout == layout }) { return known }
        let tables = UndoTables(layout: layout, number: layouts.count, prefix: prefix)
        layouts.append(tables)
        touched.append(false)
        return tables
    }

    /// Creates the missing temporary tables, before the triggers.
    ///
    /// - Parameter isMigration: Whether the present transaction has changed the schema.
    func createTables(isMigration: Bool) throws {
        guard !isEnded else { return try dropTables() }
        try execute(
            definition:
                "CREATE TEMP TABLE IF NOT EXISTS \(groups) (grp PRIMARY KEY, name, isUndone, isDoubtful) WITHOUT ROWID"
        )
        try execute(
            definition: "CREATE TEMP TABLE IF NOT EXISTS \(known) (layout PRIMARY KEY, since) WITHOUT ROWID")
        try execute(
            definition: "CREATE TEMP TABLE IF NOT EXISTS \(versions) (id PRIMARY KEY, version) WITHOUT ROWID")
        for tables in current.compactMap(\.self) {
            let isKnown = try Int.fetchOne(
                database.makeStatement(sql: "SELECT 1 FROM temp.\(known) WHERE layout = \(tables.number)"))
            if isKnown != nil {
                if isMigration, !earlier.contains(tables.number) {
                    try execute(
                        "UPDATE temp.\(known) SET since = \(epoch) WHERE layout = \(tables.number)")
                }
                continue
            }
            for sql in tables.definitions { try execute(definition: sql) }
            try execute("INSERT INTO temp.\(known) VALUES (\(tables.number), \(isMigration ? epoch : 0))")
        }
    }

    /// Drops all tables of the recorder: nothing can be undone any more.
    private func dropTables() throws {
        let names = try String.fetchAll(
            database.makeStatement(
                sql: "SELECT name FROM temp.sqlite_master WHERE type = 'table' AND name GLOB ?"),
            arguments: ["\(prefix) *"])
        for name in names {
            try execute(definition: "DROP TABLE IF EXISTS temp.\(name.quotedDatabaseIdentifier)")
        }
    }

    /// The groups. `isUndone` is NULL until the group is made. `isDoubtful` is true if another
    /// connection has written before that: then the state of the rows after the change is unknown.
    var groups: String { "\(prefix) groups".quotedDatabaseIdentifier }
    /// The layouts whose tables exist, and the transaction that has changed the schema to them, or
    /// 0.
    var known: String { "\(prefix) layouts".quotedDatabaseIdentifier }
    /// The version of the schema that the groups fit.
    var versions: String { "\(prefix) version".quotedDatabaseIdentifier }

    // MARK: - Executing

    func execute(_ sql: String) throws {
        let statement = try database.makeStatement(sql: sql)
        statement.bypassAdvice()
        try statement.execute()
    }

    private func execute(definition sql: String) throws { try database.execute(definition: sql) }

    func integers(_ sql: String) throws -> [Int64] {
        try Int64.fetchAll(database.makeStatement(sql: sql))
    }
}
