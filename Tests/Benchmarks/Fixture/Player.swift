import Foundation

/// A row of the table of mixed columns, as plain Swift.
struct Player: PlayerColumns, FixtureTable {
    var id: Int64
    var name: String
    var email: String
    var score: Int
    var rating: Double
    var createdAt: Date
    var bio: String?

    var key: Int64 { id }

    static let name = "player"
    static let table = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL,
            score INTEGER NOT NULL, rating REAL NOT NULL, createdAt TEXT NOT NULL, bio TEXT)
        """
    static let selection = "SELECT * FROM player"
    static let selectionWithoutDate = "SELECT id, name, email, score, rating, bio FROM player"
    static let scoreByID = "SELECT score FROM player WHERE id = ?"
    static let insertion = """
        INSERT INTO player (id, name, email, score, rating, createdAt, bio) VALUES (?, ?, ?, ?, ?, ?, ?)
        """

    static let update = "UPDATE player SET score = ? WHERE id = ?"
    static let selectionByID = "SELECT * FROM player WHERE id = ?"
    /// The SQL of a checksum of the table's contents.
    static let sum = """
        SELECT count(*) + sum(id + 3*length(name) + 5*length(email) + 7*score + CAST(1000*rating AS INTEGER)
            + unicode(substr(createdAt, 1 + id % 23, 1)) + length(createdAt) + ifnull(length(bio), 1)) FROM player
        """

    private static let firstNames = [
        "Arthur", "Barbara", "Craig", "Daniela", "Elizabeth", "Francois", "Gudrun", "Hildegard",
    ]
    private static let lastNames = [
        "Fitzgerald", "Montgomery", "Rodriguez", "Kristiansen", "Lindqvist", "Oppenheimer",
    ]

    /// The player of a row, the same in each run.
    init(row: Int) {
        id = Int64(row + 1)
        name = "\(Self.firstNames[row % 8]) \(Self.lastNames[row % 6]) \(row % 97)"
        email = "user\(100_000 + row)@mail.example.com"
        score = (row &* 7919) % 1_000_000
        rating = Double(row % 5000) / 7
        // From 1990 on, 90 minutes, 7 seconds and 11 milliseconds apart.
        createdAt = Date(timeIntervalSince1970: Double(631_152_000_000 + row * 5_407_011) / 1000)
        bio =
            row.isMultiple(of: 2)
            ? "Plays since \(1950 + row % 70); likes chess, tennis and long walks at night." : nil
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

    /// Inserts the player.
    func bind(to statement: CStatement) throws {
        statement.bind(Int(id), 1)
        statement.bind(name, 2)
        statement.bind(email, 3)
        statement.bind(score, 4)
        statement.bind(rating, 5)
        statement.bind(createdAt, 6)
        if let bio { statement.bind(bio, 7) } else { statement.bindNull(7) }
        try statement.run()
    }

    /// Inserts the player under a new id, and takes it.
    @inline(__always)
    mutating func insert(_ statement: CStatement, _ connection: CConnection) throws {
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

/// The columns that all kinds of players have: the checksum is the same for all.
protocol PlayerColumns: Summable {
    /// The id, or 0 if there is none.
    var key: Int64 { get }
    var name: String { get }
    var email: String { get }
    var score: Int { get }
    var rating: Double { get }
    var createdAt: Date { get }
    var bio: String? { get }
}

extension PlayerColumns {
    func add(to checksum: inout Checksum) {
        checksum.add(key)
        checksum.add(name)
        checksum.add(email)
        checksum.add(score)
        checksum.add(rating)
        checksum.add(createdAt)
        checksum.add(bio)
    }
}
