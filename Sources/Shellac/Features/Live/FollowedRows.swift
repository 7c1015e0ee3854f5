/// The rows of one table that records follow: one query fetches all those that were changed.
///
/// ## The life of a state
///
/// 1. A loop begins. Its ``RowFollower`` starts with a query of its own, as the readers of a
///    request do: see ``LiveRows``. At its first turn, that query finds the query of the table, and
///    hands the follower over. The row of its key is then fetched, unless another follower has it.
/// 2. A transaction changes rows. SQLite's hook *notes* the key of a row if it is followed, before
///    or after, and the values have changed. Nothing else is kept of any row.
/// 3. The transaction is committed, and wakes the query. It fetches the rows of the noted keys, a
///    hundred by one statement, and delivers them to their followers.
/// 4. In a pool, a follower may come after an open transaction has changed its row, unnoticed. If
///    that has changed rows without followers, rows of new keys are fetched again on commit.
/// 5. If the changed rows are unknown, all are fetched. After VACUUM, a schema change or another
///    connection's commit, those that differ are delivered. Without reports by row, all are.
///
/// A row is delivered even if its followers have the same values. One may have saved its record,
/// and another writer restored the old values before the fetch: the record assumes what it saved.
///
/// The known state is one immutable ``PackedRow``: followers share it, and merging records copy it.
final class FollowedRows: LiveQuery, @unchecked Sendable {  // its state has a lock
    /// The properties that are equal among followers that share a query.
    struct Table: Hashable {
        let name: CaseInsensitiveName
        let key: [CaseInsensitiveName]
        let interval: Duration?
    }

    private struct State {
        /// The follower that the query was made for, until it has its place.
        var founder: RowFollower?
        var rows: [RowKey: FollowedRow] = [:]
        /// The followers that have come since the last fetch.
        var newcomers: [RowFollower] = []
        /// The changes of the present transaction, and the committed changes.
        var present = FollowedNotes()
        var committed = FollowedNotes()
        /// Whether the present transaction has changed rows that had no followers at that time.
        var hasChangedOthers = false
        /// The table as fetches see it, and as the writer does: it finds the keys of changed rows.
        var table: FollowedTable?
        var watchedTable: FollowedTable?
        /// Whether the last follower has left, so that no other one may come.
        var isClosed = false
    }
    private let state: Lock<State>

    /// The key of the query in the registry. It changes only under the lock of ``LiveHosts``.
    @exclusivity(unchecked) var place: Table?

    // For the fetching side:
    /// The work of the running fetch, until it is done.
    @exclusivity(unchecked) private var taken: (notes: FollowedNotes, newcomers: [RowFollower])?
    /// A value that changes with the commits of other connections, as of the last fetch.
    @exclusivity(unchecked) private var seenVersion: UInt32?
    /// The keys whose followers are about to get a state.
    @exclusivity(unchecked) private var told: [RowKey] = []

    init(_ follower: RowFollower, in writer: any DatabaseWriter, _ settings: LiveSettings) {
        state = Lock(State(founder: follower))
        super.init(writer, settings)
    }

    #if DEBUG
    /// The number of followed rows.
    var count: Int { state.withLock { $0.rows.count } }
    #endif

    // MARK: - Followers

    override func host(_ db: Database) throws -> LiveQuery {
        guard let founder = state.withLock({ $0.founder }) else { return self }
        let hosts = LiveHosts.of(db)
        let table = try hosts.table(of: founder.record.type, on: db)
        let place = Table(
            name: CaseInsensitiveName(founder.record.type.databaseTableName),
            key: table.key.map(CaseInsensitiveName.init), interval: settings.pollingInterval)
        // (If the key is missing, that is an error here, and not under the shared lock.)
        guard table.key(of: founder.record.names, founder.record.values) != nil else {
            throw founder.record.noKey(table.key)
        }
        let host = try hosts.host(place, for: self) { host in try host.add(founder, table) }
        progress.withLock { $0.hosts = hosts }
        if host !== self {
            state.withLock { ($0.founder, $0.isClosed) = (nil, true) }
            founder.move(to: host)
            return host
        }
        state.withLock { $0.table = table }
        _ = try add(founder, table)
        if isEnded { hosts.remove(self) }
        return self
    }

    /// The table, as the fetching connections see it.
    var fetchedTable: FollowedTable? { state.withLock { $0.table } }

