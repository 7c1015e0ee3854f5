import Shellac

/// A league of teams and their members, ten for each.
enum League {
    static let tables = """
        CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
        CREATE TABLE member (
            id INTEGER PRIMARY KEY, clubID INTEGER NOT NULL REFERENCES club(id), name TEXT NOT NULL, email TEXT NOT NULL,
            score INTEGER NOT NULL, rating REAL NOT NULL);
        CREATE INDEX memberByClub ON member(clubID);
        """
    static let clubInsertion = "INSERT INTO club VALUES (?, ?, ?)"
    static let memberInsertion = "INSERT INTO member VALUES (?, ?, ?, ?, ?, ?)"
    static let clubs = "SELECT * FROM club"
    /// The SQL that Shellac runs.
    static let members = "SELECT *, clubID FROM member WHERE clubID IN (SELECT +value FROM json_each(?))"
    static let joined = "SELECT member.*, club.id, club.* FROM member JOIN club ON club.id = member.clubID"
    static let sum = "SELECT count(*) + sum(id + 3*clubID + length(name) + score) FROM member"

    /// The values of a row, the same in each run.
    static func member(_ row: Int) -> (name: String, email: String, score: Int, rating: Double) {
        (
            "Member \(row % 997)", "user\(100_000 + row)@mail.example.com", (row &* 7919) % 1_000_000,
            Double(row % 5000) / 7
        )
    }
}

final class Club: Record {
    static let members = hasMany(Member.self)

    var id: Int64?
    var name = ""
    var city = ""

    override class var databaseTableName: String { "club" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("city", city) { city = $0 }
    }

    var members: [Member] { get throws { try self[Club.members] } }
}

final class Member: Record {
    static let club = belongsTo(Club.self)

    var id: Int64?
    var clubID: Int64?
    var name = ""
    var email = ""
    var score = 0
    var rating = 0.0

    override class var databaseTableName: String { "member" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("clubID", clubID) { clubID = $0 }
        try column("name", name) { name = $0 }
        try column("email", email) { email = $0 }
        try column("score", score) { score = $0 }
        try column("rating", rating) { rating = $0 }
    }

    var club: Club? { get throws { try self[Member.club] } }

    static func make(_ row: Int) -> Member {
        let (member, values) = (Member(), League.member(row))
        (member.name, member.email, member.score, member.rating) = values
        return member
    }
}

/// The same as classes without ancestors.
final class PlainClub {
    let id: Int
    let name: String
    let city: String
    var members: [PlainMember] = []

    init(_ statement: CStatement, at column: Int32 = 0) {
        (id, name, city) = (statement.int(column), statement.text(column + 1), statement.text(column + 2))
    }
}

final class PlainMember {
    let id: Int
    let clubID: Int
    let name: String
    let email: String
    let score: Int
    let rating: Double
    unowned var club: PlainClub?

    init(_ statement: CStatement) {
        (id, clubID, name) = (statement.int(0), statement.int(1), statement.text(2))
        (email, score, rating) = (statement.text(3), statement.int(4), statement.double(5))
    }
}
