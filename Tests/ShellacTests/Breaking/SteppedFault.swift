// The faults that the suites let occur at each step of a workload.

import Shellac
import ShellacTesting

/// A fault that occurs while a workload runs, at most once, at a known place.
protocol SteppedFault {
    /// Whether the fault has occurred.
    var hasStruck: Bool { get }

    /// Runs a function during which the fault may occur.
    func strike(_ writer: any DatabaseWriter, _ body: () throws -> Void) throws
    /// Returns whether the fault can cause an error.
    func causes(_ error: DatabaseError) -> Bool
}

extension StepCounter: SteppedFault {
    func strike(_ writer: any DatabaseWriter, _ body: () throws -> Void) throws {
        try count(writer, body)
    }

    func causes(_ error: DatabaseError) -> Bool { error.resultCode == .SQLITE_INTERRUPT }
}
