import Foundation
import Shellac

/// An item as one writes a struct record.
struct StructItem: FetchableRecord, PersistableRecord, ItemColumns {
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

    init(row: Row) throws {
        i0 = try row["i0"]
        i1 = try row["i1"]
        i2 = try row["i2"]
        i3 = try row["i3"]
        i4 = try row["i4"]
        i5 = try row["i5"]
        i6 = try row["i6"]
        i7 = try row["i7"]
        i8 = try row["i8"]
        i9 = try row["i9"]
    }

    init(number: Int) {
        i0 = number
        i1 = number + 1
        i2 = number + 2
        i3 = number + 3
        i4 = number + 4
        i5 = number + 5
        i6 = number + 6
        i7 = number + 7
        i8 = number + 8
        i9 = number + 9
    }

    func encode(to container: inout PersistenceContainer) throws {
        container["i0"] = i0
        container["i1"] = i1
        container["i2"] = i2
        container["i3"] = i3
        container["i4"] = i4
        container["i5"] = i5
        container["i6"] = i6
        container["i7"] = i7
        container["i8"] = i8
        container["i9"] = i9
    }
}

/// A player as one writes a struct record.
struct StructPlayer: FetchableRecord, MutablePersistableRecord, PlayerColumns {
    static let databaseTableName = "player"

    var id: Int64?
    var name: String
    var email: String
    var score: Int
    var rating: Double
    var createdAt: Date
    var bio: String?

    var key: Int64 { id ?? 0 }

    /// A player that has no id.
    init(_ player: Player) {
        name = player.name
        email = player.email
        score = player.score
        rating = player.rating
        createdAt = player.createdAt
        bio = player.bio
    }

    init(row: Row) throws {
        id = try row["id"]
        name = try row["name"]
        email = try row["email"]
        score = try row["score"]
        rating = try row["rating"]
        createdAt = try row["createdAt"]
        bio = try row["bio"]
    }

    func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["email"] = email
        container["score"] = score
        container["rating"] = rating
        container["createdAt"] = createdAt
        container["bio"] = bio
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}
