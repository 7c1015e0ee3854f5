import Foundation
import Shellac
import TestSupport
import Testing

/// Counters and what else is around a table: its records, stamps, undo, observers, and the drift
/// check.
@Suite("Beside a counter")
struct CounterRecordsTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
                t.counter("playersCount", of: "player")
                t.timestamps()
            }
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("teamID", .integer).references("team", onDelete: .cascade).indexed()
            }
        }
    }

    private func insertPlayer(of team: Int64?) throws {
        try queue.write { db in
            try db.execute(sql: "INSERT INTO player (teamID) VALUES (?)", arguments: [team])
        }
    }

    private func count() throws -> Int? {
        try queue.read { try Int.fetchOne($0, sql: "SELECT playersCount FROM team") }
    }

    // MARK: - Records

    @Test("a class record neither inserts nor updates the count that it has")
    func classes() throws {
        let team = Team(name: "Reds", playersCount: 7)
        try queue.write { try team.insert($0) }
        try #expect(count() == 0)
        try insertPlayer(of: 1)
        team.name = "Blues"
        try queue.write { db in
            try team.update(db)
            try team.save(db)
            team.name = "Greens"
            try team.updateChanges(db)
            try team.upsert(db)
            try team.update(db, columns: ["name", "playersCount"])
        }
        try #expect(count() == 1)
        try queue.write { try team.reload($0) }
        #expect(team.playersCount == 1)
        #expect(team.name == "Greens")
        #expect(!team.hasDatabaseChanges)
        // If the program sets it, it is a change that no save writes.
        team.playersCount = 5
        try #expect(!queue.write { try team.updateChanges($0) })
        try #expect(count() == 1)
        try queue.write { try team.update($0) }
        try #expect(count() == 1)
        try #expect(team.databaseChanges == ["playersCount": 1.databaseValue])
    }

    @Test("a struct neither inserts nor updates the count that it has, nor do batches")
    func structs() throws {
        var team = PlainTeam(id: nil, name: "Reds", playersCount: 7)
        try queue.write { try team.insert($0) }
        team.id = 1
        try insertPlayer(of: 1)
        try queue.write { db in
            try team.update(db)
            try team.save(db)
            try team.upsert(db)
            try team.update(db, columns: ["playersCount"])
        }
        try #expect(count() == 1)
        try queue.write { db in
            var others = (2..<200 as Range<Int64>).map {
                PlainTeam(id: $0, name: "team \($0)", playersCount: 3)
            }
            try PlainTeam.insertAll(db, &others)
            try #expect(db.inaccurateCounters("team", "playersCount") == 0)
        }
    }

    @Test("a record that never encodes the count is as good, and so is one that has none yet")
    func otherRecords() throws {
        let team = Team(name: "Reds", playersCount: nil)
        try queue.write { try team.insert($0) }
        try #expect(count() == 0)
        try queue.write { db in
            var short = ShortTeam(id: 2, name: "Blues")
            try short.insert(db)
            try #expect(db.inaccurateCounters("team", "playersCount") == 0)
            try Team.checkSchema(db)
            try PlainTeam.checkSchema(db)
            try ShortTeam.checkSchema(db)
        }
    }

    @Test("a count that has changed does not make an update stale")
    func lostUpdates() throws {
        let team = Team(name: "Reds", playersCount: 0)
        try queue.write { try team.insert($0) }
        try insertPlayer(of: 1)
        team.name = "Blues"
        try queue.write { db in try team.update(db, checking: .all) }
        team.name = "Greens"
        try #expect(queue.write { db in try team.updateChanges(db, retrying: 1) })
        try #expect(count() == 1)
    }

    @Test("children are still inserted many at a time")
    func batches() throws {
        try queue.write { db in
            try Team(name: "Reds", playersCount: 0).insert(db)
            let changes = try Int.fetchOne(db, sql: "SELECT total_changes()") ?? 0
            let statements = Shared<[String]>([])
            db.trace { event in statements.append("\(event)") }
            try PlainPlayer.insertAll(db, (1...64).map { PlainPlayer(id: $0, teamID: 1) })
            db.trace(nil)
            #expect(statements.value.filter { $0.hasPrefix("INSERT INTO \"player\"") }.count <= 2)
            try #expect(Int.fetchOne(db, sql: "SELECT total_changes()") == changes + 128)
            try #expect(db.inaccurateCounters("team", "playersCount") == 0)
        }
        try #expect(count() == 64)
    }

    // MARK: - Stamps

    @Test("a stamp of the table's updates tells of no player")
    func stamps() throws {
        try queue.register(Team.self)
        let team = Team(name: "Reds", playersCount: 0)
        try queue.write { try team.insert($0) }
        func updatedAt() throws -> String? {
            try queue.read { try String.fetchOne($0, sql: "SELECT updatedAt FROM team") }
        }
        try queue.write { try $0.execute(sql: "UPDATE team SET updatedAt = 'old'") }
        try insertPlayer(of: 1)
        try #expect(count() == 1)
        try #expect(updatedAt() == "old")
        try queue.write { try $0.execute(sql: "UPDATE team SET name = 'Blues'") }
        try #expect(updatedAt() != "old")
    }

    // MARK: - Observers

    @Test(
        "observers of the parent hear of a child, and nobody hears of what the triggers keep for themselves")
    func observers() throws {
        try queue.write { db in try db.execute(sql: "INSERT INTO team (name) VALUES ('Reds')") }
        let spy = ObserverSpy()
        queue.add(transactionObserver: spy)
        try insertPlayer(of: 1)
        #expect(spy.removeAll() == ["insert player 1", "update team 1", "willCommit", "didCommit"])
        #expect(!spy.questions.contains { $0.tableName.hasPrefix("shellac") })
        try #expect(
            #require(spy.questions.first { $0.tableName == "team" })
                == .update(tableName: "team", columnNames: ["playersCount"]))
        try queue.write { try $0.execute(sql: "REPLACE INTO player VALUES (1, NULL)") }
        #expect(spy.removeAll().filter { $0.contains("team") || $0.contains("shellac") } == ["update team 1"])
        try queue.write { try $0.execute(sql: "DELETE FROM team") }
        #expect(!spy.removeAll().contains { $0.contains("shellac") })
    }

    @Test("a value that follows the count hears of it", .timeLimit(.minutes(10)))
    func liveValues() async throws {
        try await queue.write { db in try db.execute(sql: "INSERT INTO team (name) VALUES ('Reds')") }
        let counts = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT playersCount FROM team") ?? -1
        }
        var seen: [Int] = []
        for try await count in counts.values(in: queue) {
            if seen.last != count { seen.append(count) }
            if count == 1 { break }
            try await queue.write { db in try db.execute(sql: "INSERT INTO player (teamID) VALUES (1)") }
        }
        #expect(seen == [0, 1])
    }

    // MARK: - Undo

    @Test("undo and redo give back the count with the rows", arguments: [["team", "player"], ["player"]])
    func undo(tables: [String]) throws {
        try queue.write { db in try db.execute(sql: "INSERT INTO team (name) VALUES ('Reds'), ('Blues')") }
        func counts() throws -> [Int] {
            try queue.read { try Int.fetchAll($0, sql: "SELECT playersCount FROM team ORDER BY id") }
        }
        let undo = try DatabaseUndo(queue, tables: tables)
        try queue.write { try $0.execute(sql: "INSERT INTO player (teamID) VALUES (1), (1), (2)") }
        try queue.write {
            try $0.execute(sql: "REPLACE INTO player VALUES (1, 2); DELETE FROM player WHERE id = 2")
        }
        try #expect(counts() == [0, 2])
        try #expect(undo.undo())
        try #expect(counts() == [2, 1])
        try #expect(undo.undo())
        try #expect(counts() == [0, 0])
        try #expect(undo.redo())
        try #expect(counts() == [2, 1])
        try #expect(undo.redo())
        try #expect(counts() == [0, 2])
        if tables.count == 1 { return }
        try queue.write { try $0.execute(sql: "DELETE FROM team WHERE id = 2") }
        try #expect(counts() == [0])
        try #expect(undo.undo())
        try #expect(counts() == [0, 2])
        try #expect(queue.read { try $0.inaccurateCounters("team", "playersCount") } == 0)
    }

    @Test(
        "undo leaves the counts to the rows that are there, whichever connection wrote them",
        arguments: [["team"], ["member", "team"]])
    func undoBesideOthers(tables: [String]) throws {
        let file = try TemporaryDatabase()
        let (queue, other) = try (file.queue(), file.queue())
        try queue.write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.counter("playersCount", of: "member")
            }
            try db.create(table: "member") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("teamID", .integer).references("team").indexed()
            }
            try db.execute(
                sql: "INSERT INTO team (name) VALUES ('Reds'); INSERT INTO member (teamID) VALUES (1), (1)")
        }
        let undo = try DatabaseUndo(queue, tables: tables)
        func counts() throws -> [String] {
            try queue.read { db in
                try #expect(db.inaccurateCounters("team", "playersCount") == 0)
                return try String.fetchAll(db, sql: "SELECT name || playersCount FROM team ORDER BY id")
            }
        }
        try queue.write {
            try $0.execute(sql: "UPDATE team SET name = 'Blues'; DELETE FROM member WHERE id = 2")
        }
        try other.write { try $0.execute(sql: "INSERT INTO member (teamID) VALUES (1), (1)") }
        try #expect(counts() == ["Blues3"])
        try #expect(undo.undo())
        try #expect(counts() == [tables.count == 1 ? "Reds3" : "Reds4"])
        try other.write { try $0.execute(sql: "DELETE FROM member WHERE id = 1") }
        try #expect(undo.redo())
        try #expect(counts() == ["Blues2"])
    }

    @Test("undo counts again if triggers of the program make it write rows without triggers")
    func undoWithoutTriggers() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO team (name) VALUES ('Reds'), ('Blues');
                    INSERT INTO player (teamID) VALUES (1);
                    CREATE TABLE shift (n);
                    INSERT INTO shift VALUES (0);
                    -- Each update of a player moves it to the other team.
                    CREATE TRIGGER restless AFTER UPDATE ON player WHEN (SELECT n FROM shift) BEGIN
                        UPDATE player SET teamID = CASE NEW.teamID WHEN 1 THEN 2 ELSE 1 END WHERE id = NEW.id;
                    END;
                    """)
        }
        let undo = try DatabaseUndo(queue, tables: ["team", "player"])
        try queue.write { try $0.execute(sql: "UPDATE player SET teamID = 2") }
        try queue.write { try $0.execute(sql: "UPDATE shift SET n = 1") }
        try #expect(undo.undo())
        try queue.read { db in
            try #expect(Int.fetchAll(db, sql: "SELECT teamID FROM player") == [1])
            try #expect(Int.fetchAll(db, sql: "SELECT playersCount FROM team ORDER BY id") == [1, 0])
        }
    }

    // MARK: - The drift check

    @Test("the drift check tells of triggers that are gone, and of counts that are wrong")
    func drift() throws {
        func faults() throws -> [String] {
            try queue.read { db in
                do {
                    try Team.checkSchema(db)
                    return []
                } catch let error as SchemaDriftError {
                    return error.faults.map(\.description)
                }
            }
        }
        try #expect(faults() == [])
        try queue.write { db in
            try db.execute(sql: "INSERT INTO team (name) VALUES ('Reds')")
            try db.drop(trigger: "shellac counter team.playersCount delete")
            try db.execute(sql: "INSERT INTO player (teamID) VALUES (1); DELETE FROM player")
        }
        try #expect(
            faults() == [
                "Nothing updates the column playersCount of the table team, which is a counter: its "
                    + "triggers are missing or differ. Call updateCounterTriggers().",
                "1 row of the table team has a wrong count in the column playersCount: call recount(\"team\", \"playersCount\").",
            ])
        try queue.write { try $0.updateCounterTriggers() }
        try #expect(faults() == [])
        try queue.write { try $0.execute(sql: "ALTER TABLE player RENAME TO athlete") }
        try #expect(
            faults() == [
                "Nothing updates the column playersCount of the table team, which is a counter: the table "
                    + "player does not exist."
            ])
    }
}

private final class Team: Record {
    var id: Int64?
    var name: String
    var playersCount: Int?
    var createdAt: Date?
    var updatedAt: Date?

    init(name: String, playersCount: Int?) {
        (self.name, self.playersCount) = (name, playersCount)
        super.init()
    }

    required init(row: Row) throws {
        name = ""
        try super.init(row: row)
    }

    override class var databaseTableName: String { "team" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("playersCount", playersCount) { playersCount = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

private struct PlainTeam: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "team"
    var id: Int64?
    var name: String
    var playersCount: Int?
}

private struct ShortTeam: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "team"
    var id: Int64?
    var name: String
}

private struct PlainPlayer: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "player"
    var id: Int64?
    var teamID: Int64?
}
