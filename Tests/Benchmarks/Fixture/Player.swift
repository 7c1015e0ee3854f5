import Foundation

/// A row of the table of mixed columns, as plain Swift.
struct Player {
    var id: Int64
    var name: String
    var email: String
    var score: Int
    var rating: Double
    var createdAt: Date
    var bio: String?

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
}
