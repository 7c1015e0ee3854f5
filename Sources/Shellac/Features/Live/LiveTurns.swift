// Delivers observed values through a scheduler, or at once during an immediate start.

extension LiveMailbox {
    /// Begins an observation whose values go to a reader that is called where a scheduler says: with `.immediate`, at once for
    /// the first one.
    ///
    /// - Parameters:
    ///   - scheduler: Says where.
    ///   - receive: The reader.
    ///   - begin: Begins the observation, for a mailbox. It is told whether the first value is to arrive before it returns.
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

/// Calls the receiver of values where a scheduler says: and, while an immediate start is running, at once.
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
