import Shellac
import TestSupport
import Testing

/// Related rows as records of classes, as structs, and as aggregates of all of them.
@Suite("Joined records")
struct JoinedRecordsTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player
    typealias Weapon = Guild.Weapon

    // MARK: - Classes

    @Test(
        "of a class are given the joined row as the object of the relation, one for each row", .behaviour(68))
    func objects() throws {
        let spy = SQLSpy()
        try Guild.database(spy).read { db in
            spy.removeAll()
            let players = try Player.including(optional: Player.team).order { $0.id }.fetchAll(db)
            #expect(spy.selections.count == 1)
            try #expect(players.map { try $0.team?.name } == ["Reds", "Reds", "Reds", "Blues", "Blues", nil])
            try #expect(players[0].team === players[2].team)
            try #expect(players[0].team !== players[3].team)
            try #expect(players[0].team?.hasDatabaseChanges == false)
            #expect(!players[0].hasDatabaseChanges)
            #expect(throws: RelationError.self) { try players[0].team?.players }
            try #expect(
                Player.including(required: Player.team).filter(key: 4).fetchOne(db)?.team?.name == "Blues")
        }
    }

    @Test("of a class lead back, and are loaded with lists of their own", .behaviour(68))
    func listsOfJoined() throws {
        let spy = SQLSpy()
        try Guild.database(spy).read { db in
            spy.removeAll()
            let teams = try Team.including(optional: Team.captain).order { $0.id }.fetchAll(db)
            try #expect(teams.map { try $0.captain?.name } == ["Barbara", nil, nil])
            try #expect(teams[0].captain?.team === teams[0])
            spy.removeAll()
            let weapons = try Weapon.including(
                required: Weapon.owner.including(
                    required: Player.team.including(Team.players.order { $0.id }))
            ).order { $0.id }.fetchAll(db)
            #expect(spy.selections.count == 2)
            try #expect(weapons.map { try $0.owner?.team?.players.count } == [3, 3, 2])
            try #expect(weapons[0].owner === weapons[1].owner)
            // Joined in the statement of a list.
            spy.removeAll()
            let all = try Team.including(Team.players.order { $0.id }.including(optional: Player.team))
                .order { $0.id }.fetchAll(db)
            #expect(spy.selections.count == 2)
            try #expect(all[0].players.map(\.name) == ["Arthur", "Barbara", "Craig"])
            try #expect(all[0].players[0].team?.name == "Reds")
            let loaded = try Team.including(all: Team.players).fetchAll(db)
            try #expect(loaded.map { try $0.players.count } == [3, 2, 0])
        }
    }

    // MARK: - Structs

    struct PlayerRow: Codable, FetchableRecord, TableRecord, Hashable {
        static let databaseTableName = "player"
        static let team = belongsTo(TeamRow.self)
        static let weapons = hasMany(WeaponRow.self)
        var id: Int64
        var teamID: Int64?
        var name: String
    }
    struct TeamRow: Codable, FetchableRecord, PersistableRecord, Hashable {
        static let databaseTableName = "team"
        static let players = hasMany(PlayerRow.self)
        static let weapons = hasMany(WeaponRow.self, through: players, using: PlayerRow.weapons)
        var id: Int64
        var name: String
    }
    struct WeaponRow: Codable, FetchableRecord, TableRecord, Hashable {
        static let databaseTableName = "weapon"
        static let player = belongsTo(PlayerRow.self)
        var id: Int64
        var name: String
    }

    struct PlayerInfo: Decodable, FetchableRecord {
        var player: PlayerRow
        var team: TeamRow?
        var weapons: Set<WeaponRow>
    }
    struct TeamInfo: Decodable, FetchableRecord {
        var team: TeamRow
        var players: [PlayerRow]
        var playerCount: Int
    }
    struct WeaponInfo: Decodable, FetchableRecord {
        var weapon: WeaponRow
        var player: PlayerRow
        var team: TeamRow?
    }
    struct ByHand: FetchableRecord {
        var player: Player
        var team: TeamRow?
        var weapons: [WeaponRow]
        init(row: Row) throws {
            player = try Player(row: row)
            team = try row["team"]
            weapons = try row["weapons"]
        }
    }

    @Test("are the properties of a decodable struct: one, an optional one, an array, a set", .behaviour(68))
    func decodable() throws {
        try Guild.database().read { db in
            let request = PlayerRow.including(optional: PlayerRow.team).including(all: PlayerRow.weapons)
                .order(Column("id"))
            let infos = try request.asRequest(of: PlayerInfo.self).fetchAll(db)
            #expect(infos.map(\.player.name) == ["Arthur", "Barbara", "Craig", "David", "Eve", "Frank"])
            #expect(infos.map(\.team?.name) == ["Reds", "Reds", "Reds", "Blues", "Blues", nil])
            #expect(infos.map(\.weapons.count) == [2, 0, 0, 1, 0, 0])
            let rows = try request.asRequest(of: Row.self).fetchAll(db)
            let ofRows = try rows.map { try PlayerInfo(row: $0) }
            #expect(ofRows.map(\.player) == infos.map(\.player))
            #expect(ofRows.map(\.team) == infos.map(\.team))
            #expect(ofRows.map(\.weapons) == infos.map(\.weapons))
            let missing = #expect(throws: RowDecodingError.self) { try Forgetful(row: rows[5]) }
            #expect(missing?.columnName == "team")
            let teams = try TeamRow.including(all: TeamRow.players.order(Column("id")))
                .annotated(with: TeamRow.players.count).order(Column("id"))
                .asRequest(of: TeamInfo.self).fetchAll(db)
            #expect(teams.map(\.playerCount) == [3, 2, 0])
            #expect(teams.map { $0.players.map(\.id) } == [[1, 2, 3], [4, 5], []])
            let weapons = try WeaponRow.including(
                required: WeaponRow.player.including(optional: PlayerRow.team)
            ).asRequest(of: WeaponInfo.self).fetchAll(db)
            #expect(weapons.map(\.team?.name) == ["Reds", "Reds", "Blues"])
            let byHand = try request.asRequest(of: ByHand.self).fetchAll(db)
            #expect(byHand.map(\.player.name) == infos.map(\.player.name))
            #expect(byHand.map(\.team) == infos.map(\.team))
            #expect(byHand.map { Set($0.weapons) } == infos.map(\.weapons))
            try #expect(request.asRequest(of: PlayerInfo.self).fetchOne(db)?.weapons.count == 2)
        }
    }

    struct Forgetful: Decodable, FetchableRecord {
        var player: PlayerRow
        var team: TeamRow
    }

    @Test("that were forgotten are missed, and not made of the row of another table", .behaviour(68))
    func forgotten() throws {
        try Guild.database().read { db in
            let error = try #require(throws: RowDecodingError.self) {
                try PlayerRow.all().asRequest(of: Forgetful.self).fetchAll(db)
            }
            #expect(error.columnName == "team")
            let missing = try #require(throws: RowDecodingError.self) {
                try PlayerRow.including(optional: PlayerRow.team).asRequest(of: Forgetful.self).fetchAll(db)
            }
            #expect(missing.columnName == "team")
            #expect(throws: RowDecodingError.self) {
                try PlayerRow.including(optional: PlayerRow.team).asRequest(of: ByHand.self).fetchAll(db)
            }
        }
    }

    @Test("of which a join reads some columns leave the others alone when they are saved", .behaviour(68))
    func partlyJoined() throws {
        try Guild.database().write { db in
            let before = try Row.fetchAll(db, sql: "SELECT * FROM team ORDER BY id")
            let request = Player.including(required: Player.team.select(Column("id"))).order(Column("id"))
            let teams = try request.fetchAll(db).map { try #require(try $0[Player.team]) }
            #expect(teams.count == 5)
            for team in teams {
                try team.update(db)
                try #expect(!team.updateChanges(db))
            }
            try #expect(Row.fetchAll(db, sql: "SELECT * FROM team ORDER BY id") == before)
            teams[0].name = "Greens"
            try #expect(teams[0].updateChanges(db))
            try #expect(String.fetchOne(db, sql: "SELECT name FROM team WHERE id = 1") == "Greens")
        }
    }

    final class Part: Record {
        static let size = belongsTo(Size.self)
        var id: Int64?
        var sizeID: Int64?
        override class var databaseTableName: String { "part" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("sizeID", sizeID) { sizeID = $0 }
        }
    }

    /// A number that is read from a text.
    struct Length: DatabaseValueConvertible {
        var meters: Int
        var databaseValue: DatabaseValue { meters.databaseValue }
        static func fromDatabaseValue(_ value: DatabaseValue) -> Length? {
            String.fromDatabaseValue(value).flatMap { Int($0) }.map(Length.init)
        }
    }

    final class Size: Record {
        var id: Int64?
        var length = Length(meters: 0)
        override class var databaseTableName: String { "size" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("length", length) { length = $0 }
        }
    }

    @Test("have no changes if their columns store their values in another form", .behaviour(68))
    func storedForms() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE size (id INTEGER PRIMARY KEY, length TEXT);
                    CREATE TABLE part (id INTEGER PRIMARY KEY, sizeID INTEGER REFERENCES size);
                    INSERT INTO size VALUES (1, 5);
                    INSERT INTO part VALUES (2, 1);
                    """)
            let part = try #require(try Part.including(required: Part.size).fetchOne(db))
            let size = try #require(try part[Part.size])
            #expect(size.length.meters == 5)
            #expect(!size.hasDatabaseChanges)
            try #expect(!size.updateChanges(db))
        }
    }

    // MARK: - Aggregates

    private func values<Element>(_ request: QueryInterfaceRequest<Element>, _ column: String) throws
        -> [String]
    {
        try Guild.database().read { db in
            try request.asRequest(of: Row.self).fetchAll(db).map {
                "\(try #require($0.databaseValue(named: column)))"
            }
        }
    }

    @Test("are counted and summed for each row, under the names of the family", .behaviour(68))
    func aggregates() throws {
        let spy = SQLSpy()
        try Guild.database(spy).read { db in
            let row = try #require(
                try Team.annotated(
                    with: Team.players.count, Team.players.isEmpty, Team.players.max { $0.score },
                    Team.players.min(Column("score")), Team.players.average { $0.score },
                    Team.players.sum { $0.score },
                    Team.players.filter { $0.isCaptain == true }.count.forKey("captains")
                ).filter(key: 1).asRequest(of: Row.self).fetchOne(db))
            #expect(
                row == [
                    "id": 1, "name": "Reds", "playerCount": 3, "hasNoPlayer": 0, "maxPlayerScore": 30,
                    "minPlayerScore": 10, "averagePlayerScore": 20.0, "playerScoreSum": 60, "captains": 1,
                ])
            try #expect(Team.having(Team.players.isEmpty).fetchAll(db).map(\.name) == ["Nobody"])
            #expect(
                spy.selections.last
                    == #"SELECT * FROM "team" WHERE NOT EXISTS (SELECT 1 FROM "player" WHERE "player"."teamID" = "team"."id")"#
            )
            try #expect(Team.having(Team.players.count >= 3).fetchAll(db).map(\.name) == ["Reds"])
            #expect(
                spy.selections.last
                    == #"SELECT * FROM "team" WHERE (SELECT COUNT(*) FROM "player" WHERE "player"."teamID" = "team"."id") >= ?"#
            )
            try #expect(
                Team.having(Team.players.count > 1 && !(Team.players.max { $0.score } > 40)).fetchAll(db).map(
                    \.name)
                    == ["Reds"])
            try #expect(
                Team.order(Team.players.sum { $0.score }.desc).fetchAll(db).map(\.name) == [
                    "Blues", "Reds", "Nobody",
                ])
            // Two of them do not multiply each other, and total is 0 where sum is NULL.
            let names = try Player.annotated(with: Player.weapons.count).annotated(
                withRequired: Player.team.select(Column("name").forKey("teamName"))
            )
            .having(Player.weapons.count > 0).order { $0.id }.asRequest(of: Row.self).fetchAll(db)
            #expect(names.map { $0.text("teamName") } == ["Reds", "Blues"])
            try #expect(Team.having(Team.players.total { $0.score } == 0).fetchCount(db) == 1)
            try #expect(Team.having(Team.players.sum { $0.score } == nil).fetchCount(db) == 1)
            // Rows that rows of the own table refer to.
            try #expect(
                Player.joining(required: Player.team.filter(Team.players.count == 2)).fetchAll(db).map(\.name)
                    == ["David", "Eve"])
            try #expect(
                Team.annotated(
                    with: Team.players.joining(required: Player.team.filter { $0.name == "Reds" }).count
                )
                .order { $0.id }.asRequest(of: Row.self).fetchAll(db).map { try $0["playerCount"] as Int }
                    == [3, 0, 0])
        }
        try #expect(
            values(TeamRow.annotated(with: TeamRow.weapons.count).order(Column("id")), "weaponCount") == [
                "2", "1", "0",
            ])
    }

    // MARK: - Other uses

    @Test("are requested for one record, by all its relations", .behaviour(68))
    func requestFor() throws {
        let spy = SQLSpy()
        try Guild.database(spy).read { db in
            let team = try Team.find(db, key: 1)
            spy.removeAll()
            try #expect(
                team.request(for: Team.players).filter { $0.score > 10 }.order { $0.id }.fetchAll(db).map(
                    \.name) == ["Barbara", "Craig"])
            #expect(
                spy.selections.last
                    == #"SELECT * FROM "player" WHERE "score" > ? AND "teamID" = ? ORDER BY "id""#
                    || spy.selections.last
                        == #"SELECT * FROM "player" WHERE "teamID" = ? AND "score" > ? ORDER BY "id""#
            )
            try #expect(team.request(for: Team.captain).fetchOne(db)?.name == "Barbara")
            try #expect(team.request(for: Team.best).fetchAll(db).map(\.name) == ["Barbara", "Craig"])
            try #expect(team.request(for: Team.players).fetchCount(db) == 3)
            let frank = try Player.find(db, key: 6)
            try #expect(frank.request(for: Player.team).fetchOne(db) == nil)
            let row = TeamRow(id: 1, name: "")
            try #expect(
                row.request(for: TeamRow.weapons).order(Column("id")).fetchAll(db).map(\.name) == [
                    "axe", "bow",
                ])
            #expect(throws: RelationError.self) { try frank.request(for: Team.players).fetchAll(db) }
            try #expect(
                Player.joining(required: Player.team).filter(Column("id") > 1).fetchCount(db) == 4)
        }
    }

    @Test("say which rows are updated and deleted, counted and watched", .behaviour(68))
    func bulk() throws {
        try Guild.database().write { db in
            let reds = Player.joining(required: Player.team.filter { $0.name == "Reds" })
            try #expect(reds.updateAll(db) { $0.score += 1 } == 3)
            try #expect(Player.order { $0.id }.fetchAll(db).map(\.score) == [11, 31, 21, 40, 50, 60])
            let region = try
                "\(Player.including(optional: Player.team.including(all: Team.players.including(all: Player.weapons))).region(db))"
            #expect(region.contains("team") && region.contains("weapon"))
            try #expect("\(Team.having(Team.players.isEmpty).region(db))".contains("player"))
            try #expect("\(Player.joining(required: Player.team).filter(key: 1).region(db))".contains("team"))
            let ids = Player.including(required: Player.team).select(Column("id"))
            try #expect(Weapon.filter(ids.contains(Column("playerID"))).fetchCount(db) == 3)
            try #expect(reds.deleteAll(db) == 3)
            try #expect(Team.having(Team.players.isEmpty).deleteAll(db) == 2)
            try #expect(Team.fetchAll(db).map(\.name) == ["Blues"])
            try #expect(Player.joining(required: Player.team).isEmpty(db) == false)
            try #expect(
                Player.filter(
                    Player.joining(required: Player.team).select(Column("id")).contains(Column("id"))
                ).fetchCount(db) == 2)
        }
    }

    // MARK: - What cannot be

    @Test("are refused with a sentence where they make no sense", .behaviour(68))
    func refused() throws {
        func sentence(_ body: () throws -> Void) -> String {
            do { try body() } catch { return "\(error)" }
            return ""
        }
        try Guild.database().read { db in
            #expect(
                sentence { _ = try Team.joining(required: Team.best).fetchAll(db) }.contains(
                    "including(all:)"))
            #expect(
                sentence { _ = try Team.including(required: Team.players).fetchAll(db) }.contains(
                    "including(all: Team.players)"))
            #expect(
                sentence { _ = try Player.joining(required: Team.players).fetchAll(db) }.contains(
                    "not a relation of Player"))
            #expect(
                sentence { _ = try Team.annotated(with: Team.best.count).fetchAll(db) }.contains(
                    "limit for each parent"))
            #expect(
                sentence { _ = try Player.filter(Team.players.count > 1).fetchAll(db) }.contains(
                    "not a relation of Player"))
            #expect(
                sentence { _ = try Table<Player>("weapon").joining(required: Player.team).fetchAll(db) }
                    .contains(#"not a relation of Table("weapon"): name one that begins with this table"#))
            try #expect(
                Table<Player>("player").joining(required: Player.team).fetchCount(db)
                    == Player.joining(required: Player.team).fetchCount(db))
            #expect(
                sentence { _ = try Team.including(Team.captain).asRequest(of: Row.self).fetchAll(db) }
                    .contains("including(optional:)"))
            #expect(
                sentence { _ = try Player.including(required: Player.team).fetchCursor(db) }.contains("array")
            )
        }
    }
}
