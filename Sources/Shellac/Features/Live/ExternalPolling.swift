/// The polling for commits of other connections, which wakes the queries that need them.
///
/// SQLite reports no commits of other connections: ``ExternalChanges`` describes how a connection
/// polls for them. The number of the last commit is read before the first fetch. That fetch sees
/// commits between the two, and polling finds them once more. So there may be one fetch too many,
/// and never one too few.
final class ExternalPolling: @unchecked Sendable {  // used only in accesses to its connection
    @exclusivity(unchecked) private var version: ExternalVersion?
    @exclusivity(unchecked) private var queries: [ObjectIdentifier: LiveQuery] = [:]
    @exclusivity(unchecked) private var interval = Duration.seconds(3600)
    @exclusivity(unchecked) private var task: Task<Void, Never>?

    deinit { task?.cancel() }

    /// Polls for a further query, which is about to be fetched.
    func add(_ query: LiveQuery, every pause: Duration, on db: Database) throws {
        if version == nil { version = try ExternalVersion(of: db) }
        guard queries.updateValue(query, forKey: ObjectIdentifier(query)) == nil else { return }
        guard task == nil || pause < interval else { return }
        interval = pause
        task?.cancel()
        task = Task { [weak self, weak writer = query.writer] in
            while !Task.isCancelled {
                do { try await Task.sleep(for: pause) } catch { return }
                guard let writer else { return }
                do {
                    let isOver = try await writer.writeWithoutTransaction { db in try self?.look(db) ?? true }
                    if isOver { return }
                } catch let error as DatabaseError where error.resultCode == .SQLITE_MISUSE {
                    return  // the database is closed
                } catch {
                    continue  // the file is locked
                }
            }
        }
    }

    /// Looks for commits. Returns whether no query needs polling any more.
    private func look(_ db: Database) throws -> Bool {
        queries = queries.filter { !$0.value.isEnded }
        if queries.isEmpty {
            (version, task, interval) = (nil, nil, .seconds(3600))
            return true
        }
        guard try version?.hasChanged(db) == true else { return false }
        for query in queries.values {
            query.changesMayBeMissed()
            query.wake()
        }
        return false
    }
}

extension ValueObservation {
    /// Includes the commits of other connections, which other processes and other queues have.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in try Player.fetchAll(db) }
    ///     .observingExternalChanges(every: .milliseconds(500))
    /// ```
    ///
    /// SQLite does not report them, so the connection polls. Each poll takes some microseconds,
    /// waits for its turn with the accesses, and reads nothing of the file. It cannot determine
    /// which rows have changed: the value is fetched after each such commit.
    ///
    /// - Parameter interval: The time to sleep between two polls.
    public func observingExternalChanges(every interval: Duration = .milliseconds(100)) -> ValueObservation {
        var observation = self
        observation.settings.pollingInterval = interval
        return observation
    }
}

extension DatabaseValues {
    /// Includes the commits of other connections, which other processes and other queues have.
    ///
    /// ```swift
    /// for try await players in dbQueue.values(of: Player.all()).observingExternalChanges() {
    ///     print(players.count)
    /// }
    /// ```
    ///
    /// SQLite does not report them, so the connection polls: see
    /// ``ValueObservation/observingExternalChanges(every:)``. (The values of a
    /// ``SharedValueObservation`` include the commits that their observation includes.)
    ///
    /// - Parameter interval: The time to sleep between two polls.
    public func observingExternalChanges(every interval: Duration = .milliseconds(100)) -> DatabaseValues {
        var values = self
        values.settings.pollingInterval = interval
        return values
    }
}
