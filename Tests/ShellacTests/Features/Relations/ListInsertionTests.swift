import Shellac
import TestSupport
import Testing

@Suite("New records of a list that is saved") struct ListInsertionTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player

    private let spy = SQLSpy()

    /// The number of rows that each statement inserts into the table of players.
    private var insertions: [Int] {
        spy.sql.filter { $0.hasPrefix(#"INSERT INTO "player""#) }
            .map { $0.split(separator: "(?", omittingEmptySubsequences: false).count - 1 }
    }

    private func make(_ name: String) -> Player { named(Player(), name) }

    private func named<P: Player>(_ player: P, _ name: String) -> P {
        player.name = name
        return player
    }

    private func names(_ db: Database, _ team: Int64?) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM player WHERE teamID IS ? ORDER BY id", arguments: [team])
    }

    private func team(_ players: [Player]) -> Team {
        let team = Team()
        team.name = "New"
        team.set(Team.players, to: players)
        return team
    }

    @Test("are inserted by one statement, in their order", .behaviour(66))
    func one() throws {
        try Guild.database(spy).write { db in
            for count in [1, 2, 10, 10, 200] {
                let players = (0..<count).map { make("\($0)") }
                let team = team(players)
                spy.removeAll()
                try team.save(db, with: Team.players)
                #expect(insertions.reduce(0, +) == count)
                #expect(insertions.count == (count + 63) / 64)
                try #expect(names(db, team.id) == players.map(\.name))
                let ids = players.compactMap(\.id)
                #expect(ids == ids.sorted() && ids.count == count)
                #expect(players.allSatisfy { $0.teamID == team.id && !$0.hasDatabaseChanges })
                try #expect(players.allSatisfy { try $0.team === team })
            }
        }
    }

    @Test("keep their places among those that have rows, or keys", .behaviour(66))
    func mixed() throws {
        try Guild.database(spy).write { db in
            let frank = try #require(try Player.fetchOne(db, key: 6))
            let known = make("Known")
            known.id = 100
            let players = [make("A"), make("B"), frank, make("C"), known, make("D"), make("E"), make("F")]
            let team = team(players)
            spy.removeAll()
            try team.save(db, with: Team.players)
            #expect(insertions == [2, 1, 1, 3])
            #expect(players.map(\.id) == [7, 8, 6, 9, 100, 101, 102, 103])
            #expect(players.allSatisfy { $0.teamID == team.id && !$0.hasDatabaseChanges })
        }
    }

    @Test("are inserted once, though they stand twice in the list, or have their key already", .behaviour(66))
    func twice() throws {
        try Guild.database(spy).write { db in
            let (a, b, c) = (make("A"), make("B"), make("C"))
            c.teamID = 1
            let reds = try #require(try Team.fetchOne(db, key: 1))
            a.set(Player.weapons, to: [])  // it has related objects of its own
            reds.set(Team.players, to: [a, b, a, c, c, b])
            try reds.save(db, with: Team.players)
            #expect([a, b, c].map(\.id) == [7, 8, 9])
            try #expect(names(db, 1) == ["Arthur", "Barbara", "Craig", "A", "B", "C"])
        }
    }

    @Test("are as they were where one of them violates a constraint", .behaviour(15, 66))
    func violated() throws {
        try Guild.database().write { db in
            try db.execute(sql: "CREATE UNIQUE INDEX one ON player(name)")
            let players = ["A", "B", "Eve", "C"].map { make($0) }
            let team = team(players)
            let error = #expect(throws: DatabaseError.self) { try team.save(db, with: Team.players) }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(error?.description.contains("player.name") == true)
            #expect(team.id == nil)
            #expect(players.allSatisfy { $0.id == nil && $0.teamID == nil && $0.hasDatabaseChanges })
            try #expect(Player.fetchCount(db) == 6)
            players[2].name = "Ed"
            try team.save(db, with: Team.players)
            try #expect(names(db, team.id) == ["A", "B", "Ed", "C"])
            // A rollback takes the keys away, and those that a record was given before come back.
            players[0].teamID = 2
            try? db.inSavepoint {
                team.set(Team.players, to: players + [make("Z")])
                try team.save(db, with: Team.players)
                #expect(players[0].teamID == team.id)
                throw TestError(1)
            }
            #expect(players[0].teamID == 2 && players[0].hasDatabaseChanges)
        }
    }

    private final class Watched: Player {
        var whenInserted: () -> Void = {}

        override func didInsert(_ inserted: InsertionSuccess) {
            super.didInsert(inserted)
            whenInserted()
        }
    }

    private final class WatchedTeam: Team { static let watched = hasMany(Watched.self) }

    @Test("are inserted one by one where they are told of it", .behaviour(66))
    func told() throws {
        try Guild.database(spy).write { db in
            let players = (0..<3).map { named(Watched(), "\($0)") }
            players[0].whenInserted = { players[2].name = "changed" }
            let team = WatchedTeam()
            team.name = "New"
            team.set(WatchedTeam.watched, to: players)
            spy.removeAll()
            try team.save(db, with: WatchedTeam.watched)
            #expect(insertions == [1, 1, 1])
            #expect(players.allSatisfy { !$0.hasDatabaseChanges })
            try #expect(names(db, team.id) == ["0", "1", "changed"])
        }
    }

    @Test("are inserted one by one where the table has triggers", .behaviour(66))
    func triggers() throws {
        try Guild.database(spy).write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER axe AFTER INSERT ON player BEGIN
                        INSERT INTO weapon (playerID, name) VALUES (NEW.id, 'axe');
                    END
                    """)
            let players = (0..<3).map { make("\($0)") }
            spy.removeAll()
            try team(players).save(db, with: Team.players)
            #expect(insertions == [1, 1, 1])
            #expect(players.map(\.id) == [7, 8, 9])
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM weapon WHERE playerID > 6") == 3)
        }
    }

    private final class Meddler: Player {
        nonisolated(unsafe) static var saves: (Player, Database)?

        override func encode(to container: inout PersistenceContainer) throws {
            if let (other, db) = Self.saves {
                Self.saves = nil
                try other.save(db)
            }
            try super.encode(to: &container)
        }
    }

    @Test("are inserted once where one of them is saved meanwhile", .behaviour(66))
    func meanwhile() throws {
        try Guild.database(spy).write { db in
            let players = [make("A"), named(Meddler(), "B"), make("C")]
            Meddler.saves = (players[0], db)
            let team = team(players)
            try team.save(db, with: Team.players)
            try #expect(names(db, team.id) == ["A", "B", "C"])
            #expect(players.allSatisfy { !$0.hasDatabaseChanges })
        }
    }

    @Test("of several classes are inserted in their order", .behaviour(66))
    func classes() throws {
        try Guild.database(spy).write { db in
            let players = [
                make("A"), make("B"), named(Guild.Goalkeeper(), "C"), named(Guild.Goalkeeper(), "D"),
                make("E"),
            ]
            spy.removeAll()
            let team = team(players)
            try team.save(db, with: Team.players)
            #expect(insertions == [2, 2, 1])
            try #expect(names(db, team.id) == ["A", "B", "C", "D", "E"])
        }
    }

    private final class Twin: Record {
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "twin" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    private final class Elder: Record {
        static let twins = hasMany(Twin.self)
        var id: Int64?
        override class var databaseTableName: String { "elder" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    @Test("whose foreign key is their row id are saved by it", .behaviour(66))
    func sharedKey() throws {
        try DatabaseQueue(configuration: spy.configuration()).write { db in
            try db.execute(
                sql: """
                    CREATE TABLE elder (id INTEGER PRIMARY KEY);
                    CREATE TABLE twin (id INTEGER PRIMARY KEY REFERENCES elder(id), name TEXT NOT NULL);
                    INSERT INTO elder VALUES (5);
                    INSERT INTO twin VALUES (5, 'old');
                    """)
            let elder = try #require(try Elder.fetchOne(db))
            let twin = Twin()
            twin.name = "new"
            elder.set(Elder.twins, to: [twin])
            try elder.save(db, with: Elder.twins)
            try #expect(String.fetchAll(db, sql: "SELECT id || name FROM twin") == ["5new"])
        }
    }
}
