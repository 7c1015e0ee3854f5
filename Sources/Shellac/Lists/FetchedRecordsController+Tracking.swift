/// What a list hears of the database, as long as its changes are tracked. There is one for each call of `trackChanges`, and
/// for each loop over `changes`.
final class ListTracking: Sendable {
    private struct Stream {
        let mailbox: LiveMailbox<ListFetch>
        let cancellable: AnyDatabaseCancellable
    }
    private struct State {
        var stream: Stream?
        var isOver = false
    }
    private let state = Lock(State())

    /// Fetches the rows of a source now, and whenever they have changed: in the place of those of another one.
    func start(_ source: ListSource, in writer: any DatabaseWriter, every pollingInterval: Duration?) {
        let mailbox = LiveMailbox<ListFetch>(.bufferingNewest(1))
        let reader = source.makeReader(mailbox)
        var settings = LiveSettings()
        settings.pollingInterval = pollingInterval
        let query = LiveRows(reader, in: writer, settings)
        let stream = Stream(
            mailbox: mailbox,
            cancellable: AnyDatabaseCancellable {
                mailbox.cancel()
                reader.leave()
            })
        let old = state.withLock { state in
            defer { if !state.isOver { state.stream = stream } }
            return state.isOver ? stream : state.stream
        }
        reader.move(to: query)
        query.start()
        old?.cancellable.cancel()
    }

    /// Ends it. Whoever waits is told so.
    func end() {
        let stream = state.withLock { state in
            defer { state = State(isOver: true) }
            return state.stream
        }
        stream?.cancellable.cancel()
    }

    /// Waits for the next rows. Nil at the end.
    nonisolated(nonsending) func next() async throws -> ListFetch? {
        while let stream = state.withLock({ $0.stream }) {
            let parcel = try await withTaskCancellationHandler {
                try await stream.mailbox.next()
            } onCancel: {
                stream.cancellable.cancel()
            }
            if let parcel { return parcel.take() }
            // Another request may have come.
            let isReplaced = state.withLock { $0.stream.map { $0.mailbox !== stream.mailbox } ?? false }
            guard isReplaced, !Task.isCancelled else { return nil }
        }
        return nil
    }
}

extension FetchedRecordsController {
    /// Has changes told that other connections make, such as those of other processes: from the next tracking on.
    ///
    /// SQLite does not tell them, and is asked for them: see ``DatabaseValues/observingExternalChanges(every:)``.
    ///
    /// - Parameter interval: How long to sleep between two questions.
    public func observeExternalChanges(every interval: Duration = .milliseconds(100)) {
        pollingInterval = interval
        restartTracking()
    }

    func restartTracking() { tracking?.start(source, in: writer, every: pollingInterval) }

    /// Begins a tracking, which ends the one before.
    fileprivate func beginTracking() -> ListTracking {
        tracking?.end()
        let tracking = ListTracking()
        self.tracking = tracking
        tracking.start(source, in: writer, every: pollingInterval)
        return tracking
    }

    /// Tells changes no more.
    public func stopTracking() {
        tracking?.end()
        tracking = nil
    }

    // MARK: - Functions that are called

    /// Calls functions with the changes of the list, whenever the database has changed it: on the actor that calls this, which
    /// must be one.
    ///
    /// All that a transaction has changed is told at once, and so is all that was committed while the actor was busy. Two calls
    /// take turns: this one ends those of an earlier one, and loops over ``changes``. It ends with the list, and with the
    /// database. A list that is empty, as nothing was fetched, is told its first rows as insertions.
    ///
    /// - Parameters:
    ///   - isolation: The actor that the functions are called on: the caller's.
    ///   - willChange: Called before the list changes.
    ///   - onChange: Called for each change of a row, with the record: the new one, or that of a row that is gone.
    ///   - didChange: Called when the list has changed.
    public func trackChanges(
        isolation: isolated (any Actor)? = #isolation,
        willChange: ((FetchedRecordsController) -> Void)? = nil,
        onChange: ((FetchedRecordsController, Record, FetchedRecordChange) -> Void)? = nil,
        didChange: ((FetchedRecordsController) -> Void)? = nil
    ) {
        guard isolation != nil else {
            Misuse.trap(
                "trackChanges was called where there is no actor to call back on. Call it on the main actor or in an actor, or "
                    + "write: for try await changes in controller.changes { … }")
        }
        let tracking = beginTracking()
        Task { [weak self] in
            _ = isolation
            do {
                while let fetch = try await tracking.next() {
                    guard let self else { return }
                    guard
                        let (changes, record) = try await self.take(
                            fetch, of: tracking, willChange: { willChange?($0) })
                    else { continue }
                    if let onChange {
                        for change in changes.changes {
                            onChange(self, record(change), change)
                        }
                    }
                    didChange?(self)
                }
            } catch {
                guard let self else { return }
                tracking.end()
                self.onError?(self, error)
            }
        }
    }

    /// Calls a function with the error that ends the tracking by ``trackChanges(isolation:willChange:onChange:didChange:)``: of
    /// a request that fails, a row that does not convert, a section's name. The list stays what it was.
    public func trackErrors(_ onError: @escaping (FetchedRecordsController, any Error) -> Void) {
        self.onError = onError
    }

    // MARK: - A loop

    /// The changes of the list, as a sequence: for loops in any isolation.
    ///
    /// ```swift
    /// for try await changes in controller.changes {
    ///     for change in changes.changes { print(change) }
    ///     print(controller.fetchedRecords.count)
    /// }
    /// ```
    ///
    /// The list has changed when the loop is told so. The loop ends as ``trackChanges(isolation:willChange:onChange:didChange:)``
    /// does, and when its task is cancelled; and it throws the error that ends it.
    public var changes: FetchedRecordsSequence<Record> { FetchedRecordsSequence(controller: self) }

    fileprivate func makeIterator() -> FetchedRecordsSequence<Record>.Iterator {
        FetchedRecordsSequence.Iterator(self, beginTracking())
    }
}

/// The changes of a list: see ``FetchedRecordsController/changes``.
public struct FetchedRecordsSequence<Record: FetchableRecord>: AsyncSequence {
    public typealias Element = FetchedRecordsChanges
    public typealias Failure = any Error

    fileprivate let controller: FetchedRecordsController<Record>

    public func makeAsyncIterator() -> Iterator { controller.makeIterator() }

    public struct Iterator: AsyncIteratorProtocol {
        private let controller: FetchedRecordsController<Record>
        private let loop: Loop
        private var tracking: ListTracking { loop.tracking }

        /// Ends the tracking with the loop, however that ends.
        private final class Loop {
            let tracking: ListTracking

            init(_ tracking: ListTracking) { self.tracking = tracking }

            deinit { tracking.end() }
        }

        fileprivate init(_ controller: FetchedRecordsController<Record>, _ tracking: ListTracking) {
            self.controller = controller
            loop = Loop(tracking)
        }

        /// Waits for the next changes, and makes them in the list.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> FetchedRecordsChanges? {
            while let fetch = try await tracking.next() {
                if let (changes, _) = try await controller.take(fetch, of: tracking) { return changes }
            }
            return nil
        }
    }
}
