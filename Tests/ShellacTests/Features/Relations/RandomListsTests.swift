import Foundation
import Shellac
import TestSupport
import Testing

/// One seed, one list of records of all sorts: saved along with a team, it leaves what a loop of
/// saves leaves, or nothing.
@Suite("Random lists") struct RandomListsTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player

    @Test("are saved as a loop would save them, or not at all", .behaviour(66))
    func lists() throws {
        for seed in SeededGenerator.seeds("LIST", count: 150) {
            let graph = try Side(seed: seed)
            let loop = try Side(seed: seed)
            let before = graph.values
            let isSaved = try graph.save { db, team, players in
                team.set(Team.players, to: players)
                try team.save(db, with: Team.players)
            }
            let isLoopSaved = try loop.save { db, team, players in
                try team.save(db)
                for player in players {
                    player.teamID = team.id
                    if player.hasDatabaseChanges { try player.save(db) }
                }
            }
            #expect(isSaved == isLoopSaved, "seed \(seed)")
            try #expect(graph.rows() == loop.rows(), "seed \(seed)")
            if isSaved {
                #expect(graph.values == loop.values, "seed \(seed)")
                #expect(graph.players.allSatisfy { !$0.hasDatabaseChanges }, "seed \(seed)")
            } else {
                #expect(graph.values == before, "seed \(seed)")
            }
        }
    }

    /// A database, a team, and a list, which the same seed makes again.
    private final class Side {
        let queue: DatabaseQueue
        let team: Team
        let players: [Player]
        private let isRolledBack: Bool

        init(seed: UInt64) throws {
            var random = SeededGenerator(seed: seed)
            func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
            queue = try Guild.database()
            isRolledBack = chance(4)
            let isUnique = chance(2)
            let hasTrigger = chance(5)
            let (teamID, length) = (
                Int64.random(in: 1...6, using: &random), Int.random(in: 0...9, using: &random)
            )
            try queue.write { db in
                if isUnique { try db.execute(sql: "CREATE UNIQUE INDEX one ON player(name)") }
                if hasTrigger {
                    try db.execute(
                        sql: """
                            CREATE TRIGGER more AFTER INSERT ON player WHEN NEW.score = 3 BEGIN
                                INSERT INTO player (name) VALUES ('twin of ' || NEW.id);
                            END
                            """)
                }
                if chance(3) { try db.execute(sql: "DELETE FROM player WHERE id > 4") }
            }
            let team = try queue.read { try Team.fetchOne($0, key: teamID) } ?? Team()
            team.name = "T"
            var players: [Player] = []
            for number in 0..<length {
                let player: Player
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    let id = Int64.random(in: 1...7, using: &random)
                    player = try queue.read { try Player.fetchOne($0, key: id) } ?? Player()
                    if chance(2) { player.score += 1 }
                case 1 where !players.isEmpty:
                    player = players[Int.random(in: 0..<players.count, using: &random)]
                case 2:
                    player = Player()
                    player.id = Int64.random(in: 1...12, using: &random)
                case 3: player = Guild.Goalkeeper()
                default: player = Player()
                }
                if player.name.isEmpty {
                    player.name = chance(12) ? "Eve" : "P\(number)"
                    player.score = Int.random(in: 0...3, using: &random)
                    if chance(4) { player.teamID = Int64.random(in: 1...4, using: &random) }
                }
                players.append(player)
            }
            (self.team, self.players) = (team, players)
        }

        /// Returns whether all was saved, and is there still.
        func save(_ body: (Database, Team, [Player]) throws -> Void) throws -> Bool {
            var isSaved = false
            do {
                try queue.write { db in
                    do {
                        try db.inSavepoint {
                            try body(db, team, players)
                            return .commit
                        }
                        isSaved = true
                    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {}
                    if isRolledBack { throw TestError(1) }
                }
            } catch is TestError { isSaved = false }
            return isSaved
        }

        /// The values of the objects.
        var values: [String] {
            ["\(team.id as Int64?)"]
                + players.map {
                    "\($0.id as Int64?) \($0.teamID as Int64?) \($0.name) \($0.hasDatabaseChanges)"
                }
        }

        func rows() throws -> [Row] {
            try queue.read { db in
                try Row.fetchAll(db, sql: "SELECT * FROM player ORDER BY id")
                    + Row.fetchAll(db, sql: "SELECT * FROM team ORDER BY id")
            }
        }
    }
}
