import Foundation
import TestSupport
import Testing

/// The gates of the benchmarks, as the program declares them.
@Suite("Gates of benchmarks")
struct BenchmarkGatesTests {
    @Test(
        "a class that lists its columns has the gates of one with the older pair", .behaviour(60),
        arguments: ["records.class.player", "insert.class.player", "changes.none.player"])
    func listedColumns(_ workload: String) throws {
        let gates = try gates()
        let gate = try #require(gates[workload])
        #expect(gates["\(workload).columns"] == gate)
    }

    @Test("the limits that the article on performance tells are those of the benchmarks")
    func toldLimits() throws {
        let article = Repository.root.appending(path: "Sources/Shellac/Shellac.docc/Performance.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let gates = try gates()
        let told = text.matches(of: /\| `([a-z.]+)` \| ([0-9.]+)(?: ns)? \|/)
        #expect(told.count > 10)
        for workload in told {
            let gate = try #require(gates[String(workload.1)], "there is no workload \(workload.1)")
            let number = try #require(gate.firstMatch(of: /gate: ([0-9.]+)/)).1
            #expect(Double(number) == Double(workload.2), "\(workload.1)")
        }
    }

    /// The gate and the goal of each workload, by its name.
    private func gates() throws -> [String: String] {
        let folder = Repository.root.appending(path: "Tests/Benchmarks/Workloads")
        var gates: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            for match in text.matches(of: /"([a-z.]+)", (?:\.nanoseconds, )?(gate: [0-9.]+, goal: [0-9.]+)/) {
                gates[String(match.1)] = String(match.2)
            }
        }
        return gates
    }
}
