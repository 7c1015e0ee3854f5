import CSQLite

/// Calls the receiver of values where a scheduler says: and, while an immediate start is running, at once.
final class LiveTurns: Sendable {
    private let isStarting: Lock<Bool>
    private let scheduler: any ValueObservationScheduler

    init(isImmediate: Bool, _ scheduler: any ValueObservationScheduler) {
        isStarting = Lock(isImmediate)
        self.scheduler = scheduler
    }

    func endStart() { isStarting.withLock { $0 = false } }

    func schedule(_ action: @escaping @Sendable () -> Void) {
        if isStarting.withLock({ $0 }), shellac_is_main_thread() != 0 {
            action()
        } else {
            scheduler.schedule(action)
        }
    }
}
