import Foundation

/// A player as a class without ancestors: what a class record is compared with.
final class PlainPlayer: PlayerColumns {
    /// 0 where the player is not in the database.
    var id: Int64
    var name: String
    var email: String
    var score: Int
    var rating: Double
    var createdAt: Date
    var bio: String?

    var key: Int64 { id }

    /// A player that has no id.
    init(_ player: Player) {
        id = 0
        name = player.name
        email = player.email
        score = player.score
        rating = player.rating
        createdAt = player.createdAt
        bio = player.bio
    }

    /// Reads the current row of a statement.
    @inline(__always)
    init(_ statement: CStatement) throws {
        id = Int64(statement.int(0))
        name = statement.text(1)
        email = statement.text(2)
        score = statement.int(3)
        rating = statement.double(4)
        createdAt = try statement.date(5)
        bio = statement.optionalText(6)
    }

    /// Inserts the player, which has no id, and stores the id of the new row in it.
    @inline(__always)
    func insert(_ statement: CStatement, _ connection: CConnection) throws {
        statement.bindNull(1)
        statement.bind(name, 2)
        statement.bind(email, 3)
        statement.bind(score, 4)
        statement.bind(rating, 5)
        statement.bind(createdAt, 6)
        if let bio { statement.bind(bio, 7) } else { statement.bindNull(7) }
        try statement.run()
        id = connection.lastInsertedRowID
    }
}
