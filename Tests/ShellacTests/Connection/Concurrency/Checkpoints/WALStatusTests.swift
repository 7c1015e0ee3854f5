import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("What a pool tells of its log")
struct WALStatusTests {
    @Test("It tells the frames, how many of them are copied, and the size of the file", .behaviour(84))
    func sizes() throws {
        let file = try LoggedFile()
        let pool = try file.pool { $0.checkpoints = .none }
        let empty = try pool.walStatus
        #expect((empty.frameCount, empty.checkpointedFrameCount) == (0, 0))
        try pool.write { db in try db.addFrames(100) }
        let full = try pool.walStatus
        #expect(full.checkpointedFrameCount == 0)
        // A header of 32 bytes, and one of 24 for each frame.
        #expect(full.byteCount == 32 + full.frameCount * (512 + 24))
        let copied = try pool.writeWithoutTransaction { db in try db.checkpoint() }
        #expect(copied == (full.frameCount, full.frameCount))
        let status = try pool.walStatus
        #expect((status.frameCount, status.checkpointedFrameCount) == copied)
        #expect(status.byteCount == full.byteCount)
        try pool.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
        let cut = try pool.walStatus
        #expect((cut.frameCount, cut.checkpointedFrameCount, cut.byteCount) == (0, 0, 0))
        #expect(cut.readers.isEmpty && cut.oldestReader == nil && cut.checkpointFailure == nil)
    }

    /// A reader or writer that keeps the log from being begun anew.
    enum Pin: String, CaseIterable, Codable {
        case reader, unsafeReader, concurrentReader, snapshot, snapshotPool, writer

        var labels: [String] {
            switch self {
            case .reader, .unsafeReader, .concurrentReader: ["test.reader.1"]
            case .snapshot: ["test.snapshot.1"]
            case .snapshotPool: ["test.snapshots.1.1", "test.snapshots.1.2"]
            case .writer: ["test.writer"]
            }
        }

        var sql: String? {
            switch self {
            case .reader, .unsafeReader, .concurrentReader: "SELECT COUNT(*) FROM item"
            case .snapshot, .snapshotPool, .writer: nil
            }
        }

        /// Returns what ends it.
        func begin(_ pool: DatabasePool) async throws -> @Sendable () async throws -> Void {
            switch self {
            case .reader:
                let access = try await LongAccess.reading(pool)
                return { try await access.release() }
            case .unsafeReader:
                let access = try await LongAccess { inside in
                    try pool.unsafeRead { db in
                        _ = try db.itemCount()
                        try inside()
                    }
                }
                return { try await access.release() }
            case .concurrentReader:
                let (begun, end, ended) = (Gate(), Gate(), Gate())
                try await pool.writeWithoutTransaction { _ in
                    pool.spawnConcurrentRead { result in
                        _ = try? result.get().itemCount()
                        begun.open()
                        try? end.wait()
                        ended.open()
                    }
                }
                try await waitUntil { begun.isOpen }
                return {
                    end.open()
                    try await waitUntil { try ended.isOpen && pool.walStatus.readers.isEmpty }
                }
            case .snapshot:
                let snapshot = try pool.makeSnapshot()
                return { try snapshot.close() }
            case .snapshotPool:
                let snapshots = try pool.makeSnapshotPool(readerCount: 2)
                return { try snapshots.close() }
            case .writer:
                let access = try await LongAccess { inside in
                    try pool.write { db in
                        try db.addFrames(1)
                        try inside()
                    }
                }
                return { try await access.release() }
            }
        }
    }

