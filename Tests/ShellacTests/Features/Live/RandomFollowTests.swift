import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One seed, one crowd: records of several actors follow their rows, while their owners and other
/// writers change, save, delete and insert at random.
@Suite("Random records that follow their rows", .behaviour(78))
struct RandomFollowTests {
    @Test(
        "keep what is dirty, and have the newest committed value in each clean column when all is quiet",
        arguments: LiveKind.allCases)
    func crowds(kind: LiveKind) async throws {
        for seed in SeededGenerator.seeds("FOLLOW", count: 12) {
            do {
                for problem in try await Self.run(seed, kind) { Issue.record("seed \(seed): \(problem)") }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    /// The owner's knowledge of a record, without reading it: the values that the owner has set,
    /// and those that it received of the row.
    struct Model {
        var known: [String: DatabaseValue]
        var set: [String: DatabaseValue] = [:]
        var isDeleted = false
        var mergeCount = 0
        var stateCount = 0

        /// The values that differ from the received ones.
        var dirty: [String: DatabaseValue] { self.set.filter { known[$0.key] != $0.value } }

        /// Takes the values of a row, or values that were written.
        mutating func learn(_ row: [String: DatabaseValue]) {
            // A clean column stays clean, also if the row had the value by accident.
            self.set = dirty
            known.merge(row) { $1 }
            self.set = dirty
        }
    }

    /// An owner of records, which changes and saves them.
    actor Owner {
        private let queue: any DatabaseWriter
        private var players: [LivePlayer] = []
        private var models: [Model] = []
        private var random: SeededGenerator
        private(set) var problems: [String] = []

        init(_ queue: any DatabaseWriter, seed: UInt64) {
            (self.queue, random) = (queue, SeededGenerator(seed: seed))
        }

        var stateCount: Int { models.reduce(0) { $0 + $1.stateCount } }

        func fetch(_ ids: [Int64]) throws {
            players = try queue.read { db in try ids.map { try LivePlayer.find(db, key: $0) } }
            models = try players.map { Model(known: try $0.databaseDictionary) }
        }

        func follow(_ index: Int) async throws {
            for try await state in players[index].follow(in: queue) {
                switch state {
                case .changed(let row):
                    try players[index].merge(row)
                    models[index].learn(Dictionary(row.map { ($0, $1) }, uniquingKeysWith: { $1 }))
                    models[index].isDeleted = false
                    models[index].mergeCount += 1
                case .deleted: models[index].isDeleted = true
                }
                models[index].stateCount += 1
                look(index, "a merge")
            }
        }

        /// Looks whether each column that the owner has set, and not saved, has its value still.
        private func look(_ index: Int, _ after: String) {
            let player = players[index]
            let values = (try? player.databaseDictionary) ?? [:]
            for (column, value) in models[index].dirty where values[column] != value {
                problems.append(
                    "after \(after), \(column) of \(player.id ?? 0) is \(values[column] ?? .null), and was set to \(value)"
                )
            }
        }

        func edit(_ index: Int) {
            let player = players[index]
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                player.name = "n\(Int.random(in: 0..<1_000_000, using: &random))"
                models[index].set["name"] = player.name.databaseValue
            case 1:
                // Few values, so that some of them are those of the row.
                player.score = Int.random(in: 0..<4, using: &random)
                models[index].set["score"] = player.score.databaseValue
            default:
                player.teamID = Bool.random(using: &random) ? nil : Int64.random(in: 0..<4, using: &random)
                models[index].set["teamID"] = player.teamID?.databaseValue ?? .null
            }
        }

        /// Saves in one of several ways. A rollback leaves all as it was.
        func save(_ index: Int) throws {
            let player = players[index]
            do {
                switch Int.random(in: 0..<5, using: &random) {
                case 0: try queue.write { db in try save(player, db) }
                case 1:
                    try queue.write { db in
                        try save(player, db)
                        throw CancellationError()
                    }
                case 2: try queue.write { db in try player.update(db) }
                default: try queue.write { db in _ = try player.updateChanges(db) }
                }
            } catch is CancellationError {
                return look(index, "a rollback")
            } catch RecordError.recordNotFound {
                return look(index, "a save that finds no row")
            }
            look(index, "a save")
            models[index].learn(try player.databaseDictionary)
        }

        private func save(_ player: LivePlayer, _ db: Database) throws {
            if try LivePlayer.exists(db, key: player.id) {
                try player.update(db)
            } else {
                try player.insert(db)
            }
        }

        func saveAsynchronously(_ index: Int) async throws {
            let player = players[index]
            let (sent, count) = (try player.databaseDictionary, models[index].mergeCount)
            try await player.save(in: queue)
            look(index, "a save in another place")
            // A row that has come meanwhile is what the record remembers.
            if models[index].mergeCount == count { models[index].learn(sent) }
        }

        /// Returns what is wrong when all is quiet.
        func check() throws -> [String] {
            for (index, player) in players.enumerated() {
                look(index, "all")
                let (id, model) = (player.id ?? 0, models[index])
                let row = try queue.read { db in
                    try Row.fetchOne(db, sql: "SELECT * FROM livePlayer WHERE id = ?", arguments: [id])
                }
                if (row == nil) != model.isDeleted {
                    problems.append("\(id) is \(model.isDeleted ? "" : "not ")told to be deleted")
                }
                guard let row else { continue }
                let values = try player.databaseDictionary
                let changes = try player.databaseChanges
                for (column, value) in row {
                    if model.dirty[column] == nil, values[column] != value {
                        problems.append(
                            "\(column) of \(id) is clean, and \(values[column] ?? .null): the row has \(value)"
                        )
                    }
                    if let old = changes[column] ?? values[column], old != value {
                        problems.append("\(column) of \(id) is remembered as \(old): the row has \(value)")
                    }
                }
            }
            return problems
        }
    }

    private static func run(_ seed: UInt64, _ kind: LiveKind) async throws -> [String] {
        var random = SeededGenerator(seed: seed &* 6151)
        let live = try LiveDatabase(kind, configuration: Configuration())
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        let recordCount = Int.random(in: 1...6, using: &random)
        try await queue.write { db in
            try db.createLivePlayers()
            for number in 1...recordCount { try db.addPlayer("p\(number)", score: number % 4) }
        }
        let ids = (1...recordCount).map(Int64.init)
        let owners = (0..<2).map { Owner(queue, seed: seed &* 31 &+ UInt64($0)) }
        for owner in owners { try await owner.fetch(ids) }
        let following = owners.flatMap { owner in
            (0..<recordCount).map { index in Task { try await owner.follow(index) } }
        }
        defer { for task in following { task.cancel() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for owner in owners {
                let steps = (0..<Int.random(in: 5...60, using: &random)).map { _ in
                    (
                        Int.random(in: 0..<6, using: &random),
                        Int.random(in: 0..<recordCount, using: &random),
                        Int.random(in: 0..<300, using: &random)
                    )
                }
                group.addTask {
                    for (step, index, pause) in steps {
                        switch step {
                        case 0...2: await owner.edit(index)
                        case 3: try await owner.saveAsynchronously(index)
                        default: try await owner.save(index)
                        }
                        if pause > 100 { try await Task.sleep(for: .microseconds(pause)) }
                    }
                }
            }
            let others = (0..<Int.random(in: 5...80, using: &random)).map { _ in sql(recordCount, &random) }
            group.addTask {
                for (number, sql) in others.enumerated() {
                    do {
                        try await queue.write { db in
                            try db.execute(sql: sql)
                            if number % 7 == 6 { throw CancellationError() }
                        }
                    } catch is CancellationError {}
                    if number % 3 == 0 { try await Task.sleep(for: .microseconds(150)) }
                }
            }
            try await group.waitForAll()
        }
        try await quiet(owners, queue)
        var problems: [String] = []
        for owner in owners { problems += try await owner.check() }
        return problems
    }

    /// Waits until no more states come: a last change of each row is seen by all.
    private static func quiet(_ owners: [Owner], _ queue: any DatabaseWriter) async throws {
        var count = -1
        while true {
            try await queue.settle()
            var present = 0
            for owner in owners { present += await owner.stateCount }
            if present == count { break }
            count = present
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func sql(_ recordCount: Int, _ random: inout SeededGenerator) -> String {
        let id = Int.random(in: 1...recordCount, using: &random)
        let score = Int.random(in: 0..<4, using: &random)
        return switch Int.random(in: 0..<8, using: &random) {
        case 0: "DELETE FROM livePlayer WHERE id = \(id)"
        case 1, 2: "INSERT OR IGNORE INTO livePlayer VALUES (\(id), 'i', \(score), NULL)"
        case 3: "REPLACE INTO livePlayer VALUES (\(id), 'r', \(score), 1)"
        case 4: "UPDATE livePlayer SET score = \(score)"
        case 5: "UPDATE livePlayer SET teamID = \(score), name = 'u' WHERE id = \(id)"
        case 6: "UPDATE OR IGNORE livePlayer SET id = id + 100 WHERE id = \(id)"
        default: "UPDATE livePlayer SET name = name || 'x' WHERE id = \(id)"
        }
    }
}
