import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: everything at once", .behaviour(79, 83))
struct PoolStressTests {
    /// The acts of a task or a thread.
    enum Act: CaseIterable {
        case read, unsafeRead, write, urgentWrite, barrier, threadRead, threadWrite, threadBarrier
        case asyncRead, asyncWrite, concurrentRead, snapshot, snapshotPool, invalidate, releaseMemory
    }

    /// Counts that must be the same in each state: they are moved from one to the other in two
    /// statements.
    private static let sum = "SELECT SUM(value) FROM account"
    private static let move = [
        "UPDATE account SET value = value - 1 WHERE id = 1",
        "UPDATE account SET value = value + 1 WHERE id = 2",
    ]
    /// Work with steps between which an interrupt can fall.
    private static let work =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT COUNT(*) FROM n"

    @Sendable private static func look(_ db: Database) throws {
        for _ in 0..<2 {
            let sum = try Int.fetchOne(db, sql: sum)
            #expect(sum == 1000)
            _ = try Int.fetchOne(db, sql: work)
        }
    }

    @Sendable private static func change(_ db: Database) throws {
        try db.inTransaction {
            for sql in move {
                try db.execute(sql: sql)
                _ = try Int.fetchOne(db, sql: work)
            }
            return .commit
        }
    }

    private static func run(_ act: Act, _ pool: DatabasePool, _ ended: Recorder<Act>) async throws {
        switch act {
        case .read: try await pool.read { db in try look(db) }
        case .unsafeRead: try await pool.unsafeRead { db in try look(db) }
        case .write:
            try await pool.write { db in
                for sql in move { try db.execute(sql: sql) }
                try look(db)
            }
        case .urgentWrite:
            try await pool.write(priority: .urgent) { db in
                for sql in move { try db.execute(sql: sql) }
            }
        case .barrier: try await pool.barrierWriteWithoutTransaction { db in try change(db) }
        case .threadRead: try await onThread { try pool.read(look) }
        case .threadWrite: try await onThread { try pool.writeWithoutTransaction(change) }
        case .threadBarrier: try await onThread { try pool.barrierWriteWithoutTransaction(change) }
        case .asyncRead:
            pool.asyncRead { result in
                #expect(throws: Never.self) { try look(result.get()) }
                ended.record(act)
            }
        case .asyncWrite:
            pool.asyncWriteWithoutTransaction { db in
                #expect(throws: Never.self) { try change(db) }
                ended.record(act)
            }
        case .concurrentRead:
            try await onThread {
                try pool.inDatabase { db in
                    try change(db)
                    pool.spawnConcurrentRead { result in
                        #expect(throws: Never.self) { try look(result.get()) }
                        ended.record(act)
                    }
                    try change(db)
                }
            }
        case .snapshot, .snapshotPool:
            let snapshot: DatabaseSnapshotReader = try await onThread {
                act == .snapshot ? try pool.makeSnapshot() : try pool.makeSnapshotPool(readerCount: 2)
            }
            try await snapshot.read { db in try look(db) }
            try await snapshot.read { db in try look(db) }
            try await onThread { try snapshot.close() }
        case .invalidate: pool.invalidateReadOnlyConnections()
        case .releaseMemory: try await onThread { pool.releaseMemory() }
        }
    }

    @Test(
        "Whatever many tasks and threads do, and whoever is cancelled: all end, nobody is left in a line, no place is lost, and only those fail that were cancelled",
        arguments: UInt64(1)...4)
    func everything(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let file = try TemporaryDatabase()
        let pool = try file.pool { configuration in
            configuration.maximumReaderCount = seed % 2 == 0 ? 2 : 4
            configuration.persistentReadOnlyConnections = seed > 2
        }
        try await pool.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE account (id INTEGER PRIMARY KEY, value); INSERT INTO account VALUES (1, 500), (2, 500)"
            )
        }
        let ended = Recorder<Act>()
        var plans: [(act: Act, isCancelled: Bool, delay: Int)] = []
        for _ in 0..<400 {
            plans.append(
                (
                    Act.allCases.randomElement(using: &generator) ?? .read,
                    Int.random(in: 0..<3, using: &generator) == 0,
                    Int.random(in: 0...30_000, using: &generator)
                ))
        }
        await withTaskGroup(of: (Int, Result<Void, any Error>).self) { group in
            for (number, plan) in plans.enumerated() {
                let task = Task { try await Self.run(plan.act, pool, ended) }
                group.addTask {
                    if plan.isCancelled {
                        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(plan.delay)) {
                                task.cancel()
                                continuation.resume()
                            }
                        }
                    }
                    return (number, await task.result)
                }
            }
            for await (number, result) in group {
                guard case .failure(let error) = result else { continue }
                #expect(error is CancellationError, "seed \(seed), \(plans[number]): \(error)")
                #expect(plans[number].isCancelled, "seed \(seed): nobody cancelled \(plans[number])")
            }
        }
        let later = plans.count { [.asyncRead, .asyncWrite, .concurrentRead].contains($0.act) }
        try await waitUntil { ended.elements.count == later }
        try await pool.barrierWriteWithoutTransaction { db in try Self.look(db) }
        #expect(pool.opening.group.livingNames == [], "seed \(seed)")
        try await expectAllPlaces(of: pool)
        try await pool.close()
    }

    @Test(
        "Of many pools that are closed and freed at random, none hangs and none keeps a file open",
        arguments: UInt64(1)...3)
    func freed(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path("test.sqlite")
        try await onThread {
            try DatabasePool(path: path).write { db in
                try db.execute(
                    sql:
                        "CREATE TABLE account (id INTEGER PRIMARY KEY, value); INSERT INTO account VALUES (1, 500), (2, 500)"
                )
            }
        }
        for _ in 0..<15 {
            let (ended, closes) = (Recorder<Act>(), Bool.random(using: &generator))
            // An access that is not waited for may find the pool closed, as it should.
            let acts = (0..<20).map { _ in Act.allCases.randomElement(using: &generator) ?? .read }
                .filter { $0 != .asyncRead }
            try await withThrowingTaskGroup(of: Void.self) { group in
                let pool = try await onThread { try DatabasePool(path: path) }
                for act in acts {
                    group.addTask {
                        do { try await Self.run(act, pool, ended) } catch let error as DatabaseError {
                            #expect(
                                closes && error.message?.contains("closed") == true,
                                "seed \(seed), \(act): \(error)")
                        }
                    }
                }
                if closes { group.addTask { try await onThread { try? pool.close() } } }
                try await group.waitForAll()
            }
        }
        try await waitUntil { try folder.openFiles() == [] }
    }
}
