import CSQLite
import Synchronization

/// What a connection keeps for a ``DatabaseUndo``: it records changes, makes groups of them, and plays these back.
///
/// ## The life of a change
///
/// 1. A trigger notes the row as it was, in a temporary table, unless the transaction has noted it before. Temporary
///    tables follow transactions as others do: what is rolled back, by ROLLBACK, by ROLLBACK TO, or because a statement
///    fails, takes its notes along.
/// 2. Right before the COMMIT, in the same transaction, the noted rows are compared with what they are now. Those that
///    have changed make a group, with their states before and after. A commit that is refused leaves the group to the
///    transaction, and the next COMMIT completes it.
/// 3. A statement outside of a transaction has committed when it ends, and what it has touched is the program's to ask for
///    (``Database/changesCount``): its group is made at the end of the access, or with that of the next transaction. Each
///    has a number, the epoch, so that one is not taken for the other: what a row was before the next one is what it
///    was after this one.
/// 4. Undo compares the rows of the last group with their later states. Where one has another state by now, it throws.
///    Otherwise it gives all rows their earlier states, with foreign keys deferred. Everything is recorded
///    meanwhile: rows that foreign key actions or the program's own triggers have changed beside them are set back, and
///    the group is made again from what was recorded.
///
/// All that is known of groups is in temporary tables, and so follows transactions, too. What ``DatabaseUndo`` tells is a
/// copy, made at the end of the access.
final class UndoRecorder {
    unowned(unsafe) let database: Database  // whose triggers own this
    let tables: [String]
    let limit: Int?
    /// What the names of everything of ours begin with.
    let prefix: String
    /// The SQL function that the triggers ask.
    let function: String
    /// What others may know, from any thread.
    let shared: Shared

    /// What other threads see, and set.
    final class Shared: Sendable {
        struct State: Sendable {
            var undoCount = 0
            var redoCount = 0
            var undoName: String?
            var redoName: String?
        }
        let state = Lock(State())
        /// Why groups were dropped.
        let notices = Lock<[String]>([])
        /// Whether nobody can undo any more.
        let isEnded = Atomic<Bool>(false)
    }

    /// All layouts that there have been.
    private(set) var layouts: [UndoTables] = []
    /// The layouts of the tables, as they are now. Nil for one that is not there.
    private(set) var current: [UndoTables?] = []

    /// The numbers of those before.
    private var earlier: Set<Int> = []

    /// How many scopes suspend the recording.
    @exclusivity(unchecked) var suspensions = 0
    /// The number of the transaction.
    @exclusivity(unchecked) var epoch: Int64 = 1
    /// The transactions that may have touched rows, and wait for their groups.
    @exclusivity(unchecked) var pendingEpochs: [Int64] = []
    /// The layouts that may have been touched, by their numbers.
    @exclusivity(unchecked) var touched: [Bool] = []
    /// Whether the running statement has no transaction around it.
    @exclusivity(unchecked) private var isLone = false
    /// Whether the layouts may no longer be those of the groups.
    var isUnsettled = true
    /// Whether what others may know has to be copied.
    var hasNews = true
    /// Whether the groups cannot be trusted.
    var isBroken = false

    init(
        _ database: Database, _ tables: [String], limit: Int?, number: Int, shared: Shared
    ) throws {
        self.database = database
        self.tables = tables
        self.limit = limit
        self.shared = shared
        prefix = "\(TriggerConnection.undoPrefix)\(number)"
        function = "shellac_undo_\(number)"
        let code = sqlite3_create_function_v2(
            database.pointer, function, 1, SQLITE_UTF8, Unmanaged.passUnretained(self).toOpaque(),
            { context, _, arguments in
                let recorder = Unmanaged<UndoRecorder>.fromOpaque(
                    sqlite3_user_data(context).unsafelyUnwrapped
                ).takeUnretainedValue()
                let number = sqlite3_value_int64(arguments.unsafelyUnwrapped[0])
                sqlite3_result_int64(context, recorder.epoch(touching: Int(number)))
            }, nil, nil, nil)
        try database.check(code)
    }

    var isEnded: Bool { shared.isEnded.load(ordering: .relaxed) }

    /// The number of the running transaction, which touches a table; 0 where nothing is to be recorded.
    @inline(__always)
    private func epoch(touching layout: Int) -> Int64 {
        if suspensions > 0 { return 0 }
        if layout >= touched.count || !touched[layout] || pendingEpochs.last != epoch || isEnded
            || isOutsideOfTransaction != isLone
        {
            return beginRecording(layout)
        }
        return epoch
    }

    @inline(never)
    private func beginRecording(_ layout: Int) -> Int64 {
        database.owesFollower = true
        if isEnded { return 0 }
        if touched.indices.contains(layout) { touched[layout] = true }
        if isOutsideOfTransaction != isLone {
            isLone.toggle()
            if isLone { epoch += 1 }  // the last one was that of a transaction
        }
        if isLone { database.hasLoneState = true }
        if pendingEpochs.last != epoch { pendingEpochs.append(epoch) }
        return epoch
    }

    private var isOutsideOfTransaction: Bool { sqlite3_get_autocommit(database.pointer) != 0 }

    /// A transaction begins.
    func transactionWillBegin() { epoch += 1 }

    /// A statement that was a transaction of its own has ended.
    func loneStatementDidEnd() {
        guard isLone else { return }
        isLone = false
        epoch += 1
    }

    // MARK: - Layouts

    /// Throws where a table cannot be recorded.
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

    /// The names and the SQL of the triggers that the schema lets us have.
    ///
    /// - Parameter others: The tables that have other temporary triggers.
    func triggers(_ others: Set<CaseInsensitiveName>) throws -> [(name: String, sql: String)] {
        isUnsettled = true
        database.owesFollower = true
        if isEnded {
            current = tables.map { _ in nil }
            return []
        }
        var triggers: [(name: String, sql: String)] = []
        earlier = Set(current.compactMap { $0?.number })
        current = []
        for name in tables {
            guard let table = try database.schema.table(name, in: "main"), table.kind == .table,
                let layout = try? UndoLayout(table, { DatabaseError(message: $0) })
            else {
                current.append(nil)
                continue
            }
            let tables = tables(for: layout)
            current.append(tables)
            let objects = try database.schema.objects(.index, in: "main")
            let indexes = table.indexes.filter(\.isUnique).filter { index in
                // The key of a table without row ids is looked for anyway.
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

    /// Creates the temporary tables that are missing, before the triggers are.
    ///
    /// - Parameter isMigration: Whether the present transaction has changed the schema.
    func createTables(isMigration: Bool) throws {
        guard !isEnded else { return try dropTables() }
        try execute(
            definition:
                "CREATE TEMP TABLE IF NOT EXISTS \(groups) (grp PRIMARY KEY, name, isUndone) WITHOUT ROWID")
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

    /// Drops everything of ours: nobody can undo any more.
    private func dropTables() throws {
        let names = try String.fetchAll(
            database.makeStatement(
                sql: "SELECT name FROM temp.sqlite_master WHERE type = 'table' AND name GLOB ?"),
            arguments: ["\(prefix) *"])
        for name in names {
            try execute(definition: "DROP TABLE IF EXISTS temp.\(name.quotedDatabaseIdentifier)")
        }
    }

    /// The groups: `isUndone` is NULL as long as the group is not made.
    var groups: String { "\(prefix) groups".quotedDatabaseIdentifier }
    /// The layouts whose tables are there, and the transaction that has changed the schema so, or 0.
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
