import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Unusual changes of the database while relations of peers are kept.
@Suite("Relations of peers, while all changes") struct PeerChangesTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player

    /// Thirty teams, of which the nth has n % 3 players.
    private static let content = """
        DELETE FROM weapon; DELETE FROM player; DELETE FROM team;
        WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 30)
            INSERT INTO team SELECT i, 'team ' || i FROM n;
        INSERT INTO player (teamID, name) SELECT id, 'one' FROM team WHERE id % 3 > 0;
        INSERT INTO player (teamID, name) SELECT id, 'two' FROM team WHERE id % 3 > 1;
        """

    private func database() throws -> DatabaseQueue {
        let queue = try Guild.database()
        try queue.write { try $0.execute(sql: Self.content) }
        return queue
    }

    @Test("are looked for again after what a callback of a trigger has changed", .behaviour(64))
    func callback() throws {
        let queue = try database()
        try queue.inDatabase { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            let callback = try db.after(.insert, on: "weapon") { db, _ in
                // Loaded in the midst of a statement, which goes on.
                let teams = try Team.order { $0.id }.fetchAll(db)
                try teams[4].load(Team.players, db)
                let count = try teams[4].players.count
                try db.execute(sql: "UPDATE player SET name = name || '\(count)'")
                try teams[7].load(Team.players, db)
            }
            try teams[4].load(Team.players, db)
            try db.execute(sql: "INSERT INTO weapon (name) VALUES ('axe'), ('bow')")
            for team in teams {
                try team.load(Team.players, db)
                let names = try String.fetchAll(
                    db, sql: "SELECT name FROM player WHERE teamID = ? ORDER BY id", arguments: [team.id])
                try #expect(team.players.map(\.name) == names)
            }
            try db.remove(callback)
        }
    }

    @Test("are looked for again when a statement goes on that has written row by row", .behaviour(64))
    func withinStatement() throws {
        try database().inDatabase { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            let cursor = try Row.fetchCursor(
                db, sql: "INSERT INTO player (teamID, name) SELECT id, 'late' FROM team RETURNING id")
            _ = try cursor.next()
            try teams[4].load(Team.players, db)
            while try cursor.next() != nil {}
            try teams[5].load(Team.players, db)
            try #expect(teams[5].players.map(\.name) == ["late"])
        }
    }

    @Test("see what another connection has committed to an attached database", .behaviour(64))
    func attached() throws {
        let file = try TemporaryDatabase()
        let other = try file.queue()
        try other.write { try $0.execute(sql: "DROP TABLE player;" + Guild.schema + Self.content) }
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "ATTACH ? AS league", arguments: [file.path])
            let teams = try Team.order { $0.id }.fetchAll(db)
            try teams[4].load(Team.players, db)
            try teams[5].load(Team.players, db)
            try other.write { try $0.execute(sql: "INSERT INTO player (teamID, name) VALUES (9, 'late')") }
            try teams[8].load(Team.players, db)
            try #expect(teams[8].players.map(\.name) == ["late"])
        }
    }

    @Test("are looked for again once another file was attached, or a backup has replaced all", .behaviour(64))
    func replaced() throws {
        let empty = try Guild.database()
        try empty.write { try $0.execute(sql: Self.content + "UPDATE player SET name = 'other'") }
        try database().inDatabase { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            try teams[4].load(Team.players, db)
            try empty.inDatabase { try $0.backup(to: db) }
            try teams[7].load(Team.players, db)
            try #expect(teams[7].players.map(\.name) == ["other", "other"])
        }
    }

    @Test("see what a trigger, a cascade or REPLACE has changed, and what was undone", .behaviour(64))
    func changes() throws {
        try database().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER hire AFTER UPDATE ON team BEGIN
                        INSERT INTO player (teamID, name) VALUES (NEW.id, 'hired');
                    END
                    """)
            let teams = try Team.order { $0.id }.fetchAll(db)
            func check() throws {
                for team in teams {
                    try team.load(Team.players, db)
                    let names = try String.fetchAll(
                        db, sql: "SELECT name FROM player WHERE teamID = ? ORDER BY id", arguments: [team.id])
                    try #expect(team.players.map(\.name) == names)
                }
            }
            try check()
            try teams[3].load(Team.players, db)
            try db.execute(sql: "UPDATE team SET name = 'x' WHERE id > 20")
            try check()
            try teams[3].load(Team.players, db)
            try db.execute(
                sql: "REPLACE INTO player (id, teamID, name) SELECT id, teamID % 30 + 1, name FROM player")
            try check()
            for name in ["SAVEPOINT a", "BEGIN"] {
                try db.execute(sql: name)
                try db.execute(sql: "DELETE FROM player WHERE id % 2")
                try check()
                try teams[3].load(Team.players, db)
                try db.execute(sql: name == "BEGIN" ? "ROLLBACK" : "ROLLBACK TO a; RELEASE a")
                try check()
            }
        }
    }

    @Test("of one access are not those of the next one, whatever happens at its end", .behaviour(64, 69))
    func accesses() throws {
        let queue = try database()
        let teams = try queue.read { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            try teams[3].load(Team.players, db)
            return teams
        }
        try queue.inDatabase { db in #expect(db.relations.peers.isEmpty) }
        #expect(throws: TestError.self) {
            try queue.write { db in
                try teams[4].load(Team.players, db)
                #expect(!db.relations.peers.isEmpty)
                throw TestError()
            }
        }
        try queue.inDatabase { db in #expect(db.relations.peers.isEmpty) }
        try queue.inDatabase { db in
            try queue.unsafeReentrantWrite { db in try teams[6].load(Team.players, db) }
            try teams[7].load(Team.players, db)
            try #expect(teams[7].players.count == 2)
        }
        try queue.inDatabase { db in #expect(db.relations.peers.isEmpty) }
        try queue.close()
        expectError("the database :memory: is closed") {
            try queue.inDatabase { db in try db.load(teams, Team.players) }
        }
    }

    @Test("are loaded from another connection than the one that fetched them", .behaviour(64))
    func twoConnections() throws {
        let (one, other) = try (database(), database())
        try other.write { try $0.execute(sql: "UPDATE player SET name = 'other'") }
        let teams = try one.read { try Team.order { $0.id }.fetchAll($0) }
        try one.read { db in
            try teams[4].load(Team.players, db)
            try other.read { db in
                try teams[7].load(Team.players, db)
                try #expect(teams[7].players.map(\.name) == ["other", "other"])
            }
            try teams[10].load(Team.players, db)
            try #expect(teams[10].players.map(\.name) == ["one", "two"])
        }
    }

    @Test(
        "and lists are told apart: what is refined, sorted, nested or limited is another question",
        .behaviour(64))
    func refinements() throws {
        try database().read { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            func names(_ relation: HasMany<Player>) throws -> [[String]] {
                try teams.prefix(12).map { team in
                    try team.load(relation, db)
                    return try team[Team.players].map(\.name)
                }
            }
            let all = try names(Team.players.order(Column("id")))
            #expect(all[4] == ["one", "two"])
            try #expect(names(Team.players.order(Column("id").desc))[4] == ["two", "one"])
            try #expect(names(Team.players.order(Column("id")).limitPerParent(1))[4] == ["one"])
            try #expect(names(Team.players.filter(Column("name") == "two"))[4] == ["two"])
            try #expect(names(Team.players.filter(Column("name") == "one"))[4] == ["one"])
            try #expect(names(Team.players.filter(sql: "name = ?", arguments: ["two"]))[4] == ["two"])
            try #expect(names(Team.players.filter(sql: "name = ?", arguments: ["one"]))[4] == ["one"])
            try #expect(names(Team.players.filter(sql: "name = 'two'"))[4] == ["two"])
            _ = try names(Team.players.including(Player.weapons))
            _ = try teams[4].players[0].weapons
            _ = try names(Team.players.including(Player.weapons.limitPerParent(0), Player.team))
            try #expect(teams[4].players[0].team !== teams[4])
            _ = try names(Team.players)
            #expect(throws: RelationError.self) { try teams[4].players[0].weapons }
        }
    }

    // MARK: - Memory

    @Test("let go of everything, however many loads there were", .behaviour(64, 65))
    func memory() throws {
        let queue = try database()
        try queue.inDatabase { db in
            for round in 0..<200 {
                let teams = try Counted.order(Column("id")).fetchAll(db)
                for team in teams {
                    try team.load(Counted.players, db)
                    if round % 3 == 0 { try team.load(Counted.players.including(CountedPlayer.team), db) }
                    if round % 5 == 0 { try team.load(Counted.players, db) }
                }
            }
        }
        #expect(Counter.alive.value == 0)
    }

    enum Counter { static let alive = Shared<Int>(0) }

    final class Counted: Record {
        static let players = hasMany(CountedPlayer.self)
        var id: Int64?
        override class var databaseTableName: String { "team" }
        override init() {
            super.init()
            Counter.alive.withLock { $0 += 1 }
        }
        required init(row: Row) throws {
            try super.init(row: row)
            Counter.alive.withLock { $0 += 1 }
        }
        deinit { Counter.alive.withLock { $0 -= 1 } }
        override func updateFromRow(_ row: Row) throws { id = try row["id"] }
        override func encode(to container: inout PersistenceContainer) { container["id"] = id }
        override class var warnsOfChangesAfterFetch: Bool { false }
    }

    final class CountedPlayer: Record {
        static let team = belongsTo(Counted.self)
        var id: Int64?
        var teamID: Int64?
        override class var databaseTableName: String { "player" }
        override init() {
            super.init()
            Counter.alive.withLock { $0 += 1 }
        }
        required init(row: Row) throws {
            try super.init(row: row)
            Counter.alive.withLock { $0 += 1 }
        }
        deinit { Counter.alive.withLock { $0 -= 1 } }
        override func updateFromRow(_ row: Row) throws {
            id = try row["id"]
            teamID = try row["teamID"]
        }
        override func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["teamID"] = teamID
        }
    }

    // MARK: - Threads

    @Test("are freed on one thread while they are loaded on another", .behaviour(64, 69))
    func threads() async throws {
        for _ in 0..<30 {
            let queue = try database()
            // Records of one fetch share memory, and leave for two tasks.
            let (kept, given) = try await queue.read { db -> ([Team], [Team]) in
                let teams = try Team.order { $0.id }.fetchAll(db)
                return (Array(teams.prefix(15)), Array(teams.suffix(15)))
            }
            let box = Box(given)
            let task = Task.detached { [box] in
                for _ in 0..<15 { box.records.removeLast() }
            }
            try queue.inDatabase { db in
                for team in kept {
                    try team.load(Team.players, db)
                    try #expect(team.players.count == Int(team.id ?? 0) % 3)
                }
            }
            await task.value
        }
    }

    /// Records that another task owns.
    final class Box: @unchecked Sendable {  // one task uses it
        var records: [Team]
        init(_ records: [Team]) { self.records = records }
    }
}
