/// Asks a connection, every now and then, whether others have committed, and wakes the queries that want to know.
///
/// SQLite tells nobody of other connections' commits: see ``ExternalChanges``, which says how it is asked. The number of the
/// last commit is read before the first fetch. What is committed between the two is seen by that fetch, and found once more: so
/// there may be one fetch too many, and never one too few.
final class ExternalPolling: @unchecked Sendable {  // it is used on the connection's side alone
    @exclusivity(unchecked) private var version: ExternalVersion?
    @exclusivity(unchecked) private var queries: [ObjectIdentifier: LiveQuery] = [:]
    @exclusivity(unchecked) private var interval = Duration.seconds(3600)
    @exclusivity(unchecked) private var task: Task<Void, Never>?

    deinit { task?.cancel() }

    /// Asks for the sake of a query, too, which is about to be fetched.
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

    /// Looks for commits. Returns whether nobody wants to know any more.
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
    /// Has the observation hear of other connections' commits, too: those of other processes, and of other queues.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in try Player.fetchAll(db) }
    ///     .observingExternalChanges(every: .milliseconds(500))
    /// ```
    ///
    /// SQLite does not tell them, and so it is asked: one question takes some microseconds, waits for its turn with the
    /// accesses, and reads nothing of the file. What has changed is not known: the value is fetched after each such commit.
    ///
    /// - Parameter interval: How long to sleep between two questions.
    public func observingExternalChanges(every interval: Duration = .milliseconds(100)) -> ValueObservation {
        var observation = self
        observation.settings.pollingInterval = interval
        return observation
    }
}

extension DatabaseValues {
    /// Has the sequence hear of other connections' commits, too: those of other processes, and of other queues.
    ///
    /// ```swift
    /// for try await players in dbQueue.values(of: Player.all()).observingExternalChanges() {
    ///     print(players.count)
    /// }
    /// ```
    ///
    /// SQLite does not tell them, and so it is asked: see ``ValueObservation/observingExternalChanges(every:)``. (The values of a
    /// ``SharedValueObservation`` hear of what their observation hears of.)
    ///
    /// - Parameter interval: How long to sleep between two questions.
    public func observingExternalChanges(every interval: Duration = .milliseconds(100)) -> DatabaseValues {
        var values = self
        values.settings.pollingInterval = interval
        return values
    }
}
