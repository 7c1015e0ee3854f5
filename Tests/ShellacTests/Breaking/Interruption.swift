// A fault that interrupts SQLite in the middle of whatever a workload does.

import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Something that goes wrong while a workload runs, and at most once at a known place.
protocol Breakage {
    /// Whether it has gone wrong.
    var hasStruck: Bool { get }

    /// Runs a function while it may go wrong.
    func strike(_ writer: any DatabaseWriter, _ body: () throws -> Void) throws
    /// Whether an error is what the breakage may cause.
    func causes(_ error: DatabaseError) -> Bool
}

/// An interruption of the connection, which comes once, after a number of steps of SQLite's virtual machine.
///
/// SQLite ends the statement that runs with `SQLITE_INTERRUPT`. If that statement writes, SQLite also rolls back the
/// transaction around it. Like a cancelled task, the interruption spares statements that have taken effect already.
final class Interruption: Breakage {
    private var stepsLeft: Int
    private(set) var hasStruck = false
    private weak var database: Database?

    init(after steps: Int) { stepsLeft = steps }

    /// Runs a function while the interruption waits for its step on the connection of a queue.
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
