import TestSupport
import Testing

@testable import Shellac

/// A class of players, which is not Sendable.
class ListPlayer: Record {
    var id: Int64?
    var name = ""
    var team: String?
    var score = 0

    override class var databaseTableName: String { "listPlayer" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("team", team) { team = $0 }
        try column("score", score) { score = $0 }
    }
}

/// The same row, as a value.
struct ListPlayerValue: Codable, FetchableRecord, TableRecord, EncodableRecord, Hashable, Sendable {
    static let databaseTableName = "listPlayer"
    var id: Int64
    var name: String
    var team: String?
    var score: Int
}

extension DatabaseQueue {
    /// A queue with players of these names.
    static func withListPlayers(
        _ names: String..., configuration: Configuration = Configuration()
    ) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE listPlayer (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER NOT NULL DEFAULT 0)"
            )
            for name in names {
                try db.execute(sql: "INSERT INTO listPlayer (name) VALUES (?)", arguments: [name])
            }
        }
        return queue
    }

    func change(_ sql: String) async throws { try await write { db in try db.execute(sql: sql) } }
}

extension FetchedRecordsController {
    /// The sizes of the sections, behind their names.
    var outline: [String] { sections.map { "\($0.name):\($0.numberOfRecords)" } }
}

/// Waits, on the caller's actor, until a condition holds.
func eventually(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    for _ in 0..<60_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(1))
    }
    throw WaitedTooLong()
}