    /// Adds a follower. Returns false if the query has ended.
    ///
    /// - Throws: ``RecordError/noKey(databaseTableName:columns:)``.
    private func add(_ follower: RowFollower, _ table: FollowedTable) throws -> Bool {
        guard let key = table.key(of: follower.record.names, follower.record.values) else {
            throw follower.record.noKey(table.key)
        }
        return state.withLock { state in
            if state.founder === follower { state.founder = nil }
            guard !state.isClosed else { return false }
            follower.key = key
            if state.rows[key]?.others.append(follower) == nil {
                state.rows[key] = FollowedRow(follower)
                if state.hasChangedOthers { state.present.joined.insert(key) }
            }
            state.newcomers.append(follower)
            return true
        }
    }

    override func remove(_ reader: LiveReader) {
        guard let follower = reader as? RowFollower else { return }
        let isLast = state.withLock { state in
            if state.isClosed { return false }
            // Until it has its place, its key is another query's.
            if state.founder === follower {
                state.founder = nil
            } else if let key = follower.key {
                if state.rows[key]?.remove(follower) == false { state.rows[key] = nil }
                state.newcomers.removeAll { $0 === follower }
            }
            state.isClosed = state.founder == nil && state.rows.isEmpty
            return state.isClosed
        }
        if isLast { end(isCancelled: true) }
    }

    override func release(_ failure: (any Error)?) {
        hosts?.remove(self)
        let followers = state.withLock { state in
            defer { state = State(isClosed: true) }
            return (state.founder.map { [$0] } ?? []) + state.rows.values.flatMap(\.all)
        }
        for follower in followers { follower.finish(failure) }
    }

    // MARK: - Changes

    /// Whether the transaction has changed followed rows.
    var hasNoted: Bool { state.withLock { !$0.present.isEmpty } }

    override var looksAtNotes: Bool { true }

    override func changesMayBeMissed() { state.withLock { $0.committed.noteAll(isWritten: false) } }

    override func anythingMayHaveChanged(isWritten: Bool) {
        state.withLock { $0.present.noteAll(isWritten: isWritten) }
    }

    /// Notes a row that is about to be changed. Returns whether it may be followed.
    func note(
        _ row: ChangingRow, _ kind: DatabaseEvent.Kind, _ columns: StoredColumns, _ generation: UInt64
    ) -> Bool {
        state.withLock { state in
            if state.present.isAllWritten { return true }
            var followed: [RowKey] = []
            let isTold = state.watchedTable?.tellKeys(of: row, kind, columns, generation) { key in
                if state.rows[key] != nil { followed.append(key) }
            }
            guard isTold == true else {
                state.present.noteAll(isWritten: true)
                return true
            }
            if followed.isEmpty {
                state.hasChangedOthers = true
                return false
            }
            if kind == .update, state.watchedTable?.tellsValues == true, row.isSame(columns) { return false }
            state.present.keys.formUnion(followed)
            return true
        }
    }

    /// Notes a row of which only the row id is known.
    func note(_ event: DatabaseEvent) {
        state.withLock { state in
            let key = state.watchedTable?.key(of: event)
            guard let key else { return state.present.noteAll(isWritten: true) }
            if state.rows[key] != nil {
                state.present.keys.insert(key)
            } else {
                state.hasChangedOthers = true
            }
        }
    }

    override func transactionDidEnd(isCommitted: Bool) -> Bool {
        state.withLock { state in
            defer { (state.present, state.hasChangedOthers) = (FollowedNotes(), false) }
            guard isCommitted else { return false }
            // A statement that failed has made notes without a change.
            if !isMarked { state.present = FollowedNotes(joined: state.present.joined) }
            state.committed.formUnion(state.present)
            return !state.present.joined.isEmpty
        }
    }

    // MARK: - Fetching

    override func concern(_ db: Database) throws -> LiveConcern {
        let version = try RowTesters.version(on: db)
        let (table, watched, first) = state.withLock {
            ($0.table, $0.watchedTable, $0.rows.values.first?.first)
        }
        // In a queue, they are the same.
        var fitting = [watched, table].compactMap { $0 }.first { $0.version == version }
        if fitting == nil, let first { fitting = try FollowedTable(of: first.record.type, version, on: db) }
        state.withLock { $0.watchedTable = fitting }
        return fitting?.concern ?? LiveConcern(DatabaseRegion())
    }

    override func fetchWillBegin() {
        told = []
        // Later notes may belong to commits after the state that the fetch sees.
        taken = state.withLock { state in
            defer { (state.committed, state.newcomers) = (FollowedNotes(), []) }
            return (state.committed, state.newcomers)
        }
    }

