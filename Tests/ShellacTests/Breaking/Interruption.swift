// A fault that interrupts SQLite in the middle of a workload.

import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A fault that occurs while a workload runs, at most once, at a known place.
protocol SteppedFault {
    /// Whether the fault has occurred.
    var hasStruck: Bool { get }

    /// Runs a function during which the fault may occur.
    func strike(_ writer: any DatabaseWriter, _ body: () throws -> Void) throws
    /// Returns whether the fault can cause an error.
    func causes(_ error: DatabaseError) -> Bool
}

/// An interruption of the connection, once, after a number of steps of SQLite's virtual machine.
///
/// SQLite ends the statement that runs with `SQLITE_INTERRUPT`. If that statement writes, SQLite also rolls back the
/// transaction around it. Like a cancelled task, the interruption spares statements that have taken effect already.
final class Interruption: SteppedFault {
    private var stepsLeft: Int
    private(set) var hasStruck = false
    private weak var database: Database?

    init(after steps: Int) { stepsLeft = steps }

    /// Runs a function, and interrupts the connection of a queue at the step.
    func strike(_ writer: any DatabaseWriter, _ body: () throws -> Void) throws {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try writer.unsafeReentrantWrite { db in
            database = db
            sqlite3_progress_handler(
                db.sqliteConnection, 1,
                { context in
                    Unmanaged<Interruption>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
                        .isDue ? 1 : 0
                }, context)
        }
        let outcome = Result { try body() }
        try writer.unsafeReentrantWrite { db in sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
        try withExtendedLifetime(self) { try outcome.get() }
    }

    func causes(_ error: DatabaseError) -> Bool { error.resultCode == .SQLITE_INTERRUPT }

    private var isDue: Bool {
        if hasStruck { return false }
        stepsLeft -= 1
        hasStruck = stepsLeft < 0 && database?.canBeInterrupted != false
        return hasStruck
    }
}
