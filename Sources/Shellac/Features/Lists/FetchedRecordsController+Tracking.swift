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

    /// Ends it. Whoever waits is told so.
    func end() {
        let stream = state.withLock { state in
            defer { state = State(isOver: true) }
            return state.stream
        }
        stream?.cancellable.cancel()
    }

    /// What has come: rows, an error, or nil at the end.
    struct Message: Sendable {
        fileprivate let mailbox: LiveMailbox<ListFetch>
        fileprivate let result: Result<ListFetch?, any Error>
    }

    /// Waits for what comes next, on any thread. Nil where all is over.
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

    /// Whether something is of the present request, and of the last fetch: another one may have come while it was on its way.
    ///
    /// It is asked where the list is, so that none comes before it is taken.
    func isCurrent(_ message: Message) -> Bool {
        state.withLock { $0.stream?.mailbox === message.mailbox }
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

    /// Fetches for the tracking anew: what is on its way to it is not taken any more.
    func restartTracking() { tracking?.start(source, in: writer, every: pollingInterval) }

    /// Begins a tracking, which ends the one before.
    fileprivate func beginTracking(_ functions: Functions? = nil) -> ListTracking {
        stopTracking()
        let tracking = ListTracking()
        self.tracking = tracking
        self.functions = functions
        tracking.start(source, in: writer, every: pollingInterval)
        return tracking
    }

    /// Tells changes no more. A change that is just being told is told to its end.
    public func stopTracking() {
        tracking?.end()
        tracking = nil
        // What they hold may be anything.
        let functions = functions.take()
        withExtendedLifetime(functions) {}
    }

    // MARK: - Functions that are called

    /// Calls functions with the changes of the list, whenever the database has changed it: on the actor that calls this, which
    /// must be one.
    ///
    /// All that a transaction has changed is told at once, and so is all that was committed while the actor was busy. Two calls
    /// take turns: this one ends those of an earlier one, and loops over ``changes``. It ends with the list, and with the
    /// database. A list that is empty, as nothing was fetched, is told its first rows as insertions.
    ///
    /// The functions may call the list, too. Where `willChange` fetches it, gives it another request or stops it, the list has
    /// become another one: `didChange` follows at once. What `onChange` does so leaves the changes that are being told.
    ///
    /// The list keeps the functions as long as it is tracked. Those that use the list's owner capture it weakly, or the owner
    /// calls ``stopTracking()`` when it is done.
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
        let functions = Functions(willChange: willChange, onChange: onChange, didChange: didChange)
        let tracking = beginTracking(functions)
        ListPlace(self, on: isolation).follow(tracking)
    }

    /// What ``trackChanges(isolation:willChange:onChange:didChange:)`` calls.
    struct Functions {
        let willChange: ((FetchedRecordsController) -> Void)?
        let onChange: ((FetchedRecordsController, Record, FetchedRecordChange) -> Void)?
        let didChange: ((FetchedRecordsController) -> Void)?
    }

    /// Calls a function with the error that ends the tracking by ``trackChanges(isolation:willChange:onChange:didChange:)``: of
    /// a request that fails, a row that does not convert, a section's name. The list stays what it was, and keeps the function:
    /// one that uses the list's owner captures it weakly.
    ///
    /// - Parameter onError: Called on the actor of `trackChanges`, with the list and the error. It takes the place of an earlier
    ///   one.
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
        FetchedRecordsSequence.Iterator(controller: self, loop: ListLoop(beginTracking()))
    }
}

/// The changes of a list: see ``FetchedRecordsController/changes``.
public struct FetchedRecordsSequence<Record: FetchableRecord>: AsyncSequence {
    public typealias Element = FetchedRecordsChanges
    public typealias Failure = any Error

    fileprivate let controller: FetchedRecordsController<Record>

    public func makeAsyncIterator() -> Iterator { controller.makeIterator() }

    /// Waits for the changes, one after the other. The tracking ends when it is freed.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let controller: FetchedRecordsController<Record>
        fileprivate let loop: ListLoop

        /// Waits for the next changes, and makes them in the list.
        ///
        /// - Parameter actor: The actor on which they are made: that of the caller.
        /// - Throws: the error of a fetch. There are no changes after it.
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

/// A list and its actor, for whoever comes there.
private final class ListPlace<Record: FetchableRecord>: @unchecked Sendable {  // used on that actor
    private(set) weak var list: FetchedRecordsController<Record>?
    private(set) weak var actor: (any Actor)?

    init(_ list: FetchedRecordsController<Record>, on actor: (any Actor)?) {
        (self.list, self.actor) = (list, actor)
    }

    /// Tells the list what comes, until the end. Meanwhile neither it nor its actor is kept.
    func follow(_ tracking: ListTracking) {
        Task {
            while let message = await tracking.next(), let actor {
                guard await tell(message, of: tracking, isolation: actor) else { return }
            }
        }
    }

    /// Tells a list what has come, on its actor. Returns whether more may come.
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

/// Ends a tracking when nobody can wait for it any more: its loop was left.
private final class ListLoop {
    let tracking: ListTracking

    init(_ tracking: ListTracking) { self.tracking = tracking }

    deinit { tracking.end() }
}
