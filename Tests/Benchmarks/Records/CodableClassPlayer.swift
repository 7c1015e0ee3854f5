import Foundation
import Shellac

/// The part that a class of players inherits: its row id.
class PlayerBase: Record {
    var id: Int64?

    override class var databaseTableName: String { "player" }

    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

/// The same player, whose columns the compiler reads and writes.
final class CodableClassPlayer: PlayerBase, Codable, PlayerColumns {
    var name = ""
    var email = ""
    var score = 0
    var rating = 0.0
    var createdAt = Date(timeIntervalSinceReferenceDate: 0)
    var bio: String?

    var key: Int64 { id ?? 0 }
}
