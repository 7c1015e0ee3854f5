import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Who copies the log of a pool")
struct LogKeepingTests {
    @Test(
        "PRAGMA wal_autocheckpoint takes our hook away, and the log stays small all the same", .behaviour(84),
        arguments: [0, 100, 1_000_000])
    func ownAutoCheckpoint(pages: Int) async throws {
        let file = try LoggedFile()
        let pool = try file.pool { configuration in
            configuration.prepareDatabase { db in
                try db.execute(sql: "PRAGMA wal_autocheckpoint = \(pages)")
            }
        }
        try await pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
        try await pool.waitForLog { $0.checkpointedFrameCount == $0.frameCount }
        var largest = 0
        for _ in 1...100 {
            try await pool.write { db in try db.addFrames(LoggedFile.sizes.passive / 2) }
            largest = max(largest, try pool.walStatus.frameCount)
        }
        #expect(largest < LoggedFile.sizes.hard * 2)
        try await waitUntil { file.logSize == 0 }
    }

    @Test("A log whose hook was taken away later is seen to as well", .behaviour(84))
    func hookTakenLater() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        try await pool.write { db in try db.addFrames(1) }
        try await pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 1000000")
        }
        try await pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
        let writing = try await LongAccess.writing(pool)
        try await pool.waitForLog { $0.checkpointedFrameCount == $0.frameCount }
        try await writing.release()
    }

    @Test("A queue beside a pool copies the log when it commits, as SQLite does it by itself", .behaviour(84))
    func otherConnections() async throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        let queue = try DatabaseQueue(path: file.path)
        let frames = LoggedFile.sizes.passive
        try await queue.write { db in try db.addFrames(frames) }
        // The queue has not notified the pool of its writes.
        let status = try pool.walStatus
        #expect(status.checkpointedFrameCount == status.frameCount)
        #expect(status.frameCount >= frames)
    }

    @Test("The log of a database that is attached to the writer is copied when it has grown", .behaviour(84))
    func attached() throws {
        let (file, other) = (try LoggedFile(), try LoggedFile())
        let pool = try file.pool()
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS other", arguments: [other.path])
            try db.execute(sql: "PRAGMA other.journal_mode = wal")
            for _ in 1...10 {
                try db.execute(
                    sql: """
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                        INSERT INTO other.item (content) SELECT zeroblob(400) FROM n
                        """)
            }
            let size = try #require(other.logSize)
            #expect(size < 2_500 * 536)
            let (frames, copied) = try db.checkpoint(.passive, on: "other")
            #expect(frames == copied)
        }
    }

    @Test(
        "The log and its index stay when the pool is closed, and a connection that only reads can open the file",
        .behaviour(84))
    func staysAtClose() throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        try pool.write { db in try db.addFrames(10) }
        try pool.close()
        try #expect(file.folder.fileNames() == ["a.sqlite", "a.sqlite-shm", "a.sqlite-wal"])
        #expect(file.logSize == 0)
        var configuration = Configuration()
        configuration.readonly = true
        try #expect(
            DatabaseQueue(path: file.path, configuration: configuration).read { db in try db.itemCount() }
                == 10)
        let readingPool = try file.pool { $0.readonly = true }
        try #expect(readingPool.read { db in try db.itemCount() } == 10)
        try #expect(readingPool.walStatus.frameCount == 0)
        try readingPool.close()
        try #expect(file.folder.fileNames() == ["a.sqlite", "a.sqlite-shm", "a.sqlite-wal"])
    }

    @Test("A file and a folder that nobody may write to can be read after a pool was closed", .behaviour(84))
    func staysReadable() throws {
        let file = try LoggedFile()
        let pool = try file.pool()
        try pool.write { db in try db.addFrames(10) }
        try pool.close()
        let manager = FileManager.default
        for name in try file.folder.fileNames() {
            try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.folder.path(name))
        }
        try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: file.folder.path)
        defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.folder.path) }
        let path = file.path
        let count = try OwnThread.run(unprivileged: true) {
            var configuration = Configuration()
            configuration.readonly = true
            return try DatabaseQueue(path: path, configuration: configuration).read { db in try db.itemCount()
            }
        }
        #expect(count == 10)
    }

    @Test("With .atCommit, the commit that finds a large log copies it", .behaviour(84))
    func atCommit() throws {
        let file = try LoggedFile()
        let pool = try file.pool { $0.checkpoints = .atCommit }
        try pool.write { db in try db.addFrames(900) }
        try #expect(pool.walStatus.checkpointedFrameCount == 0)
        try pool.write { db in try db.addFrames(900) }
        let status = try pool.walStatus
        #expect(status.frameCount >= 1_800)
        #expect(status.checkpointedFrameCount == status.frameCount)
        try pool.close()
        #expect(file.logSize == 0)
    }

    @Test("With .none, nobody copies the log, and it is whole after the pool was closed", .behaviour(84))
    func none() throws {
        let file = try LoggedFile()
        let pool = try file.pool { $0.checkpoints = .none }
        let fileSize = FileIdentity.size(file.path)
        for _ in 1...3 { try pool.write { db in try db.addFrames(LoggedFile.sizes.hard / 2) } }
        // Longer than a writer rests.
        usleep(1_300_000)
        let status = try pool.walStatus
        #expect(status.frameCount >= LoggedFile.sizes.hard)
        #expect(status.checkpointedFrameCount == 0)
        let logSize = file.logSize
        try pool.close()
        #expect(file.logSize == logSize)
        #expect(FileIdentity.size(file.path) == fileSize)
        // The next connection that opens it has all.
        let other = try file.pool { $0.checkpoints = .none }
        try #expect(other.read { db in try db.itemCount() } == LoggedFile.sizes.hard / 2 * 3)
    }

    @Test("A pool that was not closed cuts no log, and nothing is lost", .behaviour(84))
    func letGo() throws {
        let file = try LoggedFile()
        do {
            let pool = try file.pool()
            try pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
        }
        try #expect(
            DatabaseQueue(path: file.path).read { db in try db.itemCount() } == LoggedFile.sizes.passive)
    }

    @Test(
        "A full disk fails a checkpoint alone: what is committed can be read, and is copied when there is room",
        .behaviour(84))
    func fullDisk() async throws {
        await #expect(processExitsWith: .success) {
            crashWithoutBacktrace()
            // The system refuses to let a file grow beyond a size, as it refuses to let it grow on
            // a full disk.
            signal(SIGXFSZ, SIG_IGN)
            let file = try LoggedFile()
            let pool = try file.pool { $0.checkpoints = .none }
            try pool.writeWithoutTransaction { db in
                try db.inTransaction {
                    try db.addFrames(2_000)
                    return .commit
                }
                var limits = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
                let unlimited = limits
                limits.rlim_cur = 100_000
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
                for mode in [Database.CheckpointMode.passive, .full, .restart, .truncate] {
                    let error = databaseError { try db.checkpoint(mode) }
                    let code = try #require(error).resultCode
                    #expect(code == .SQLITE_IOERR || code == .SQLITE_FULL)
                    try #expect(db.itemCount() == 2_000)
                    try #expect(db.isUsable())
                }
                try #expect(pool.read { db in try db.itemCount() } == 2_000)
                var more = unlimited
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &more)
                try db.checkpoint(.truncate)
            }
            try #expect(pool.read { db in try String.fetchOne(db, sql: "PRAGMA integrity_check") } == "ok")
            try #expect(pool.read { db in try db.itemCount() } == 2_000)
        }
    }
}
