import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The processes never rest, and a processor has few cores. So each test runs on a thread of its
/// own and ends its processes in time, whatever other tests wait for. One test runs after the
/// other.
@Suite("Two processes that write by pools", .serialized)
struct TwoProcessTests {
    /// A database that processes write to: see `Writing` of the second process.
    private struct SharedFile {
        let folder: TemporaryFolder
        let path: String

        init() throws {
            folder = try TemporaryFolder()
            path = folder.path("a.sqlite")
            var configuration = Configuration()
            configuration.journalMode = .wal
            try DatabaseQueue(path: path, configuration: configuration).inDatabase { db in
                try db.execute(
                    sql: """
                        CREATE TABLE entry (
                            process INTEGER, number INTEGER, content BLOB, PRIMARY KEY (process, number))
                        """)
            }
        }

        func pool() throws -> DatabasePool {
            var configuration = Configuration()
            configuration.busyMode = .timeout(60)
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = NORMAL") }
            return try DatabasePool(path: path, configuration: configuration)
        }
    }

    /// A writer of this process, on a thread of its own.
    private struct SmallWriter {
        private let isEnd = Shared(false)
        private let thread: RunningThread<(count: Int, longest: Duration)>

        init(_ pool: DatabasePool, pause: UInt32) {
            thread = RunningThread { [isEnd] in
                var (count, longest) = (0, Duration.zero)
                while !isEnd.value {
                    let start = ContinuousClock.now
                    try pool.write { db in
                        try db.execute(
                            sql: "INSERT INTO entry (process, number) VALUES (0, ?)", arguments: [count + 1])
                    }
                    (count, longest) = (count + 1, max(longest, ContinuousClock.now - start))
                    usleep(pause)
                }
                return (count, longest)
            }
        }

        /// Returns how often it has written, and the longest that this took.
        func finish() throws -> (count: Int, longest: Duration) {
            isEnd.withLock { $0 = true }
            return try thread.join()
        }
    }

    /// `SHELLAC_POOL_KILLS=100` kills a hundred, and prints how long the other process waited at
    /// most.
    @Test(
        "A process that is killed at any moment has lost nothing that it was told of, and keeps nobody from writing",
        .behaviour(82))
    func kills() async throws { try await onThread { try Self.kills() } }

    private static func kills() throws {
        let told = environmentNumber("SHELLAC_POOL_KILLS")
        let seed = UInt64(environmentNumber("SHELLAC_POOL_SEED") ?? 1)
        var generator = SeededGenerator(seed: seed)
        let file = try SharedFile()
        let pool = try file.pool()
        let writer = SmallWriter(pool, pause: 1_000)
        for number in 1...(told ?? 3) {
            let process = try WritingProcess(path: file.path, number: number)
            let least = Int.random(in: 1...600, using: &generator)
            try sleepUntil { process.acknowledgedCount >= least }
            usleep(UInt32.random(in: 0...5_000, using: &generator))
            try process.kill()
            let acknowledged = process.acknowledgedCount
            let (last, count) = try pool.read { db in
                let row = try Row.fetchOne(
                    db, sql: "SELECT MAX(number) AS last, COUNT(*) AS count FROM entry WHERE process = ?",
                    arguments: [number])
                return (try row?["last"] ?? 0, try row?["count"] ?? 0) as (Int, Int)
            }
            // One more may be committed, whose commit was not reported to it, or not to us.
            #expect(last == acknowledged || last == acknowledged + 1, "seed \(seed), process \(number)")
            #expect(count == last, "seed \(seed), process \(number)")
            try #expect(
                pool.read { db in try String.fetchAll(db, sql: "PRAGMA integrity_check") } == ["ok"],
                "seed \(seed), process \(number)")
        }
        let (count, longest) = try writer.finish()
        try #expect(
            pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM entry WHERE process = 0") }
                == count)
        if let told {
            print("\(told) kills, \(count) writes beside them, of which the longest took \(longest)")
        }
        try pool.close()
    }

    @Test(
        "Two processes end one after the other, and the file has all that both have written", .behaviour(82))
    func both() async throws { try await onThread { try Self.both() } }

    private static func both() throws {
        let file = try SharedFile()
        let processes = try (1...2).map { try WritingProcess(path: file.path, number: $0) }
        try sleepUntil { processes.allSatisfy { $0.acknowledgedCount >= 100 } }
        for process in processes { try #expect(process.finish()) }
        #expect(FileIdentity.size(file.path + "-wal") == 0)
        for (number, process) in processes.enumerated() {
            try #expect(
                DatabaseQueue(path: file.path).inDatabase { db in
                    try Int.fetchOne(
                        db, sql: "SELECT COUNT(*) FROM entry WHERE process = ?", arguments: [number + 1])
                } == process.acknowledgedCount)
        }
    }

    /// `SHELLAC_POOL_SECONDS=60` prints how long a writer waits beside a process that writes
    /// without a pause. That process uses a pool, which leaves a pause now and then, or a queue,
    /// which leaves none.
    @Test(
        "Who writes now and then gets their turn beside a process that never rests", .behaviour(82),
        arguments: WritingProcess.Way.allCases)
    func neverResting(way: WritingProcess.Way) async throws {
        try await onThread { try Self.neverResting(way: way) }
    }

    private static func neverResting(way: WritingProcess.Way) throws {
        let seconds = environmentNumber("SHELLAC_POOL_SECONDS")
        let file = try SharedFile()
        let pool = try file.pool()
        let process = try WritingProcess(path: file.path, way, number: 1)
        try sleepUntil { process.acknowledgedCount > 0 }
        let writer = SmallWriter(pool, pause: 20_000)
        usleep(UInt32(seconds ?? 1) * 1_000_000)
        let (count, longest) = try writer.finish()
        #expect(count > 0)
        let acknowledged = process.acknowledgedCount
        try #expect(process.finish())
        if seconds != nil {
            print("beside a \(way) with \(acknowledged) writes: \(count) writes, the longest took \(longest)")
        }
    }
}
