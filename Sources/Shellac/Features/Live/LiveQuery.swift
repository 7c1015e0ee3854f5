/// A query that is fetched again whenever its result may have changed.
///
/// ## The life of a value
///
/// 1. A reader starts. The query's task waits for its turn with the accesses, and fetches in a
///    read-only transaction, from one committed state. Then the query registers with the
///    ``LiveQueries`` of the writing connection, for the changes that affect it. In a queue that
///    happens in the same access, and no commit can come between. In a pool, a reader fetches
///    beside the writer, and the writer's access comes later. If the number of the last commit has
///    changed by then, the query fetches once more. The query waits for the writer in a task of its
///    own. So it can fetch for new readers while a long transaction holds the writer.
/// 2. Outside of the access the value is made from the fetched rows, and put into the
///    ``LiveMailbox`` of its reader.
/// 3. The query rests, without a task. A transaction makes changes that affect it: the connection's
///    observer *marks* it, and *wakes* it when the transaction is committed. Its task waits for its
///    turn again: see 1.
/// 4. The fetch sees commits that happen while the task waits, and later commits wake the query
///    once more. So values come in order, none is missed, the last one is of the newest state, and
///    a slow reader delays nothing else.
/// 5. The query ends when its reader leaves, which interrupts a running fetch. It also ends with
///    its first error, and with the database. All objects of the user are released at once, and
///    never inside an access, where they could not use the database.
///
/// Marks and registrations belong to the writing connection, and need no lock. Fetching belongs to
/// the query: one task at a time, and in a queue one access at a time. Waking, ending and
/// delivering may happen on any thread, and go through ``progress``.
class LiveQuery: @unchecked Sendable {  // guarded by `progress`, or by the access
    /// The database, which an observation does not keep alive.
    weak let writer: (any DatabaseWriter)?

    struct Progress {
        /// The settings of the observation. Their handlers, which belong to the user, are not
        /// called any more once the query has ended.
        var settings: LiveSettings
        enum Phase { case resting, fetching, ended }
        var lastFetch: ContinuousClock.Instant?
        var phase = Phase.resting
        /// Whether changes without a commit number may exist that the last fetch has not seen.
        var isStale = false
        /// Whether the query must be registered with the writing connection. `isWatching` is true
        /// while a task is about to do so.
        var mustWatch = false
        var isWatching = false
        /// Whether the registration with the writing connection may be missing or outdated.
        var isUnwatched: Bool { mustWatch || isWatching }
        /// Whether there was an access to the database.
        var hasBegun = false
        /// Whether the query keeps a pool open.
        var keepsOpen = false
        /// The number of the last commit that affects the query, and of the last one that a fetch
        /// has seen.
        var newestCommit: UInt64 = 0
        var seenCommit: UInt64 = 0
        var mustFetch: Bool { isStale || newestCommit > seenCommit }
        var task: Task<Void, Never>?
        /// The registry of the database, once a connection is known.
        var hosts: LiveHosts?
    }
    let progress: Lock<Progress>
    final var settings: LiveSettings { progress.withLock { $0.settings } }

    // For the side of the writing connection:

    /// Whether the present transaction has made changes that affect the query.
    @exclusivity(unchecked) final var isMarked = false
    /// The registered changes that affect the query.
    @exclusivity(unchecked) final var watched: LiveConcern?

    // For the fetching side:

    /// The state of the schema that the last fetch has seen.
    @exclusivity(unchecked) final var seenSchema = RowTesters.Version.unknown
    /// Whether there was a commit since the last fetch, for the running fetch to see.
    @exclusivity(unchecked) final var isOutdated = true
    /// Whether the running fetch sees commits from before the query was registered with the writing
    /// connection.
    @exclusivity(unchecked) final var seesUnwatchedCommits = false

    init(_ writer: any DatabaseWriter, _ settings: LiveSettings) {
        self.writer = writer
        progress = Lock(Progress(settings: settings))
    }

