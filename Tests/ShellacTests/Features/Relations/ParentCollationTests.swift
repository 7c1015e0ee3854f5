import Shellac
import TestSupport
import Testing

/// Foreign keys that declare another collation than the columns that they refer to. SQLite enforces
/// them by the parent's collation, counters count by it, and so relations compare by it.
@Suite("A relation between columns of two collations", .behaviour(67, 109))
struct ParentCollationTests {
    /// A pair of collations, with keys and references for which they differ.
    struct Collations: Sendable, CustomTestStringConvertible {
        let parent: String
        let child: String
        let keys: [String]
        let references: [String?]

        var testDescription: String { "\(child) refers to \(parent)" }

        static let pairs = [
            Collations(
                parent: "NOCASE", child: "BINARY", keys: ["red", "blue"],
                references: ["red", "RED", "Red", "Blue", nil, "rED"]),
            Collations(
                parent: "RTRIM", child: "BINARY", keys: ["red", "blue "],
                references: ["red", "red ", nil, "blue", "red  ", "blue  ", "red"]),
            Collations(
                parent: "swiftCaseInsensitiveCompare", child: "BINARY", keys: ["été", "go"],
                references: ["été", "ÉTÉ", "Go", nil, "Été", "éTé"]),
            Collations(
                parent: "BINARY", child: "NOCASE", keys: ["red", "RED", "blue"],
                references: ["red", "RED", "RED", "blue", nil, "RED", "red"]),
            Collations(
                parent: "NOCASE", child: "RTRIM", keys: ["red", "red ", "blue"],
                references: ["RED", "red ", "Red", "RED ", nil, "BLUE", "reD"]),
            Collations(
                parent: "BINARY", child: "swiftCaseInsensitiveCompare", keys: ["été", "ÉTÉ"],
                references: ["été", "ÉTÉ", "ÉTÉ", nil, "ÉTÉ"]),
            Collations(
                parent: "swiftCaseInsensitiveCompare", child: "NOCASE", keys: ["été", "go"],
                references: ["ÉTÉ", "GO", "été", "Été", "Éte\u{301}"]),
        ]

        /// Runs a test in a database that has the tables and the rows, whose foreign keys SQLite
        /// has checked.
        func withTables(_ body: (Database) throws -> Void) throws {
            try DatabaseQueue().inDatabase { db in
                try db.add(collation: .caseInsensitiveCompare)
                try createTables(db)
                try body(db)
            }
        }

