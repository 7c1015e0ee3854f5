// The shutdown state of a service, with the errors of refused and stopped accesses.

import Synchronization

/// The end of a database as a service: see ``DatabaseWriter/run()``. The connections that belong together share it.
///
/// 1. It begins: no access begins any more, but by a thread that has another one already. Those that run, or stand in line, go on.
/// 2. They have all ended, or the time is over: then they are stopped. Their statements throw, and their transactions are rolled
///    back.
/// 3. The database is closed.
final class ServiceEnd: Sendable {
    private let begun = Atomic<Bool>(false)
    /// How long accesses went on after that, where they did for too long.
    private let patience = Lock<Duration?>(nil)

    /// Whether no access begins any more.
    var hasBegun: Bool { begun.load(ordering: .relaxed) }

    func begin() { begun.store(true, ordering: .sequentiallyConsistent) }

    /// Notes that accesses are stopped that went on for some time.
    func stop(after patience: Duration) { self.patience.withLock { $0 = patience } }

    /// The error of an access that was stopped.
    func interruption(_ description: String) -> DatabaseError {
        let time = patience.withLock { $0 }?.formattedSeconds ?? "some time"
        return DatabaseError(
            resultCode: .SQLITE_INTERRUPT,
            message:
                "the database \(description) has ended: its run() was cancelled, and the access was still not over after \(time) "
                + "(Configuration.closingDeadline). Its transaction is rolled back")
    }
}

extension Database {
    /// The error of what is done while the access is stopped.
    var stopError: any Error {
        access.isEnded ? group.serviceEnd.interruption(description) : CancellationError()
    }
}

extension ConnectionGroup {
    /// Throws unless an access to the connections may begin.
    func checkService(_ description: String) throws {
        guard serviceEnd.hasBegun else { return }
        // Who has an access already ends it.
        if Database.accessed.contains(where: { $0.group === self }) { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "the database \(description) has ended: its run() was cancelled, and no access begins any more"
        )
    }
}
