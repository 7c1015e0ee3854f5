import Shellac
import TestSupport
import Testing

@Suite("Saving a graph") struct GraphSaveTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player
    typealias Weapon = Guild.Weapon

    private func player(_ name: String) -> Player {
        let player = Player()
        player.name = name
        return player
    }

    private func names(_ db: Database, _ team: Int64?) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM player WHERE teamID IS ? ORDER BY name", arguments: [team])
    }

    @Test("saves those that are referred to first, and fills their keys in", .behaviour(66))
    func inserted() throws {
        try Guild.database().write { db in
            let (team, arthur) = (Team(), player("Anna"))
            team.name = "Greens"
            let axe = Weapon()
            axe.name = "axe"
            arthur.set(Player.weapons, to: [axe])
            team.set(Team.players, to: [arthur, player("Bert")])
            try team.save(db, with: Team.players.including(Player.weapons))
            try #expect(names(db, team.id) == ["Anna", "Bert"])
            #expect(arthur.teamID == team.id)
            #expect(axe.playerID == arthur.id)
            #expect(!arthur.hasDatabaseChanges)

            let (ship, clara) = (Team(), player("Clara"))
            clara.set(Player.team, to: ship)
            try clara.save(db, with: Player.team)
            #expect(ship.id != nil)
            #expect(clara.teamID == ship.id)
            clara.set(Player.team, to: nil)
            try clara.save(db, with: Player.team)
            #expect(clara.teamID == nil)
            try #expect(names(db, nil) == ["Clara", "Frank"])
        }
    }

    @Test("saves the one record that refers to another, and takes none for none", .behaviour(66))
    func insertedOne() throws {
        try Guild.database().write { db in
            let (team, dora) = (Team(), player("Dora"))
            dora.isCaptain = true
            team.name = "Greens"
            team.set(Team.captain, to: dora)
            let captain = try team.captain
            #expect(captain === dora)
            try team.save(db, with: Team.captain)
            #expect(dora.teamID == team.id && team.id != nil)
            team.set(Team.captain, to: nil)
            try #expect(team.captain == nil)
            try team.save(db, with: Team.captain, removed: .nullify)
            try #expect(Int.fetchOne(db, sql: "SELECT teamID FROM player WHERE name = 'Dora'") == nil)
        }
    }

    @Test(
        "does with removed rows what was asked", .behaviour(66),
        arguments: [RemovedRecords.keep, .nullify, .delete])
    func removed(_ removed: RemovedRecords) throws {
        try Guild.database().write { db in
            let team = try #require(try Team.including(Team.players).filter(key: 1).fetchOne(db))
            let players = try team.players
            team.set(Team.players, to: [players[0]])
            try team.save(db, with: Team.players, removed: removed)
            let all = try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name")
            switch removed {
            case .keep: try #expect(names(db, 1) == ["Arthur", "Barbara", "Craig"])
            case .nullify: try #expect(names(db, nil) == ["Barbara", "Craig", "Frank"])
            case .delete: #expect(all == ["Arthur", "David", "Eve", "Frank"])
            }
            // A removed record is not removed again.
            try db.execute(sql: "UPDATE player SET teamID = 1")
            try team.save(db, with: Team.players, removed: removed)
            try #expect(names(db, 1).count == all.count)
        }
    }

    @Test("leaves rows alone that have left the relation, and those that it never saw", .behaviour(66))
    func strangers() throws {
        try Guild.database().write { db in
            let team = try #require(try Team.including(Team.players).filter(key: 1).fetchOne(db))
            try db.execute(sql: "UPDATE player SET teamID = 2 WHERE name = 'Craig'")
            try db.execute(sql: "INSERT INTO player (teamID, name) VALUES (1, 'Gina')")
            // Another object of the same row is still in the list.
            let barbara = try Player.find(db, key: 2)
            team.set(Team.players, to: [barbara])
            try team.save(db, with: Team.players, removed: .delete)
            try #expect(names(db, 1) == ["Barbara", "Gina"])
            try #expect(names(db, 2) == ["Craig", "David", "Eve"])
        }
    }

    @Test("removes nothing from a list that was given, and never loaded", .behaviour(66))
    func neverLoaded() throws {
        try Guild.database().write { db in
            let team = try Team.find(db, key: 1)
            team.name = "Changed"
            team.set(Team.players, to: [])
            #expect(throws: RelationError.self) { try team.save(db, with: Team.players, removed: .delete) }
            try #expect(Team.find(db, key: 1).name == "Reds")
            try team.save(db, with: Team.players)
            try #expect(names(db, 1).count == 3)
            let other = try Team.find(db, key: 2)
            #expect(throws: RelationError.self) { try other.save(db, with: Team.players) }
        }
    }

    @Test("is undone as a whole: rows, keys, and what lists held", .behaviour(66))
    func undone() throws {
        try Guild.database().write { db in
            try db.execute(sql: "CREATE UNIQUE INDEX playerByName ON player(name)")
            let (team, anna, bert) = (Team(), player("Anna"), player("Arthur"))
            team.set(Team.players, to: [anna, bert])
            expectError("UNIQUE constraint failed: player.name") { try team.save(db, with: Team.players) }
            #expect(team.id == nil)
            #expect(anna.id == nil && anna.teamID == nil && bert.teamID == nil)
            #expect(team.hasDatabaseChanges && anna.hasDatabaseChanges)
            try #expect(names(db, nil) == ["Frank"])

            let reds = try #require(try Team.including(Team.players).filter(key: 1).fetchOne(db))
            let craig = try #require(try reds.players.last)
            reds.set(Team.players, to: try reds.players.dropLast())
            try db.inSavepoint {
                try reds.save(db, with: Team.players, removed: .nullify)
                #expect(craig.teamID == nil)
                return .rollback
            }
            #expect(craig.teamID == 1)
            try reds.save(db, with: Team.players, removed: .nullify)
            try #expect(names(db, nil) == ["Craig", "Frank"])
        }
    }
}
