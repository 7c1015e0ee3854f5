// The way of a value, from a connection to its reader.

extension LiveQuery {
    /// Fetches in an access of the only connection, and registers the changes that affect the
    /// query.
    func fetchInAccess(_ db: Database) throws -> LiveDelivery {
        let host = try host(db)
        if host !== self {
            retire()
            // If it fails, the host tries again, and reports the error.
            do { return try host.fetchInAccess(db) } catch {
                return LiveDelivery { host.wake(isFirst: true) }
            }
        }
        let queries = LiveQueries.of(db)
        // The fetch sees everything that was committed so far.
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

    /// Begins a fetch, which sees all known changes. Returns whether some change among them has no
    /// commit number.
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

    /// Registers the query with the connection that writes.
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
            // Only one task at a time fetches for a host: its own.
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

    /// Registers the query with the writer, in an access to it.
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
        // Commits between the fetch and this registration were not reported. Commits of other
        // processes are unknown.
        let isMissed = progress.withLock { progress in
            progress.seenCommit != queries.commitNumber || isNew && progress.settings.pollingInterval != nil
        }
        guard isMissed else { return }
        // (In this order: a fetch that begins because the query is stale takes the missed changes.)
        changesMayBeMissed()
        progress.withLock { $0.isStale = true }
    }

    // MARK: - The task

    /// Fetches and delivers until there is no further change.
    func run() async {
        repeat {
            if let pause = settings.pause, let last = progress.withLock({ $0.lastFetch }) {
                try? await Task.sleep(until: last + pause, clock: .continuous)
            }
            guard await fetchAndDeliver() else { return }
        } while shouldRunAgain()
    }

    /// Fetches if necessary, and delivers. Returns whether the query continues.
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

    /// Registers the query with the writer of a pool. Fetches again if a change was missed.
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
                // (Meanwhile, a fetch may have read from other tables.)
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

    /// Accesses the database, and retries while another connection locks the file. Returns nil if
    /// the query has ended.
    ///
    /// - Parameters:
    ///   - gate: The gate that admits a few queries at a time.
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
                && (ContinuousClock.now < end || attempts < Self.minimumAttempts)
            {
                // Another connection holds the file locked.
                try? await Task.sleep(for: .milliseconds(5))
            } catch {
                // If the database was closed after the query has begun, the query ends without an
                // error.
                let isClosed = !isInside.withLock { $0 } && progress.withLock { $0.hasBegun }
                self.end(isClosed ? nil : error)
                return nil
            }
        }
        return nil
    }

    /// The longest time to wait for a lock of another connection.
    private static var patience: Duration { .seconds(10) }
    /// The minimum number of attempts: on a busy machine, few of them happen in that time.
    private static var minimumAttempts: Int { 20 }
}
