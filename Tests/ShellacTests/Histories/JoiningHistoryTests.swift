import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One seed, one history: transactions that take their time, and observations of several kinds that
/// come and go meanwhile.
///
/// When all is quiet, each observation that is left has delivered the newest committed value last.
@Suite("Random observations that join and leave", .behaviour(74, 78, 111))
struct JoiningHistoryTests {
    @Test("have told the newest committed value when all is quiet", arguments: LiveKind.allCases)
    func histories(kind: LiveKind) async throws {
        for seed in SeededGenerator.seeds("JOIN", count: 12) {
            do {
                for problem in try await JoiningHistory(seed, kind).run() {
                    Issue.record("seed \(seed): \(problem)")
                }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }
}

/// The rows 1 to 6 of a table, of which some come and go.
private final class JoiningHistory: Sendable {
    private static let rowCount = 6

    private let live: LiveDatabase
    private let random: Shared<SeededGenerator>
    private let score: [SharedValueObservation<Int?>]

    init(_ seed: UInt64, _ kind: LiveKind) throws {
        random = Shared(SeededGenerator(seed: seed &* 7919))
        live = try LiveDatabase(kind, "p1", "p2", "p3", "p4", "p5", "p6")
        let writer = live.writer
        var score: [SharedValueObservation<Int?>] = []
        for id in 1...Self.rowCount {
            score.append(Self.observation(of: id).shared(in: writer, scheduling: .async(onQueue: .global())))
        }
        self.score = score
    }

    private func random(_ range: ClosedRange<Int>) -> Int {
        random.withLock { Int.random(in: range, using: &$0) }
    }

    /// Runs the history. Returns what is wrong at its end.
    func run() async throws -> [String] {
        // Some are there before all others.
        var joining: [Joining] = []
        for _ in 0..<random(0...2) { joining.append(try await join(leaving: false)) }
        for joining in joining { try await waitUntil { joining.value != nil } }
        if random(0...3) > 0 { try await live.writer.settle() }

        let joiners = (0..<random(4...10)).map { _ in
            (pause: random(0...6_000), visits: random(1...3), stay: random(0...3_000))
        }
        joining += try await withThrowingTaskGroup(of: Joining.self) { group in
            for joiner in joiners {
                group.addTask {
                    try await Task.sleep(for: .microseconds(joiner.pause))
                    for _ in 1..<joiner.visits {
                        let visitor = try await self.join(leaving: true)
                        try await Task.sleep(for: .microseconds(joiner.stay))
                        visitor.leave()
                    }
                    return try await self.join(leaving: false)
                }
            }
            let transactions = (0..<random(1...3)).map { _ in makeTransaction() }
            let writer = live.writer
            try await onThread { for transaction in transactions { try transaction.run(in: writer) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return try await check(joining)
    }

    private func check(_ joining: [Joining]) async throws -> [String] {
        let scores = try await live.writer.read { db in
            try Dictionary(
                uniqueKeysWithValues: Row.fetchAll(db, sql: "SELECT id, score FROM livePlayer").map {
                    try ($0["id"] as Int, $0["score"] as Int)
                })
        }
        let end = ContinuousClock.now + .seconds(20)
        while joining.contains(where: { $0.value != .some(scores[$0.id]) }), .now < end {
            try await live.writer.settle()
        }
        // A value behind the newest one would be older.
        try await live.writer.settle()
        defer { for joining in joining { joining.leave() } }
        return joining.compactMap { joining in
            guard joining.value != .some(scores[joining.id]) else { return nil }
            let (told, row) = (joining.value.map { "\($0 ?? -1)" } ?? "nothing", scores[joining.id] ?? -1)
            return "\(joining.kind) of \(joining.id) was told \(told), and the row has \(row)"
        }
    }

    // MARK: - Observations

    private enum Kind: CaseIterable {
        case follow, request, function, shared
    }

    /// An observation of the score of one row. The score is nil while there is no such row.
    private final class Joining: Sendable {
        let (kind, id): (Kind, Int)
        private let told = Shared<Int??>(nil)
        private let task = Shared<Task<Void, any Error>?>(nil)

        init(_ kind: Kind, _ id: Int) { (self.kind, self.id) = (kind, id) }

        /// The last value that was delivered.
        var value: Int?? { told.value }

        func begin(_ body: @escaping @Sendable (_ tell: (Int?) -> Void) async throws -> Void) {
            let told = told
            task.withLock { $0 = Task { try await body { value in told.withLock { $0 = .some(value) } } } }
        }

        func leave() { task.value?.cancel() }
    }

    private static func observation(of id: Int) -> ValueObservation<Int?> {
        .tracking { db in
            try Int.fetchOne(db, sql: "SELECT score FROM livePlayer WHERE id = ?", arguments: [id])
        }
    }

    private func join(leaving: Bool) async throws -> Joining {
        let kind = random.withLock { Kind.allCases.randomElement(using: &$0) ?? .follow }
        let joining = Joining(random(0...2) == 0 ? kind : .follow, random(1...Self.rowCount))
        let (writer, id) = (live.writer, joining.id)
        switch joining.kind {
        case .follow:
            let player = LivePlayer()
            player.id = Int64(id)
            let states = player.follow(in: writer)
            joining.begin { tell in
                for try await state in states {
                    switch state {
                    case .changed(let row): tell(try row["score"])
                    case .deleted: tell(nil)
                    }
                }
            }
        case .request:
            let rows = writer.values(of: PlayerValue.filter(Column("id") == id))
            joining.begin { tell in for try await rows in rows { tell(rows.first?.score) } }
        case .function:
            let values = Self.observation(of: id).values(in: writer)
            joining.begin { tell in for try await value in values { tell(value) } }
        case .shared:
            let values = score[id - 1].values()
            joining.begin { tell in for try await value in values { tell(value) } }
        }
        return joining
    }

    // MARK: - Transactions

    /// Statements, with a pause in microseconds behind each.
    private struct Transaction: Sendable {
        let statements: [(sql: String, pause: Int)]
        let completion: Database.TransactionCompletion
        let savepoint: Int?

        func run(in writer: any DatabaseWriter) throws {
            try writer.inTransaction { db in
                for (number, statement) in statements.enumerated() {
                    if number == savepoint {
                        try db.inSavepoint {
                            try db.execute(sql: statement.sql)
                            return .rollback
                        }
                    } else {
                        try db.execute(sql: statement.sql)
                    }
                    usleep(UInt32(statement.pause))
                }
                return completion
            }
        }
    }

    private func makeTransaction() -> Transaction {
        let statements = (0..<random(1...3)).map { _ in (makeSQL(), random(0...3_000)) }
        return Transaction(
            statements: statements, completion: random(0...5) == 0 ? .rollback : .commit,
            savepoint: random(0...4) == 0 ? 0 : nil)
    }

    private func makeSQL() -> String {
        let (id, score) = (random(1...Self.rowCount), random(1...1_000_000))
        return switch random(0...5) {
        case 0: "DELETE FROM livePlayer WHERE id = \(id)"
        case 1: "REPLACE INTO livePlayer VALUES (\(id), 'r', \(score), NULL)"
        case 2: "UPDATE livePlayer SET score = \(score)"
        default: "UPDATE livePlayer SET score = \(score) WHERE id = \(id)"
        }
    }
}