    // MARK: - Overrides

    /// The objects of the user. The caller holds them, so that they are not freed inside of an
    /// access.
    var content: AnyObject? { nil }

    /// Returns the query that fetches in place of this one, and has taken over its readers. Mostly
    /// it is this one.
    func host(_ db: Database) throws -> LiveQuery { self }

    /// Called before a fetch: the transaction in which it sees one state is not open yet.
    func fetchWillBegin() {}

    /// Fetches in a read-only transaction. Returns the delivery of the value, to run outside of the
    /// access.
    func fetch(_ db: Database) throws -> LiveDelivery { LiveDelivery {} }

    /// Removes a reader that leaves. The last one ends the query.
    func remove(_ reader: LiveReader) {}

    /// Called when the fetched value is not delivered: the access has failed after the fetch.
    func fetchWasLost() {}

    /// Called in an access to the writing connection if the changes are unknown.
    ///
    /// - Parameter isWritten: Whether unreported rows may have been written.
    func anythingMayHaveChanged(isWritten: Bool) {}

    /// Notes the end of a transaction, in an access to the writing connection, if the query
    /// examines rows.
    ///
    /// - Returns: Whether the transaction affects the query, even if none of its changes has marked
    ///   the query.
    func transactionDidEnd(isCommitted: Bool) -> Bool { false }

    /// Whether a commit that affects the query leaves notes of its changes. A fetch must handle
    /// them, whatever an earlier one has seen.
    var looksAtNotes: Bool { false }

    /// Called if commits may have gone unreported.
    func changesMayBeMissed() {}

    /// Whether the last fetch has read from other places than the registered ones.
    var readsSomethingElse: Bool { false }

    /// Returns the changes that affect the query, after a fetch, on the writing connection.
    func concern(_ db: Database) throws -> LiveConcern { LiveConcern(.fullDatabase) }

    /// Delivers the end to the reader, and releases all objects of the user.
    func release(_ failure: (any Error)?) {}

    // MARK: - Starting

