/// How long a ``SharedValueObservation`` goes on.
public enum SharedValueObservationExtent: Hashable, Sendable {
    /// As long as somebody reads it.
    case whileObserved
    /// From the first reader on, as long as it lives.
    case observationLifetime
}

/// An observation that is fetched once for all its readers.
///
/// ```swift
/// let players = ValueObservation.tracking { db in try Player.fetchAll(db) }.shared(in: dbQueue)
/// for try await all in players.values() { print(all.count) }
/// ```
///
/// A reader that comes later has the newest value at once. The value is kept for that, and so it must be Sendable.
/// (``DatabaseWriter/values(of:bufferingPolicy:)`` shares the rows of a request, also of class records.)
///
/// An error ends all its readers. Whoever comes afterwards begins anew.
public final class SharedValueObservation<Value: Sendable>: Sendable {
    private let observation: ValueObservation<Value>
    private weak let writer: (any DatabaseWriter)?
    private let scheduler: any ValueObservationScheduler
    private let extent: SharedValueObservationExtent

    private struct State {
        var readers: [Int: LiveMailbox<Value>] = [:]
        var lastReader = 0
        /// The newest value, or nil before the first one.
        var last: Value?
        var isRunning = false
        var running: AnyDatabaseCancellable?
        /// The number of the present run: what an earlier one tells is too late.
        var run = 0

        /// Forgets all. Returns what there was.
        mutating func end() -> State {
            defer { self = State(lastReader: lastReader, run: run + 1) }
            return self
        }
    }
    private let state = Lock(State())

    fileprivate init(
        _ observation: ValueObservation<Value>, _ writer: any DatabaseWriter,
        _ scheduler: any ValueObservationScheduler, _ extent: SharedValueObservationExtent
    ) {
        (self.observation, self.writer) = (observation, writer)
        (self.scheduler, self.extent) = (scheduler, extent)
    }

    /// Starts, and has a function called with each value, where the scheduler says.
    ///
    /// - Parameters:
    ///   - onError: Called with the error that ends the observation.
    ///   - onChange: Called with each value, one after the other: first with the newest one that is known.
    /// - Returns: what ends it, when it is cancelled or freed.
    public func start(
        onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable (Value) -> Void
    ) -> AnyDatabaseCancellable {
        LiveMailbox.start(scheduler) {
            $0.tell(onError, onChange)
        } begin: { mailbox, isImmediate in
            add(mailbox, isImmediate: isImmediate)
        }
    }

    /// Returns the values as a sequence. Each loop reads from the newest value on.
    ///
    /// - Parameter bufferingPolicy: What happens to values that the loop has not taken when newer ones come.
    public func values(
        bufferingPolicy: ValueBufferingPolicy = .bufferingNewest(1)
    ) -> DatabaseValues<Value> {
        DatabaseValues(policy: bufferingPolicy) { mailbox, _ in self.add(mailbox, isImmediate: false) }
    }

    private func add(_ mailbox: LiveMailbox<Value>, isImmediate: Bool) -> AnyDatabaseCancellable {
        let (number, run, posting) = state.withLock { state -> (Int, Int?, LiveMailbox<Value>.Posting?) in
            state.lastReader += 1
            state.readers[state.lastReader] = mailbox
            // Under the lock: no newer value can come first.
            let posting = state.last.map { mailbox.postUnscheduled(Parcel($0)) }
            // Who starts at once does not wait for the first value of a run that is on its way.
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
        guard let writer else { return finish(run, nil) }
        // It calls at once whoever puts a value in.
        let values = LiveMailbox<Value>(
            .unbounded,
            receiver: .init(schedule: { $0() }) { [weak self] message in
                switch message {
                case .value(let parcel): self?.post(parcel.take(), of: run)
                case .failure(let error): self?.finish(run, error)
                case .end: self?.finish(run, nil)
                }
            })
        let running = observation.start(in: writer, isImmediate: isImmediate, values)
        // Everybody may have left meanwhile, or it may have failed.
        let unwanted = state.withLock { state -> AnyDatabaseCancellable? in
            guard state.run == run else { return running }
            defer { state.running = running }
            return state.running
        }
        unwanted?.cancel()
    }

    private func post(_ value: Value, of run: Int) {
        // What gives way may be objects of the user, whose `deinit` may come back here, and so may who is woken.
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
    /// Shares what is fetched among all readers.
    ///
    /// - Parameters:
    ///   - writer: The database, which is not kept alive.
    ///   - scheduler: Where the functions of readers are called.
    ///   - extent: How long the database is observed.
    public func shared(
        in writer: some DatabaseWriter, scheduling scheduler: some ValueObservationScheduler = .mainActor,
        extent: SharedValueObservationExtent = .whileObserved
    ) -> SharedValueObservation<Value> { SharedValueObservation(self, writer, scheduler, extent) }
}
