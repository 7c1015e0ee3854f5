/// The tracking of a list's changes. There is one for each call of `trackChanges`, and for each
/// loop over `changes`.
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

    /// Fetches the rows of a source now, and whenever they have changed. It replaces an earlier
    /// source.
    func start(_ source: ListSource, in writer: any DatabaseWriter, every pollingInterval: Duration?) {
        if state.withLock({ $0.isOver }) { return }
        let mailbox = LiveMailbox<ListFetch>(.bufferingNewest(1))
        let reader = source.makeReader(mailbox)
        var settings = LiveSettings()
        settings.pollingInterval = pollingInterval
        let stream = Stream(
            mailbox: mailbox,
            cancellable: reader.start(with: LiveRows(reader, in: writer, settings), to: mailbox))
        let old = state.withLock { state in
            defer { if !state.isOver { state.stream = stream } }
            return state.isOver ? stream : state.stream
        }
        old?.cancellable.cancel()
    }

    /// Ends the tracking. A waiting `next()` returns.
    func end() {
        let stream = state.withLock { state in
            defer { state = State(isOver: true) }
            return state.stream
        }
        stream?.cancellable.cancel()
    }

    /// A message of the tracking: rows, an error, or nil at the end.
    struct Message: Sendable {
        fileprivate let mailbox: LiveMailbox<ListFetch>
        fileprivate let result: Result<ListFetch?, any Error>
    }

    /// Waits for the next message, on any thread. Returns nil if the tracking has ended.
    nonisolated(nonsending) func next() async -> Message? {
        guard let stream = state.withLock({ $0.stream }) else { return nil }
        do {
            let parcel = try await withTaskCancellationHandler {
                try await stream.mailbox.next()
            } onCancel: {
                stream.cancellable.cancel()
            }
            return Message(mailbox: stream.mailbox, result: .success(parcel?.take()))
        } catch {
            return Message(mailbox: stream.mailbox, result: .failure(error))
        }
    }

    /// Whether a message belongs to the present request, and to the last fetch. Another fetch may
    /// have come while the message was on its way.
    ///
    /// It is called on the list's actor, so that no fetch comes before the message is taken.
    func isCurrent(_ message: Message) -> Bool {
        state.withLock { $0.stream?.mailbox === message.mailbox }
    }
}

extension FetchedRecordsController {
    /// Includes the changes of other connections, such as those of other processes, from the next
    /// tracking on.
    ///
    /// SQLite does not report them, so the connection polls: see
    /// ``DatabaseValues/observingExternalChanges(every:)``.
    ///
    /// - Parameter interval: The time to sleep between two polls.
    public func observeExternalChanges(every interval: Duration = .milliseconds(100)) {
        pollingInterval = interval
        restartTracking()
    }

    /// Makes the tracking fetch again, and ignores messages that are on their way.
    func restartTracking() { tracking?.start(source, in: writer, every: pollingInterval) }

    /// Begins a tracking, which ends the previous one.
    fileprivate func beginTracking(_ functions: Functions? = nil) -> ListTracking {
        stopTracking()
        let tracking = ListTracking()
        self.tracking = tracking
        self.functions = functions
        tracking.start(source, in: writer, every: pollingInterval)
        return tracking
    }

    /// Stops delivering changes. A change that is being delivered is delivered to the end.
    public func stopTracking() {
        tracking?.end()
        tracking = nil
        // The functions may hold any objects.
        let functions = functions.take()
        withExtendedLifetime(functions) {}
    }

    // MARK: - Callbacks

    /// Calls functions with the changes of the list, whenever the database has changed it. They are
    /// called on the actor that calls this method, and there must be one.
    ///
    /// All changes of a transaction are delivered together, and so is everything that was committed
    /// while the actor was busy. There is one tracking at a time: this call ends an earlier one,
    /// and loops over ``changes``. The tracking ends with the list, and with the database. If
    /// nothing was fetched, the list is empty, and its first rows come as insertions.
    ///
    /// The functions may call the list, too. If `willChange` fetches the list, replaces its request
    /// or stops the tracking, the list has become another one: `didChange` follows at once. If
    /// `onChange` does so, the changes that are being delivered stay the same.
    ///
    /// The list keeps the functions as long as it is tracked. Functions that use the list's owner
    /// should capture it weakly, or the owner should call ``stopTracking()`` when it is done.
    ///
    /// - Parameters:
    ///   - isolation: The actor that the functions are called on: the caller's.
    ///   - willChange: Called before the list changes.
    ///   - onChange: Called for each change of a row, with the record: the new one, or that of a
    ///     removed row.
    ///   - didChange: Called when the list has changed.
    public func trackChanges(
        isolation: isolated (any Actor)? = #isolation,
        willChange: ((FetchedRecordsController) -> Void)? = nil,
        onChange: ((FetchedRecordsController, Record, FetchedRecordChange) -> Void)? = nil,
        didChange: ((FetchedRecordsController) -> Void)? = nil
    ) {
        guard isolation != nil else {
            Misuse.trap(
                "trackChanges was called without an actor to call back on. Call it on the main actor or in "
                    + "an actor, or write: for try await changes in controller.changes { … }")
        }
        let functions = Functions(willChange: willChange, onChange: onChange, didChange: didChange)
        let tracking = beginTracking(functions)
        ListPlace(self, on: isolation).follow(tracking)
    }

