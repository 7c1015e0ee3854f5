// The observer that determines which live queries of a connection a transaction affects.

import CSQLite

/// The queries that are followed on a connection, and the observer that finds out which of them a transaction concerns.
///
/// There is one observer for all of them, so that a change which concerns none costs the same beside one query and beside
/// thousands: a statement is looked up by its table, and a row by what queries look for.
///
/// All of this is used on the connection's side alone, and needs no lock. A query that has ended is noticed here when
/// somebody passes by.
///
/// ## Which state was seen
///
/// A commit has a number, and a fetch knows the number of the last commit that it has seen: see ``CommitNumber``. In a queue that
/// is the last one that there was. In a pool, whose readers fetch beside the writer, the reader finds it out. Who is woken by a
/// commit that was seen already goes on sleeping.
final class LiveQueries: DiscerningObserver {
    private unowned(unsafe) let database: Database  // which owns this
    /// The number of the last commit.
    var commitNumber: UInt64 { database.group.commits.present }

    /// All queries that are watched.
    @exclusivity(unchecked) private var queries: [ObjectIdentifier: LiveQuery] = [:]
    /// What concerns those that depend on tables that are known, by the table.
    @exclusivity(unchecked) private var tables: [CaseInsensitiveName: TableWatch] = [:]
    /// Those that follow rows.
    @exclusivity(unchecked) private var followedRows: [FollowedRows] = []
    /// Those that anything concerns.
    @exclusivity(unchecked) private var unlimited: [LiveQuery] = []
    /// Those that the transaction concerns.
    @exclusivity(unchecked) private var marked: [LiveQuery] = []
    /// The queries that were fetched or watched inside of a transaction which an earlier access has left open.
    @exclusivity(unchecked) private var intruders: [LiveQuery] = []
    /// How many queries there may be before those are looked for that have ended.
    @exclusivity(unchecked) private var sweepCount = 16
    /// The region of the last query: see ``sharing(_:)``.
    @exclusivity(unchecked) private var lastRegion = DatabaseRegion()
    /// What asks for the commits of other connections.
    let polling = ExternalPolling()
    /// What tests rows.
    let testers = RowTesters()
    /// The rows that are to be tested when the transaction is committed, and how many were wanted for that.
    @exclusivity(unchecked) private var heldRows: [HeldRow] = []
    @exclusivity(unchecked) private var heldCount = 0
    @exclusivity(unchecked) private var heldByteCount = 0
    /// The table of the last row, by the number of its name.
    @exclusivity(unchecked) private var lastTable: (number: Int32, watch: TableWatch?)?
    /// The table of the last statement, by its name as that spells it.
    @exclusivity(unchecked) private var lastName: (name: String, watch: TableWatch?)?
    /// The functions and collations of the connection, as they were after the last commit.
    @exclusivity(unchecked) private var addedVersion = 0
    /// The schema changes of this connection, as they were after the last commit.
    @exclusivity(unchecked) private var schemaChangeCount: UInt = 0
    @exclusivity(unchecked) private var isListening = false

    init(_ database: Database) { self.database = database }

    deinit {
        let queries = Array(queries.values)
        if queries.isEmpty { return }
        // The connection closes. What belongs to the user is freed elsewhere: here, it could not use the database.
        Task { for query in queries { query.end() } }
    }

    /// The queries of a connection.
    static func of(_ db: Database) -> LiveQueries {
        db.checkAccess()
        if let queries = db.object(in: .live) { return queries.object }
        let queries = LiveQueries(db)
        db.fill(.live, with: queries)
        return queries
    }

    // MARK: - Who is watched

    /// Returns a region that is equal, and that many queries share: they mostly differ in values alone.
    func sharing(_ region: DatabaseRegion) -> DatabaseRegion {
        if region == lastRegion { return lastRegion }
        lastRegion = region
        return region
    }

    /// Watches what concerns a query that has just been fetched.
    func watch(_ query: LiveQuery, _ concern: LiveConcern) throws {
        // Its reader has left while it was fetched.
        if query.isEnded { return }
        // First all that may fail, as where it is interrupted: a query that is known, and whose tables are not, would never be
        // woken, nor noticed when it has ended. (Also where the concern is the same: a table may be another one.)
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

    /// Has a query fetched again when the open transaction ends, in whatever way: the query was not
    /// watched when its first changes were told, and may have fetched what is rolled back.
    func awaitEndOfTransaction(_ query: LiveQuery) { intruders.append(query) }

    /// Hears of changes from now on.
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
            // SQLite has lost what it had: less is told.
            database.add(transactionObserver: self, extent: .databaseLifetime)
        }
    }

    /// Takes queries out of what is looked up.
    private func forget(_ isForgotten: (LiveQuery) -> Bool) {
        for (name, table) in tables {
            table.remove(isForgotten)
            if table.isEmpty { tables[name] = nil }
        }
        unlimited.removeAll(where: isForgotten)
        (lastTable, lastName) = (nil, nil)
    }

    /// Lets go of queries that have ended, and of the observer when there is none left.
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

    // MARK: - What is changed

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        if !unlimited.isEmpty { return true }
        guard let table = table(named: eventKind.tableName), table.expect(eventKind) else { return false }
        // SQLite tells no rows of it: the statement alone says that they are changed.
        if !table.isTold { table.findAll(eventKind) { mark($0) } }
        return true
    }

    private func table(named name: String) -> TableWatch? {
        if let lastName, lastName.name == name { return lastName.watch }
        let table = tables[CaseInsensitiveName(name)]
        lastName = (name, table)
        return table
    }

    /// How many rows are held for tests in a transaction, and how many bytes of texts and blobs; how often a query is tested.
    /// Then each row concerns it.
    static let (mostRows, mostBytes, mostTests) = (1_000, 1 << 20, 100)

    func wish(
        for row: ChangingRow, _ route: Audience.Route, _ columns: StoredColumns?, generation: UInt64
    ) -> RowWish {
        let watch: TableWatch?
        if let lastTable, lastTable.number == route.table {
            watch = lastTable.watch
        } else {
            watch = tables[CaseInsensitiveName(route.tableName)]
            lastTable = (route.table, watch)
        }
        let others: RowWish = unlimited.contains { !$0.isMarked } ? .row : .nothing
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
        guard heldCount <= Self.mostRows else { return .anything }
        heldByteCount += row.byteCount(columns)
        return heldByteCount <= Self.mostBytes ? .values : .anything
    }

    func rowDidChange(_ event: DatabaseEvent, _ values: RowValues?, _ wish: RowWish) {
        if !unlimited.isEmpty { mark(unlimited) }
        guard let table = tables[CaseInsensitiveName(event.tableName)] else { return }
        table.find(event) { mark($0) }
        table.findFollowed(event, wish) { mark($0) }
        guard wish != .row else { return }
        guard wish == .values, let values else { return table.findTested(event) { mark($0) } }
        var entries: [TableWatch.Tested] = []
        table.findTested(values) { tested in
            guard tested.condition.test != nil, tested.testCount < Self.mostTests else {
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

    /// Nothing is known of what was changed.
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

    /// Has rows tested, outside of the access, and wakes the queries that they concern.
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

    /// Forgets the transaction. Returns the queries that it concerns.
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
    /// The queries that are followed: once there was one.
    static var live: Self { Slot(9, until: .closed) }
}
