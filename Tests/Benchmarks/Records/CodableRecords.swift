import Foundation
import Shellac

/// An item whose columns the compiler reads and writes.
struct CodableItem: Codable, FetchableRecord, PersistableRecord, ItemColumns {
    static var databaseTableName: String { "item" }

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

/// A player whose columns the compiler reads and writes.
struct CodablePlayer: Codable, FetchableRecord, MutablePersistableRecord, PlayerColumns {
    static var databaseTableName: String { "player" }

    var id: Int64?
    var name: String
    var email: String
    var score: Int
    var rating: Double
    var createdAt: Date
    var bio: String?

    var key: Int64 { id ?? 0 }

    /// A player that was never inserted.
    init(_ player: Player) {
        name = player.name
        email = player.email
        score = player.score
        rating = player.rating
        createdAt = player.createdAt
        bio = player.bio
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}
