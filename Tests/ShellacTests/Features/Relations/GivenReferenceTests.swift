import Shellac
import TestSupport
import Testing

/// A record that was given the one that it refers to, and is saved alone.
@Suite("A relation that was set, of a record that is saved without it")
struct GivenReferenceTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player

    /// A class that fills its foreign key in by itself.
    final class Loyal: Guild.Player {
        static let loyalTo = belongsTo(Team.self)

        override func willSave(_ db: Database) throws { teamID = try self[Loyal.loyalTo]?.id }
    }

    /// Every way to save a record that has no row.
    static let ways: [@Sendable (Player, Database) throws -> Void] = [
        { try $0.save($1) }, { try $0.insert($1) }, { try $0.upsert($1) }, { try Player.insertAll($1, [$0]) },
        { try $0.insert($1, refreshing: true) }, { _ = try $0.insertAndFetch($1) },
    ]

    private static func player(_ name: String, _ team: Team?) -> Player {
        let player = Player()
        player.name = name
        player.set(Player.team, to: team)
        return player
    }

    private func refusal(_ words: String..., body: () throws -> Void) {
        do {
            try body()
            Issue.record("nothing was refused")
        } catch {
            for word in words { #expect("\(error)".contains(word), "\(error)") }
        }
    }

    @Test("is refused where the other one has no key: both are named, and nothing is stored", .behaviour(66))
    func unsaved() throws {
        let queue = try Guild.database()
        for way in Self.ways {
            let player = Self.player("Zoe", Team())
            refusal(
                "Player.team: the Player would be saved with NULL in teamID",
                "the Team that it was set to has no key yet",
                "Save that first, and set teamID, or save both with save(db, with: Player.team)"
            ) { try queue.write { try way(player, $0) } }
            #expect(player.id == nil)
        }
        try queue.read { try #expect(Player.filter { $0.name == "Zoe" }.isEmpty($0)) }
    }

    @Test("is refused where the other one's key was not taken, unless both are saved", .behaviour(66))
    func saved() throws {
        try Guild.database().write { db in
            let team = try #require(try Team.fetchOne(db, key: 2))
            for way in Self.ways {
                let player = Self.player("Zoe", team)
                refusal("its key was not filled in from the Team", "set teamID, or save both") {
                    try way(player, db)
                }
                player.teamID = 1
                // The column was set by hand, and counts.
                try way(player, db)
                try #expect(Player.filter { $0.name == "Zoe" }.fetchOne(db)?.teamID == 1)
                try Player.filter { $0.name == "Zoe" }.deleteAll(db)
            }
            let player = Self.player("Zoe", team)
            try player.save(db, with: Player.team)
            #expect(player.teamID == 2)
            player.teamID = nil
            // It was saved along: what is set by hand later counts.
            try player.save(db)
            let free = Self.player("Yves", nil)
            try free.save(db)
            #expect(free.teamID == nil && free.id != nil)
        }
    }

    @Test("is refused by updates, too, where they write the key, or nothing", .behaviour(66))
    func updates() throws {
        try Guild.database().write { db in
            let frank = try #require(try Player.fetchOne(db, key: 6))
            frank.set(Player.team, to: Team())
            refusal("Player.team") { try frank.update(db) }
            refusal("Player.team") { try frank.save(db) }
            refusal("Player.team") { _ = try frank.updateChanges(db) }
            refusal("Player.team") { try frank.update(db, columns: ["teamID"]) }
            // A save that does not write the key is not concerned.
            frank.score = 61
            try frank.update(db, columns: ["score"])
            frank.set(Player.team, to: nil)
            #expect(try !frank.updateChanges(db))
            try frank.update(db)
            try #expect(Player.fetchOne(db, key: 6)?.score == 61)
            // A record that was fetched without its key says nothing of it.
            let partial = try #require(
                try Player.select(Column("id"), Column("name")).filter(key: 1).fetchOne(db))
            partial.set(Player.team, to: try Team.fetchOne(db, key: 1))
            #expect(try !partial.updateChanges(db))
            partial.name = "Art"
            try partial.update(db)
            try #expect(Player.fetchOne(db, key: 1)?.teamID == 1)
        }
    }

    @Test("is saved where a callback fills the key in", .behaviour(35, 66))
    func callbacks() throws {
        try Guild.database().write { db in
            let loyal = Loyal()
            loyal.name = "Zoe"
            loyal.set(Loyal.loyalTo, to: try Team.fetchOne(db, key: 2))
            try loyal.save(db)
            try #expect(Player.fetchOne(db, key: loyal.id)?.teamID == 2)
        }
    }

    @Test("is refused where the record stays with its owner, too, whose copy has no relation", .behaviour(66))
    func held() async throws {
        let queue = try Guild.database()
        let player = Self.player("Zoe", Team())
        for save in [
            { try await $0.save(in: $1) }, { try await $0.insert(in: $1) },
            { try await $1.save([$0]) },
        ] as [(Player, DatabaseQueue) async throws -> Void] {
            do {
                try await save(player, queue)
                Issue.record("nothing was refused")
            } catch {
                #expect(
                    "\(error)".contains("Player.team: the Player would be saved with NULL in teamID"),
                    "\(error)")
            }
        }
        #expect(player.id == nil)
        player.teamID = 2
        try await player.save(in: queue)
        player.set(Player.team, to: nil)
        player.teamID = nil
        try await player.save(in: queue)
        let id = try #require(player.id)
        try await queue.read { db in
            let saved = try #require(try Player.fetchOne(db, key: id))
            #expect(saved.teamID == nil)
            #expect(throws: RelationError.self) { try saved.team }
        }
    }
}
