import TestSupport
import Testing

@testable import Shellac

@Suite("Relations of peers") struct PeerLoadingTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player

    private func database(_ spy: SQLSpy, teams: Int) throws -> DatabaseQueue {
        let queue = try Guild.database(spy)
        try queue.write { db in
            try db.execute(sql: "DELETE FROM weapon; DELETE FROM player; DELETE FROM team")
            for id in 1...teams {
                try db.execute(sql: "INSERT INTO team VALUES (?, 'a team')", arguments: [id])
                for number in 0..<id % 3 {
                    try db.execute(
                        sql: "INSERT INTO player (teamID, name) VALUES (?, ?)", arguments: [id, "\(number)"])
                }
            }
        }
        return queue
    }

    @Test(
        "are loaded by a loop in windows of some hundreds", .behaviour(64), arguments: [1, 2, 30, 600, 2000])
    func windows(_ count: Int) throws {
        let spy = SQLSpy()
        let queue = try database(spy, teams: count)
        try queue.read { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            spy.removeAll()
            for team in teams {
                try team.load(Team.players, db)
                try #expect(team.players.count == Int(team.id ?? 0) % 3)
            }
            // The first record of a fetch is loaded alone.
            #expect(spy.selections.count <= 1 + (count + FetchWindow.rowCount - 1) / FetchWindow.rowCount)
            spy.removeAll()
            for team in teams.suffix(20) { try team.load(Team.players, db, .single) }
            #expect(spy.selections.count == min(count, 20))
        }
    }

    @Test("tell apart what is derived from one relation, and know what is derived twice", .behaviour(64))
    func derived() throws {
        let spy = SQLSpy()
        try database(spy, teams: 30).read { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            for team in teams.dropFirst() {
                let count = Int(team.id ?? 0) % 3
                try team.load(Team.players, db)
                try #expect(team.players.count == count)
                let other = Team.players.filter { $0.name == "0" }.forKey("zeros")
                try team.load(other, db)
                try #expect(team[other].count == min(count, 1))
                try team.load(Team.players.limitPerParent(1), db)
                try #expect(team.players.count == min(count, 1))
                try team.load(Team.players.including(Player.weapons), db)
                try #expect(team.players.count == count)
                for player in try team.players { try #expect(player.weapons.isEmpty) }
            }
            // Each is derived anew in each round. The keys of its own apart, it is the same one.
            let selections = spy.selections
            #expect(selections.filter { $0.contains("shellac_rank") }.count == 1)
            #expect(selections.filter { $0.contains("\"weapon\"") }.count == 1)
            #expect(selections.filter { $0.contains("\"player\"") && !$0.contains("= '0'") }.count <= 3 + 29)
        }
    }

    @Test("share the record that several refer to", .behaviour(64, 65))
    func referred() throws {
        let spy = SQLSpy()
        try database(spy, teams: 30).read { db in
            let players = try Player.order { $0.id }.fetchAll(db)
            spy.removeAll()
            for player in players { try player.load(Player.team, db) }
            #expect(spy.selections.count == 2)
            for player in players { try #expect(player.team?.id == player.teamID) }
            let late = players.suffix(8)
            for (a, b) in zip(late, late.dropFirst()) where a.teamID == b.teamID {
                try #expect(a.team === b.team)
            }
        }
    }

    @Test("are looked for again once the database has changed", .behaviour(64), arguments: [true, false])
    func changed(isInTransaction: Bool) throws {
        let spy = SQLSpy()
        let queue = try database(spy, teams: 30)
        func check(_ db: Database) throws {
            let teams = try Team.order { $0.id }.fetchAll(db)
            for team in teams.prefix(3) { try team.load(Team.players, db) }
            try db.execute(sql: "INSERT INTO player (teamID, name) SELECT id, 'new' FROM team")
            for team in teams.suffix(3) {
                try team.load(Team.players, db)
                try #expect(team.players.count == Int(team.id ?? 0) % 3 + 1)
            }
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM player")
                try teams[10].load(Team.players, db)
                try #expect(teams[10].players.isEmpty)
                return .rollback
            }
            try teams[11].load(Team.players, db)
            try #expect(teams[11].players.count == 1)
            // A relation that is refined is another question.
            try teams[12].load(Team.players.filter { $0.name == "new" }, db)
            try #expect(teams[12].players.count == 1)
            try teams[13].load(Team.players.filter { $0.name == "0" }, db)
            try #expect(teams[13].players.count == 1)
        }
        if isInTransaction { try queue.write(check) } else { try queue.inDatabase(check) }
    }

    @Test("see what another connection has committed", .behaviour(64))
    func otherConnection() throws {
        let file = try TemporaryDatabase()
        let (queue, other) = try (file.queue(), file.queue())
        try queue.write { db in
            try db.execute(sql: "DROP TABLE player;" + Guild.schema)
            for id in 4...20 { try db.execute(sql: "INSERT INTO team VALUES (?, 'more')", arguments: [id]) }
        }
        try queue.inDatabase { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            for team in teams.prefix(3) { try team.load(Team.players, db) }
            try other.write { try $0.execute(sql: "INSERT INTO player (teamID, name) VALUES (9, 'late')") }
            try teams[8].load(Team.players, db)
            try #expect(teams[8].players.map(\.name) == ["late"])
        }
    }

    @Test("are kept until the access ends, and keep no record alive that was freed", .behaviour(64, 69))
    func freed() throws {
        let spy = SQLSpy()
        let queue = try database(spy, teams: 30)
        var teams = try queue.read { db in try Team.order { $0.id }.fetchAll(db) }
        weak let last = teams[29]
        try queue.read { db in
            try teams[4].load(Team.players, db)
            #expect(db.relations.peers.count == 1)
            teams.removeLast()
            #expect(last == nil)
        }
        try queue.read { db in #expect(db.relations.peers.isEmpty) }
        // A record that was saved remembers a row of its own.
        try queue.write { db in
            teams[6].name = "saved"
            try teams[6].save(db)
            try teams[6].load(Team.players, db)
            #expect(db.relations.peers.isEmpty)
            try #expect(teams[6].players.count == 1)
        }
    }

    @Test(
        "are loaded anew for another object of the same row, and for a key that has changed", .behaviour(64))
    func twice() throws {
        let spy = SQLSpy()
        try database(spy, teams: 30).read { db in
            let teams = try Team.order { $0.id }.fetchAll(db)
            try teams[4].load(Team.players, db)
            let first = try teams[4].players
            try teams[4].load(Team.players, db)
            try #expect(zip(first, teams[4].players).allSatisfy { $0 !== $1 })
            teams[7].id = 1
            try teams[7].load(Team.players, db)
            try #expect(teams[7].players.count == 1)
            teams[8].id = nil
            try teams[8].load(Team.players, db)
            try #expect(teams[8].players.isEmpty)
        }
    }

    /// A player that cannot be made of a row without a score, nor of one that a weapon of no use
    /// belongs to.
    private final class Picky: Record {
        static let team = belongsTo(Guild.Team.self)
        static let weapons = hasMany(Sharp.self, using: ["playerID"])
        var id: Int64?
        var teamID: Int64?
        var score = 0
        override class var databaseTableName: String { "player" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("teamID", teamID) { teamID = $0 }
            try column("score", score) {
                if $0 < 0 { throw TestError(Int(teamID ?? 0)) }
                score = $0
            }
        }
    }

    private final class Sharp: Record {
        override class var databaseTableName: String { "weapon" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column.reading("name") { (name: String) in if name == "blunt" { throw TestError(-1) } }
        }
    }

    /// The faults that make a peer's row unreadable.
    enum Fault: CaseIterable { case ownRow, joinedRow, nestedRow, statement }

    @Test(
        "are not loaded where their rows cannot be read, which harms no other one, and say why themselves",
        .behaviour(64), arguments: Fault.allCases)
    func unreadable(_ fault: Fault) throws {
        let spy = SQLSpy()
        let queue = try database(spy, teams: 30)
        try queue.write { db in
            try db.execute(sql: "UPDATE player SET score = -1 WHERE teamID IN (8, 17)")
            try db.execute(
                sql: "INSERT INTO weapon (playerID, name) SELECT id, 'blunt' FROM player WHERE score < 0")
            try db.add(
                function: DatabaseFunction("test", argumentCount: 1) { values in
                    if Int.fromDatabaseValue(values[0]) ?? 0 < 0 { throw TestError(-1) }
                    return true
                })
            let relation =
                switch fault {
                case .ownRow: Team.hasMany(Picky.self)
                case .joinedRow:
                    Team.hasMany(Picky.self).select(Column("id"), Column("teamID"))
                        .including(optional: Picky.hasOne(Picky.self, using: ForeignKey(["id"], to: ["id"])))
                case .nestedRow:
                    Team.hasMany(Picky.self).select(Column("id"), Column("teamID"))
                        .including(Picky.weapons)
                case .statement:
                    Team.hasMany(Picky.self).select(Column("id"), Column("teamID"))
                        .filter(sql: "test(score)")
                }
            let teams = try Team.order { $0.id }.fetchAll(db)
            spy.removeAll()
            var failed: [Int64] = []
            for team in teams {
                do {
                    try team.load(relation, db)
                    try #expect(team[relation].count == Int(team.id ?? 0) % 3)
                } catch {
                    #expect(!(error is RelationError))
                    failed.append(team.id ?? 0)
                    #expect(throws: RelationError.self) { try team[relation] }
                }
            }
            #expect(failed == [8, 17])
            // Of a row that cannot be read, it is known whose it is.
            if fault == .ownRow || fault == .joinedRow { #expect(spy.selections.count == 1 + 1 + 2) }
            // Rows that can be read again are.
            try db.execute(sql: "UPDATE player SET score = 1; DELETE FROM weapon")
            try teams[7].load(relation, db)
            try #expect(teams[7][relation].count == 2)
        }
    }

    @Test("refer to one that cannot be read, and say why themselves", .behaviour(64))
    func unreadableReferred() throws {
        final class Named: Record {
            override class var databaseTableName: String { "team" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column.reading("name") { (name: String) in if name == "none" { throw TestError(1) } }
            }
        }
        let relation = Player.belongsTo(Named.self)
        let spy = SQLSpy()
        try database(spy, teams: 30).inDatabase { db in
            try db.execute(sql: "UPDATE team SET name = 'none' WHERE id = 8")
            let players = try Player.order { $0.id }.fetchAll(db)
            for player in players.dropFirst() {
                if player.teamID == 8 {
                    #expect(throws: TestError(1)) { try player.load(relation, db) }
                } else {
                    try player.load(relation, db)
                    try #expect(player[relation] != nil)
                }
            }
        }
    }
}