    /// The functions of ``trackChanges(isolation:willChange:onChange:didChange:)``.
    struct Functions {
        let willChange: ((FetchedRecordsController) -> Void)?
        let onChange: ((FetchedRecordsController, Record, FetchedRecordChange) -> Void)?
        let didChange: ((FetchedRecordsController) -> Void)?
    }

    /// Calls a function with the error that ends the tracking by
    /// ``trackChanges(isolation:willChange:onChange:didChange:)``.
    ///
    /// The error comes from a request that fails, a row that does not convert, or a section's name.
    /// The list stays unchanged. It keeps the function, which should capture the list's owner
    /// weakly if it uses that.
    ///
    /// - Parameter onError: Called on the actor of `trackChanges`, with the list and the error. It
    ///   replaces an earlier one.
    public func trackErrors(_ onError: @escaping (FetchedRecordsController, any Error) -> Void) {
        self.onError = onError
    }

    // MARK: - A loop

    /// The changes of the list as a sequence, for loops in any isolation.
    ///
    /// ```swift
    /// for try await changes in controller.changes {
    ///     for change in changes.changes { print(change) }
    ///     print(controller.fetchedRecords.count)
    /// }
    /// ```
    ///
    /// The list has changed already when the loop gets its changes. The loop ends as
    /// ``trackChanges(isolation:willChange:onChange:didChange:)`` does, and when its task is
    /// cancelled. It throws the error that ends it.
    public var changes: FetchedRecordsSequence<Record> { FetchedRecordsSequence(controller: self) }

    fileprivate func makeIterator() -> FetchedRecordsSequence<Record>.Iterator {
        FetchedRecordsSequence.Iterator(controller: self, loop: ListLoop(beginTracking()))
    }
}

/// The sequence of a list's changes: see ``FetchedRecordsController/changes``.
public struct FetchedRecordsSequence<Record: FetchableRecord>: AsyncSequence {
    public typealias Element = FetchedRecordsChanges
    public typealias Failure = any Error

    fileprivate let controller: FetchedRecordsController<Record>

    public func makeAsyncIterator() -> Iterator { controller.makeIterator() }

    /// An iterator that waits for the changes, one after the other. The tracking ends when it is
    /// deallocated.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let controller: FetchedRecordsController<Record>
        fileprivate let loop: ListLoop

        /// Waits for the next changes, and applies them to the list.
        ///
        /// - Parameter actor: The actor on which they are applied: that of the caller.
        /// - Throws: The error of a fetch. There are no changes after it.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> FetchedRecordsChanges? {
            let tracking = loop.tracking
            do {
                while let message = await tracking.next() {
                    guard tracking.isCurrent(message) else {
                        if Task.isCancelled { break }
                        continue
                    }
                    guard let fetch = try message.result.get() else { break }
                    if let (changes, _) = try await controller.take(fetch, of: tracking) { return changes }
                }
            } catch {
                tracking.end()
                throw error
            }
            return nil
        }
    }
}

/// A list and its actor, for code that runs there.
private final class ListPlace<Record: FetchableRecord>: @unchecked Sendable {  // used on that actor
    private(set) weak var list: FetchedRecordsController<Record>?
    private(set) weak var actor: (any Actor)?

    init(_ list: FetchedRecordsController<Record>, on actor: (any Actor)?) {
        (self.list, self.actor) = (list, actor)
    }

    /// Delivers messages to the list, until the end. Meanwhile neither the list nor its actor is
    /// kept alive.
    func follow(_ tracking: ListTracking) {
        Task {
            while let message = await tracking.next(), let actor {
                guard await tell(message, of: tracking, isolation: actor) else { return }
            }
        }
    }

    /// Delivers a message to a list, on its actor. Returns whether more messages may come.
    private func tell(
        _ message: ListTracking.Message, of tracking: ListTracking, isolation: isolated any Actor
    ) async -> Bool {
        guard let list, list.tracking === tracking, let functions = list.functions else {
            return false
        }
        do {
            guard tracking.isCurrent(message) else { return true }
            guard let fetch = try message.result.get() else {
                list.stopTracking()
                return false
            }
            guard
                let (changes, record) = try await list.take(
                    fetch, of: tracking, willChange: { functions.willChange?($0) })
            else { return true }
            if let onChange = functions.onChange {
                for change in changes.changes { onChange(list, record(change), change) }
            }
            functions.didChange?(list)
            return true
        } catch {
            list.stopTracking()
            list.onError?(list, error)
            return false
        }
    }
}

/// The end of a tracking whose loop was left: nothing can wait for it any more.
private final class ListLoop {
    let tracking: ListTracking

    init(_ tracking: ListTracking) { self.tracking = tracking }

    deinit { tracking.end() }
}
