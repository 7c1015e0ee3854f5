import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: reading", .behaviour(79))
struct PoolReadingTests {
    private let file: TemporaryDatabase
    private let pool: DatabasePool

    init() throws {
        file = try TemporaryDatabase()
        pool = try file.pool()
    }

    @Test("A file gets a write-ahead log, and keeps it")
    func log() throws {
        let mode = try pool.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
        try pool.close()
        let kept = try file.queue().inDatabase { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(kept == "wal")
    }

    @Test("As many reads as are allowed run at the same time, beside a write", arguments: [1, 2, 5, 12])
    func parallel(count: Int) async throws {
        let file = try TemporaryDatabase()
        let pool = try file.pool { $0.maximumReaderCount = count }
        try await pool.write { db in try db.insert("Arthur") }
        let hold = try await Hold(pool)
        try await HeldReads(pool).release()
        try await hold.release()
        try await expectAllPlaces(of: pool)
    }

    @Test("A read sees one state from its beginning to its end, and the next one sees what was written")
    func isolation() async throws {
        let (inside, written) = (Gate(), Gate())
        async let seen = onThread { [pool] in
            try pool.read { db in
                let before = try db.names()
                inside.open()
                try written.wait()
                return [before, try db.names()]
            }
        }
        try await waitUntil { inside.isOpen }
        try await pool.write { db in try db.insert("Arthur") }
        let next = try await pool.read { db in try db.names() }
        #expect(next == ["Arthur"])
        written.open()
        #expect(try await seen == [[], []])
    }

    @Test("A read that has not looked at anything yet has no state yet: its first statement takes one")
    func deferred() throws {
        let names = try pool.read { db in
            try onOtherThread { try pool.write { db in try db.insert("Arthur") } }
            return try db.names()
        }
        #expect(names == ["Arthur"])
    }

    @Test("A read without a transaction sees at each statement what is committed")
    func unsafeRead() throws {
        let seen = try pool.unsafeRead { db in
            let before = try db.names()
            try onOtherThread { try pool.write { db in try db.insert("Arthur") } }
            return [before, try db.names()]
        }
        #expect(seen == [[], ["Arthur"]])
    }

    @Test("Who reads after a write has returned sees it, on every thread", arguments: UInt64(1)...3)
    func readYourWrites(seed: UInt64) async throws {
        let pool = pool
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let name = "\(writer).\(round)"
                        try await pool.write { db in try db.insert(name) }
                        let sql = "SELECT COUNT(*) FROM player WHERE name = ?"
                        let here = try await pool.read { db in
                            try Int.fetchOne(db, sql: sql, arguments: [name])
                        }
                        let there = try await onThread {
                            try pool.read { db in try Int.fetchOne(db, sql: sql, arguments: [name]) }
                        }
                        #expect(here == 1 && there == 1, "\(name)")
                    }
                }
            }
            try await group.waitForAll()
        }
        try await expectAllPlaces(of: pool)
    }

    @Test("A read inside of a write is allowed, and sees the committed state")
    func readInsideOfWrite() throws {
        try pool.write { db in
            try db.insert("Arthur")
            let before = try pool.read { db in try db.names() }
            #expect(before == [])
            let reentrant = try pool.unsafeReentrantRead { db in try db.names() }
            #expect(reentrant == [])
            #expect(try db.names() == ["Arthur"])
        }
        try pool.writeWithoutTransaction { db in
            try db.insert("Barbara")
            let after = try pool.read { db in try db.names() }
            #expect(after == ["Arthur", "Barbara"])
        }
    }

    @Test("A reentrant read inside of a read uses the same connection, and its state")
    func reentrantRead() throws {
        let pools = [pool, try TemporaryDatabase().pool { $0.maximumReaderCount = 1 }]
        for pool in pools {
            try pool.read { outer in
                let isSame = try pool.unsafeReentrantRead { inner in
                    inner === outer && inner.isInsideTransaction
                }
                #expect(isSame)
            }
            let isInTransaction = try pool.unsafeReentrantRead { db in db.isInsideTransaction }
            #expect(!isInTransaction)
        }
    }

    @Test("A read that throws gives its error, and its place back")
    func throwing() async throws {
        for number in 1...20 {
            #expect(throws: TestError(number)) { try pool.read { _ in throw TestError(number) } }
            await #expect(throws: TestError(number)) { try await pool.read { _ in throw TestError(number) } }
            #expect(throws: TestError(number)) { try pool.unsafeRead { _ in throw TestError(number) } }
        }
        #expect(databaseError { try pool.read { db in try db.execute(sql: "SELECT nothing") } } != nil)
        try await expectAllPlaces(of: pool)
    }

    @Test(
        "More reads than are allowed wait, and come in the order of their arrival", arguments: UInt64(1)...3)
    func order(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let file = try TemporaryDatabase()
        let pool = try file.pool { $0.maximumReaderCount = 1 }
        let order = Recorder<Int>()
        let held = try await HeldReads(pool)
        var tasks: [(Task<Void, any Error>, isCancelled: Bool)] = []
        for number in 0..<60 {
            let (isThread, isCancelled) = (Bool.random(using: &generator), Bool.random(using: &generator))
            let task =
                isThread
                ? Task { try await onThread { try pool.read { _ in order.record(number) } } }
                : Task { try await pool.read { _ in order.record(number) } }
            tasks.append((task, !isThread && isCancelled))
            try await waitUntil { pool.readers.line.waitingCount == number + 1 }
        }
        for (task, isCancelled) in tasks where isCancelled { task.cancel() }
        #expect(pool.readers.line.waitingCount == tasks.count { !$0.isCancelled }, "seed \(seed)")
        try await held.release()
        for (task, isCancelled) in tasks {
            if isCancelled {
                await #expect(throws: CancellationError.self) { try await task.value }
            } else {
                try await task.value
            }
        }
        #expect(order.elements == tasks.indices.filter { !tasks[$0].isCancelled }, "seed \(seed)")
        try await expectAllPlaces(of: pool)
    }

    @Test("Readers are opened when they are needed, and the last one that was used comes first")
    func onDemand() async throws {
        let opened = Recorder<Bool>()
        let file = try TemporaryDatabase()
        let pool = try file.pool { configuration in
            configuration.maximumReaderCount = 4
            configuration.prepareDatabase { db in opened.record(db.configuration.readonly) }
        }
        // Opening a pool opens the writer, and one reader.
        #expect(opened.elements == [false, true])
        for _ in 0..<10 { _ = try await pool.read { db in try db.names() } }
        #expect(opened.elements.count == 2)
        try await HeldReads(pool, count: 3).release()
        #expect(opened.elements == [false, true, true, true])
    }

    // MARK: - What is not as in a queue

    @Test("A temporary table is the writer's own")
    func temporaryTable() throws {
        try pool.write { db in try db.execute(sql: "CREATE TEMP TABLE own (a); INSERT INTO own VALUES (1)") }
        let error = databaseError { try pool.read { db in try db.execute(sql: "SELECT * FROM own") } }
        #expect(error?.message == "no such table: own")
        let count = try pool.write { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM own") }
        #expect(count == 1)
    }

    @Test("An attached database is the writer's own, and all have one that is attached by preparation")
    func attached() throws {
        let other = try TemporaryDatabase()
        try pool.inDatabase { db in try db.execute(sql: "ATTACH ? AS other", arguments: [other.path]) }
        let error = databaseError {
            try pool.read { db in try db.execute(sql: "SELECT * FROM other.player") }
        }
        #expect(error?.message == "no such table: other.player")
        let prepared = try file.pool { configuration in
            configuration.prepareDatabase { db in
                try db.execute(sql: "ATTACH ? AS other", arguments: [other.path])
            }
        }
        let count = try prepared.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other.player") }
        #expect(count == 0)
    }

    @Test(
        "A second access that would read what is not committed does not see it, with an open transaction, too"
    )
    func uncommitted() throws {
        let pool = try file.pool { $0.allowsUnsafeTransactions = true }
        try pool.inDatabase { db in
            try db.beginTransaction()
            try db.insert("Arthur")
        }
        try #expect(pool.read { db in try db.names() } == [])
        try pool.inDatabase { db in
            #expect(try db.names() == ["Arthur"])
            try db.commit()
        }
        let names = try pool.read { db in try db.names() }
        #expect(names == ["Arthur"])
    }
}

/// Runs a body on another thread, which this one waits for.
func onOtherThread<Result>(_ body: @escaping () throws -> Result) throws -> Result { try OwnThread.run(body) }
