// Needs Live.
#if os(Linux)
import TestSupport
import Testing

/// Repeats common work. With `SHELLAC_LEAK_ROUNDS=1000000`, it does so a million times.
@Suite("Memory that is left")
struct LeakTests {
    @Test("Saves, transactions, errors, fetches, observations and connections leave no memory behind")
    func loops() async throws {
        let rounds = environmentNumber("SHELLAC_LEAK_ROUNDS") ?? 1_000
        let run = try await AllocationCount.run("\(rounds)")
        #expect(run.succeeded, "\(run.output)")
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 12, "\(run.output)")
        for line in lines {
            if rounds > 1_000 { print(line) }
            let blocks = try #require(
                line.firstMatch(of: /(-?\d+) blocks in each quarter$/).flatMap { Int($0.1) }, "\(line)")
            // A block that is left in each tenth round is a leak.
            #expect(blocks < rounds / 40, "\(line)")
        }
    }
}
#endif
