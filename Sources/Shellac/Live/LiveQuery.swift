/// Something that is fetched again whenever it may have changed.
///
/// ## The life of a value
///
/// 1. A reader starts. The query's task waits for its turn with the accesses, and fetches: in a transaction that only reads,
///    of one committed state. Still inside of the access, the query tells the connection's ``LiveQueries`` what concerns it:
///    no commit can come between.
/// 2. Outside of the access the value is made of what was fetched, and put into the ``LiveMailbox`` of its reader.
/// 3. The query rests, without a task. A transaction changes what concerns it: the observer of the connection *marks* it, and
///    when the transaction is committed, *wakes* it. Its task waits for its turn again: see 1.
/// 4. What is committed while the task waits is seen by its fetch; what is committed later wakes the query once more. So
///    values come in order, none is missed, the last one is of the newest state, and a slow reader holds up nobody.
/// 5. The query ends when its reader leaves, which interrupts a fetch that is running; with its first error; and with the
///    database. All that belongs to the user is let go of at once, and on no connection's side, where it could not use the
///    database.
///
/// Fetching, marking and the table of what concerns whom are the connection's own, and need no lock. Waking, ending and
/// delivering are anybody's, and go through ``progress``.
class LiveQuery: @unchecked Sendable {  // what is not constant is guarded by `progress`, or by the access
    /// The database, which an observation does not keep alive.
    weak let writer: (any DatabaseWriter)?
    let settings: LiveSettings

    private struct Progress {
        enum Phase { case resting, fetching, ended }
        var phase = Phase.resting
        /// Whether something was committed that the last fetch has not seen.
        var isStale = false
        var task: Task<Void, Never>?
        /// Whether there was an access to the database.
        var hasBegun = false
        var lastFetch: ContinuousClock.Instant?
        /// What is waited at before the accesses, once a connection is known.
        var gate: FetchGate?
        /// The number of the last commit that a fetch has seen: see ``LiveQueries/commitNumber``.
        var seenCommit: UInt64 = 0
    }
    private let progress = Lock(Progress())

    // On the connection's side:

    /// Whether the present transaction has changed what concerns the query.
    @exclusivity(unchecked) final var isMarked = false
    /// Whether something was committed since the last fetch, which the fetch that is running is to see.
    @exclusivity(unchecked) final private(set) var isOutdated = true
    /// What concerns the query, as the connection knows it.
    @exclusivity(unchecked) final var watched: LiveConcern?

    init(_ writer: any DatabaseWriter, _ settings: LiveSettings) {
        self.writer = writer
        self.settings = settings
    }

    // MARK: - What subclasses say

    /// What belongs to the user, for whoever keeps it from being freed inside of an access.
    var content: AnyObject? { nil }

    /// The query that fetches in the place of this one, which has taken over its readers: this one, mostly.
    func host(_ db: Database) throws -> LiveQuery { self }

    /// Hears, on the connection's side, that the query is no longer watched.
    func didLeave(_ queries: LiveQueries) {}

    /// Fetches, in a transaction that only reads. Returns what delivers the value, outside of the access.
    func fetch(_ db: Database) throws -> LiveDelivery { LiveDelivery {} }

    /// Removes a reader who leaves. The last one ends the query.
    func remove(_ reader: LiveReader) {}

    /// Hears that what was fetched is not delivered: the access has failed behind it.
    func fetchWasLost() {}

    /// Hears, on the connection's side, that nothing is known of what was changed.
    ///
    /// - Parameter isWritten: Whether rows may have been written of which nothing was told.
    func anythingMayHaveChanged(isWritten: Bool) {}

    /// Hears, on the connection's side, of the end of a transaction, if it looks at rows.
    func transactionDidEnd(isCommitted: Bool) {}

    /// What concerns the query, after a fetch.
    func concern(_ db: Database) throws -> LiveConcern { LiveConcern(.fullDatabase) }

    /// Tells the reader the end, and lets go of all that belongs to the user.
    func letGo(_ failure: (any Error)?) {}

    // MARK: - The road of a value

    /// Fetches on the connection's side, and has the connection know what concerns the query.
    final func fetchInAccess(_ db: Database) throws -> LiveDelivery {
        let host = try host(db)
        if host !== self {
            retire()
            // Where it fails, the host tries again, and says so.
            do { return try host.fetchInAccess(db) } catch {
                return LiveDelivery { host.wake(isFirst: true) }
            }
        }
        let queries = LiveQueries.of(db)
        // All that was committed so far is seen.
        isOutdated = progress.withLock { progress in
            defer { (progress.isStale, progress.hasBegun) = (false, true) }
            progress.gate = queries.gate
            if settings.pause != nil { progress.lastFetch = .now }
            return progress.isStale || progress.seenCommit != queries.commitNumber
        }
        do {
            if let interval = settings.pollingInterval {
                try queries.polling.add(self, every: interval, on: db)
            }
            let delivery = try db.readTransaction { db in
                settings.tell { $0.willFetch?() }
                let delivery = try fetch(db)
                let concern = try concern(db)
                if concern.region != watched?.region { settings.tell { $0.willTrackRegion?(concern.region) } }
                try queries.watch(self, concern)
                return delivery
            }
            progress.withLock { $0.seenCommit = queries.commitNumber }
            return delivery
        } catch {
            progress.withLock { $0.isStale = true }
            fetchWasLost()
            throw error
        }
    }

