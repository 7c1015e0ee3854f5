// The observer that determines which live queries of a connection a transaction affects.

import CSQLite

/// The live queries of a connection, and the observer that determines which of them a transaction
/// affects.
///
/// There is one observer for all of them. It looks up a statement by its table, and a row by the
/// values that queries look for. So a change that affects none costs the same with one query and
/// with thousands.
///
/// All of this is used only in accesses to the connection, and needs no lock. Ended queries are
/// noticed and removed here in passing.
///
/// ## The state that a fetch has seen
///
/// A commit has a number, and a fetch stores the number of the last commit that it has seen: see
/// ``CommitNumber``. In a queue that is simply the last one. In a pool, whose readers fetch beside
/// the writer, the reader determines it. A query is not woken by a commit that it has seen already.
final class LiveQueries: RowFilteringObserver {
    private unowned(unsafe) let database: Database  // which owns this
    /// The number of the last commit.
    var commitNumber: UInt64 { database.group.commits.present }

    /// All registered queries.
    @exclusivity(unchecked) private var queries: [ObjectIdentifier: LiveQuery] = [:]
    /// The registrations of the queries that depend on known tables, by table.
    @exclusivity(unchecked) private var tables: [CaseInsensitiveName: TableWatch] = [:]
    /// The queries that follow rows.
    @exclusivity(unchecked) private var followedRows: [FollowedRows] = []
    /// The queries that any change affects.
    @exclusivity(unchecked) private var unlimited: [LiveQuery] = []
    /// The queries that the transaction affects.
    @exclusivity(unchecked) private var marked: [LiveQuery] = []
    /// The queries that were fetched or registered inside of a transaction which an earlier access
    /// has left open.
    @exclusivity(unchecked) private var intruders: [LiveQuery] = []
    /// The number of queries above which ended ones are removed.
    @exclusivity(unchecked) private var sweepCount = 16
    /// The region of the last query: see ``sharing(_:)``.
    @exclusivity(unchecked) private var lastRegion = DatabaseRegion()
    /// The polling for commits of other connections.
    let polling = ExternalPolling()
    /// The testers of rows.
    let testers = RowTesters()
    /// The rows to test when the transaction is committed. The count includes rows that turned out
    /// to be too many.
    @exclusivity(unchecked) private var heldRows: [HeldRow] = []
    @exclusivity(unchecked) private var heldCount = 0
    @exclusivity(unchecked) private var heldByteCount = 0
    /// The table of the last row, by the number of its name.
    @exclusivity(unchecked) private var lastTable: (number: Int32, watch: TableWatch?)?
    /// The table of the last statement, by its name as the statement spells it.
    @exclusivity(unchecked) private var lastName: (name: String, watch: TableWatch?)?
    /// The version of the connection's functions and collations, as of the last commit.
    @exclusivity(unchecked) private var addedVersion = 0
    /// The count of this connection's schema changes, as of the last commit.
    @exclusivity(unchecked) private var schemaChangeCount: UInt = 0
    @exclusivity(unchecked) private var isListening = false

    init(_ database: Database) { self.database = database }

    deinit {
        let queries = Array(queries.values)
        if queries.isEmpty { return }
        // The connection closes. Objects of the user are freed elsewhere: here, they could not use
        // the database.
        Task { for query in queries { query.end() } }
    }

    /// Returns the queries of a connection.
    static func of(_ db: Database) -> LiveQueries {
        db.checkAccess()
        if let queries = db.object(in: .live) { return queries.object }
        let queries = LiveQueries(db)
        db.fill(.live, with: queries)
        return queries
    }

    // MARK: - Registration

    /// Returns an equal region that many queries share: their regions mostly differ in values
    /// alone.
    func sharing(_ region: DatabaseRegion) -> DatabaseRegion {
        if region == lastRegion { return lastRegion }
        lastRegion = region
        return region
    }

