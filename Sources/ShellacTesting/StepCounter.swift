// Counts the steps of SQLite's virtual machine, and interrupts one of them.

import CSQLite
import Shellac

/// Counts the steps that SQLite runs for some work, and interrupts it once.
///
/// SQLite ends the statement that runs with `SQLITE_INTERRUPT`. If that statement writes, SQLite
/// also rolls back the transaction around it.
package final class StepCounter {
    /// The number of steps that have run.
    private(set) var steps = 0
    /// Whether the work was interrupted.
    package private(set) var hasStruck = false
    private let limit: Int?
    private weak var database: Database?

    /// - Parameter limit: The number of steps before the interruption. Nil for none.
    package init(limit: Int?) { self.limit = limit }

    /// Runs work of which the steps on the connection of a writer count.
    package func count(_ writer: any DatabaseWriter, _ work: () throws -> Void) throws {
        try writer.unsafeReentrantWrite { db in
            database = db
            sqlite3_progress_handler(
                db.sqliteConnection, 1,
                { context in
                    let counter = Unmanaged<StepCounter>.fromOpaque(context.unsafelyUnwrapped)
                    return counter.takeUnretainedValue().interruptsStep() ? 1 : 0
                }, Unmanaged.passUnretained(self).toOpaque())
        }
        let outcome = Result { try work() }
        try writer.unsafeReentrantWrite { db in sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
        try withExtendedLifetime(self) { try outcome.get() }
    }

    private func interruptsStep() -> Bool {
        steps += 1
        // Like a cancelled task, this spares statements that have taken effect.
        guard !hasStruck, let limit, steps > limit, database?.canBeInterrupted == true else { return false }
        hasStruck = true
        return true
    }
}