    /// Fetches at once, on the calling thread, and delivers.
    final func startImmediately() {
        didBegin()
        settings.tell { $0.willStart?() }
        progress.withLock { $0.phase = .fetching }
        let kept = (content, settings)
        defer { withExtendedLifetime(kept) {} }
        do {
            guard let writer else { return end() }
            if let pool = writer.pool {
                try pool.readers.access(at: CallSite(.read, #fileID, #line)) { db in try fetchBesideWriter(db)
                }.deliver()
            } else {
                try writer.writeWithoutTransaction { db in try fetchInAccess(db) }.deliver()
            }
        } catch {
            return end(error)
        }
        if shouldRunAgain() { begin() }
    }

    /// Starts the query with its first fetch.
    final func start() {
        didBegin()
        settings.tell { $0.willStart?() }
        wake(isFirst: true)
    }

    // MARK: - Waking and resting

    /// Makes the query fetch as soon as it can, after a commit that affects it.
    ///
    /// - Parameters:
    ///   - commit: The number of the commit, if a fetch may have seen it.
    ///   - isFirst: Whether there was no fetch before.
    final func wake(since commit: UInt64? = nil, isFirst: Bool = false) {
        let (isAwake, begins) = progress.withLock { progress in
            guard progress.phase != .ended else { return (false, false) }
            if let commit {
                progress.newestCommit = max(progress.newestCommit, commit)
                // A fetch that is under way may see it, and notes it then.
                guard progress.mustFetch else { return (false, false) }
            } else {
                progress.isStale = true
            }
            guard progress.phase == .resting else { return (true, false) }
            progress.phase = .fetching
            return (true, true)
        }
        if isAwake, !isFirst { settings.tell { $0.databaseDidChange?() } }
        if begins { begin() }
    }

    final func begin() {
        let task = Task { await run() }
        let isEnded = progress.withLock { progress in
            if progress.phase == .fetching { progress.task = task }
            return progress.phase == .ended
        }
        if isEnded { task.cancel() }
    }

    /// Starts a task that registers the query with the writing connection, unless there is one.
    final func beginWatching() {
        let begins = progress.withLock { progress in
            guard progress.phase == .fetching, progress.mustWatch, !progress.isWatching else { return false }
            progress.isWatching = true
            return true
        }
        guard begins else { return }
        hosts?.keep(Task { await watch() }, watchingFor: self)
        // (The query may have ended meanwhile, and so may the task.)
        let isOver = progress.withLock { $0.phase == .ended || !$0.isWatching }
        if isOver { hosts?.removeTask(watchingFor: self)?.cancel() }
    }

    /// Rests, unless there is more to do. Returns whether there is.
    final func shouldRunAgain() -> Bool {
        progress.withLock { progress in
            guard progress.phase == .fetching else { return false }
            if progress.mustFetch || progress.mustWatch && !progress.isWatching { return true }
            progress.phase = .resting
            progress.task = nil
            return false
        }
    }

    // MARK: - The end

    /// Ends the query after another one has taken over its readers.
    final func retire() {
        let isFirst = progress.withLock { progress in
            defer { (progress.phase, progress.task) = (.ended, nil) }
            return progress.phase != .ended
        }
        if isFirst { noteEnd() }
    }

    /// Notes that the query lives, so that its pool cannot be closed.
    private func didBegin() {
        guard let pool = writer?.pool else { return }
        let hosts = LiveHosts.of(pool)
        hosts.didBegin()
        progress.withLock { ($0.hosts, $0.keepsOpen) = (hosts, true) }
    }

    private func noteEnd() {
        let hosts = progress.withLock { progress in
            defer { progress.keepsOpen = false }
            return progress.keepsOpen ? progress.hosts : nil
        }
        hosts?.noteEnd()
    }

    /// The registry of shared queries, once the query has searched it.
    final var hosts: LiveHosts? { progress.withLock { $0.hosts } }

    final var isEnded: Bool { progress.withLock { $0.phase == .ended } }

    /// Ends the query, and notifies its reader. It may be called more than once, on any thread.
    ///
    /// - Parameter isCancelled: Whether the reader has left, and gets nothing more.
    final func end(_ failure: (any Error)? = nil, isCancelled: Bool = false) {
        let (isFirst, task, settings) = progress.withLock { progress in
            defer {
                progress.phase = .ended
                progress.task = nil
                progress.settings = progress.settings.unheard
            }
            return (progress.phase != .ended, progress.task, progress.settings)
        }
        defer { withExtendedLifetime(settings) {} }
        guard isFirst else { return }
        noteEnd()
        task?.cancel()
        hosts?.removeTask(watchingFor: self)?.cancel()
        if isCancelled {
            settings.tell { $0.didCancel?() }
        } else if let failure {
            settings.tell { $0.didFail?(failure) }
        }
        release(failure)
    }
}

/// The delivery of a fetched value: made inside of an access, and run once, outside of it.
struct LiveDelivery: @unchecked Sendable {  // see above
    let deliver: () throws -> Void

    init(_ deliver: @escaping () throws -> Void) { self.deliver = deliver }
}

/// The changes that affect a query.
struct LiveConcern: Equatable {
    /// The tables, columns and rows that it reads.
    let region: DatabaseRegion
    /// The condition that rows of a request on one table satisfy, if it can be determined.
    let condition: RowCondition?
    /// Whether only rows with the keys of ``FollowedRows`` affect it.
    let isOfKeys: Bool

    init(_ region: DatabaseRegion, _ condition: RowCondition? = nil, isOfKeys: Bool = false) {
        (self.region, self.condition, self.isOfKeys) = (region, condition, isOfKeys)
    }

    static func == (a: Self, b: Self) -> Bool {
        a.region == b.region && a.condition === b.condition && a.isOfKeys == b.isOfKeys
    }
}