    /// Registers the changes that affect a query, which has just been fetched.
    func watch(_ query: LiveQuery, _ concern: LiveConcern) throws {
        // Its reader has left while it was fetched.
        if query.isEnded { return }
        // First everything that may fail, for example by an interrupt. A query that is registered
        // without its tables would never be woken, nor removed when it has ended. (This also
        // applies if the concern is the same, as a table may be another one.)
        let watches = try concern.region.tableNames?.map(CaseInsensitiveName.init).map { name in
            let table = tables[name] ?? TableWatch(name.name)
            try table.look(database)
            return (name, table)
        }
        listen()
        if queries.updateValue(query, forKey: ObjectIdentifier(query)) != nil {
            if query.watched == concern { return }
            forget { $0 === query }
        }
        query.watched = concern
        if let rows = query as? FollowedRows, !followedRows.contains(where: { $0 === rows }) {
            followedRows.append(rows)
        }
        guard let watches else { return unlimited.append(query) }
        for (name, looked) in watches {
            let table = tables[name] ?? looked
            tables[name] = table
            table.add(query, concern)
        }
        (lastTable, lastName) = (nil, nil)
        if queries.count > sweepCount { sweep() }
    }

    /// Makes a query fetch again when the open transaction ends, by commit or rollback. The query
    /// was not registered when the transaction began its changes, and may have fetched changes that
    /// are rolled back.
    func awaitEndOfTransaction(_ query: LiveQuery) { intruders.append(query) }

    /// Starts to observe changes.
    private func listen() {
        guard !isListening else { return }
        isListening = true
        schemaChangeCount = database.transactionLog.schemaChangeCount
        addedVersion = database.added.version
        database.setCommitHook(for: .number, true)
        do {
            try database.add(
                transactionObserver: self, extent: .databaseLifetime,
                options: PreUpdateFunctions.found == nil ? [] : .hiddenChanges)
        } catch {
            // If that fails after all, fewer details are observed.
            database.add(transactionObserver: self, extent: .databaseLifetime)
        }
    }

    /// Removes queries from the lookups.
    private func forget(_ isForgotten: (LiveQuery) -> Bool) {
        for (name, table) in tables {
            table.remove(isForgotten)
            if table.isEmpty { tables[name] = nil }
        }
        unlimited.removeAll(where: isForgotten)
        (lastTable, lastName) = (nil, nil)
    }

    /// Removes ended queries, and the observer when no query is left.
    private func sweep() {
        let ended = queries.filter { $0.value.isEnded }
        if !ended.isEmpty {
            for key in ended.keys { queries[key] = nil }
            followedRows.removeAll(where: \.isEnded)
            forget { ended[ObjectIdentifier($0)] != nil }
            marked.removeAll { ended[ObjectIdentifier($0)] != nil }
        }
        sweepCount = max(16, queries.count * 2)
        guard queries.isEmpty, isListening else { return }
        isListening = false
        database.remove(transactionObserver: self)
    }

