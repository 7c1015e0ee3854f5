import Shellac
import TestSupport

/// The records of the suites on relations: teams, their players, and what these carry.
enum Guild {
    class Team: Record {
        static let players = hasMany(Player.self)
        static let captain = hasOne(Player.self).filter { $0.isCaptain == true }
        static let best = players.order { $0.score.desc }.limitPerParent(2).forKey("best")

        var id: Int64?
        var name = ""

        override class var databaseTableName: String { "team" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }

        var players: [Player] { get throws { try self[Team.players] } }
        var captain: Player? { get throws { try self[Team.captain] } }
        var best: [Player] { get throws { try self[Team.best] } }
    }

    class Player: Record {
        static let team = belongsTo(Team.self)
        static let weapons = hasMany(Weapon.self)

        var id: Int64?
        var teamID: Int64?
        var name = ""
        var score = 0
        var isCaptain = false

        override class var databaseTableName: String { "player" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("teamID", teamID) { teamID = $0 }
            try column("name", name) { name = $0 }
            try column("score", score) { score = $0 }
            try column("isCaptain", isCaptain) { isCaptain = $0 }
        }

        var team: Team? { get throws { try self[Player.team] } }
        var weapons: [Weapon] { get throws { try self[Player.weapons] } }
    }

    final class Goalkeeper: Player {}

    final class Weapon: Record {
        static let owner = belongsTo(Player.self)

        var id: Int64?
        var playerID: Int64?
        var name = ""

        override class var databaseTableName: String { "weapon" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("playerID", playerID) { playerID = $0 }
            try column("name", name) { name = $0 }
        }

        var owner: Player? { get throws { try self[Weapon.owner] } }
    }

    static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE player (
            id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team(id), name TEXT NOT NULL,
            score INTEGER NOT NULL DEFAULT 0, isCaptain BOOLEAN NOT NULL DEFAULT 0);
        CREATE INDEX playerByTeam ON player(teamID);
        CREATE TABLE weapon (
            id INTEGER PRIMARY KEY, playerID INTEGER REFERENCES player(id) ON DELETE CASCADE, name TEXT NOT NULL);
        INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues'), (3, 'Nobody');
        INSERT INTO player VALUES
            (1, 1, 'Arthur', 10, 0), (2, 1, 'Barbara', 30, 1), (3, 1, 'Craig', 20, 0),
            (4, 2, 'David', 40, 0), (5, 2, 'Eve', 50, 0), (6, NULL, 'Frank', 60, 0);
        INSERT INTO weapon VALUES (1, 1, 'axe'), (2, 1, 'bow'), (3, 4, 'club'), (4, NULL, 'dagger');
        """

    static func database(_ spy: SQLSpy? = nil) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: spy?.configuration() ?? Configuration())
        try queue.write { try $0.execute(sql: schema) }
        spy?.removeAll()
        return queue
    }
}
