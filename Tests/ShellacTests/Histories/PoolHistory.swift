import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Money that goes from account to account, while others read: the total never changes, and the
/// number of the last transfer never goes back.
///
/// Each writer and each reader is a random program of its own, made by one seed.
final class PoolHistory: Sendable {
    static let (accountCount, wealth) = (20, 1_000)
    static var total: Int { accountCount * wealth }

    private let folder: TemporaryFolder
    let pool: DatabasePool
    let seed: UInt64
    /// The number of the newest transfer whose commit was reported to a writer.
    private let acknowledged = Shared(0)
    private let isEnd = Shared(false)
    /// The number of reads.
    let readCount = Shared(0)

    init(seed: UInt64, configure: (inout Configuration) -> Void = { _ in }) throws {
        self.seed = seed
        folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.label = "bank"
        configure(&configuration)
        pool = try DatabasePool(path: folder.path("bank.sqlite"), configuration: configuration)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
                    CREATE TABLE ledger (number INTEGER NOT NULL);
                    INSERT INTO ledger VALUES (0);
                    """)
            for id in 1...Self.accountCount {
                try db.execute(sql: "INSERT INTO account VALUES (?, ?)", arguments: [id, Self.wealth])
            }
        }
    }

    /// Runs writers, each for some operations, and readers beside them until all have ended.
    func run(writerCount: Int, operationCount: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...2 {
                group.addTask { try await onThread { try self.read(by: self.generator(100 + number)) } }
            }
            group.addTask { try await self.readInTask(by: self.generator(200)) }
            group.addTask { try await onThread { try self.keepSnapshots(by: self.generator(300)) } }
            group.addTask {
                defer { self.isEnd.withLock { $0 = true } }
                try await withThrowingTaskGroup(of: Void.self) { writers in
                    for number in 1...writerCount {
                        let generator = self.generator(number)
                        if number.isMultiple(of: 2) {
                            writers.addTask { try await self.writeInTask(operationCount, by: generator) }
                        } else {
                            writers.addTask {
                                try await onThread { try self.write(operationCount, by: generator) }
                            }
                        }
                    }
                    try await writers.waitForAll()
                }
            }
            try await group.waitForAll()
        }
        try checkAndClose()
    }

    private func checkAndClose() throws {
        try pool.writeWithoutTransaction { db in
            try expectOrder(State(db), since: acknowledged.value)
            try #expect(String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], "seed \(seed)")
        }
        try pool.close()
    }

    private func generator(_ number: Int) -> SeededGenerator {
        SeededGenerator(seed: seed &* 1_000 &+ UInt64(number))
    }
}

// MARK: - Writers

extension PoolHistory {
    /// The operations of a writer.
    private enum Operation: CaseIterable {
        case transfer, abandoned, savepoint, statements, readInside, failing
    }

    private func write(_ count: Int, by generator: SeededGenerator) throws {
        var generator = generator
        for _ in 1...count {
            let operation = Operation.allCases.randomElement(using: &generator) ?? .transfer
            let transfer = Transfer(&generator)
            let number: Int?
            switch operation {
            case .transfer: number = try pool.write { db in try transfer.run(db) }
            case .abandoned:
                number = nil
                #expect(throws: TestError.self) {
                    try pool.write { db in
                        _ = try transfer.run(db, half: true)
                        throw TestError()
                    }
                }
            case .savepoint:
                number = try pool.write { db in
                    try db.inSavepoint {
                        _ = try transfer.run(db, half: true)
                        return .rollback
                    }
                    return try transfer.run(db)
                }
            case .statements:
                number = try pool.writeWithoutTransaction { db in
                    try transfer.runAtOnce(db)
                    return try transfer.count(db)
                }
            case .readInside:
                let old = acknowledged.value
                number = try pool.write { db in
                    let number = try transfer.run(db)
                    let state = try pool.read { db in try State(db) }
                    expectOrder(state, since: old)
                    #expect(state.number < number, "seed \(seed)")
                    return number
                }
            case .failing:
                number = nil
                expectError("UNIQUE constraint failed: account.id") { [pool] in
                    try pool.write { db in
                        _ = try transfer.run(db, half: true)
                        try db.execute(sql: "INSERT INTO account VALUES (1, 1)")
                    }
                }
            }
            guard let number else { continue }
            acknowledge(number)
            // A writer sees its own write.
            if generator.next() % 4 == 0 {
                try expectOrder(pool.read { db in try State(db) }, since: number)
            }
        }
    }

    private func writeInTask(_ count: Int, by generator: SeededGenerator) async throws {
        var generator = generator
        for _ in 1...count {
            let transfer = Transfer(&generator)
            let isAbandoned = generator.next() % 4 == 0
            do {
                let number = try await pool.write { db in
                    let number = try transfer.run(db, half: isAbandoned)
                    if isAbandoned { throw TestError() }
                    return number
                }
                acknowledge(number)
                if generator.next() % 4 == 0 {
                    try await expectOrder(pool.read { db in try State(db) }, since: number)
                }
            } catch is TestError {}
        }
    }

    private func acknowledge(_ number: Int) { acknowledged.withLock { $0 = max($0, number) } }

    /// A sum that goes from one account to another one.
    private struct Transfer: Sendable {
        let (source, target, sum): (Int, Int, Int)

        init(_ generator: inout SeededGenerator) {
            source = Int.random(in: 1...PoolHistory.accountCount, using: &generator)
            target = Int.random(in: 1...PoolHistory.accountCount, using: &generator)
            sum = Int.random(in: 1...100, using: &generator)
        }

        /// Returns the number of the transfer.
        ///
        /// - Parameter half: Whether the sum comes from nowhere.
        func run(_ db: Database, half: Bool = false) throws -> Int {
            let statement = try db.cachedStatement(
                sql: "UPDATE account SET balance = balance + ? WHERE id = ?")
            try statement.execute(arguments: [sum, target])
            if !half { try statement.execute(arguments: [-sum, source]) }
            return try count(db)
        }

        func count(_ db: Database) throws -> Int {
            try Int.fetchOne(
                db.cachedStatement(sql: "UPDATE ledger SET number = number + 1 RETURNING number")) ?? 0
        }

        /// Makes the transfer by a single statement.
        func runAtOnce(_ db: Database) throws {
            try db.cachedStatement(
                sql:
                    "UPDATE account SET balance = balance + (id = ?1) * ?3 - (id = ?2) * ?3 WHERE id IN (?1, ?2)"
            ).execute(arguments: [target, source, sum])
        }
    }
}

// MARK: - Readers

extension PoolHistory {
    /// A state that a reader or writer has seen.
    private struct State: Sendable, Equatable {
        let total: Int
        let number: Int

        init(_ db: Database) throws {
            total = try Int.fetchOne(db.cachedStatement(sql: "SELECT SUM(balance) FROM account")) ?? 0
            number = try Int.fetchOne(db.cachedStatement(sql: "SELECT number FROM ledger")) ?? 0
        }
    }

    /// Expects that nothing was torn, and that nothing is missing that was known before.
    private func expectOrder(_ state: State, since number: Int, location: SourceLocation = #_sourceLocation) {
        #expect(state.total == Self.total, "seed \(seed)", sourceLocation: location)
        #expect(state.number >= number, "seed \(seed)", sourceLocation: location)
    }

    private func read(by generator: SeededGenerator) throws {
        var generator = generator
        var last = 0
        while !isEnd.value {
            // Of any thread.
            let known = max(last, acknowledged.value)
            let isSlow = generator.next() % 16 == 0
            let state = try pool.read { db in
                let state = try State(db)
                if isSlow { usleep(1_000) }
                try #expect(State(db) == state, "seed \(seed)")
                return state
            }
            expectOrder(state, since: known)
            last = state.number
            readCount.withLock { $0 += 1 }
            if generator.next() % 256 == 0 { pool.releaseMemory() }
            if generator.next() % 256 == 0 { pool.invalidateReadOnlyConnections() }
        }
    }

    private func readInTask(by generator: SeededGenerator) async throws {
        var generator = generator
        var last = 0
        while !isEnd.value {
            let known = max(last, acknowledged.value)
            let state =
                switch generator.next() % 2 {
                case 0: try await pool.read { db in try State(db) }
                default: try await spawnedRead()
                }
            expectOrder(state, since: known)
            last = state.number
            readCount.withLock { $0 += 1 }
        }
    }

    private func spawnedRead() async throws -> State {
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [pool] _ in
                pool.spawnConcurrentRead { result in
                    continuation.resume(with: Result { try State(result.get()) })
                }
            }
        }
    }

    private func keepSnapshots(by generator: SeededGenerator) throws {
        var generator = generator
        while !isEnd.value {
            let known = acknowledged.value
            let snapshot: DatabaseSnapshotReader =
                generator.next() % 2 == 0
                ? try pool.makeSnapshot() : try pool.makeSnapshotPool(readerCount: 2)
            let state = try snapshot.read { db in try State(db) }
            expectOrder(state, since: known)
            usleep(5_000)
            try #expect(snapshot.read { db in try State(db) } == state, "seed \(seed)")
            try snapshot.close()
        }
    }
}
