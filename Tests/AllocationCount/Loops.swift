// Repeats common work, and counts the blocks of memory that are left.

import Foundation
import Shellac

/// Work that is repeated, and must leave no memory behind.
enum Loops {
    final class Player: Record {
        var id: Int64?
        var name = ""
        var score = 0

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column("score", score) { score = $0 }
        }
    }

    private struct Refusal: Error {}

    /// The loops, by name. Each gets the number of the round.
    private static func loops(_ queue: DatabaseQueue, _ pool: DatabasePool) -> [(
        String, (Int) async throws -> Void
    )] {
        [
            (
                "saves",
                { _ in
                    try queue.write { db in
                        let player = Player()
                        player.name = "Barbara"
                        try player.insert(db)
                        player.score = 1
                        try player.updateChanges(db)
                        try player.delete(db)
                    }
                }
            ),
            (
                "rolled back transactions",
                { _ in
                    let player = Player()
                    do {
                        try queue.write { db in
                            try player.insert(db)
                            try db.inSavepoint {
                                try player.updateChanges(db) { $0.score += 1 }
                                return .rollback
                            }
                            throw Refusal()
                        }
                    } catch is Refusal {}
                }
            ),
            (
                "errors",
                { _ in
                    do {
                        try queue.write { db in
                            try db.execute(sql: "INSERT INTO player (id, name) VALUES (1, NULL)")
                        }
                    } catch is DatabaseError {}
                }
            ),
            (
                "statements of different texts",
                { round in
                    _ = try queue.read { db in
                        try Int.fetchOne(db.cachedStatement(sql: "SELECT \(round)"))
                    }
                }
            ),
            (
                "fetches",
                { round in
                    _ = try queue.read { db in
                        try Player.filter(Column("score") >= round % 7).order(Column("name")).fetchAll(db)
                    }
                }
            ),
            (
                "asynchronous accesses",
                { _ in
                    _ = try await queue.write { db in try Player.fetchCount(db) }
                    _ = try await pool.read { db in try Player.fetchAll(db) }
                }
            ),
            (
                "cancelled accesses",
                { _ in
                    let task = Task { try await pool.write { db in _ = try Player.fetchCount(db) } }
                    task.cancel()
                    do { try await task.value } catch is CancellationError {}
                }
            ),
            (
                "observations",
                { _ in
                    let observation = ValueObservation.tracking { db in try Player.fetchCount(db) }
                    for try await _ in observation.values(in: pool) { break }
                }
            ),
            ("live values", { _ in for try await _ in pool.values(of: Player.all()) { break } }),
            (
                "followed commits",
                { _ in
                    for try await players in queue.values(of: Player.all()) {
                        if players.count > 3 { break }
                        try await queue.write { db in
                            for _ in 0..<3 { try Player().insert(db) }
                        }
                    }
                    _ = try await queue.write { db in try Player.filter(Column("id") > 1).deleteAll(db) }
                }
            ),
            (
                "snapshots",
                { _ in
                    let snapshot = try pool.makeSnapshot()
                    _ = try snapshot.read { db in try Player.fetchCount(db) }
                }
            ),
            (
                "connections",
                { round in
                    if round % 20 > 0 { return }
                    let other = try DatabaseQueue()
                    try other.write { db in
                        try db.execute(sql: schema)
                        try Player().insert(db)
                    }
                    try other.close()
                }
            ),
        ]
    }

    private static let schema = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL DEFAULT 0)
        """

    /// Runs each loop, and prints how many blocks each quarter of its rounds has left at least.
    static func run(rounds: Int, liveBlocks: () -> Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        let queue = try DatabaseQueue(
            path: folder.path + "/queue.sqlite", configuration: configuration)
        let pool = try DatabasePool(path: folder.path + "/pool.sqlite", configuration: configuration)
        for writer in [queue, pool] as [any DatabaseWriter] {
            try await writer.write { db in
                try db.execute(sql: schema)
                let player = Player()
                player.name = "Arthur"
                try player.insert(db)
            }
        }
        // Dispatch keeps a thousand of the blocks in which it has put work.
        for _ in 0..<1_500 { _ = try await queue.read { db in try Player.fetchCount(db) } }
        for (name, loop) in loops(queue, pool) {
            // A leak grows in each quarter. Caches fill in some, and observations end later: on a
            // busy machine Dispatch starts threads, each of which keeps blocks of its own.
            var least = Int.max
            for quarter in 0..<60 where quarter < 4 || least >= rounds / 40 {
                let before = liveBlocks()
                for round in 0..<rounds / 4 { try await loop(quarter * rounds + round) }
                least = min(least, liveBlocks() - before)
            }
            print("\(name): \(rounds) rounds, \(least) blocks in each quarter")
        }
        try await pool.close()
        try await queue.close()
    }
}
