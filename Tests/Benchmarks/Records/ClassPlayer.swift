import Foundation
import Shellac

/// A player as one writes a class record: all properties have a default value, and are read in
/// `updateFromRow`.
class ClassPlayer: Record, PlayerColumns {
    var id: Int64?
    var name = ""
    var email = ""
    var score = 0
    var rating = 0.0
    var createdAt = Date(timeIntervalSinceReferenceDate: 0)
    var bio: String?

    var key: Int64 { id ?? 0 }

    override class var databaseTableName: String { "player" }

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("email") { email = try row["email"] }
        if row.hasColumn("score") { score = try row["score"] }
        if row.hasColumn("rating") { rating = try row["rating"] }
        if row.hasColumn("createdAt") { createdAt = try row["createdAt"] }
        if row.hasColumn("bio") { bio = try row["bio"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["email"] = email
        container["score"] = score
        container["rating"] = rating
        container["createdAt"] = createdAt
        container["bio"] = bio
    }

    /// A player that has no id.
    static func make(_ player: Player) -> ClassPlayer {
        let record = ClassPlayer()
        record.name = player.name
        record.email = player.email
        record.score = player.score
        record.rating = player.rating
        record.createdAt = player.createdAt
        record.bio = player.bio
        return record
    }
}

/// The same player, whose properties have no default value: read in `init(row:)`, with its row id
/// from `didInsert`.
class InitializedPlayer: Record, PlayerColumns {
    var id: Int64?
    var name: String
    var email: String
    var score: Int
    var rating: Double
    var createdAt: Date
    var bio: String?

    var key: Int64 { id ?? 0 }

    override class var databaseTableName: String { "player" }

    /// A player that has no id.
    init(_ player: Player) {
        name = player.name
        email = player.email
        score = player.score
        rating = player.rating
        createdAt = player.createdAt
        bio = player.bio
        super.init()
    }

    required init(row: Row) throws {
        id = try row["id"]
        name = try row["name"]
        email = try row["email"]
        score = try row["score"]
        rating = try row["rating"]
        createdAt = try row["createdAt"]
        bio = try row["bio"]
        try super.init(row: row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["email"] = email
        container["score"] = score
        container["rating"] = rating
        container["createdAt"] = createdAt
        container["bio"] = bio
    }

    override func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}
