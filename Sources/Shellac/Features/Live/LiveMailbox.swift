/// The buffer size for a reader that is slower than the database changes.
public enum ValueBufferingPolicy: Sendable, Hashable {
    /// All values: memory is the limit.
    case unbounded
    /// The first values that wait. Later ones are dropped, so the last delivered value may not be
    /// the newest.
    case bufferingOldest(Int)
    /// The last values that wait.
    case bufferingNewest(Int)
}

/// The buffer between an observation, which puts values in, and its reader, which takes them out:
/// in order, and each once.
///
/// The reader either waits for the next value, in a task, or a scheduler calls it with each. It
/// gets the end once.
final class LiveMailbox<Value>: Sendable {
    typealias Waiter = CheckedContinuation<Parcel<Value>?, any Error>

    /// A message to a reader.
    enum Message: Sendable {
        case value(Parcel<Value>)
        case failure(any Error)
        /// The end: there are no more values.
        case end

        /// Calls the function for the kind of message.
        func tell(_ onError: (any Error) -> Void, _ onChange: (sending Value) -> Void) {
            switch self {
            case .value(let parcel): onChange(parcel.take())
            case .failure(let error): onError(error)
            case .end: break
            }
        }
    }

    /// A reader that is called.
    struct Receiver: Sendable {
        let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
        let receive: @Sendable (Message) -> Void
    }

    private struct State {
        var parcels: [Parcel<Value>] = []
        /// Whether no more values come.
        var isAtEnd = false
        var isEndTold = false
        /// Whether the receiver is being called, or about to be.
        var isCalling = false
        /// The number of the newest value that was put in. (It is small, and wraps around one day.)
        var newest: UInt32 = 0
        /// The error to deliver at the end, until it is delivered.
        var failure: (any Error)?
        var waiter: Waiter?
        var receiver: Receiver?

        /// Advances to a numbered value, unless a newer one has overtaken it.
        mutating func goesOn(to number: UInt32?) -> Bool {
            guard let number else { return true }
            guard Int32(bitPattern: number &- newest) > 0 else { return false }
            newest = number
            return true
        }

        /// Returns the receiver, if there is one that is not being called and has a message
        /// waiting.
        mutating func beginCalling() -> Receiver? {
            guard !isCalling, let receiver, !parcels.isEmpty || isAtEnd && !isEndTold else { return nil }
            isCalling = true
            return receiver
        }
    }
    private let state: Lock<State>
    private let policy: ValueBufferingPolicy

    init(_ policy: ValueBufferingPolicy, receiver: Receiver? = nil) {
        self.policy = policy
        state = Lock(State(receiver: receiver))
    }

    // MARK: - Putting in

    /// Puts a value in.
    ///
    /// - Parameter number: The number of the value, if several tasks put values in. A value older
    ///   than the last one is dropped.
    func post(_ parcel: Parcel<Value>, number: UInt32? = nil) {
        postUnscheduled(parcel, number: number).finish()
        callReceiver()
    }

    /// The remaining work after a value was put in, to be done when no lock is held.
    ///
    /// Resume waiters without holding our lock: cancellation holds the task's lock, which resuming
    /// takes, too, and may take ours. And a dropped value may be an object of the user.
    struct Posting {
        fileprivate let waiter: Waiter?
        fileprivate let parcel: Parcel<Value>?

        /// Passes the value to the waiter, or frees the dropped value.
        func finish() { waiter?.resume(returning: parcel) }
    }

    /// Puts a value in, for a reader that ``callReceiver()`` calls later.
    ///
    /// - Returns: The work to finish before the receiver is called.
    func postUnscheduled(_ parcel: Parcel<Value>, number: UInt32? = nil) -> Posting {
        state.withLock { state in
            if state.isAtEnd || !state.goesOn(to: number) { return Posting(waiter: nil, parcel: parcel) }
            if let waiter = state.waiter.take() { return Posting(waiter: waiter, parcel: parcel) }
            var dropped: Parcel<Value>?
            switch policy {
            case .unbounded: break
            case .bufferingNewest(let count):
                if state.parcels.count >= max(count, 1) { dropped = state.parcels.removeFirst() }
            case .bufferingOldest(let count):
                if state.parcels.count >= max(count, 1) { return Posting(waiter: nil, parcel: parcel) }
            }
            state.parcels.append(parcel)
            return Posting(waiter: nil, parcel: dropped)
        }
    }

    /// Schedules a call of the receiver, if there is one, and a message for it.
    func callReceiver() {
        guard let receiver = state.withLock({ $0.beginCalling() }) else { return }
        receiver.schedule { [self] in call(receiver) }
    }

    /// Ends the mailbox, after the values that wait.
    ///
    /// - Parameter number: The number of the value that could not be made. If a newer one has come,
    ///   nothing happens.
    /// - Returns: Whether the reader gets an end.
    @discardableResult
    func finish(_ failure: (any Error)? = nil, number: UInt32? = nil) -> Bool {
        let (isTold, waiter) = state.withLock { state -> (Bool, Waiter?) in
            if state.isAtEnd { return (true, nil) }
            guard state.goesOn(to: number) else { return (false, nil) }
            state.isAtEnd = true
            if let waiter = state.waiter.take() { return (true, waiter) }
            state.failure = failure
            return (true, nil)
        }
        if let waiter {
            if let failure { waiter.resume(throwing: failure) } else { waiter.resume(returning: nil) }
        }
        callReceiver()
        return isTold
    }

    /// Drops all waiting values: the reader has left.
    func cancel() {
        let (waiter, dropped) = state.withLock { state -> (Waiter?, State) in
            let dropped = state
            state = State(isAtEnd: true, isEndTold: true)
            return (dropped.waiter, dropped)
        }
        waiter?.resume(returning: nil)
        withExtendedLifetime(dropped) {}
    }

    // MARK: - Taking out

    /// Returns the next value as soon as there is one, or nil after the last one.
    ///
    /// If the reader's task is cancelled, the caller must cancel the mailbox, which ends the
    /// waiting.
    func next() async throws -> Parcel<Value>? {
        try await withCheckedThrowingContinuation { (continuation: Waiter) in
            let answer = state.withLock { state -> Result<Parcel<Value>?, any Error>? in
                if !state.parcels.isEmpty { return .success(state.parcels.removeFirst()) }
                if let failure = state.failure.take() { return .failure(failure) }
                if state.isAtEnd { return .success(nil) }
                if state.waiter != nil {
                    Misuse.trap(
                        "two tasks wait for the next value of one iterator: make one iterator for "
                            + "each task.")
                }
                state.waiter = continuation
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }

    /// Calls the receiver with all waiting messages.
    private func call(_ receiver: Receiver) {
        while let message = nextMessage() { receiver.receive(message) }
    }

    private func nextMessage() -> Message? {
        state.withLock { state in
            if !state.parcels.isEmpty { return .value(state.parcels.removeFirst()) }
            state.isCalling = false
            guard state.isAtEnd, !state.isEndTold else { return nil }
            state.isEndTold = true
            return state.failure.take().map { .failure($0) } ?? .end
        }
    }
}
