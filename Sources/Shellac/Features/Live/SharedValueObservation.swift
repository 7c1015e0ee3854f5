/// The lifetime of a ``SharedValueObservation``'s observation.
public enum SharedValueObservationExtent: Hashable, Sendable {
    /// As long as there is a reader.
    case whileObserved
    /// From the first reader on, as long as the shared observation exists.
    case observationLifetime
}

/// An observation that fetches once for all its readers.
///
/// ```swift
/// let players = ValueObservation.tracking { db in try Player.fetchAll(db) }.shared(in: dbQueue)
/// for try await all in players.values() { print(all.count) }
/// ```
///
/// A later reader gets the newest value at once. That value is kept for this purpose, so it must be
/// Sendable. (``DatabaseWriter/values(of:bufferingPolicy:)`` shares the rows of a request, also of
/// class records.)
///
/// An error ends all its readers. A reader that comes afterwards starts it again.
public final class SharedValueObservation<Value: Sendable>: Sendable {
    private let observation: ValueObservation<Value>
    private weak let reader: (any DatabaseReader)?
    private let scheduler: any ValueObservationScheduler
    private let extent: SharedValueObservationExtent

    private struct State {
        var readers: [Int: LiveMailbox<Value>] = [:]
        var lastReader = 0
        /// The newest value, or nil before the first one.
        var last: Value?
        var isRunning = false
        var running: AnyDatabaseCancellable?
        /// The number of the present run: messages of earlier ones come too late.
        var run = 0

        /// Resets everything. Returns the old state.
        mutating func end() -> State {
            defer { self = State(lastReader: lastReader, run: run + 1) }
            return self
        }
    }
    private let state = Lock(State())

    fileprivate init(
        _ observation: ValueObservation<Value>, _ reader: any DatabaseReader,
        _ scheduler: any ValueObservationScheduler, _ extent: SharedValueObservationExtent
    ) {
        (self.observation, self.reader) = (observation, reader)
        (self.scheduler, self.extent) = (scheduler, extent)
    }

    /// Starts, and calls a function with each value, by the scheduler.
    ///
    /// - Parameters:
    ///   - onError: Called with the error that ends the observation.
    ///   - onChange: Called with each value, one after the other: first with the newest known one.
    /// - Returns: An object that ends it when cancelled or deallocated.
    public func start(
        onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable (Value) -> Void
    ) -> AnyDatabaseCancellable {
        LiveMailbox.start(scheduler) {
            $0.tell(onError, onChange)
        } begin: { mailbox, isImmediate in
            add(mailbox, isImmediate: isImmediate)
        }
    }

    /// Returns the values as a sequence. Each loop begins with the newest value.
    ///
    /// - Parameter bufferingPolicy: The buffering of values that the loop has not taken when newer
    ///   ones come.
    public func values(
        bufferingPolicy: ValueBufferingPolicy = .bufferingNewest(1)
    ) -> DatabaseValues<Value> {
        DatabaseValues(policy: bufferingPolicy) { mailbox, _ in self.add(mailbox, isImmediate: false) }
    }

    private func add(_ mailbox: LiveMailbox<Value>, isImmediate: Bool) -> AnyDatabaseCancellable {
        let (number, run, posting) = state.withLock { state -> (Int, Int?, LiveMailbox<Value>.Posting?) in
            state.lastReader += 1
            state.readers[state.lastReader] = mailbox
            // Under the lock, so no newer value can come first.
            let posting = state.last.map { mailbox.postUnscheduled(Parcel($0)) }
            // An immediate start does not wait for the first value of a run that is under way.
            if state.isRunning, !isImmediate || state.last != nil { return (state.lastReader, nil, posting) }
            state.isRunning = true
            state.run += 1
            return (state.lastReader, state.run, posting)
        }
        posting?.finish()
        mailbox.callReceiver()
        if let run { begin(run, isImmediate: isImmediate) }
        return AnyDatabaseCancellable {
            mailbox.cancel()
            self.remove(number)
        }
    }

    private func remove(_ number: Int) {
        let ended = state.withLock { state -> State? in
            state.readers[number] = nil
            guard state.readers.isEmpty, extent == .whileObserved, state.isRunning else { return nil }
            return state.end()
        }
        ended?.running?.cancel()
    }

    private func begin(_ run: Int, isImmediate: Bool) {
        guard let reader else { return finish(run, nil) }
        // The receiver is called at once, on the thread that puts a value in.
        let values = LiveMailbox<Value>(
            .unbounded,
            receiver: .init(schedule: { $0() }) { [weak self] message in
                switch message {
                case .value(let parcel): self?.post(parcel.take(), of: run)
                case .failure(let error): self?.finish(run, error)
                case .end: self?.finish(run, nil)
                }
            })
        let running = observation.start(in: reader, isImmediate: isImmediate, values)
        // All readers may have left meanwhile, or the run may have failed.
        let unwanted = state.withLock { state -> AnyDatabaseCancellable? in
            guard state.run == run else { return running }
            defer { state.running = running }
            return state.running
        }
        unwanted?.cancel()
    }

    private func post(_ value: Value, of run: Int) {
        // Replaced values may be objects of the user, whose `deinit` may call this object again,
        // and so may resumed readers.
        typealias Posted = (reader: LiveMailbox<Value>, posting: LiveMailbox<Value>.Posting)
        let (posted, before) = state.withLock { state -> ([Posted], Value?) in
            guard state.run == run else { return ([], nil) }
            defer { state.last = value }
            return (state.readers.values.map { ($0, $0.postUnscheduled(Parcel(value))) }, state.last)
        }
        for (reader, posting) in posted {
            posting.finish()
            reader.callReceiver()
        }
        withExtendedLifetime((before, posted)) {}
    }

    private func finish(_ run: Int, _ failure: (any Error)?) {
        guard let ended = state.withLock({ $0.run == run ? $0.end() : nil }) else { return }
        for reader in ended.readers.values { reader.finish(failure) }
    }
}

extension ValueObservation where Value: Sendable {
    /// Shares the fetched values among all readers.
    ///
    /// - Parameters:
    ///   - reader: The database, which is not kept alive.
    ///   - scheduler: The scheduler that calls the functions of readers.
    ///   - extent: The time for which the database is observed.
    public func shared(
        in reader: some DatabaseReader, scheduling scheduler: some ValueObservationScheduler = .mainActor,
        extent: SharedValueObservationExtent = .whileObserved
    ) -> SharedValueObservation<Value> { SharedValueObservation(self, reader.unwrapped, scheduler, extent) }
}
