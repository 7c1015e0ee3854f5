import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A class of players, which is not Sendable.
class LivePlayer: Record {
    var id: Int64?
    var name = ""
    var score = 0
    var teamID: Int64?

    override class var databaseTableName: String { "livePlayer" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("teamID", teamID) { teamID = $0 }
    }
}

/// The same row, as a value.
struct PlayerValue: Codable, FetchableRecord, TableRecord, MutablePersistableRecord, Hashable, Sendable {
    static let databaseTableName = "livePlayer"
    var id: Int64?
    var name = ""
    var score = 0
    var teamID: Int64?

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

extension Database {
    func createLivePlayers() throws {
        try execute(
            sql: """
                CREATE TABLE livePlayer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL DEFAULT 0, teamID INTEGER);
                CREATE TABLE other (id INTEGER PRIMARY KEY, note TEXT);
                """)
    }

    func addPlayer(_ name: String, score: Int = 0, teamID: Int64? = nil) throws {
        try execute(
            sql: "INSERT INTO livePlayer (name, score, teamID) VALUES (?, ?, ?)",
            arguments: [name, score, teamID])
    }
}

extension DatabaseQueue {
    static func withLivePlayers(_ names: String...) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.createLivePlayers()
            for name in names { try db.addPlayer(name) }
        }
        return queue
    }

    /// Writes from a task, without blocking it.
    func run(_ sql: String) async throws { try await write { db in try db.execute(sql: sql) } }

    /// Lets all that is in line before have its turn, and what wakes up then.
    func settle() async throws {
        for _ in 0..<5 {
            try await writeWithoutTransaction { _ in }
            await Task.yield()
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// The names, as they are observed.
let playerNames = ValueObservation<[String]>.tracking { db in
    try String.fetchAll(db, sql: "SELECT name FROM livePlayer ORDER BY id")
}
