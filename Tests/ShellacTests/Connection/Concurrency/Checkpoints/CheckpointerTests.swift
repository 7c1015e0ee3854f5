import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The checkpoints of a pool")
struct CheckpointerTests {
    @Test("A log that has grown is copied beside the writer, who may be busy", .behaviour(84))
    func besideTheWriter() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        // One thread commits and stays: the log would be cut before this test goes on.
        let writing = try await LongAccess { inside in
            try pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
            try pool.writeWithoutTransaction { _ in try inside() }
        }
        try await pool.waitForLog { $0.checkpointedFrameCount == $0.frameCount }
        try #expect(pool.walStatus.frameCount >= LoggedFile.sizes.passive)
        try await writing.release()
        try #expect(pool.walStatus.checkpointFailure == nil)
    }

    @Test("A small log is left alone until the writer rests: then it is cut to no length", .behaviour(84))
    func rest() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        let writing = try await LongAccess { inside in
            try pool.writeWithoutTransaction { db in
                try db.inTransaction {
                    try db.addFrames(10)
                    return .commit
                }
                try inside()
            }
        }
        let status = try pool.walStatus
        #expect(status.frameCount >= 10)
        #expect(status.checkpointedFrameCount == 0)
        #expect(file.logSize == status.byteCount)
        try await writing.release()
        try await waitUntil { file.logSize == 0 }
        try #expect(pool.walStatus.frameCount == 0)
        try await #expect(pool.read { db in try db.itemCount() } == 10)
        // And again: the checkpointer goes on watching the log.
        let size = try await pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.addFrames(10)
                return .commit
            }
            return db.logFileSize ?? 0
        }
        #expect(size > 0)
        try await waitUntil { file.logSize == 0 }
    }

    @Test("A reader keeps the log from being cut. It is cut when the reader has ended", .behaviour(84))
    func restAfterReader() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        try await pool.write { db in try db.addFrames(10) }
        let reading = try await LongAccess.reading(pool)
        try await pool.write { db in try db.addFrames(10) }
        // Longer than the writer rests.
        usleep(1_500_000)
        #expect(file.logSize != 0)
        try await reading.release()
        try await waitUntil { file.logSize == 0 }
        try await #expect(pool.read { db in try db.itemCount() } == 20)
    }

    @Test("A log is begun anew beside a writer who never rests, and nothing is lost", .behaviour(84))
    func begunAnew() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        let (transactions, frames) = (200, LoggedFile.sizes.passive / 2)
        var (largest, beginnings, last) = (0, 0, 0)
        for _ in 1...transactions {
            try await pool.write { db in try db.addFrames(frames) }
            let count = try pool.walStatus.frameCount
            if count < last { beginnings += 1 }
            (largest, last) = (max(largest, count), count)
        }
        #expect(beginnings > 0)
        #expect(largest < LoggedFile.sizes.hard + 4 * frames)
        try await #expect(pool.read { db in try db.itemCount() } == transactions * frames)
    }

    @Test("The log's file does not stay larger than the limit when it is begun anew", .behaviour(84))
    func sizeLimit() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        let limit = LoggedFile.sizes.limit(pageSize: 512)
        try await #expect(pool.read { db in try Int.fetchOne(db, sql: "PRAGMA journal_size_limit") } == -1)
        try await pool.writeWithoutTransaction { db in
            try #expect(Int.fetchOne(db, sql: "PRAGMA journal_size_limit") == limit)
            try db.inTransaction {
                try db.addFrames(LoggedFile.sizes.hard)
                return .commit
            }
            let size = try #require(file.logSize)
            #expect(size > limit * 2)
            try db.checkpoint(.restart)
            try db.addFrames(1)
            let cutSize = try #require(file.logSize)
            #expect(cutSize <= limit + 1_000)
        }
    }

    @Test(
        "None of the pool's checkpoints looks to the writer as if another connection had written",
        .behaviour(84))
    func dataVersion() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        let before = try await pool.writeWithoutTransaction { db in try db.dataVersion() }
        for frames in [10, LoggedFile.sizes.passive, LoggedFile.sizes.restart, LoggedFile.sizes.hard] {
            try await pool.write { db in try db.addFrames(frames) }
            try await waitUntil { file.logSize == 0 }
            try await #expect(pool.writeWithoutTransaction { db in try db.dataVersion() } == before)
        }
        // Another one that writes does.
        try DatabaseQueue(path: file.path).inDatabase { db in try db.addFrames(1) }
        try await #expect(pool.writeWithoutTransaction { db in try db.dataVersion() } != before)
    }

    // MARK: - When the background fails

    @Test(
        "Where the background fails, who commits copies the log, and the error is told, until it works again",
        .behaviour(84))
    func failure() async throws {
        let file = try LoggedFile()
        let isFailing = Shared(false)
        let pool = try file.pool { configuration in
            configuration.prepareDatabase { _ in if isFailing.value { throw TestError(1) } }
        }
        _ = try pool.walStatus
        isFailing.withLock { $0 = true }
        try await pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
        try await pool.waitForLog { $0.checkpointFailure != nil }
        try #expect(pool.walStatus.checkpointFailure as? TestError == TestError(1))
        // The next commit finds that out, and does it itself.
        var largest = 0
        for _ in 1...20 {
            try await pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
            largest = max(largest, try pool.walStatus.frameCount)
        }
        #expect(largest < LoggedFile.sizes.passive * 3)
        isFailing.withLock { $0 = false }
        try await waitUntil {
            try pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
            return try pool.walStatus.checkpointFailure == nil
        }
        try await #expect(pool.read { db in try db.itemCount() } >= LoggedFile.sizes.passive * 21)
    }

    @Test("Where the background falls behind, who commits copies the log", .behaviour(84))
    func fallenBehind() async throws {
        let file = try LoggedFile()
        let gate = Gate()
        let isWaiting = Shared(false)
        let isHit = Gate()
        let pool = try file.pool { configuration in
            configuration.prepareDatabase { _ in
                guard isWaiting.value else { return }
                isHit.open()
                try gate.wait()
            }
        }
        _ = try pool.walStatus
        isWaiting.withLock { $0 = true }
        try await pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
        try await waitUntil { isHit.isOpen }
        isWaiting.withLock { $0 = false }
        var largest = 0
        for _ in 1...40 {
            try await pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
            largest = max(largest, try pool.walStatus.frameCount)
        }
        #expect(largest > LoggedFile.sizes.restart)
        #expect(largest < LoggedFile.sizes.hard + LoggedFile.sizes.passive * 2)
        gate.open()
    }

    @Test("A pool that is closed while its log is copied waits for that, and loses nothing", .behaviour(84))
    func closing() async throws {
        let file = try LoggedFile()
        for round in 1...5 {
            let pool = try file.pool()
            try await pool.write { db in try db.addFrames(LoggedFile.sizes.restart) }
            try await pool.close()
            #expect(file.logSize == 0)
            try await #expect(
                DatabaseQueue(path: file.path).read { db in try db.itemCount() }
                    == LoggedFile.sizes.restart * round)
        }
    }
}