    override func fetch(_ db: Database) throws -> LiveDelivery {
        let failures = try lookAtTable(db)
        guard let table = fetchedTable else { return LiveDelivery {} }
        // To the readers of a pool, commits of its writer look like those of another connection.
        let present = db.readsBesideWriter ? nil : try db.dataVersion(of: table.databases)
        let isOthers = seenVersion != nil && seenVersion != present
        if isOthers || seesUnwatchedCommits { taken?.notes.noteAll(isWritten: false) }
        // If the keys of changed rows cannot be determined, none is noted.
        if isOutdated, !table.concern.isOfKeys { taken?.notes.noteAll(isWritten: true) }
        let notes = taken?.notes ?? FollowedNotes()
        let keys = state.withLock { state in
            if notes.isAll { return Array(state.rows.keys) }
            var keys = notes.keys.union(notes.joined)
            for case let key? in (taken?.newcomers ?? []).map(\.key)
            where db.readsBesideWriter || state.rows[key]?.isKnown == false { keys.insert(key) }
            return Array(keys)
        }
        let rows = try table.fetch(keys, on: db)
        seenVersion = present
        let deliveries = state.withLock { state in take(rows, of: keys, in: &state) }
        return LiveDelivery {
            for delivery in deliveries { try delivery.deliver() }
            for (follower, failure) in failures { follower.finish(failure) }
        }
    }

    /// Takes fetched rows. Returns the deliveries to the followers for which they are new.
    private func take(_ rows: [PackedRow?], of keys: [RowKey], in state: inout State) -> [LiveDelivery] {
        var deliveries: [LiveDelivery] = []
        told = []
        func tell(_ follower: RowFollower, _ key: RowKey) {
            switch state.rows[key]?.known {
            case .row(let row)?: deliveries.append(follower.telling(row))
            case .deleted?: deliveries.append(follower.telling(nil))
            case .nothing?, nil: return
            }
            told.append(key)
        }
        let (notes, taken) = self.taken ?? (FollowedNotes(), [])
        let newcomers = Set(taken.map(ObjectIdentifier.init))
        for (key, row) in zip(keys, rows) {
            guard let followed = state.rows[key] else { continue }
            let isWritten = notes.isAllWritten || notes.keys.contains(key)
            guard isWritten || !followed.isKnown(as: row) else { continue }
            state.rows[key]?.known = row.map(FollowedRow.Known.row) ?? .deleted
            for follower in followed.all where !newcomers.contains(ObjectIdentifier(follower)) {
                tell(follower, key)
            }
        }
        // (A follower that has left has no key.)
        for follower in taken { if let key = follower.key { tell(follower, key) } }
        self.taken = nil
        return deliveries
    }

    override func fetchWasLost() {
        state.withLock { state in
            if let taken {
                state.committed.formUnion(taken.notes)
                state.newcomers = taken.newcomers + state.newcomers
            }
            taken = nil
            for key in told {
                state.rows[key]?.known = .nothing
                state.committed.keys.insert(key)
            }
        }
        told = []
    }

    /// Examines the table and the keys again if the schema, and so their comparison, has changed.
    ///
    /// - Returns: The followers that have no key any more.
    private func lookAtTable(_ db: Database) throws -> [(RowFollower, any Error)] {
        let version = try RowTesters.version(on: db)
        guard let old = fetchedTable, old.version != version else { return [] }
        let first = state.withLock { $0.rows.values.first?.first }
        guard let first else { return [] }
        let table = try FollowedTable(of: first.record.type, version, on: db)
        seenVersion = nil
        taken?.notes.noteAll(isWritten: false)
        let followers = state.withLock { state in
            state.table = table
            var keyless: [RowFollower] = []
            let rows = state.rows
            state.rows = [:]
            for (oldKey, followed) in rows {
                for follower in followed.all {
                    guard let key = table.key(of: follower.record.names, follower.record.values) else {
                        follower.key = nil
                        keyless.append(follower)
                        continue
                    }
                    follower.key = key
                    if state.rows[key]?.others.append(follower) == nil {
                        state.rows[key] = FollowedRow(follower)
                        // If the table has other columns, the row is a different one.
                        if key == oldKey, table.layout.hasSameNames(as: old.layout) {
                            state.rows[key]?.known = followed.known
                        }
                    }
                }
            }
            return keyless
        }
        // (The error names the table. The user's class provides the name, so not under the lock.)
        return followers.map { ($0, $0.record.noKey(table.key)) }
    }
}

extension LiveHosts {
    /// Returns the table of a class, which another query may have examined before.
    fileprivate func table(of type: Record.Type, on db: Database) throws -> FollowedTable {
        let version = try RowTesters.version(on: db)
        let name = CaseInsensitiveName(type.databaseTableName)
        if type.databasePrimaryKey == nil,
            let known = tables(named: name).first(where: { $0.version == version })
        {
            return known
        }
        return try FollowedTable(of: type, version, on: db)
    }
}
