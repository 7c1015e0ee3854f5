// The way of a value, from a connection to its reader.

extension LiveQuery {
    /// Fetches in an access of the only connection that there is, and has it know what concerns the query.
    func fetchInAccess(_ db: Database) throws -> LiveDelivery {
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
        isOutdated =
            beginFetch(LiveHosts.of(db)) || progress.withLock { $0.seenCommit != queries.commitNumber }
        do {
            fetchWillBegin()
            if let interval = settings.pollingInterval {
                try queries.polling.add(self, every: interval, on: db)
            }
            let isIntruding = db.isInsideTransaction
            let delivery = try db.readTransaction { db in
                settings.tell { $0.willFetch?() }
                let delivery = try fetch(db)
                seenSchema = try RowTesters.version(on: db)
                try watch(queries, db)
                return delivery
            }
            if isIntruding { queries.awaitEndOfTransaction(self) }
            progress.withLock { $0.seenCommit = queries.commitNumber }
            return delivery
        } catch {
            fetchDidFail()
            throw error
        }
    }

    /// Begins a fetch, which sees what is known to have changed. Returns whether something was that has no number.
    private func beginFetch(_ hosts: LiveHosts) -> Bool {
        progress.withLock { progress in
            defer { (progress.isStale, progress.hasBegun) = (false, true) }
            progress.hosts = hosts
            if progress.settings.pause != nil { progress.lastFetch = .now }
            return progress.isStale
        }
    }

    private func fetchDidFail() {
        progress.withLock { $0.isStale = true }
        fetchWasLost()
    }

    /// Has the connection that writes know what concerns the query.
    private func watch(_ queries: LiveQueries, _ db: Database) throws {
        let concern = try concern(db)
        if concern.region != watched?.region { settings.tell { $0.willTrackRegion?(concern.region) } }
        try queries.watch(self, concern)
    }

    // MARK: - In a pool

    /// Fetches in an access of a reader.
    func fetchBesideWriter(_ db: Database) throws -> LiveDelivery {
        let host = try host(db)
        if host !== self {
            retire()
            // One task at a time fetches for a host: its own.
            return LiveDelivery { host.wake(isFirst: true) }
        }
        let isStale = beginFetch(LiveHosts.of(db))
        do {
            fetchWillBegin()
            return try db.readNumberedState { db, number in
                progress.withLock { progress in
                    let isNewState = progress.seenCommit != number
                    isOutdated = isStale || isNewState
                    seesUnwatchedCommits = isNewState && progress.isUnwatched
                    progress.seenCommit = number
                }
                settings.tell { $0.willFetch?() }
                let delivery = try fetch(db)
                let version = try RowTesters.version(on: db)
                if seenSchema != version || readsSomethingElse {
                    seenSchema = version
                    progress.withLock { $0.mustWatch = true }
                }
                return delivery
            }
        } catch {
            fetchDidFail()
            throw error
        }
    }

    /// Has the writer know what concerns the query, in an access to it.
    private func watchBesideReaders(_ db: Database) throws {
        let queries = LiveQueries.of(db)
        let isNew = watched == nil
        if let interval = settings.pollingInterval {
            try queries.polling.add(self, every: interval, on: db)
        }
        progress.withLock { $0.mustWatch = false }
        let isIntruding = db.isInsideTransaction
        do { try db.readTransaction { db in try watch(queries, db) } } catch {
            progress.withLock { $0.mustWatch = true }
            throw error
        }
        if isIntruding { queries.awaitEndOfTransaction(self) }
        // What was committed between the fetch and this has told nobody. Of other processes, nothing is known.
        let isMissed = progress.withLock { progress in
            progress.seenCommit != queries.commitNumber || isNew && progress.settings.pollingInterval != nil
        }
        guard isMissed else { return }
        // (In this order: the fetch that begins as the query is stale takes what may be missed.)
        changesMayBeMissed()
        progress.withLock { $0.isStale = true }
    }

    // MARK: - The task

    /// Fetches, and delivers, until nothing has changed any more.
    func run() async {
        repeat {
            if let pause = settings.pause, let last = progress.withLock({ $0.lastFetch }) {
                try? await Task.sleep(until: last + pause, clock: .continuous)
            }
            guard await fetchAndDeliver() else { return }
        } while mayNotRest()
    }

    /// Returns whether the query goes on.
    private func fetchAndDeliver() async -> Bool {
        let kept = (content, settings)
        defer { withExtendedLifetime(kept) {} }
        if progress.withLock({ $0.mustFetch }) {
            let delivery = await trying(at: hosts?.gate) { writer, begin in
                if let pool = writer.pool {
                    return try await pool.readers.run(at: CallSite(.read, #fileID, #line)) { db in
                        begin()
                        return try self.fetchBesideWriter(db)
                    }
                }
                return try await writer.writeWithoutTransaction { db in
                    begin()
                    return try self.fetchInAccess(db)
                }
            }
            guard let delivery else { return false }
            do { try delivery.deliver() } catch {
                end(error)
                return false
            }
        }
        beginWatching()
        return true
    }

    /// Has the connection that writes know what concerns the query, in a pool. Fetches again if something was missed.
    func watch() async {
        let kept = (content, settings)
        defer { withExtendedLifetime(kept) {} }
        var goesOn = true
        while goesOn {
            let isTold: Bool? = await trying(at: hosts?.watchGate) { writer, begin in
                try await writer.writeWithoutTransaction { db in
                    begin()
                    try self.watchBesideReaders(db)
                }
                return true
            }
            if isTold == nil { return }
            goesOn = progress.withLock { progress in
                // (A fetch may have read something else meanwhile.)
                if progress.mustWatch, progress.phase != .ended { return true }
                progress.isWatching = false
                progress.hosts?.removeTask(watchingFor: self)
                return false
            }
        }
        let mustBegin = progress.withLock { progress in
            guard progress.phase == .resting, progress.mustFetch else { return false }
            progress.phase = .fetching
            return true
        }
        if mustBegin { begin() }
    }

    /// Accesses the database, and tries again while another connection holds the file locked. Returns nil where the query has
    /// ended.
    ///
    /// - Parameters:
    ///   - gate: The place where queries wait to be one of a few.
    ///   - access: The access.
    private func trying<Result: Sendable>(
        at gate: FetchGate?,
        _ access: (any DatabaseWriter, @escaping @Sendable () -> Void) async throws -> Result
    ) async -> Result? {
        let end = ContinuousClock.now + Self.patience
        var attempts = 0
        while !isEnded {
            attempts += 1
            guard let writer else {
                self.end()
                return nil
            }
            let isInside = Lock(false)
            do {
                await gate?.enter()
                defer { gate?.leave() }
                return try await access(writer) { isInside.withLock { $0 = true } }
            } catch let error as DatabaseError
                where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode)
                && (ContinuousClock.now < end || attempts < Self.fewestAttempts)
            {
                // Another connection holds the file locked.
                try? await Task.sleep(for: .milliseconds(5))
            } catch {
                // A database that was closed meanwhile ends what it has begun.
                let isClosed = !isInside.withLock { $0 } && progress.withLock { $0.hasBegun }
                self.end(isClosed ? nil : error)
                return nil
            }
        }
        return nil
    }

    /// How long a lock of another connection is waited for.
    private static var patience: Duration { .seconds(10) }
    /// How often it is tried at least: on a busy machine, few attempts come to pass in that time.
    private static var fewestAttempts: Int { 20 }
}
