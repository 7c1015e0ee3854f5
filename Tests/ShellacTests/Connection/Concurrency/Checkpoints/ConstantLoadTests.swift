import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The log of a pool under a constant load")
struct ConstantLoadTests {
    /// The duration of each read, in microseconds.
    enum Reads: UInt32, CaseIterable, Codable {
        case short = 0
        case long = 20_000
    }

    /// `SHELLAC_POOL_SECONDS=60` goes on for a minute, and prints how large the log has been.
    @Test(
        "Beside readers who always read, the log of a writer who always writes stays small, and no write is refused",
        .behaviour(82, 84), arguments: Reads.allCases)
    func load(reads: Reads) async throws {
        let told = environmentNumber("SHELLAC_POOL_SECONDS")
        let file = try LoggedFile()
        let pool = try file.pool {
            $0.busyMode = .immediateError
            $0.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = NORMAL") }
        }
        try await pool.write { db in try db.addFrames(1_000) }
        let end = ContinuousClock.now + .seconds(told ?? 2)
        let (largest, readCount, writeCount) = (Shared(0), Shared(0), Shared(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...3 {
                group.addTask {
                    try await onThread {
                        while ContinuousClock.now < end {
                            try pool.read { db in
                                try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM item") == 1_000)
                                if reads.rawValue > 0 { usleep(reads.rawValue) }
                            }
                            readCount.withLock { $0 += 1 }
                        }
                    }
                }
            }
            group.addTask {
                try await onThread {
                    var number = 0
                    while ContinuousClock.now < end {
                        number += 1
                        // `.immediateError`: a lock that a checkpoint holds would be thrown here.
                        try pool.write { db in
                            try db.execute(
                                sql: "UPDATE item SET content = randomblob(400) WHERE id % 50 = ?",
                                arguments: [number % 50])
                        }
                        writeCount.withLock { $0 += 1 }
                        let size = try pool.walStatus.frameCount
                        largest.withLock { $0 = max($0, size) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try #expect(pool.walStatus.checkpointFailure == nil)
        #expect(largest.value < 3 * LoggedFile.sizes.hard)
        if told != nil {
            print(
                "\(reads) reads: \(readCount.value), writes: \(writeCount.value), the log had at most \(largest.value) frames"
            )
        }
    }
}
