import Foundation
import Shellac

private class Team: Record {
    static let players = hasMany(Player.self).order { $0.name }

    var id: Int64?
    var name = ""

    convenience init(_ name: String) {
        self.init()
        self.name = name
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }

    var players: [Player] { get throws { try self[Team.players] } }
}

private class Player: Record {
    static let team = belongsTo(Team.self)

    var id: Int64?
    var teamID: Int64?
    var name = ""
    var score = 0
    var updatedAt: Date?

    convenience init(_ name: String) {
        self.init()
        self.name = name
    }

    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("teamID", teamID) { teamID = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

private final class Ends: TransactionObserver {
    private(set) var told: [String] = []

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) { told.append("\(event.kind)") }
    func databaseDidCommit(_ db: Database) { told.append("commit") }
    func databaseDidRollback(_ db: Database) { told.append("rollback") }
}

/// Uses what Shellac can do, one thing after the other, and says what went well.
struct Features {
    private let place: Place

    init(_ place: Place) { self.place = place }

    func run() async throws {
        for _ in 1...2 {
            let queue = try place.open()
            try opened(queue)
            try migrations(queue)
            try records(queue)
            try observers(queue)
            try savepoints(queue)
            try undo(queue)
            try relations(queue)
            try rebuild(queue)
            try await live(queue)
            try backup(queue)
            try vacuum(queue)
            try empty(queue)
            try await queue.close()
        }
        try refusals()
        say("features: all went well")
    }

    private func empty(_ queue: DatabaseQueue) throws {
        try queue.write { db in
            for table in ["player", "team"] { try db.execute(sql: "DELETE FROM \(table)") }
        }
    }

