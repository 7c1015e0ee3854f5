/// Something that is fetched again whenever it may have changed.
///
/// ## The life of a value
///
/// 1. A reader starts. The query's task waits for its turn with the accesses, and fetches: in a transaction that only reads,
///    of one committed state. Then the query tells the ``LiveQueries`` of the connection that writes what concerns it. In a queue
///    that is the same access, and no commit can come between. In a pool, a reader fetches, beside the writer; the writer's access
///    comes later, and where the number of the last commit is another one then, the query fetches once more. The query
///    waits for the writer in a task of its own: while a long transaction holds the writer, it goes on
///    to fetch for new readers.
/// 2. Outside of the access the value is made of what was fetched, and put into the ``LiveMailbox`` of its reader.
/// 3. The query rests, without a task. A transaction changes what concerns it: the observer of the connection *marks* it, and
///    when the transaction is committed, *wakes* it. Its task waits for its turn again: see 1.
/// 4. What is committed while the task waits is seen by its fetch; what is committed later wakes the query once more. So
///    values come in order, none is missed, the last one is of the newest state, and a slow reader holds up nobody.
/// 5. The query ends when its reader leaves, which interrupts a fetch that is running; with its first error; and with the
///    database. All that belongs to the user is let go of at once, and on no connection's side, where it could not use the
///    database.
///
/// Marking and the table of what concerns whom are the writing connection's own, and need no lock. Fetching is the query's own:
/// one task at a time, and in a queue one access at a time. Waking, ending and delivering are anybody's, and go through
/// ``progress``.
class LiveQuery: @unchecked Sendable {  // what is not constant is guarded by `progress`, or by the access
    /// The database, which an observation does not keep alive.
    weak let writer: (any DatabaseWriter)?

    struct Progress {
        /// How the query is followed. Nobody hears of it any more once it has ended: who does belongs to the user.
        var settings: LiveSettings
        enum Phase { case resting, fetching, ended }
        var lastFetch: ContinuousClock.Instant?
        var phase = Phase.resting
        /// Whether something may have changed that the last fetch has not seen, and that is no commit with a number.
        var isStale = false
        /// Whether the connection that writes has to be told what concerns the query, and whether a
        /// task is about to tell it.
        var mustWatch = false
        var isWatching = false
        /// Whether the connection that writes may not know yet what concerns the query.
        var isUnwatched: Bool { mustWatch || isWatching }
        /// Whether there was an access to the database.
        var hasBegun = false
        /// Whether the query is one of those that keep a pool open.
        var keepsOpen = false
        /// The number of the last commit that concerns the query, and of the last one that a fetch has seen.
        var newestCommit: UInt64 = 0
        var seenCommit: UInt64 = 0
        var mustFetch: Bool { isStale || newestCommit > seenCommit }
        var task: Task<Void, Never>?
        /// Those of the database, once a connection is known.
        var hosts: LiveHosts?
    }
    let progress: Lock<Progress>
    final var settings: LiveSettings { progress.withLock { $0.settings } }

    // On the side of the connection that writes:

    /// Whether the present transaction has changed what concerns the query.
    @exclusivity(unchecked) final var isMarked = false
    /// What concerns the query, as the connection knows it.
    @exclusivity(unchecked) final var watched: LiveConcern?

    // On the side of who fetches:

    /// The state of the schema that the last fetch has seen.
    @exclusivity(unchecked) final var seenSchema = RowTesters.Version.unknown
    /// Whether something was committed since the last fetch, which the fetch that is running is to see.
    @exclusivity(unchecked) final var isOutdated = true
    /// Whether the fetch that is running sees commits that came before the connection that writes
    /// knew what concerns the query.
    @exclusivity(unchecked) final var seesUnwatchedCommits = false

    init(_ writer: any DatabaseWriter, _ settings: LiveSettings) {
        self.writer = writer
        progress = Lock(Progress(settings: settings))
    }

