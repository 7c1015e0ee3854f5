import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

/// An interrupted workload changes nothing, at any step.
///
/// The gate interrupts some steps of each workload. `SHELLAC_BREAKING_STRIDE=1` interrupts at all
/// of them.
@Suite("Interruption at every step")
struct InterruptionTests {
    private static let stride = environmentNumber("SHELLAC_BREAKING_STRIDE")

    private func run(_ workload: Workload) throws -> BrokenRun {
        let queue = try DatabaseQueue(configuration: StampClock().configuration())
        try Workload.fill(queue)
        return try BrokenRun(workload, queue)
    }

    /// Interrupts a workload at its steps, until it ends before the interruption. Returns the
    /// number of interruptions.
    private func interruptEverywhere(_ workload: Workload, stride: Int, warmly: Bool) throws -> Int {
        let expected = try run(workload).finish()
        var (count, step, current) = (0, 0, try run(workload))
        while true {
            let outcome = try current.strike(StepCounter(limit: step), named: "interrupted at step \(step)")
            switch outcome {
            case .untouched: return count
            case .forgiven:
                // The interruption has stopped a query that the library does not need.
                try #expect(
                    current.writer.inDatabase { db in try db.everything() } == expected, "step \(step)")
                current = try run(workload)
            case .failed:
                count += 1
                if warmly { break }
                // The second attempt succeeds.
                try #expect(current.finish() == expected, "after step \(step)")
                current = try run(workload)
            }
            step += stride
        }
    }

    @Test("leaves the rows, the records and the connection as they were", arguments: Workload.all)
    func cold(_ workload: Workload) throws {
        let count = try interruptEverywhere(workload, stride: Self.stride ?? 97, warmly: false)
        #expect(count > 1)
        if Self.stride != nil { print("\(workload.name): \(count) interruptions") }
    }

    @Test(
        "leaves what is prepared and remembered in order, one interruption after the other",
        arguments: Workload.all)
    func warm(_ workload: Workload) throws {
        let count = try interruptEverywhere(workload, stride: Self.stride ?? 61, warmly: true)
        #expect(count > 1)
        if Self.stride != nil { print("\(workload.name): \(count) interruptions of one connection") }
    }
}
