import Shellac
import TestSupport
import Testing

@Suite("Relations") struct RelationTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player
    typealias Weapon = Guild.Weapon

    @Test("are loaded along with the records of a request, by one statement each", .behaviour(63))
    func including() throws {
        let spy = SQLSpy()
        let queue = try Guild.database(spy)
        let teams = try queue.read { db in
            try Team.including(Team.players.order { $0.score.desc }, Team.captain).order { $0.id }.fetchAll(
                db)
        }
        #expect(spy.selections.count == 3)
        try #expect(
            teams.map { try $0.players.map(\.name) } == [
                ["Barbara", "Craig", "Arthur"], ["Eve", "David"], [],
            ])
        try #expect(teams.map { try $0.captain?.name } == ["Barbara", nil, nil])
    }

    /// If all rows of the table were fetched, the second statement finds related rows by the whole
    /// table. Otherwise it finds them by the keys of the fetched rows.
    @Test("are found by the request itself where it fetches a whole table", .behaviour(63))
    func whole() throws {
        let spy = SQLSpy()
        let queue = try Guild.database(spy)
        func statement(_ load: (Database) throws -> Void) throws -> String? {
            spy.removeAll()
            try queue.read(load)
            return spy.selections.last
        }
        let whole =
            #"SELECT *, "teamID" AS "shellac_key0" FROM "player" "#
            + #"WHERE "teamID" IN (SELECT "id" FROM "team")"#
        let teams = Team.including(Team.players)
        try #expect(statement { _ = try teams.fetchAll($0) } == whole)
        try #expect(statement { _ = try teams.order { $0.name }.fetchAll($0) } == whole)
        for part in [
            teams.filter { $0.id > 0 }, teams.limit(5), teams.aliased(TableAlias(name: "t")),
            teams.distinct(),
        ] {
            let sql = try statement { _ = try part.fetchAll($0) }
            #expect(sql?.contains("json_each") == true, "\(sql ?? "")")
        }
        let one = try statement { _ = try teams.fetchOne($0) }
        #expect(one?.contains("json_each") == true)
        let later = try statement { db in try db.load(Team.fetchAll(db), Team.players) }
        #expect(later?.contains("json_each") == true)
    }

    @Test("of related records are loaded in their place", .behaviour(63))
    func nested() throws {
        let spy = SQLSpy()
        let queue = try Guild.database(spy)
        let teams = try queue.read { db in
            try Team.order { $0.id }.including(Team.players.including(Player.weapons)).fetchAll(db)
        }
        #expect(spy.selections.count == 3)
        try #expect(
            teams.map { try $0.players.map { try $0.weapons.map(\.name) } }
                == [[["axe", "bow"], [], []], [["club"], []], []])
        let arthur = try teams[0].players[0]
        try #expect(arthur.weapons[0].owner === arthur)
        try #expect(arthur.team === teams[0])
    }

    @Test("are loaded afterwards, for any array", .behaviour(63))
    func afterwards() throws {
        let spy = SQLSpy()
        let queue = try Guild.database(spy)
        try queue.inDatabase { db in
            let players = try Player.order { $0.id }.fetchAll(db) + [Player()]
            spy.removeAll()
            try db.load(players, Player.team, Player.weapons)
            #expect(spy.selections.count == 2)
            try #expect(players.map { try $0.team?.id } == [1, 1, 1, 2, 2, nil, nil])
            try #expect(players.map { try $0.weapons.count } == [2, 0, 0, 1, 0, 0, 0])
            // The present values of a record count, and not those that it was fetched with.
            players[0].teamID = 3
            try db.load([players[0]], Player.team)
            try #expect(players[0].team?.name == "Nobody")
            spy.removeAll()
            try db.load([Player](), Player.team)
            #expect(spy.sql.isEmpty)
        }
    }

    @Test("lead back to the record that they were loaded for, which is not kept alive", .behaviour(65))
    func back() throws {
        let queue = try Guild.database()
        var teams = try queue.read { db in try Team.including(Team.players).fetchAll(db) }
        for team in teams { for player in try team.players { try #expect(player.team === team) } }
        let player = try teams[0].players[0]
        weak let team = teams[0]
        teams = []
        #expect(team == nil)
        let error = #expect(throws: RelationError.self) { try player.team }
        #expect(error == .released(relation: "Player.team", recordType: "Player"))
        #expect(error?.description.contains(".including(Player.team)") == true)
    }

    @Test("share one object for each row", .behaviour(65))
    func identity() throws {
        let queue = try Guild.database()
        let players = try queue.read { db in try Player.including(Player.team).order { $0.id }.fetchAll(db) }
        try #expect(players.map { try $0.team?.name } == ["Reds", "Reds", "Reds", "Blues", "Blues", nil])
        try #expect(players[0].team === players[2].team)
        try #expect(players[0].team !== players[3].team)
    }

    @Test("are limited for each record", .behaviour(67))
    func limited() throws {
        let spy = SQLSpy()
        let queue = try Guild.database(spy)
        let teams = try queue.read { db in
            try Team.including(Team.best, Team.players).order { $0.id }.fetchAll(db)
        }
        try #expect(teams.map { try $0.best.map(\.name) } == [["Barbara", "Craig"], ["Eve", "David"], []])
        try #expect(teams.map { try $0.players.count } == [3, 2, 0])
        // SQLite returns the rows in their order by itself, as it numbers them. Its documentation
        // does not promise that.
        let query = try #require(spy.selections.first { $0.contains("ROW_NUMBER") })
        #expect(query.hasSuffix(#"WHERE "shellac_rank" <= ? ORDER BY "shellac_rank""#))
    }

    @Test("that were not loaded throw what to write, and are never fetched", .behaviour(62))
    func notLoaded() throws {
        let spy = SQLSpy()
        let queue = try Guild.database(spy)
        let team = try #require(try queue.read { db in try Team.fetchOne(db) })
        spy.removeAll()
        let error = #expect(throws: RelationError.self) { try team.players }
        #expect(error == .notLoaded(relation: "Team.players", recordType: "Team"))
        #expect(error?.description.contains(".including(Team.players)") == true)
        let other = #expect(throws: RelationError.self) { try team[Team.best] }
        #expect(other == .notLoaded(relation: "Team.best", recordType: "Team"))
        #expect(spy.sql.isEmpty)
    }

    @Test("make no record dirty, and are not copied", .behaviour(66))
    func copies() throws {
        let queue = try Guild.database()
        let team = try #require(try queue.read { db in try Team.including(Team.players).fetchOne(db) })
        team.set(Team.players, to: [])
        #expect(!team.hasDatabaseChanges)
        try #expect(team.players.isEmpty)
        let copy = try team.copy()
        #expect(throws: RelationError.self) { try copy.players }
    }

    @Test("that are inherited are right, and those of other classes are refused", .behaviour(63))
    func owners() throws {
        let queue = try Guild.database()
        try queue.read { db in
            let keeper = try #require(try Guild.Goalkeeper.including(Player.team).fetchOne(db))
            try #expect(keeper.team?.name == "Reds")
            let error = #expect(throws: RelationError.self) { try Team.including(Player.team).fetchAll(db) }
            #expect(error == .wrongOwner(relation: "Player.team", recordType: "Team"))
            #expect(throws: RelationError.self) { try db.load([Team()], Weapon.owner) }
        }
    }

    @Test("of one call see one state of the database", .behaviour(63))
    func oneState() throws {
        let file = try TemporaryDatabase()
        let (queue, other) = try (file.queue(), file.queue())
        try queue.write { try $0.execute(sql: "DROP TABLE player;" + Guild.schema) }
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("intrude", argumentCount: 0) { _ in
                    try other.write { try $0.execute(sql: "DELETE FROM weapon; DELETE FROM player") }
                    return true
                })
            let teams = try Team.filter(sql: "intrude()").limit(1).including(Team.players).fetchAll(db)
            try #expect(teams[0].players.count == 3)
            #expect(!db.isInsideTransaction)
        }
    }

    @Test("are part of the region of a request")
    func region() throws {
        try Guild.database().read { db in
            let region = try Team.including(Team.players.including(Player.weapons)).databaseRegion(db)
            for table in ["team", "player", "weapon"] { #expect("\(region)".contains(table)) }
        }
    }

    @Test("cross an asynchronous access as a graph, without an annotation", .behaviour(69))
    func asynchronous() async throws {
        let queue = try Guild.database()
        let teams = try await queue.read { db in try Team.including(Team.players).fetchAll(db) }
        try #expect(teams[0].players[0].team === teams[0])
    }
}

extension SQLSpy {
    /// The statements that read tables of the program's.
    var selections: [String] { sql.filter { $0.hasPrefix("SELECT") && !$0.contains("sqlite_") } }
}
