/// The sequence of an observation's values.
///
/// You get it from ``ValueObservation/values(in:scheduling:bufferingPolicy:)`` and
/// ``DatabaseWriter/values(of:bufferingPolicy:)``.
///
/// ```swift
/// for try await players in dbQueue.values(of: Player.order(Column("name"))) {
///     list.show(players)
/// }
/// ```
///
/// Each loop is an observation of its own, which begins with the loop. The values arrive in the
/// isolation of the loop, and belong to it, even if they are class records.
///
/// The loop ends when its task is cancelled, even while it waits. It ends when the database is
/// closed or deallocated: the sequence does not keep it alive. And it ends by throwing the error of
/// a fetch.
public struct DatabaseValues<Value>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = any Error
    /// The number of values that wait for a slow reader.
    public typealias BufferingPolicy = ValueBufferingPolicy

    private let policy: ValueBufferingPolicy
    /// The function that begins an observation whose values go to a mailbox.
    private let start: @Sendable (LiveMailbox<Value>, LiveSettings) -> AnyDatabaseCancellable
    var settings = LiveSettings()

    init(
        policy: ValueBufferingPolicy,
        start: @escaping @Sendable (LiveMailbox<Value>, LiveSettings) -> AnyDatabaseCancellable
    ) { (self.policy, self.start) = (policy, start) }

    public func makeAsyncIterator() -> Iterator {
        Iterator(policy) { [start, settings] in start($0, settings) }
    }

    /// An iterator that waits for the values one after the other. The observation ends when the
    /// iterator is deallocated.
    public struct Iterator: AsyncIteratorProtocol {
        private let mailbox: LiveMailbox<Value>
        private let cancellable: AnyDatabaseCancellable

        fileprivate init(
            _ policy: ValueBufferingPolicy, _ start: (LiveMailbox<Value>) -> AnyDatabaseCancellable
        ) {
            mailbox = LiveMailbox(policy)
            cancellable = start(mailbox)
        }

        /// Waits for the next value, without blocking a thread.
        ///
        /// - Parameter actor: The isolation that the value arrives in.
        /// - Returns: The value, or nil at the end: the task was cancelled, or the database is
        ///   closed.
        /// - Throws: The error of the fetch, once.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> sending Value? {
            let (mailbox, cancellable) = (mailbox, cancellable)
            let parcel = try await withTaskCancellationHandler {
                try await mailbox.next()
            } onCancel: {
                cancellable.cancel()
                mailbox.cancel()
            }
            guard let parcel else { return nil }
            return parcel.take()
        }
    }
}

/// The family's name for ``DatabaseValues``.
public typealias AsyncValueObservation = DatabaseValues
