// The shutdown state of a service, with the errors of refused and stopped accesses.

import Synchronization

/// The shutdown of a database in a service: see ``DatabaseWriter/run()``. All connections of a
/// group share it.
///
/// 1. The shutdown begins. New accesses are refused, except on a thread that already has another
///    one. Running and waiting accesses continue.
/// 2. All accesses have ended, or the deadline has passed. In the latter case, they are stopped:
///    their statements throw errors, and their transactions are rolled back.
/// 3. The database is closed.
final class ServiceEnd: Sendable {
    private let begun = Atomic<Bool>(false)
    /// The time for which accesses continued after the beginning, if they had to be stopped.
    private let patience = Lock<Duration?>(nil)

    /// Whether new accesses are refused.
    var hasBegun: Bool { begun.load(ordering: .relaxed) }

    func begin() { begun.store(true, ordering: .sequentiallyConsistent) }

    /// Notes that accesses are being stopped after the given time.
    func stop(after patience: Duration) { self.patience.withLock { $0 = patience } }

    /// Returns the error of an access that was stopped.
    func interruption(_ description: String) -> DatabaseError {
        let time = patience.withLock { $0 }?.formattedSeconds ?? "some time"
        return DatabaseError(
            resultCode: .SQLITE_INTERRUPT,
            message:
                "the database \(description) has ended: its run() was cancelled, and the access had not "
                + "ended after \(time) (Configuration.shutdownTimeout). Its transaction is rolled back"
        ).ofClosedDatabase
    }
}

extension Database {
    /// The error of operations while the access is stopped.
    var stopError: any Error {
        access.isEnded ? group.serviceEnd.interruption(description) : CancellationError()
    }
}

extension ConnectionGroup {
    /// Throws an error if the group refuses a new access.
    func checkService(_ description: String) throws {
        guard serviceEnd.hasBegun else { return }
        // A thread that already has an access may finish it.
        if Database.accessed.contains(where: { $0.group === self }) { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "the database \(description) has ended: its run() was cancelled, and no new access can begin"
        ).ofClosedDatabase
    }
}
