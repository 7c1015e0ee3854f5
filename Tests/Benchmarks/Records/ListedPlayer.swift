import Foundation
import Shellac

/// The same player, whose columns are listed once.
class ListedPlayer: Record, PlayerColumns {
    var id: Int64?
    var name = ""
    var email = ""
    var score = 0
    var rating = 0.0
    var createdAt = Date(timeIntervalSinceReferenceDate: 0)
    var bio: String?

    var key: Int64 { id ?? 0 }

    override class var databaseTableName: String { "player" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("email", email) { email = $0 }
        try column("score", score) { score = $0 }
        try column("rating", rating) { rating = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("bio", bio) { bio = $0 }
    }

    /// A player that has no id.
    static func make(_ player: Player) -> ListedPlayer {
        let record = ListedPlayer()
        record.name = player.name
        record.email = player.email
        record.score = player.score
        record.rating = player.rating
        record.createdAt = player.createdAt
        record.bio = player.bio
        return record
    }
}