    // MARK: - What subclasses say

    /// What belongs to the user, for whoever keeps it from being freed inside of an access.
    var content: AnyObject? { nil }

    /// The query that fetches in the place of this one, which has taken over its readers: this one, mostly.
    func host(_ db: Database) throws -> LiveQuery { self }

    /// Hears that a fetch is about to begin: the transaction in which it sees one state is not open yet.
    func fetchWillBegin() {}

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

    /// Notes the end of a transaction, on the connection's side, if the query looks at rows.
    ///
    /// - Returns: whether the transaction concerns the query, even if no change of it has marked the query.
    func transactionDidEnd(isCommitted: Bool) -> Bool { false }

    /// Whether a commit that concerns the query leaves a note of what it has changed, for which there must be a fetch, whatever
    /// was seen before.
    var looksAtNotes: Bool { false }

    /// Hears that something may have been committed of which the query was not told.
    func changesMayBeMissed() {}

    /// Whether the last fetch has read something else than what concerns the query, as the connection that writes knows it.
    var readsSomethingElse: Bool { false }

    /// What concerns the query, after a fetch: on the connection that writes.
    func concern(_ db: Database) throws -> LiveConcern { LiveConcern(.fullDatabase) }

    /// Tells the reader the end, and lets go of all that belongs to the user.
    func letGo(_ failure: (any Error)?) {}

    // MARK: - Starting

    /// Fetches at once, on the calling thread, and delivers.
    final func startImmediately() {
        noteBegin()
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
        if mayNotRest() { begin() }
    }

    /// Begins with the first fetch.
    final func start() {
        noteBegin()
        settings.tell { $0.willStart?() }
        wake(isFirst: true)
    }

    // MARK: - Waking and resting

    /// Has the query fetch, as soon as it can: something was committed that concerns it.
    ///
    /// - Parameters:
    ///   - commit: The number of what was committed, where a fetch may have seen it.
    ///   - isFirst: Whether there was no fetch before.
    final func wake(since commit: UInt64? = nil, isFirst: Bool = false) {
        let (isAwake, begins) = progress.withLock { progress in
            guard progress.phase != .ended else { return (false, false) }
            if let commit {
                progress.newestCommit = max(progress.newestCommit, commit)
                // A fetch that is on its way may see it, and says so when it knows.
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

    /// Begins to tell the connection that writes what concerns the query, unless a task is about to do so.
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

    /// Rests, unless there is something new.
    final func mayNotRest() -> Bool {
        progress.withLock { progress in
            guard progress.phase == .fetching else { return false }
            if progress.mustFetch || progress.mustWatch && !progress.isWatching { return true }
            progress.phase = .resting
            progress.task = nil
            return false
        }
    }

    // MARK: - The end

    /// Ends the query, whose readers another one has.
    final func retire() {
        let isFirst = progress.withLock { progress in
            defer { (progress.phase, progress.task) = (.ended, nil) }
            return progress.phase != .ended
        }
        if isFirst { noteEnd() }
    }

    /// A pool is not closed while a query lives.
    private func noteBegin() {
        guard let pool = writer?.pool else { return }
        let hosts = LiveHosts.of(pool)
        hosts.noteBegin()
        progress.withLock { ($0.hosts, $0.keepsOpen) = (hosts, true) }
    }

    private func noteEnd() {
        let hosts = progress.withLock { progress in
            defer { progress.keepsOpen = false }
            return progress.keepsOpen ? progress.hosts : nil
        }
        hosts?.noteEnd()
    }

    /// Where the query may be found, once it has looked for others.
    final var hosts: LiveHosts? { progress.withLock { $0.hosts } }

    final var isEnded: Bool { progress.withLock { $0.phase == .ended } }

    /// Ends the query, and tells its reader. It may be called more than once, by any thread.
    ///
    /// - Parameter isCancelled: Whether the reader has left, who wants to hear nothing more.
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
