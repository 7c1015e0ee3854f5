import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Loading where other things are on their way.
@Suite("Relations that are loaded in the midst of things", .serialized) struct LoadingReentranceTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player
    typealias Weapon = Guild.Weapon

    /// The connection by which the records below load, on the thread of the access.
    nonisolated(unsafe) static var db: Database?
    nonisolated(unsafe) static var whenFreed: ((Database) -> Void)?
    nonisolated(unsafe) static var isLoading = false

    /// A team that loads when it is made, and when it is freed.
    final class Eager: Record {
        static let players = hasMany(EagerPlayer.self)
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "team" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    final class EagerPlayer: Record {
        static let team = belongsTo(Eager.self)
        static let mates = hasMany(EagerPlayer.self, using: ForeignKey(["teamID"], to: ["teamID"]))
        var id: Int64?
        var teamID: Int64?
        var name = ""
        override class var databaseTableName: String { "player" }

        override init() { super.init() }

        required init(row: Row) throws {
            try super.init(row: row)
            guard let db = LoadingReentranceTests.db, !LoadingReentranceTests.isLoading else { return }
            LoadingReentranceTests.isLoading = true
            defer { LoadingReentranceTests.isLoading = false }
            // The same relation, by the same statement, while it runs.
            let teams = try Eager.order(Column("id")).fetchAll(db)
            try db.load(teams, Eager.players)
            for team in teams { try team.load(Eager.players, db) }
            try load(EagerPlayer.team, db)
        }

        override func updateFromRow(_ row: Row) throws {
            id = try row["id"]
            teamID = try row["teamID"]
            name = try row["name"]
        }

        override func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["teamID"] = teamID
            container["name"] = name
        }

        deinit {
            guard let db = LoadingReentranceTests.db else { return }
            LoadingReentranceTests.whenFreed?(db)
        }
    }

    private func clear() {
        Self.db = nil
        Self.whenFreed = nil
    }

    @Test("as a record of it is made", .behaviour(63, 64))
    func made() throws {
        defer { clear() }
        try Guild.database().read { db in
            Self.db = db
            let teams = try Eager.including(Eager.players.order(Column("id"))).order(Column("id")).fetchAll(
                db)
            try #expect(teams.map { try $0[Eager.players].compactMap(\.id) } == [[1, 2, 3], [4, 5], []])
            for team in teams {
                for player in try team[Eager.players] { try #expect(player[EagerPlayer.team]?.id == team.id) }
            }
            let others = try Eager.order(Column("id")).fetchAll(db)
            for team in others { try team.load(Eager.players, db) }
            try #expect(others.map { try $0[Eager.players].count } == [3, 2, 0])
            Self.db = nil
        }
    }

    @Test("as records are freed that were kept for peers", .behaviour(64))
    func freed() throws {
        defer { clear() }
        let queue = try Guild.database()
        try queue.write { db in
            for id in 4...40 { try db.execute(sql: "INSERT INTO team VALUES (?, 'x')", arguments: [id]) }
            try db.execute(sql: "INSERT INTO player (teamID, name) SELECT id, 'y' FROM team")
        }
        try queue.inDatabase { db in
            let teams = try Eager.order(Column("id")).fetchAll(db)
            let others = try Team.order { $0.id }.fetchAll(db)
            Self.isLoading = true
            defer { Self.isLoading = false }
            Self.db = db
            var isInside = false
            Self.whenFreed = { db in
                if isInside { return }
                isInside = true
                defer { isInside = false }
                do {
                    try others[5].load(Team.players, db)
                    try #expect(others[5].players.count == 1)
                    try teams[9].load(Eager.players, db)
                } catch {
                    Issue.record(error)
                }
            }
            try teams[4].load(Eager.players, db)
            // The kept objects are replaced, which frees records that the program never asked for.
            try db.execute(sql: "UPDATE player SET score = 7")
            try teams[5].load(Eager.players, db)
            // A record's list is replaced.
            try teams[5].load(Eager.players, db)
            teams[5].set(Eager.players, to: [])
            try db.load(teams, Eager.players)
            try teams[6].load(Eager.players, db)
            Self.whenFreed = nil
        }
        try queue.inDatabase { db in #expect(db.relations.peers.isEmpty) }
    }

    @Test("as the list is replaced that the freed record was in")
    func freedFromList() throws {
        defer { clear() }
        try Guild.database().inDatabase { db in
            Self.isLoading = true
            defer { Self.isLoading = false }
            let team = try #require(try Eager.including(Eager.players).fetchOne(db))
            Self.db = db
            Self.whenFreed = { _ in
                _ = try? team[Eager.players].count
                team.set(Eager.players, to: [])
            }
            team.set(Eager.players, to: [])
            Self.whenFreed = nil
            try #expect(team[Eager.players].isEmpty)
        }
    }

    // MARK: - Transactions

    @Test("in an observer of a transaction that has committed", .behaviour(52, 63))
    func committed() throws {
        let queue = try Guild.database()
        let spy = ObserverSpy()
        var count = 0
        spy.onCommit = { db in
            count += 1
            guard count < 5 else { return }
            do {
                let teams = try Team.including(Team.players).order { $0.id }.fetchAll(db)
                try db.load(teams, Team.captain)
                try teams[0].load(Team.best, db)
                try #expect(teams[0].players.count == 3)
            } catch {
                Issue.record(error)
            }
        }
        try queue.inDatabase { db in
            db.add(transactionObserver: spy, extent: .databaseLifetime)
            try db.execute(sql: "UPDATE team SET name = 'x'")
            #expect(count == 1)
            #expect(spy.removeAll().count { $0 == "didCommit" } == 1)
            // A read commits nothing.
            let teams = try Team.fetchAll(db)
            try db.load(teams, Team.players)
            _ = try Team.including(Team.players).fetchAll(db)
            #expect(spy.removeAll().isEmpty)
        }
    }

    @Test("after a commit, by a closure that was left with the transaction", .behaviour(54, 63))
    func afterCommit() throws {
        let queue = try Guild.database()
        var found: [Int] = []
        try queue.write { db in
            db.afterNextTransaction { db in
                do {
                    let teams = try Team.including(Team.players).order { $0.id }.fetchAll(db)
                    found = try teams.map { try $0.players.count }
                } catch {
                    Issue.record(error)
                }
            }
            try db.execute(sql: "DELETE FROM player WHERE id = 1")
        }
        #expect(found == [2, 2, 0])
    }

    @Test("in a loop over a cursor, outside of a transaction", .behaviour(63))
    func cursor() throws {
        try Guild.database().inDatabase { db in
            let cursor = try Team.order { $0.id }.fetchCursor(db)
            var found: [[String]] = []
            while let team = try cursor.next() {
                try db.load([team], Team.players)
                try team.load(Team.captain, db)
                // One that fails, in between.
                expectError("no such column: nonsense, in the table player") {
                    try db.load([team], Team.players.filter(sql: "nonsense = 1"))
                }
                try found.append(team.players.map(\.name))
            }
            #expect(found.map(\.count) == [3, 2, 0])
            try #expect(db.isUsable())
            // A cursor that writes.
            let writing = try Team.fetchCursor(db, sql: "UPDATE team SET name = 'new' RETURNING *")
            var count = 0
            while let team = try writing.next() {
                try team.load(Team.players, db)
                count += try team.players.count
            }
            #expect(count == 5)
            try #expect(String.fetchAll(db, sql: "SELECT DISTINCT name FROM team") == ["new"])
            try #expect(db.isUsable())
        }
    }

    @Test("in a transaction that was lost throws what has lost it", .behaviour(45, 63))
    func lost() throws {
        let queue = try Guild.database()
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                let teams = try Team.fetchAll(db)
                try? db.execute(sql: "INSERT OR ROLLBACK INTO team VALUES (1, 'again')")
                func refused(_ load: () throws -> Void) -> Bool {
                    do { try load() } catch { return error is DatabaseError }
                    return false
                }
                try #require(refused { try db.load(teams, Team.players) })
                try #require(refused { try teams[1].load(Team.players, db) })
                try #require(refused { _ = try Team.including(Team.players).fetchAll(db) })
                try #require(refused { try teams[0].save(db, with: Team.players) })
            }
        }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        try queue.inDatabase { db in try #expect(db.isUsable()) }
    }

    @Test("is interrupted, and leaves everything as it was", .behaviour(63))
    func interrupted() throws {
        try Guild.database().inDatabase { db in
            try db.add(
                function: DatabaseFunction("stop", argumentCount: 0) { [unowned db] _ in
                    db.interrupt()
                    return true
                })
            let teams = try Team.including(Team.players).order { $0.id }.fetchAll(db)
            let before = try teams[0].players
            expectError("interrupted") { try db.load(teams, Team.players.filter(sql: "stop()")) }
            try #expect(teams[0].players.map(ObjectIdentifier.init) == before.map(ObjectIdentifier.init))
            expectError("interrupted") {
                try teams[1].load(Team.players.filter(sql: "stop()"), db)
            }
            try teams[1].load(Team.players, db)
            try #expect(teams[1].players.count == 2)
            try #expect(db.isUsable())
        }
    }

    @Test(
        "by an initializer that throws leaves the connection usable, and no relation half loaded",
        .behaviour(63))
    func throwing() throws {
        final class Picky: Record {
            var name = ""
            override class var databaseTableName: String { "player" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("name", name) {
                    if $0 == "Craig" { throw TestError(1) }
                    name = $0
                }
            }
        }
        let relation = Team.hasMany(Picky.self)
        try Guild.database().inDatabase { db in
            let teams = try Team.order { $0.id.desc }.fetchAll(db)
            #expect(throws: TestError.self) { try db.load(teams, relation) }
            #expect(throws: TestError.self) { try teams[2].load(relation, db) }
            #expect(throws: RelationError.self) { try teams[2][relation] }
            try teams[1].load(relation, db)
            try #expect(teams[1][relation].count == 2)
            try #expect(db.isUsable())
        }
    }
}
