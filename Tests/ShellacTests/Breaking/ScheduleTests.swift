import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Small rounds of accesses that meet: transfers between accounts, with a constant total.
///
/// `.ci/schedules` runs many of them, in a build whose threads yield at random at each lock and
/// each atomic operation.
@Suite("Accesses that meet", .behaviour(79))
struct ScheduleTests {
    private static let rounds = environmentNumber("SHELLAC_SCHEDULES") ?? 400

    @Test("of a queue lose no transfer, and read no half one")
    func queue() async throws {
        for seed in SeededGenerator.seeds("SCHEDULES", count: 1) {
            try await Bank(seed: seed, isPool: false).run(rounds: Self.rounds)
        }
    }

    @Test("of a pool lose no transfer, and read no half one")
    func pool() async throws {
        for seed in SeededGenerator.seeds("SCHEDULES", count: 1) {
            try await Bank(seed: seed, isPool: true).run(rounds: Self.rounds)
        }
    }
}

/// Accounts, and the accesses that meet there.
private final class Bank: Sendable {
    private static let total = 100
    private let folder: TemporaryFolder
    private let writer: any DatabaseWriter
    private let seed: UInt64
    /// The number of transfers that have been committed.
    private let committed = Shared(0)

    init(seed: UInt64, isPool: Bool) throws {
        self.seed = seed
        folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.maximumReaderCount = Int(1 + seed % 3)
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        let path = folder.path("bank.sqlite")
        writer =
            isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
                    CREATE TABLE ledger (number INTEGER NOT NULL);
                    INSERT INTO account VALUES (1, \(Self.total)), (2, 0);
                    INSERT INTO ledger VALUES (0);
                    """)
        }
    }

    func run(rounds: Int) async throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<rounds {
            let accesses = (0..<Int.random(in: 2...4, using: &generator)).map { _ in
                Access.allCases.randomElement(using: &generator)!
            }
            await withTaskGroup(of: (any Error)?.self) { group in
                for access in accesses {
                    group.addTask {
                        do { try await self.make(access) } catch { return error }
                        return nil
                    }
                }
                for await error in group where error != nil {
                    Issue.record("seed \(seed), round \(round), \(accesses): \(error!)")
                }
            }
            let number = try await writer.read { db in try self.check(db) }
            #expect(number == committed.value, "seed \(seed), round \(round), \(accesses)")
        }
        try await writer.close()
    }

    /// An access of a round.
    private enum Access: CaseIterable {
        case write, writeInTask, writeAsynchronously, failingWrite, cancelledWrite, urgentWrite
        case read, readInTask, readAsynchronously, cancelledRead, concurrentRead
        case barrier, snapshot, observation, liveLoop, releaseMemory
    }

    private func make(_ access: Access) async throws {
        switch access {
        case .write: try await onThread { try self.writer.write { db in try self.transfer(db) } }
        case .writeInTask: try await writer.write { db in try self.transfer(db) }
        case .urgentWrite: try await writer.write(priority: .urgent) { db in try self.transfer(db) }
        case .writeAsynchronously:
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                writer.asyncWrite { db in
                    try self.transfer(db)
                } completion: { _, result in
                    continuation.resume(with: result)
                }
            }
        case .failingWrite:
            do {
                try await writer.write { db in
                    try self.transfer(db, counts: false)
                    throw TestError(1)
                }
            } catch is TestError {}
        case .cancelledWrite:
            // It commits, or it throws and leaves nothing.
            let task = Task { try await self.writer.write { db in try self.transfer(db, counts: false) } }
            task.cancel()
            do {
                try await task.value
                committed.withLock { $0 += 1 }
            } catch is CancellationError {}
        case .read: try await onThread { _ = try self.writer.read { db in try self.check(db) } }
        case .readInTask: _ = try await writer.read { db in try self.check(db) }
        case .cancelledRead:
            let task = Task { try await self.writer.read { db in try self.check(db) } }
            task.cancel()
            do { _ = try await task.value } catch is CancellationError {}
        case .readAsynchronously:
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                writer.asyncRead { result in
                    continuation.resume(with: Result { _ = try self.check(try result.get()) })
                }
            }
        case .concurrentRead:
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                writer.asyncWriteWithoutTransaction { db in
                    self.writer.spawnConcurrentRead { result in
                        continuation.resume(with: Result { _ = try self.check(try result.get()) })
                    }
                }
            }
        case .barrier:
            _ = try await writer.barrierWriteWithoutTransaction { db in try self.check(db) }
        case .snapshot:
            guard let pool = writer as? DatabasePool else { return }
            try await onThread {
                let snapshot = try pool.makeSnapshot()
                let number = try snapshot.read { db in try self.check(db) }
                try #expect(snapshot.read { db in try self.check(db) } == number)
            }
        case .observation:
            // Values come in the order of the commits.
            let observation = ValueObservation.tracking { db in try self.check(db) }
            var last = -1
            for try await number in observation.values(in: writer).prefix(1) {
                #expect(number >= last)
                last = number
            }
        case .liveLoop:
            let task = Task {
                for try await number in self.writer.values(
                    of: SQLRequest<Int>(sql: "SELECT number FROM ledger"))
                {
                    #expect(number.count == 1)
                }
            }
            try await writer.write { db in try self.transfer(db) }
            task.cancel()
            do { try await task.value } catch is CancellationError {}
        case .releaseMemory: try await onThread { self.writer.releaseMemory() }
        }
    }

    /// Moves one coin, and counts the transfer when it is committed.
    private func transfer(_ db: Database, counts: Bool = true) throws {
        try db.execute(sql: "UPDATE account SET balance = balance - 1 WHERE id = 1")
        _ = try check(db, total: Self.total - 1)
        try db.execute(sql: "UPDATE account SET balance = balance + 1 WHERE id = 2")
        try db.execute(sql: "UPDATE ledger SET number = number + 1")
        if counts { db.afterNextTransaction { _ in self.committed.withLock { $0 += 1 } } }
    }

    /// Compares the total, and returns the number of the last transfer.
    private func check(_ db: Database, total: Int = total) throws -> Int {
        try #expect(Int.fetchOne(db, sql: "SELECT sum(balance) FROM account") == total, "seed \(seed)")
        let number = try Int.fetchOne(db, sql: "SELECT number FROM ledger")!
        try #expect(Int.fetchOne(db, sql: "SELECT balance FROM account WHERE id = 2")! - number <= 1)
        return number
    }
}
