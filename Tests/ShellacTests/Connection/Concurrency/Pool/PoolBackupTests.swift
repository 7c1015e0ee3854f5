import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: backups", .behaviour(83))
struct PoolBackupTests {
    private let file: TemporaryDatabase
    private let pool: DatabasePool

    init() throws {
        file = try TemporaryDatabase()
        pool = try file.pool()
        try pool.write { db in
            for number in 0..<200 { try db.insert("\(number)" + String(repeating: "x", count: 500)) }
        }
    }

    @Test(
        "A pool is copied as it was when the backup began, beside those who write", arguments: Writer.allCases
    )
    func source(writer: Writer) throws {
        let otherFile = try TemporaryDatabase()
        let other = try writer.open(otherFile)
        try other.writeWithoutTransaction { db in try db.insert("lost") }
        let before = try pool.names()
        var steps = 0
        try pool.backup(to: other, pagesPerStep: 5) { progress in
            steps += 1
            try onOtherThread { try pool.write { db in try db.insert("meanwhile \(steps)") } }
        }
        #expect(steps > 3)
        #expect(try other.names() == before)
        #expect(try pool.names().count == before.count + steps)
        let read = try other.read { db in try db.names() }
        #expect(read == before)
        try other.write { db in try db.insert("goes on") }
    }

    @Test(
        "Those who read a pool that is copied over see the old content or the new one", arguments: [-1, 1, 7])
    func destination(pagesPerStep: Int) async throws {
        let otherFile = try TemporaryDatabase()
        let other = try otherFile.pool()
        try await other.write { db in
            try db.execute(
                sql: "DROP TABLE player; CREATE TABLE player (id INTEGER PRIMARY KEY, score, name)")
            try db.execute(sql: "INSERT INTO player (name) VALUES ('old')")
        }
        let pool = pool
        try await onThread {
            let expected = try pool.names()
            let isDone = Gate()
            let reading = RunningThread {
                var seen: Set<[String]> = []
                while !isDone.isOpen { seen.insert(try other.read { db in try db.names() }) }
                return seen
            }
            try pool.backup(to: other, pagesPerStep: pagesPerStep)
            let after = try other.read { db in try (db.names(), db.columns(in: "player").count) }
            #expect(after == (expected, 2))
            isDone.open()
            try #expect(reading.join().isSubset(of: [["old"], expected]))
        }
        try await expectAllPlaces(of: other)
        let mode = try await other.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
    }

    @Test("A database with pages of another size is refused, with the way to go, and nothing is changed")
    func pageSizes() throws {
        let path = file.folder.appending(path: "large.sqlite").path
        var configuration = Configuration()
        configuration.pageSize = 8192
        configuration.label = "large"
        let large = try DatabaseQueue(path: path, configuration: configuration)
        try large.write { db in
            try db.createPlayers()
            try db.insert("Arthur")
        }
        let before = try pool.names()
        let memory = try DatabaseQueue.withPlayers()
        for (destination, name) in [(pool as any DatabaseWriter, "test"), (memory, "test")] {
            let names = try destination.names()
            let error = databaseError { try copy(large, to: destination) }
            #expect(error?.resultCode == .SQLITE_READONLY)
            #expect(
                error?.message
                    == "\(name) cannot become a copy of large, whose pages have 8192 bytes: a database "
                    + "with a write-ahead log, or in memory, keeps its own page size, which is 4096. Give "
                    + "the source that size with PRAGMA page_size and VACUUM. Or close the destination, "
                    + "back up to a DatabaseQueue whose journalMode is delete, and open it again"
            )
            #expect(try destination.names() == names)
            try destination.write { db in try db.execute(sql: "DELETE FROM player WHERE id = -1") }
        }
        #expect(try pool.read { db in try db.names() } == before)
        // Both ways.
        try pool.close()
        var single = Configuration()
        single.journalMode = .delete
        try large.backup(to: DatabaseQueue(path: file.path, configuration: single))
        let reopened = try file.pool()
        #expect(try reopened.read { db in try db.names() } == ["Arthur"])
        try memory.writeWithoutTransaction { db in try db.insert("Barbara") }
        try large.writeWithoutTransaction { db in
            try db.insert("Craig")
            try db.execute(sql: "PRAGMA page_size = 4096; VACUUM")
        }
        try large.backup(to: memory)
        #expect(try memory.names() == ["Arthur", "Craig"])
    }

    @Test("A snapshot is copied over the database that it is of: it is as it was then")
    func goBack() throws {
        let snapshot = try pool.makeSnapshot()
        let before = try pool.names()
        try pool.write { db in
            try db.execute(sql: "DELETE FROM player WHERE id % 2; ALTER TABLE player ADD COLUMN score")
        }
        try snapshot.backup(to: pool)
        #expect(try pool.names() == before)
        let columns = try pool.read { db in try db.columns(in: "player").count }
        #expect(columns == 2)
        #expect(try pool.inDatabase { db in try db.isUsable() })
    }

    @Test(
        "Neither pool is closed while a backup runs, which the error names, and a backup that ends early changes nothing"
    )
    func closing() async throws {
        let otherFile = try TemporaryDatabase()
        let other = try otherFile.pool { $0.label = "other" }
        let (pool, errors) = (pool, Recorder<String?>())
        await #expect(throws: TestError(1)) {
            try await onThread {
                try pool.backup(to: other, pagesPerStep: 5) { _ in
                    for closing in [pool, other] {
                        errors.record(databaseError { try onOtherThread { try closing.close() } }?.message)
                    }
                    throw TestError(1)
                }
            }
        }
        #expect(
            errors.elements == [
                "the pool test cannot be closed: a backup of test to other is still alive",
                "the pool other cannot be closed: a backup of test to other is still alive",
            ])
        #expect(try other.names() == [])
        try await expectAllPlaces(of: pool)
        try await expectAllPlaces(of: other)
        try await pool.close()
        try await other.close()
    }

    @Test("Pools that are copied over each other again and again all come to an end")
    func crossing() async throws {
        let otherFile = try TemporaryDatabase()
        let (pool, other) = (pool, try otherFile.pool { $0.maximumReaderCount = 1 })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await onThread {
                        if number % 2 == 0 {
                            try pool.backup(to: other, pagesPerStep: 3)
                        } else {
                            try other.backup(to: pool)
                        }
                    }
                }
                group.addTask { try await pool.barrierWriteWithoutTransaction { _ in } }
                group.addTask { _ = try await other.read { db in try db.names() } }
            }
            try await group.waitForAll()
        }
        #expect(try pool.names() == other.names())
        try await expectAllPlaces(of: pool)
        try await expectAllPlaces(of: other)
    }

    @Test("A pool is not copied over itself")
    func itself() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let file = try TemporaryDatabase()
            let pool = try file.pool()
            try await pool.backup(to: pool)
        }
        result.expectSentence("a database cannot be copied over itself.")
    }
}

/// (A function, as that of an existential is opened there.)
private func copy(_ source: DatabaseQueue, to destination: any DatabaseWriter) throws {
    func copy(_ destination: some DatabaseWriter) throws { try source.backup(to: destination) }
    try copy(destination)
}
