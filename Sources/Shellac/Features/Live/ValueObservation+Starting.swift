// Starts a value observation, as an async sequence or with scheduled callbacks.

extension ValueObservation {
    /// Returns the values as a sequence.
    ///
    /// ```swift
    /// for try await players in observation.values(in: dbQueue) {
    ///     print(players.count)
    /// }
    /// ```
    ///
    /// Each loop is an observation of its own. It ends when its task is cancelled, or the loop is
    /// left.
    ///
    /// - Parameters:
    ///   - reader: The database, which is not kept alive. A snapshot has one value, which never
    ///     changes.
    ///   - scheduler: With `.immediate`, the first value is fetched when the loop begins, on its
    ///     thread, which must be the main one. Other schedulers make no difference: the values
    ///     arrive in the isolation of the loop.
    ///   - bufferingPolicy: The buffering of values that the loop has not taken when newer ones
    ///     come. By default, only the newest one is kept.
    public func values(
        in reader: some DatabaseReader, scheduling scheduler: some ValueObservationScheduler = .task,
        bufferingPolicy: DatabaseValues<Value>.BufferingPolicy = .bufferingNewest(1)
    ) -> DatabaseValues<Value> {
        let reader = reader.unwrapped
        return DatabaseValues(policy: bufferingPolicy) { [weak reader] mailbox, settings in
            guard let reader else {
                mailbox.finish()
                return AnyDatabaseCancellable {}
            }
            var observation = self
            if let interval = settings.pollingInterval { observation.settings.pollingInterval = interval }
            return observation.start(in: reader, isImmediate: scheduler.immediateInitialValue(), mailbox)
        }
    }

    /// Starts, and calls a function with each value, by a scheduler.
    ///
    /// ```swift
    /// let cancellable = observation.start(in: dbQueue, scheduling: .task) { error in
    ///     print("the players cannot be observed: \(error)")
    /// } onChange: { players in
    ///     print("there are \(players.count) players")
    /// }
    /// ```
    ///
    /// It continues until the returned object is cancelled or deallocated. If a newer value comes
    /// before one is delivered, it replaces that one.
    ///
    /// - Parameters:
    ///   - reader: The database, which is not kept alive. A snapshot has one value, which never
    ///     changes.
    ///   - scheduler: The scheduler that calls the functions.
    ///   - onError: Called with the error that ends the observation.
    ///   - onChange: Called with each value, one after the other.
    public func start(
        in reader: some DatabaseReader, scheduling scheduler: some ValueObservationScheduler,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (sending Value) -> Void
    ) -> AnyDatabaseCancellable {
        LiveMailbox.start(scheduler) {
            $0.tell(onError, onChange)
        } begin: { mailbox, isImmediate in
            start(in: reader, isImmediate: isImmediate, mailbox)
        }
    }

    /// Starts, and calls a function with each value on the main actor.
    ///
    /// ```swift
    /// cancellable = observation.start(in: dbQueue) { error in
    ///     self.alert = "\(error)"
    /// } onChange: { players in
    ///     self.players = players
    /// }
    /// ```
    ///
    /// It continues until the returned object is cancelled or deallocated. If a newer value comes
    /// before one is delivered, it replaces that one.
    ///
    /// - Parameters:
    ///   - reader: The database, which is not kept alive. A snapshot has one value, which never
    ///     changes.
    ///   - scheduler: `.mainActor`, or `.immediate`, with which the first value arrives before this
    ///     returns. With `.immediate`, call this on the main thread: elsewhere it traps with a
    ///     message.
    ///   - onError: Called with the error that ends the observation.
    ///   - onChange: Called with each value, one after the other.
    public func start(
        in reader: some DatabaseReader,
        scheduling scheduler: some ValueObservationMainActorScheduler = .mainActor,
        onError: @escaping @MainActor (any Error) -> Void,
        onChange: @escaping @MainActor (sending Value) -> Void
    ) -> AnyDatabaseCancellable {
        LiveMailbox.start(scheduler) { message in
            MainActor.assumeIsolated { message.tell(onError, onChange) }
        } begin: { mailbox, isImmediate in
            start(in: reader, isImmediate: isImmediate, mailbox)
        }
    }

    /// Starts an observation whose values go to a mailbox.
    func start(
        in reader: any DatabaseReader, isImmediate: Bool, _ mailbox: LiveMailbox<Value>
    ) -> AnyDatabaseCancellable {
        let reader = reader.unwrapped
        guard let writer = reader as? any DatabaseWriter else {
            return startOnce(in: reader, isImmediate, mailbox)
        }
        let query = ObservedFetch(self, in: writer, to: mailbox)
        if isImmediate { query.startImmediately() } else { query.start() }
        return AnyDatabaseCancellable {
            // First, so that the reader gets nothing more.
            mailbox.cancel()
            query.end(isCancelled: true)
        }
    }

    /// Fetches the value of a snapshot, which never changes.
    private func startOnce(
        in reader: any DatabaseReader, _ isImmediate: Bool, _ mailbox: LiveMailbox<Value>
    ) -> AnyDatabaseCancellable {
        settings.tell { $0.willStart?() }
        let read: @Sendable (Database) throws -> Parcel<LiveStep<Value>> = { db in
            settings.tell { $0.willFetch?() }
            nonisolated(unsafe) let step = try makeFetch()(db)
            return Parcel(step)
        }
        let hasFailed = Lock(false)
        // Outside of the access, as for each value of an observation.
        let deliver: @Sendable (Result<Parcel<LiveStep<Value>>, any Error>) -> Void = { step in
            do {
                if let parcel = try step.get().take()() { mailbox.post(parcel) }
            } catch {
                hasFailed.withLock { $0 = true }
                settings.tell { $0.didFail?(error) }
                mailbox.finish(error)
            }
        }
        let task: Task<Void, Never>?
        if isImmediate {
            deliver(Result { try reader.read(read) })
            task = nil
        } else {
            task = Task {
                do {
                    let step = try await reader.read { db in try read(db) }
                    deliver(.success(step))
                } catch {
                    if !Task.isCancelled { deliver(.failure(error)) }
                }
            }
        }
        return AnyDatabaseCancellable {
            mailbox.cancel()
            task?.cancel()
            if !hasFailed.withLock({ $0 }) { settings.tell { $0.didCancel?() } }
        }
    }
}

extension DatabaseWriter {
    /// Returns the values that a function fetches as a sequence: the present value first, and then
    /// one for each possible change.
    ///
    /// ```swift
    /// for try await count in dbQueue.values(tracking: { db in try Player.all().fetchCount(db) }) {
    ///     print("there are \(count) players")
    /// }
    /// ```
    ///
    /// It is short for ``ValueObservation``'s `tracking(_:)`, and
    /// ``ValueObservation/values(in:scheduling:bufferingPolicy:)``.
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the sequence.
    public func values<Value>(
        tracking fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> DatabaseValues<Value> { ValueObservation<Value>.tracking(fetch).values(in: self) }

    /// Returns the values that a function with a Sendable result fetches.
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the sequence.
    public func values<Value: Sendable>(
        tracking fetch: @escaping @Sendable (Database) throws -> Value
    ) -> DatabaseValues<Value> { ValueObservation<Value>.tracking(fetch).values(in: self) }
}