    /// Fetches, and delivers, until nothing has changed any more.
    private func run() async {
        repeat {
            if let pause = settings.pause, let last = progress.withLock({ $0.lastFetch }) {
                try? await Task.sleep(until: last + pause, clock: .continuous)
            }
            guard await fetchAndDeliver() else { return }
        } while mayNotRest()
    }

    /// Returns whether the query goes on.
    private func fetchAndDeliver() async -> Bool {
        let content = content
        defer { withExtendedLifetime(content) {} }
        let end = ContinuousClock.now + Self.patience
        while !isEnded {
            guard let writer else {
                self.end()
                return false
            }
            let isInside = Lock(false)
            let delivery: LiveDelivery
            do {
                let gate = progress.withLock { $0.gate }
                await gate?.enter()
                defer { gate?.leave() }
                delivery = try await writer.writeWithoutTransaction { db in
                    isInside.withLock { $0 = true }
                    return try self.fetchInAccess(db)
                }
            } catch let error as DatabaseError
                where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) && ContinuousClock.now < end
            {
                // Another connection holds the file locked.
                try? await Task.sleep(for: .milliseconds(5))
                continue
            } catch {
                // A database that was closed meanwhile ends what it has begun.
                let isClosed = !isInside.withLock { $0 } && progress.withLock { $0.hasBegun }
                self.end(isClosed ? nil : error)
                return false
            }
            do {
                try delivery.deliver()
                return true
            } catch {
                self.end(error)
                return false
            }
        }
        return false
    }

    /// How long a lock of another connection is waited for.
    private static var patience: Duration { .seconds(10) }

    /// Fetches at once, on the calling thread, and delivers.
    final func startImmediately() {
        settings.tell { $0.willStart?() }
        progress.withLock { $0.phase = .fetching }
        let content = content
        defer { withExtendedLifetime(content) {} }
        do {
            guard let writer else { return end() }
            try writer.writeWithoutTransaction { db in try fetchInAccess(db) }.deliver()
        } catch {
            return end(error)
        }
        if mayNotRest() { begin() }
    }

    /// Begins with the first fetch.
    final func start() {
        settings.tell { $0.willStart?() }
        wake(isFirst: true)
    }

    // MARK: - Waking and resting

    /// Has the query fetch, as soon as it can: something was committed that concerns it.
    ///
    /// - Parameters:
    ///   - commit: The number of what was committed, where a fetch may have seen it meanwhile.
    ///   - isFirst: Whether there was no fetch before.
    final func wake(since commit: UInt64? = nil, isFirst: Bool = false) {
        let (isAwake, begins) = progress.withLock { progress in
            guard progress.phase != .ended, commit.map({ $0 > progress.seenCommit }) ?? true else {
                return (false, false)
            }
            progress.isStale = true
            guard progress.phase == .resting else { return (true, false) }
            progress.phase = .fetching
            return (true, true)
        }
        if isAwake, !isFirst { settings.tell { $0.databaseDidChange?() } }
        if begins { begin() }
    }

    private func begin() {
        let task = Task { await run() }
        let isEnded = progress.withLock { progress in
            if progress.phase == .fetching { progress.task = task }
            return progress.phase == .ended
        }
        if isEnded { task.cancel() }
    }

    /// Rests, unless there is something new.
    private func mayNotRest() -> Bool {
        progress.withLock { progress in
            guard progress.phase == .fetching else { return false }
            if progress.isStale { return true }
            progress.phase = .resting
            progress.task = nil
            return false
        }
    }

    // MARK: - The end

    /// Ends the query, whose readers another one has.
    private func retire() {
        progress.withLock { progress in
            progress.phase = .ended
            progress.task = nil
        }
    }

    final var isEnded: Bool { progress.withLock { $0.phase == .ended } }

    /// Ends the query, and tells its reader. It may be called more than once, by any thread.
    ///
    /// - Parameter isCancelled: Whether the reader has left, who wants to hear nothing more.
    final func end(_ failure: (any Error)? = nil, isCancelled: Bool = false) {
        let (isFirst, task) = progress.withLock { progress in
            defer {
                progress.phase = .ended
                progress.task = nil
            }
            return (progress.phase != .ended, progress.task)
        }
        guard isFirst else { return }
        task?.cancel()
        if isCancelled {
            settings.tell { $0.didCancel?() }
        } else if let failure {
            settings.tell { $0.didFail?(failure) }
        }
        letGo(failure)
    }
}

/// What delivers a value that was fetched: made inside of an access, and called once, outside of it.
struct LiveDelivery: @unchecked Sendable {  // see above
    let deliver: () throws -> Void

    init(_ deliver: @escaping () throws -> Void) { self.deliver = deliver }
}

/// What concerns a query.
struct LiveConcern: Equatable {
    /// The tables, columns and rows that it reads.
    let region: DatabaseRegion
    /// What tells the rows of a request on one table, where it can be known.
    let condition: RowCondition?
    /// Whether the rows of a table concern it that have one of the keys which ``FollowedRows`` know.
    let isOfKeys: Bool

    init(_ region: DatabaseRegion, _ condition: RowCondition? = nil, isOfKeys: Bool = false) {
        (self.region, self.condition, self.isOfKeys) = (region, condition, isOfKeys)
    }

    static func == (a: Self, b: Self) -> Bool {
        a.region == b.region && a.condition === b.condition && a.isOfKeys == b.isOfKeys
    }
}
