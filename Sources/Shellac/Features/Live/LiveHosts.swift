// The registry of a queue's or pool's shared live queries, with the gates that limit fetches.

import Synchronization

/// The queries that fetch for several readers, and may take more. They belong to one queue or one
/// pool, whichever of its connections they fetch with.
final class LiveHosts: Sendable {
    private struct State {
        /// The queries that share the rows of a request, by its SQL and arguments.
        var rows: [LiveRows.Key: LiveRows] = [:]
        /// The queries that records follow, by their table.
        var followed: [FollowedRows.Table: FollowedRows] = [:]
    }
    private let state = Lock(State())
    /// The tasks that register queries with the writer of a pool. (They are not stored in the
    /// queries, which are many, and mostly have no such task.)
    private let watching = Lock<[ObjectIdentifier: Task<Void, Never>]>([:])
    /// The gate in front of the accesses that fetch. `watchGate` is in front of those that register
    /// a query with a pool's writer. There are two, as a long transaction may block the latter.
    let gate: FetchGate
    let watchGate = FetchGate(placeCount: 4)
    /// The number of queries that keep a pool open.
    private let livingCount = Atomic<Int>(0)

    private init(_ group: ConnectionGroup, readerCount: Int?) {
        gate = FetchGate(placeCount: min(4, max(1, (readerCount ?? 5) - 1)))
        guard readerCount != nil else { return }
        group.keepOpen(for: self) { [weak self] in
            switch self?.livingCount.load(ordering: .relaxed) ?? 0 {
            case 0: nil
            case 1: "an observation"
            case let count: "one of \(count) observations"
            }
        }
    }

    /// Returns the registry of the queue or pool that a connection belongs to.
    static func of(_ db: Database) -> LiveHosts { of(db.group, readerCount: nil) }

    /// Returns the registry of a pool.
    static func of(_ pool: DatabasePool) -> LiveHosts {
        of(pool.opening.group, readerCount: pool.readers.places.count)
    }

    private static func of(_ group: ConnectionGroup, readerCount: Int?) -> LiveHosts {
        group.shared { LiveHosts(group, readerCount: readerCount) }
    }

    func didBegin() { livingCount.add(1, ordering: .relaxed) }
    func noteEnd() { livingCount.subtract(1, ordering: .relaxed) }

    /// Keeps a task that registers a query with the writer. It is cancelled if the query ends.
    func keep(_ task: Task<Void, Never>, watchingFor query: LiveQuery) {
        watching.withLock { $0[ObjectIdentifier(query)] = task }
    }

    /// Removes the task that registers a query with the writer, if there still is one.
    @discardableResult
    func removeTask(watchingFor query: LiveQuery) -> Task<Void, Never>? {
        watching.withLock { $0.removeValue(forKey: ObjectIdentifier(query)) }
    }

    // MARK: - Rows of requests

    #if DEBUG
    /// The number of queries.
    var rowsCount: Int { state.withLock { $0.rows.count } }
    var followed: [FollowedRows] { state.withLock { Array($0.followed.values) } }
    #endif

    /// Returns the query that fetches a request. If none takes the reader, the given query becomes
    /// that one.
    func host(_ key: LiveRows.Key, for query: LiveRows, taking: (LiveRows) -> Bool) -> LiveRows {
        state.withLock { state in
            if let host = state.rows[key], !host.isEnded, taking(host) { return host }
            query.key = key
            state.rows[key] = query
            return query
        }
    }

    /// Changes the key by which a query is found, unless another query has the new key.
    func move(_ query: LiveRows, to key: LiveRows.Key?) {
        state.withLock { state in
            if let old = query.key, state.rows[old] === query { state.rows[old] = nil }
            guard let key else { return }
            query.key = key
            if state.rows[key] == nil { state.rows[key] = query }
        }
    }

    func remove(_ query: LiveRows) {
        state.withLock { state in if let key = query.key, state.rows[key] === query { state.rows[key] = nil }
        }
    }

    // MARK: - Followed rows

    /// Returns the query that fetches the rows of a table. If none takes the follower, the given
    /// query becomes that one.
    func host(
        _ place: FollowedRows.Table, for query: FollowedRows, taking: (FollowedRows) throws -> Bool
    ) rethrows -> FollowedRows {
        try state.withLock { state in
            if let host = state.followed[place], !host.isEnded, try taking(host) { return host }
            query.place = place
            state.followed[place] = query
            return query
        }
    }

    /// Returns the followed tables with a name.
    func tables(named name: CaseInsensitiveName) -> [FollowedTable] {
        state.withLock { state in
            state.followed.compactMap { place, rows in
                place.name == name && !rows.isEnded ? rows.fetchedTable : nil
            }
        }
    }

    func remove(_ query: FollowedRows) {
        state.withLock { state in
            if let place = query.place, state.followed[place] === query { state.followed[place] = nil }
        }
    }
}