        func createTables(_ db: Database) throws {
            try db.create(table: "team") { t in
                t.primaryKey("code", .text).collate(.init(rawValue: parent))
                t.column("deletedAt", .text)
                t.counter("playersCount", of: "player")
            }
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("teamCode", .text).collate(.init(rawValue: child)).references("team").indexed()
                t.column("deletedAt", .text)
            }
            try db.create(table: "visit") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("teamCode", .text).collate(.init(rawValue: child)).references("team")
                t.column("playerID", .integer).references("player")
            }
            try #expect(Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
            for key in keys { try db.execute(sql: "INSERT INTO team (code) VALUES (?)", arguments: [key]) }
            for reference in references {
                try db.execute(sql: "INSERT INTO player (teamCode) VALUES (?)", arguments: [reference])
                // Each player visits the team of the player before.
                try db.execute(
                    sql: """
                        INSERT INTO visit (teamCode, playerID)
                        SELECT teamCode, (SELECT max(id) FROM player) FROM player
                        ORDER BY id DESC LIMIT 1 OFFSET 1
                        """)
            }
        }

        /// The ids of the players of a team, by SQL that says the collation.
        func players(of code: String, _ db: Database) throws -> [Int64] {
            try Int64.fetchAll(
                db, sql: "SELECT id FROM player WHERE teamCode COLLATE \(parent) = ? ORDER BY id",
                arguments: [code])
        }

        func guests(of code: String, _ db: Database) throws -> [Int64] {
            try Int64.fetchAll(
                db,
                sql: """
                    SELECT player.id FROM visit JOIN player ON player.id = playerID
                    WHERE visit.teamCode COLLATE \(parent) = ? ORDER BY player.id
                    """, arguments: [code])
        }
    }

    final class Team: Record {
        static let players = hasMany(Player.self).order { $0.id }
        static let first = hasOne(Player.self).order { $0.id }.forKey("first")
        static let two = players.limitPerParent(2).forKey("two")
        static let visits = hasMany(Visit.self)
        static let guests = hasMany(Player.self, through: visits, using: Visit.player).order { $0.id }
            .forKey("guests")
        static let twoGuests = hasMany(
            Player.self, through: visits.order { $0.id }.limitPerParent(2), using: Visit.player
        ).forKey("twoGuests")

        var code = ""
        var playersCount: Int?

        override class var databaseTableName: String { "team" }
        override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Team.players) }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("code", code) { code = $0 }
            try column("playersCount", playersCount) { playersCount = $0 }
        }
    }

    final class Player: Record {
        static let team = belongsTo(Team.self)
        static let mates = hasMany(Player.self, through: team, using: Team.players).forKey("mates")
        static let visits = hasMany(Visit.self)
        static let visited = hasMany(Team.self, through: visits, using: Visit.team).forKey("visited")

        var id: Int64?
        var teamCode: String?

        override class var databaseTableName: String { "player" }
        override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("teamCode", teamCode) { teamCode = $0 }
        }
    }

    final class Visit: Record {
        static let player = belongsTo(Player.self)
        static let team = belongsTo(Team.self)

        var id: Int64?

        override class var databaseTableName: String { "visit" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    private func teams(_ db: Database) throws -> [Team] { try Team.order { $0.code }.fetchAll(db) }

    // MARK: - Loading

    @Test("finds on every road what counters count", arguments: Collations.pairs)
    func loading(_ collations: Collations) throws {
        try collations.withTables { db in
            func check(_ road: String, _ teams: [Team], _ read: (Team) throws -> [Player]) throws {
                for team in teams {
                    let expected = try collations.players(of: team.code, db)
                    #expect(team.playersCount == expected.count, "\(team.code)")
                    try #expect(read(team).compactMap(\.id) == expected, "\(road) of \(team.code)")
                }
            }
            try check("including", Team.including(Team.players).fetchAll(db)) { try $0[Team.players] }
            let loaded = try teams(db)
            try db.load(loaded, Team.players, Team.first, Team.two)
            try check("load", loaded) { try $0[Team.players] }
            for team in loaded {
                let expected = try collations.players(of: team.code, db)
                try #expect(team[Team.first]?.id == expected.first)
                try #expect(team[Team.two].compactMap(\.id) == Array(expected.prefix(2)))
                // The way back, without a statement.
                for player in try team[Team.players] { try #expect(player[Player.team] === team) }
            }
            let peers = try teams(db)
            for team in peers { try team.load(Team.players, db) }
            try check("peers", peers) { try $0[Team.players] }
            let alone = try teams(db)
            for team in alone { try team.load(Team.players, db, .single) }
            try check("alone", alone) { try $0[Team.players] }
            try check("request", teams(db)) { try $0.request(for: Team.players).fetchAll(db) }
            // The way up says the same.
            for player in try Player.including(Player.team).fetchAll(db) {
                guard let team = try player[Player.team] else {
                    #expect(player.teamCode == nil)
                    continue
                }
                try #expect(collations.players(of: team.code, db).contains { $0 == player.id })
            }
        }
    }

    @Test("leads through other tables by both", arguments: Collations.pairs)
    func through(_ collations: Collations) throws {
        try collations.withTables { db in
            for team in try Team.including(Team.guests, Team.twoGuests).fetchAll(db) {
                let expected = try collations.guests(of: team.code, db)
                try #expect(team[Team.guests].compactMap(\.id) == expected)
                try #expect(team[Team.twoGuests].compactMap(\.id) == Array(expected.prefix(2)))
                try #expect(team.request(for: Team.guests).fetchAll(db).compactMap(\.id) == expected)
                try #expect(
                    team.request(for: Team.twoGuests).fetchAll(db).compactMap(\.id)
                        == Array(expected.prefix(2)))
            }
            for player in try Player.including(Player.mates, Player.visited).fetchAll(db) {
                let code = try player.request(for: Player.team).fetchOne(db)?.code
                let expected = try code.map { try collations.players(of: $0, db) } ?? []
                try #expect(player[Player.mates].compactMap(\.id) == expected)
                try #expect(player.request(for: Player.mates).fetchAll(db).compactMap(\.id) == expected)
                let guests = try Team.fetchAll(db).filter {
                    try collations.guests(of: $0.code, db).contains { $0 == player.id }
                }
                try #expect(player[Player.visited].map(\.code) == guests.map(\.code))
            }
        }
    }

    @Test("is joined by the same rule", arguments: Collations.pairs)
    func joining(_ collations: Collations) throws {
        try collations.withTables { db in
            struct TeamInfo: Decodable, FetchableRecord {
                struct Mate: Decodable { var id: Int64 }
                var code: String
                var players: [Mate]
            }
            let codes = try teams(db).map(\.code)
            let expected = try codes.map { try collations.players(of: $0, db) }
            let infos = try Team.order { $0.code }.including(all: Team.players).asRequest(of: TeamInfo.self)
                .fetchAll(db)
            #expect(infos.map { $0.players.map(\.id) } == expected)
            for request in [Team.including(required: Team.players), Team.including(optional: Team.players)] {
                let rows = try request.order { $0.code }.asRequest(of: Row.self).fetchAll(db)
                for (code, expected) in zip(codes, expected) {
                    let ids = try rows.filter { try $0["code"] == code }
                        .map { try $0.scopes["player"]?["id"] as Int64? }
                    #expect(ids == expected.map(Optional.init))
                }
            }
            try #expect(
                Team.joining(required: Team.players).fetchCount(db) == expected.map(\.count).reduce(0, +))
            let last = try #require(expected.joined().max())
            let found = try Team.joining(required: Team.players.filter { $0.id == last }).fetchAll(db)
            #expect(found.map(\.code) == zip(codes, expected).filter { $1.contains(last) }.map(\.0))
            // Up and down again, and through other tables.
            let mates = try Player.joining(required: Player.mates).fetchCount(db)
            #expect(mates == expected.map { $0.count * $0.count }.reduce(0, +))
            let guests = try codes.map { try collations.guests(of: $0, db).count }.reduce(0, +)
            try #expect(Team.joining(required: Team.guests).fetchCount(db) == guests)
            try #expect(Player.joining(required: Player.visited).fetchCount(db) == guests)
        }
    }

    @Test("is told of as counters tell", arguments: Collations.pairs)
    func aggregates(_ collations: Collations) throws {
        try collations.withTables { db in
            try db.execute(sql: "DELETE FROM visit WHERE id = 2; INSERT INTO team (code) VALUES ('nobody')")
            let rows = try Team.annotated(
                with: Team.players.count, Team.players.max { $0.id }, Team.guests.count
            ).asRequest(of: Row.self).fetchAll(db)
            for row in rows {
                let expected = try collations.players(of: row["code"], db)
                try #expect(row["playerCount"] == expected.count)
                try #expect(row["playerCount"] as Int == row["playersCount"])
                try #expect(row["maxPlayerId"] as Int64? == expected.max())
                try #expect(row["guestCount"] == collations.guests(of: row["code"], db).count)
            }
            try #expect(Team.having(Team.players.isEmpty).fetchAll(db).map(\.code) == ["nobody"])
            let most = try #require(try Int.fetchOne(db, sql: "SELECT max(playersCount) FROM team"))
            try #expect(
                Team.having(Team.players.count == most).fetchCount(db)
                    == Team.filter { $0.playersCount == most }.fetchCount(db))
        }
    }

    // MARK: - Writing

    @Test("goes along with a row that is deleted softly, and comes back", arguments: Collations.pairs)
    func softDelete(_ collations: Collations) throws {
        try collations.withTables { db in
            for team in try teams(db) {
                let expected = try collations.players(of: team.code, db)
                try team.delete(db)
                func deleted() throws -> [Int64] {
                    try Int64.fetchAll(
                        db, sql: "SELECT id FROM player WHERE deletedAt IS NOT NULL ORDER BY id")
                }
                try #expect(deleted() == expected)
                try team.restore(db)
                try #expect(deleted() == [])
                try #expect(Team.filter { $0.code == team.code }.deleteAll(db) == 1)
                try #expect(deleted() == expected)
                try #expect(
                    Team.ignoringDefaultFilter(.deleted).filter { $0.code == team.code }.restoreAll(db) == 1)
                try #expect(deleted() == [])
            }
        }
    }

    @Test("is saved by the same rule", arguments: Collations.pairs)
    func graph(_ collations: Collations) throws {
        try collations.withTables { db in
            let team = try #require(try teams(db).max { $0.playersCount ?? 0 < $1.playersCount ?? 0 })
            try team.load(Team.players, db)
            let players = try team[Team.players]
            #expect(players.count > 1)
            team.set(Team.players, to: Array(players.dropLast()))
            try team.save(db, with: Team.players, removed: .nullify)
            try #expect(collations.players(of: team.code, db) == players.dropLast().compactMap(\.id))
            #expect(players.last?.teamCode == nil)
        }
    }

    /// Cities whose key has a part that refers to a country, in letters of its own.
    final class Country: Record {
        static let cities = hasMany(City.self).order { $0.name }
        var code = ""
        override class var databaseTableName: String { "country" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("code", code) { code = $0 }
        }
    }

    final class City: Record {
        static let country = belongsTo(Country.self)
        var code = ""
        var name = ""
        var size = 0
        override class var databaseTableName: String { "city" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("code", code) { code = $0 }
            try column("name", name) { name = $0 }
            try column("size", size) { size = $0 }
        }
    }

    @Test(
        "leaves the letters of a row's own key as they are, by which the row is found",
        arguments: [true, false])
    func ownKey(isDown: Bool) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE country (code TEXT COLLATE NOCASE PRIMARY KEY);
                    CREATE TABLE city (
                        code TEXT REFERENCES country, name TEXT, size INTEGER NOT NULL, PRIMARY KEY (code, name));
                    INSERT INTO country VALUES ('FR'), ('IT');
                    INSERT INTO city VALUES ('FR', 'Lyon', 1), ('fr', 'Paris', 2), ('it', 'Rome', 3);
                    """)
            if isDown {
                let country = try #require(try Country.including(Country.cities).fetchOne(db))
                let cities = try country[Country.cities]
                #expect(cities.map(\.name) == ["Lyon", "Paris"])
                for city in cities { city.size += 10 }
                try country.save(db, with: Country.cities)
                // A row of another country cannot be moved.
                let rome = try #require(try City.filter { $0.name == "Rome" }.fetchOne(db))
                country.set(Country.cities, to: [rome])
                #expect(throws: RelationError.self) { try country.save(db, with: Country.cities) }
            } else {
                for city in try City.filter({ $0.size < 3 }).including(City.country).fetchAll(db) {
                    city.size += 10
                    try city.save(db, with: City.country)
                }
            }
            try #expect(
                String.fetchAll(db, sql: "SELECT code || ' ' || name || ' ' || size FROM city ORDER BY name")
                    == [
                        "FR Lyon 11", "fr Paris 12", "it Rome 3",
                    ])
        }
    }

    // MARK: - SQL

    @Test("has a collation in its SQL where the columns declare two, and none where they declare one")
    func sql() throws {
        func sql(parent: String, child: String) throws -> [String] {
            let spy = SQLSpy()
            let queue = try DatabaseQueue(configuration: spy.configuration())
            return try queue.write { db in
                try Collations(parent: parent, child: child, keys: ["red"], references: ["red"])
                    .createTables(db)
                let team = try #require(try Team.fetchOne(db))
                let player = try #require(try Player.fetchOne(db))
                _ = try team.request(for: Team.players).fetchAll(db)
                spy.removeAll()
                try db.load([team], Team.players)
                _ = try team.request(for: Team.players).fetchAll(db)
                _ = try Team.joining(required: Team.players.filter { $0.id > 0 }).select { $0.code }
                    .asRequest(of: String.self).fetchAll(db)
                _ = try player.request(for: Player.team).fetchAll(db)
                return spy.sql
            }
        }
        for (collations, written) in [
            (("NOCASE", "BINARY"), " COLLATE NOCASE"), (("BINARY", "rtrim"), " COLLATE BINARY"),
            (("NOCASE", "nocase"), ""), (("BINARY", "BINARY"), ""),
        ] {
            let found = try sql(parent: collations.0, child: collations.1)
            #expect(
                found == [
                    #"SELECT *, "teamCode" AS "shellac_key0" FROM "player" WHERE "deletedAt" IS NULL AND "#
                        + #""teamCode"\#(written) IN (SELECT +value FROM json_each(?)) ORDER BY "id""#,
                    #"SELECT * FROM "player" WHERE "deletedAt" IS NULL AND "teamCode"\#(written) = ? ORDER BY "id""#,
                    #"SELECT "team"."code" FROM "team" JOIN "player" ON "player"."teamCode"\#(written) = "team"."code" "#
                        + #"AND ("player"."deletedAt" IS NULL AND "player"."id" > ?) "#
                        + #"WHERE "team"."deletedAt" IS NULL ORDER BY "player"."id""#,
                    #"SELECT * FROM "team" WHERE "deletedAt" IS NULL AND "code" = ?"#,
                ])
        }
    }

    // MARK: - Live

    @Test("is followed by the same rule")
    func live() async throws {
        let queue = try DatabaseQueue()
        let collations = Collations.pairs[0]
        let team = try await queue.write { db in
            try collations.createTables(db)
            return try Team.filter { $0.code == "red" }.select { $0.code }.asRequest(of: String.self)
                .fetchOne(db)
        }
        #expect(team == "red")
        let counts = Recorder<[Int]>()
        let request = Team.order { $0.code }.annotated(with: Team.players.count).including(all: Team.players)
            .asRequest(of: Row.self)
        let task = Task {
            for try await rows in queue.values(of: request) {
                counts.record(rows.map { ($0.prefetchedRows["players"] ?? []).count })
            }
        }
        defer { task.cancel() }
        try await waitUntil { counts.elements.last == [1, 4] }
        try await queue.write { try $0.execute(sql: "INSERT INTO player (teamCode) VALUES ('RED')") }
        try await waitUntil { counts.elements.last == [1, 5] }
        try await queue.write { try $0.execute(sql: "UPDATE player SET teamCode = 'BLUE' WHERE id = 2") }
        try await waitUntil { counts.elements.last == [2, 4] }
    }
}