    @Test(
        "It names who is in the way, with the statement and the age, until they have ended", .behaviour(84),
        arguments: Pin.allCases)
    func pins(pin: Pin) async throws {
        let file = try LoggedFile()
        let pool = try file.pool { $0.checkpoints = .none }
        try await pool.write { db in try db.addFrames(10) }
        let start = ContinuousClock.now
        let end = try await pin.begin(pool)
        try await waitUntil { try (pool.walStatus.oldestReader?.age ?? .zero) > .milliseconds(50) }
        let readers = try pool.walStatus.readers
        let span = ContinuousClock.now - start
        #expect(readers.map(\.label).sorted() == pin.labels)
        for reader in readers {
            #expect(reader.sql == pin.sql)
            // The clock of the ages moves every few milliseconds.
            #expect(reader.age <= span + .milliseconds(20))
        }
        try await end()
        try #expect(pool.walStatus.readers.isEmpty)
    }

    @Test(
        "A read that has run nothing yet tells no statement, whatever its connection has run before",
        .behaviour(84))
    func nothingYet() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        _ = try await pool.read { db in try db.itemCount() }
        let access = try await LongAccess { inside in try pool.read { _ in try inside() } }
        let readers = try pool.walStatus.readers
        #expect(readers.map(\.label) == ["test.reader.1"] && readers.map(\.sql) == [nil])
        try await access.release()
    }

    @Test("The one that began first comes first", .behaviour(84))
    func order() async throws {
        let file = try LoggedFile()
        let pool = try file.pool { $0.checkpoints = .none }
        var accesses: [LongAccess] = []
        for count in 1...3 {
            accesses.append(try await LongAccess.reading(pool))
            try await waitUntil { try (pool.walStatus.readers.last?.age ?? .zero) > .milliseconds(20) }
            try #expect(pool.walStatus.readers.count == count)
        }
        let ages = try pool.walStatus.readers.map(\.age)
        #expect(ages == ages.sorted(by: >))
        #expect(Set(ages).count == 3)
        let labels = try pool.walStatus.readers.map(\.label)
        #expect(labels == ["test.reader.1", "test.reader.2", "test.reader.3"])
        for access in accesses { try await access.release() }
    }

    @Test("It waits for nobody: all readers may be busy, and the writer, and a checkpoint", .behaviour(84))
    func waitsForNobody() async throws {
        let file = try LoggedFile()
        let pool = try file.pool {
            $0.checkpoints = .none
            $0.maximumReaderCount = 2
            $0.busyMode = .timeout(600)
        }
        try await pool.write { db in try db.addFrames(10) }
        let first = try await LongAccess.reading(pool)
        try await pool.write { db in try db.addFrames(10) }
        let second = try await LongAccess.reading(pool)
        let begun = Gate()
        let checkpoint = Task {
            try await pool.writeWithoutTransaction { db in
                begun.open()
                try db.checkpoint(.full)
            }
        }
        try await waitUntil { begun.isOpen }
        let status = try pool.walStatus
        #expect(Set(status.readers.map(\.label)) == ["test.reader.1", "test.reader.2", "test.writer"])
        #expect(status.frameCount > 20)
        try await first.release()
        try await second.release()
        _ = try await checkpoint.value
    }

    @Test(
        "It is asked beside readers and a writer that come and go, and is never out of order", .behaviour(84))
    func besideOthers() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        let isEnd = Shared(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...2 {
                group.addTask {
                    try await onThread {
                        while !isEnd.value { _ = try pool.read { db in try db.itemCount() } }
                    }
                }
            }
            group.addTask {
                try await onThread {
                    defer { isEnd.withLock { $0 = true } }
                    for _ in 1...200 { try pool.write { db in try db.addFrames(50) } }
                }
            }
            for _ in 1...2 {
                group.addTask {
                    try await onThread {
                        while !isEnd.value {
                            let status = try pool.walStatus
                            #expect(status.checkpointFailure == nil)
                            #expect(status.frameCount >= 0 && status.byteCount >= 0)
                            for reader in status.readers { #expect(reader.label.hasPrefix("test.")) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try #expect(pool.walStatus.readers.isEmpty)
    }

    @Test("A closed pool says that it is closed", .behaviour(84))
    func closed() throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        _ = try pool.walStatus
        try pool.close()
        let error = databaseError { _ = try pool.walStatus }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "the database test is closed")
        try #expect(file.folder.openFiles() == [])
    }
}
