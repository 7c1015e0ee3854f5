import Foundation
import Shellac

/// An item without a line of code.
struct CodableItem: Codable, FetchableRecord, TableRecord, ItemColumns {
    static let databaseTableName = "item"

    var i0: Int
    var i1: Int
    var i2: Int
    var i3: Int
    var i4: Int
    var i5: Int
    var i6: Int
    var i7: Int
    var i8: Int
    var i9: Int
}

/// A player that takes its row id, and has no other line of code.
struct CodablePlayer: Codable, FetchableRecord, MutablePersistableRecord, PlayerColumns {
    static let databaseTableName = "player"

    var id: Int64?
    var name: String
    var email: String
    var score: Int
    var rating: Double
    var createdAt: Date
    var bio: String?

    var key: Int64 { id ?? 0 }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

extension CodablePlayer {
    /// A player that has no id.
    init(_ player: Player) {
        self.init(
            name: player.name, email: player.email, score: player.score, rating: player.rating,
            createdAt: player.createdAt, bio: player.bio)
    }
}
