import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Random histories of a pool", .behaviour(79))
struct PoolHistoryTests {
    /// `SHELLAC_POOL_OPERATIONS=250000 SHELLAC_POOL_COUNT=1` makes a million operations of four
    /// writers, and prints the time.
    @Test(
        "Beside writers of threads and tasks, each reader sees whole transfers, in their order, and all that were acknowledged"
    )
    func transfers() async throws {
        let told = environmentNumber("SHELLAC_POOL_OPERATIONS")
        let operations = told ?? 150
        for seed in SeededGenerator.seeds("POOL", count: 3) {
            let history = try PoolHistory(seed: seed) { configuration in
                configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = NORMAL") }
                configuration.maximumReaderCount = Int(1 + seed % 5)
            }
            let start = ContinuousClock.now
            try await history.run(writerCount: 4, operationCount: operations)
            #expect(history.readCount.value > 0, "seed \(seed)")
            if operations > 10_000 {
                let time = ContinuousClock.now - start
                print("seed \(seed): \(operations * 4) writes, \(history.readCount.value) reads, \(time)")
            }
        }
    }
}