    // MARK: - Changes

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        if !unlimited.isEmpty { return true }
        guard let table = table(named: eventKind.tableName), table.expect(eventKind) else { return false }
        // SQLite does not report its rows, so the statement alone means that they change.
        if !table.isTold { table.findAll(eventKind) { mark($0) } }
        return true
    }

    private func table(named name: String) -> TableWatch? {
        if let lastName, lastName.name == name { return lastName.watch }
        let table = tables[CaseInsensitiveName(name)]
        lastName = (name, table)
        return table
    }

    /// The most rows to hold for tests in a transaction, the most bytes of their texts and blobs,
    /// and the most tests of a query. Beyond these limits, each row affects the query.
    static let (maximumRows, maximumBytes, maximumTests) = (1_000, 1 << 20, 100)

    func wish(
        for row: ChangingRow, _ route: Audience.Route, _ columns: StoredColumns?, generation: UInt64
    ) -> RowInterest {
        let watch: TableWatch?
        if let lastTable, lastTable.number == route.table {
            watch = lastTable.watch
        } else {
            watch = tables[CaseInsensitiveName(route.tableName)]
            lastTable = (route.table, watch)
        }
        let others: RowInterest = unlimited.contains { !$0.isMarked } ? .row : .nothing
        guard let watch else { return others }
        guard let columns, columns.lostColumn == nil, route.databaseName == "main",
            generation == watch.schemaGeneration
        else { return .anything }
        let isFollowed = watch.noteFollowed(row, route.kind, columns, generation)
        let wish = watch.wish(for: row, route.kind, columns)
        guard wish == .values else {
            return wish == .nothing && isFollowed ? .row : wish == .nothing ? others : wish
        }
        heldCount += 1
        guard heldCount <= Self.maximumRows else { return .anything }
        heldByteCount += row.byteCount(columns)
        return heldByteCount <= Self.maximumBytes ? .values : .anything
    }

    func rowDidChange(_ event: DatabaseEvent, _ values: RowValues?, _ wish: RowInterest) {
        if !unlimited.isEmpty { mark(unlimited) }
        guard let table = tables[CaseInsensitiveName(event.tableName)] else { return }
        table.find(event) { mark($0) }
        table.findFollowed(event, wish) { mark($0) }
        guard wish != .row else { return }
        guard wish == .values, let values else { return table.findTested(event) { mark($0) } }
        var entries: [TableWatch.Tested] = []
        table.findTested(values) { tested in
            guard tested.condition.test != nil, tested.testCount < Self.maximumTests else {
                return mark(tested.query)
            }
            tested.testCount += 1
            entries.append(tested)
        }
        if let first = entries.first {
            heldRows.append(HeldRow(table: first.condition.table, values: values, entries: entries))
        }
    }

    func databaseDidChange(with event: DatabaseEvent) { rowDidChange(event, nil, .anything) }

    func databaseDidChange(_ kinds: [DatabaseEventKind]) {
        mark(unlimited)
        for kind in kinds {
            tables[CaseInsensitiveName(kind.tableName)]?.findAll(kind) { mark($0) }
        }
    }

    func schemaMayHaveChanged() { markAll(isWritten: true) }

    func databaseMayHaveChanged() {
        database.group.commits.skip()
        schemaChangeCount = database.transactionLog.schemaChangeCount
        markAll(isWritten: false)
        for query in endTransaction(isCommitted: true) { query.wake() }
    }

    /// Marks all queries, as the changes are unknown.
    private func markAll(isWritten: Bool) {
        for query in queries.values {
            query.anythingMayHaveChanged(isWritten: isWritten)
            mark(query)
        }
    }

    private func mark(_ queries: [LiveQuery]) { for query in queries { mark(query) } }

    private func mark(_ query: LiveQuery) {
        if query.isMarked { return }
        query.isMarked = true
        marked.append(query)
    }

    // MARK: - The end of a transaction

    func databaseDidCommit(_ db: Database) {
        let number = commitNumber
        let count = db.transactionLog.schemaChangeCount
        if count != schemaChangeCount || addedVersion != db.added.version {
            (schemaChangeCount, addedVersion) = (count, db.added.version)
            markAll(isWritten: false)
        }
        test(heldRows)
        let concerned = endTransaction(isCommitted: true)
        for query in concerned { query.wake(since: query.looksAtNotes ? nil : number) }
        wakeIntruders()
        if concerned.contains(where: \.isEnded) { sweep() }
    }

    private func wakeIntruders() {
        if intruders.isEmpty { return }
        defer { intruders = [] }
        for query in intruders {
            query.changesMayBeMissed()
            query.wake()
        }
    }

    /// Tests rows outside of the access, and wakes the queries that they affect.
    private func test(_ rows: [HeldRow]) {
        if rows.isEmpty { return }
        let rows = rows.compactMap { row -> HeldRow? in
            var row = row
            row.entries.removeAll { $0.query.isMarked }
            return row.entries.isEmpty ? nil : row
        }
        if rows.isEmpty { return }
        guard let tester = testers.present else { return mark(rows.flatMap { $0.entries.map(\.query) }) }
        let number = commitNumber
        Task { for query in await tester.test(rows) { query.wake(since: number) } }
    }

    func databaseDidRollback(_ db: Database) {
        _ = endTransaction(isCommitted: false)
        wakeIntruders()
    }

    /// Resets the state of the transaction. Returns the queries that it affects.
    private func endTransaction(isCommitted: Bool) -> [LiveQuery] {
        for table in tables.values { table.endTransaction() }
        if !heldRows.isEmpty {
            for row in heldRows { for tested in row.entries { tested.testCount = 0 } }
            heldRows = []
        }
        (heldCount, heldByteCount) = (0, 0)
        for query in followedRows where query.transactionDidEnd(isCommitted: isCommitted) { mark(query) }
        if marked.isEmpty { return [] }
        defer { marked = [] }
        for query in marked { query.isMarked = false }
        return marked
    }
}

extension Slot<LiveQueries> {
    /// The slot of the live queries, which is filled with the first one.
    static var live: Self { Slot(9, until: .closed) }
}
