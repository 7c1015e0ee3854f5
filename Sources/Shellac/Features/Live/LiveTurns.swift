// Delivers observed values through a scheduler, or at once during an immediate start.

extension LiveMailbox {
    /// Starts an observation whose values go to a reader that a scheduler calls. With `.immediate`,
    /// the reader gets the first value at once.
    ///
    /// - Parameters:
    ///   - scheduler: The scheduler.
    ///   - receive: The reader.
    ///   - begin: The function that starts the observation, for a mailbox. Its second argument is
    ///     whether the first value must arrive before it returns.
    static func start(
        _ scheduler: any ValueObservationScheduler, _ receive: @escaping @Sendable (Message) -> Void,
        begin: (LiveMailbox, Bool) -> AnyDatabaseCancellable
    ) -> AnyDatabaseCancellable {
        let isImmediate = scheduler.immediateInitialValue()
        let turns = LiveTurns(isImmediate: isImmediate, scheduler)
        defer { turns.endStart() }
        return begin(
            LiveMailbox(.bufferingNewest(1), receiver: .init(schedule: turns.schedule, receive: receive)),
            isImmediate)
    }
}

/// The calls of a receiver of values: by a scheduler, or at once while an immediate start is
/// running.
private final class LiveTurns: Sendable {
    private let isStarting: Lock<Bool>
    private let scheduler: any ValueObservationScheduler

    init(isImmediate: Bool, _ scheduler: any ValueObservationScheduler) {
        isStarting = Lock(isImmediate)
        self.scheduler = scheduler
    }

    func endStart() { isStarting.withLock { $0 = false } }

    func schedule(_ action: @escaping @Sendable () -> Void) {
        if isStarting.withLock({ $0 }), MainActor.isCurrent {
            action()
        } else {
            scheduler.schedule(action)
        }
    }
}
