import TestSupport
import Testing

@testable import Shellac

/// The references of a record after the list of another one has moved it.
@Suite("A record that is moved by a list") struct WaysBackTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player

    /// The ways in which a player came to know its team, before it is moved.
    enum Knowledge: CaseIterable, Sendable {
        case nothing, list, record, included, derived, peers, given

        func player(_ db: Database) throws -> (player: Player, kept: [Record]) {
            let team = try #require(try Team.including(Team.players).filter(key: 1).fetchOne(db))
            let players = try Player.order { $0.id }.fetchAll(db)
            switch self {
            case .nothing: return (players[0], [])
            case .list: return (try team.players[0], [team])
            case .record:
                try players[0].load(Player.team, db)
                return (players[0], [])
            case .included:
                return (try #require(try Player.including(Player.team).filter(key: 1).fetchOne(db)), [])
            case .derived:
                try players[0].load(Player.team.filter { $0.name == "Reds" }, db)
                return (players[0], [])
            case .peers:
                for player in players { try player.load(Player.team, db) }
                return (players[0], [])
            case .given:
                players[0].set(Player.team, to: team)
                return (players[0], [])
            }
        }
    }

    @Test("refers to the new one", .behaviour(65, 66), arguments: Knowledge.allCases)
    func moved(_ knowledge: Knowledge) throws {
        try Guild.database().write { db in
            let (player, kept) = try knowledge.player(db)
            let before = try? player.team
            let blues = try #require(try Team.including(Team.players).filter(key: 2).fetchOne(db))
            blues.set(Team.players, to: try blues.players + [player])
            // Nothing is saved: the row is that of a player of the old team.
            #expect((try? player.team) === before)
            try blues.save(db, with: Team.players)
            #expect(player.teamID == 2)
            try #expect(player.team === blues)
            // Once more, and by its own relation.
            try blues.save(db, with: Team.players)
            try #expect(player.team === blues)
            try db.load([player], Player.team)
            try #expect(player.team?.id == 2 && player.team !== blues)
            withExtendedLifetime(kept) {}
        }
    }

    @Test(
        "refers to what it did again, after a rollback", .behaviour(65, 66), arguments: Knowledge.allCases,
        [1, 2])
    func undone(_ knowledge: Knowledge, _ depth: Int) throws {
        try Guild.database().write { db in
            let (player, kept) = try knowledge.player(db)
            let before = try? player.team
            let (blues, nobody) = try (Team.find(db, key: 2), Team.find(db, key: 3))
            blues.set(Team.players, to: [player])
            nobody.set(Team.players, to: [player])
            try db.inSavepoint {
                try blues.save(db, with: Team.players)
                if depth == 2 {
                    try db.inSavepoint {
                        try nobody.save(db, with: Team.players)
                        try #expect(player.team === nobody)
                        return .rollback
                    }
                }
                try #expect(player.team === blues)
                return .rollback
            }
            #expect(player.teamID == 1)
            if before == nil {
                #expect(throws: RelationError.notLoaded(relation: "Player.team", recordType: "Player")) {
                    try player.team
                }
            } else {
                try #expect(player.team === before)
            }
            // A save that fails in its midst leaves it as it was, too.
            try db.execute(sql: "CREATE UNIQUE INDEX playerByName ON player(name)")
            let eve = Player()
            eve.name = "Eve"
            blues.set(Team.players, to: [player, eve])
            expectError("UNIQUE constraint failed: player.name") { try blues.save(db, with: Team.players) }
            #expect((try? player.team) === before)
            #expect(throws: RelationError.self) { try eve.team }
            withExtendedLifetime(kept) {}
        }
    }

    @Test("keeps what was loaded since, when the save is rolled back", .behaviour(65, 66))
    func loadedSince() throws {
        try Guild.database().write { db in
            let (player, _) = try Knowledge.record.player(db)
            let blues = try Team.find(db, key: 2)
            blues.set(Team.players, to: [player])
            var loaded: Team?
            try db.inSavepoint {
                try blues.save(db, with: Team.players)
                try db.load([player], Player.team, Player.weapons)
                loaded = try player.team
                return .rollback
            }
            // Records that were loaded in a transaction stay as they were read there.
            try #expect(player.team === loaded)
            try #expect(player.weapons.count == 2)
        }
    }

    @Test("keeps another object of the row that it refers to, and holds it", .behaviour(65))
    func sameRow() throws {
        try Guild.database().write { db in
            let player = try #require(try Player.including(Player.team).filter(key: 1).fetchOne(db))
            let own = try player.team
            do {
                let reds = try #require(try Team.including(Team.players).filter(key: 1).fetchOne(db))
                reds.set(Team.players, to: [player])
                try reds.save(db, with: Team.players)
                try #expect(player.team === own)
            }
            try #expect(player.team === own)
        }
    }

    @Test("refers to nothing, where it was removed from the list and nullified", .behaviour(65, 66))
    func nullified() throws {
        try Guild.database().write { db in
            let reds = try #require(try Team.including(Team.players).filter(key: 1).fetchOne(db))
            let players = try reds.players
            let loaded = Player.team.forKey("loadedTeam")
            try db.load([players[0]], loaded)
            reds.set(Team.players, to: [players[2]])
            try db.inSavepoint {
                try reds.save(db, with: Team.players, removed: .nullify)
                for player in players.prefix(2) {
                    #expect(player.teamID == nil)
                    try #expect(player.team == nil)
                }
                try #expect(players[0][loaded] == nil)
                // So it is when it is saved along with what it refers to.
                try players[1].save(db, with: Player.team)
                #expect(players[1].teamID == nil)
                return .rollback
            }
            for player in players { try #expect(player.team === reds) }
            try #expect(players[0][loaded]?.id == 1)
            try reds.save(db, with: Team.players, removed: .nullify)
            try #expect(players[1].team == nil)
            // And another one takes it.
            let blues = try Team.find(db, key: 2)
            blues.set(Team.players, to: [players[1]])
            try blues.save(db, with: Team.players)
            try #expect(players[1].team === blues)
        }
    }

    @Test("holds no team that it no longer refers to", .behaviour(65, 69))
    func freed() throws {
        let queue = try Guild.database()
        let blues = try queue.read { try Team.find($0, key: 2) }
        weak var gone: Team?
        let player = try queue.write { db in
            let player = try #require(try Player.including(Player.team).filter(key: 1).fetchOne(db))
            gone = try player.team
            blues.set(Team.players, to: [player])
            try blues.save(db, with: Team.players)
            return player
        }
        #expect(gone == nil)
        try #expect(player.team === blues)
    }

    @Test("of a list by another key leaves what is referred to by the first", .behaviour(65))
    func otherKey() throws {
        final class Club: Record {
            var id: Int64?
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
            }
        }
        final class Match: Record {
            static let home = belongsTo(Club.self, using: "homeID")
            static let guest = belongsTo(Club.self, using: "guestID")
            var id: Int64?
            var homeID: Int64?
            var guestID: Int64?
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("homeID", homeID) { homeID = $0 }
                try column("guestID", guestID) { guestID = $0 }
            }
        }
        let guestMatches = Club.hasMany(Match.self, using: "guestID")
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE club (id INTEGER PRIMARY KEY);
                    CREATE TABLE match (id INTEGER PRIMARY KEY, homeID REFERENCES club, guestID REFERENCES club);
                    INSERT INTO club VALUES (1), (2), (3);
                    INSERT INTO match VALUES (1, 1, 2);
                    """)
            let match = try #require(try Match.including(Match.home, Match.guest).fetchOne(db))
            let home = try match[Match.home]
            let third = try Club.find(db, key: 3)
            third.set(guestMatches, to: [match])
            try third.save(db, with: guestMatches)
            try #expect(match[Match.home] === home)
            try #expect(match[Match.guest] === third)
        }
    }
}