    private func opened(_ queue: DatabaseQueue) throws {
        let mode = try queue.inDatabase { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") } ?? ""
        try expect(mode == (place.journalMode), "the journal mode is \(mode)")
        say("opened, with the journal mode \(mode)")
    }

    private func migrations(_ queue: DatabaseQueue) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("teams") { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
            }
        }
        migrator.registerMigration("players") { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("teamID", .integer).references("team", onDelete: .cascade)
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull().defaults(to: 0)
                t.column("createdAt", .datetime)
                t.column("updatedAt", .datetime)
            }
        }
        try migrator.migrate(queue)
        try queue.register(Player.self)
        say("migrations")
    }

    private func records(_ queue: DatabaseQueue) throws {
        let player = Player("Arthur")
        try queue.write { db in try player.save(db) }
        try expect(
            player.id != nil && !player.hasDatabaseChanges && player.updatedAt != nil,
            "the record is not saved")
        player.score = 10
        try queue.write { db in
            _ = try player.updateChanges(db)
            try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')")
        }
        struct Undone: Error {}
        do {
            try queue.write { db in
                player.score = 20
                try player.save(db)
                throw Undone()
            }
        } catch is Undone {}
        try expect(player.hasDatabaseChanges, "a rollback leaves the record clean")
        try queue.write { db in
            let stamped = try Int.fetchOne(
                db, sql: "SELECT COUNT(*) FROM player WHERE createdAt IS NOT NULL AND updatedAt IS NOT NULL")
            try expect(stamped == 2, "\(stamped ?? 0) rows are stamped")
            let scores = try Player.order(Column("name")).fetchAll(db).map(\.score)
            try expect(scores == [10, 0], "the scores are \(scores)")
        }
        say("records, and stamps of raw SQL")
    }

    private func observers(_ queue: DatabaseQueue) throws {
        let ends = Ends()
        queue.add(transactionObserver: ends, extent: .observerLifetime)
        try queue.inDatabase { db in
            try db.execute(sql: "UPDATE player SET score = 11 WHERE name = 'Arthur'")
            try db.inTransaction {
                try db.execute(sql: "DELETE FROM player WHERE name = 'Barbara'")
                return .rollback
            }
        }
        queue.remove(transactionObserver: ends)
        // (A stamp is an update of its own.)
        try expect(
            ends.told == ["update", "update", "commit", "delete", "rollback"], "told was \(ends.told)")
        say("observers")
    }

    private func savepoints(_ queue: DatabaseQueue) throws {
        try queue.write { db in
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM player")
                return .rollback
            }
            let count = try Player.fetchCount(db)
            try expect(count == 2, "\(count) players after a savepoint was rolled back")
        }
        say("savepoints")
    }

    private func undo(_ queue: DatabaseQueue) throws {
        let undo = try DatabaseUndo(queue, Player.self)
        try queue.write { db in try db.execute(sql: "DELETE FROM player") }
        try undo.undo()
        let count = try queue.read { db in try Player.fetchCount(db) }
        try expect(count == 2, "\(count) players after the deletion was undone")
        say("undo")
    }

    private func relations(_ queue: DatabaseQueue) throws {
        try queue.write { db in
            let team = Team("Red")
            try team.save(db)
            try db.execute(sql: "UPDATE player SET teamID = ?", arguments: [team.id])
        }
        let teams = try queue.read { db in try Team.including(Team.players).fetchAll(db) }
        let names = try teams.map { try $0.players.map(\.name) }
        try expect(names == [["Arthur", "Barbara"]], "the players of the teams are \(names)")
        say("relations")
    }

    private func rebuild(_ queue: DatabaseQueue) throws {
        try queue.write { db in
            try db.rebuild(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("teamID", .integer).references("team", onDelete: .cascade)
                t.column("name", .text).notNull().check(sql: "name <> ''")
                t.column("score", .integer).notNull().defaults(to: 0)
                t.column("createdAt", .datetime)
                t.column("updatedAt", .datetime)
            }
            let count = try Player.fetchCount(db)
            try expect(count == 2, "\(count) players after the table was rebuilt")
        }
        say("rebuild")
    }

    private func live(_ queue: DatabaseQueue) async throws {
        let values = queue.values(of: Player.filter(Column("name") == "Craig"))
        var counts: [Int] = []
        for try await players in values {
            counts.append(players.count)
            if players.count == 1 { break }
            try await queue.write { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Craig')") }
        }
        try expect(counts.first == 0 && counts.last == 1, "the live values were \(counts)")
        say("live values")
    }

    private func backup(_ queue: DatabaseQueue) throws {
        let memory = try DatabaseQueue()
        try queue.backup(to: memory)
        let copy = try place.beside("-copy").open()
        try memory.backup(to: copy)
        let names = try copy.read { db in try Player.order(Column("name")).fetchAll(db).map(\.name) }
        try expect(names == ["Arthur", "Barbara", "Craig"], "the copy has \(names)")
        try copy.close()
        say("backup, from the cluster and to it")
    }

    private func vacuum(_ queue: DatabaseQueue) throws {
        try queue.inDatabase { db in
            try db.execute(sql: "VACUUM")
            let rows = try Int.fetchAll(db, sql: "INSERT INTO team (name) VALUES ('Blue') RETURNING id")
            try expect(rows.count == 1, "RETURNING gave \(rows)")
            let sorted = try Int.fetchAll(
                db,
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
                    SELECT i FROM n ORDER BY i * 7919 % 50021
                    """)
            try expect(sorted.count == 50000, "\(sorted.count) rows were sorted")
        }
        say("VACUUM, RETURNING, and a sort that spills")
    }

    /// Expects that impossible requests are refused at once.
    private func refusals() throws {
        if place.path.contains(":") {
            do {
                var configuration = place.configuration
                configuration.lockingMode = .normal
                configuration.journalMode = .default
                _ = try DatabasePool(path: place.path, configuration: configuration)
                throw Failure(description: "a pool was opened")
            } catch let error as DatabaseError { say("no pool: \(error.message ?? "")") }
        }
        do {
            _ = try DatabasePool(path: place.path, configuration: .ceph())
            throw Failure(description: "a pool was opened")
        } catch let error as DatabaseError { say("no pool: \(error.message ?? "")") }
    }
}
