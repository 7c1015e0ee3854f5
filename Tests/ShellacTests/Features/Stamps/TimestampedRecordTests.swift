import Foundation
import Shellac
import TestSupport
import Testing

// The base Player type
private struct Player {
    var id: Int64?
    var creationDate: Date?
    var modificationDate: Date?
    var name: String
    var score: Int
}

// Add database powers (read, write, timestamps)
extension Player: Codable, TimestampedRecord, FetchableRecord {
    /// Update auto-incremented id upon successful insertion
    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

extension Player {
    /// If the player has a non-nil primary key and a matching row in
    /// the database, the player is updated. Otherwise, it is inserted.
    mutating func saveWithTimestamp(_ db: Database) throws {
        // Test the presence of id first, so that we don't perform an
        // update that would surely throw RecordError.recordNotFound.
        if id == nil {
            try insert(db)
        } else {
            do {
                try updateWithTimestamp(db)
            } catch RecordError.recordNotFound {
                // Primary key is set, but no row was updated.
                try insert(db)
            }
        }
    }
}

private enum TwoTypes {
    /// `Player` deals with unsaved players
    struct Player {
        var id: Int64?  // optional
        var creationDate: Date?  // optional
        var modificationDate: Date?  // optional
        var name: String
        var score: Int
    }

    /// `PersistedPlayer` deals with persisted players
    struct PersistedPlayer: Identifiable {
        let id: Int64  // not optional
        let creationDate: Date  // not optional
        var modificationDate: Date  // not optional
        var name: String
        var score: Int
    }
}

extension TwoTypes.Player: Encodable, MutablePersistableRecord {
    /// Updates auto-incremented id upon successful insertion
    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }

    /// Sets both `creationDate` and `modificationDate` to the
    /// transaction date, if they are not set yet.
    mutating func willInsert(_ db: Database) throws {
        if creationDate == nil {
            creationDate = try db.transactionDate
        }
        if modificationDate == nil {
            modificationDate = try db.transactionDate
        }
    }
}

extension TwoTypes.PersistedPlayer: Codable, FetchableRecord, PersistableRecord {
    static var databaseTableName: String { "player" }
}

/// A clock that tests set.
private final class Clock: Sendable {
    private let date = Shared(Date(timeIntervalSince1970: 1_000_000))
    var now: Date { date.value }
    func advance() { date.withLock { $0 += 60 } }
}

@Suite("Timestamps that a protocol of records keeps")
struct TimestampedRecordTests {
    private let clock = Clock()
    private let spy = SQLSpy()
    private let dbQueue: DatabaseQueue

    init() throws {
        var configuration = spy.configuration()
        let clock = clock
        configuration.transactionClock = .custom { _ in clock.now }
        dbQueue = try DatabaseQueue(configuration: configuration)
        try dbQueue.write { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("creationDate", .datetime).notNull()
                t.column("modificationDate", .datetime).notNull()
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull()
            }
        }
        spy.removeAll()
    }

    /// Returns the writes that were traced.
    private func writes() -> [String] {
        spy.removeAll().filter { $0.hasPrefix("INSERT") || $0.hasPrefix("UPDATE") }
    }

    private func dates(_ id: Int64 = 1) throws -> [String] {
        try dbQueue.read { db in
            let row = try #require(
                try Row.fetchOne(
                    db, sql: "SELECT creationDate, modificationDate FROM player WHERE id = ?", arguments: [id]
                ))
            return [try row[0], try row[1]]
        }
    }

    private func inserted() throws -> Player {
        var player = Player(name: "Arthur", score: 1000)
        try dbQueue.write { db in try player.insert(db) }
        spy.removeAll()
        clock.advance()
        return player
    }

    static let first = "1970-01-12 13:46:40.000"
    static let second = "1970-01-12 13:47:40.000"

    @Test("An insertion sets the id, and the dates that are nil", .behaviour(33))
    func insertion() throws {
        var player = Player(id: nil, name: "Arthur", score: 1000)
        #expect(player.creationDate == nil && player.modificationDate == nil)
        try dbQueue.write { db in try player.insert(db) }
        #expect(player.id == 1)
        #expect(player.creationDate == clock.now)
        #expect(player.modificationDate == clock.now)
        #expect(
            writes() == [
                #"INSERT INTO "player" ("id", "creationDate", "modificationDate", "name", "score") "#
                    + "VALUES (?, ?, ?, ?, ?)"
            ])
        #expect(try dates() == [Self.first, Self.first])
    }

    @Test("An insertion keeps the dates that are not nil", .behaviour(33))
    func explicitInsertion() throws {
        let old = Date(timeIntervalSince1970: 0)
        var player = Player(creationDate: old, name: "Arthur", score: 1000)
        try dbQueue.write { db in try player.insert(db) }
        #expect(player.creationDate == old && player.modificationDate == clock.now)
        #expect(try dates() == ["1970-01-01 00:00:00.000", Self.first])
    }

    @Test("Players that are inserted in one transaction have the same dates", .behaviour(33))
    func sameTransaction() throws {
        try dbQueue.write { db in
            for name in ["Arthur", "Barbara"] {
                var player = Player(name: name, score: 0)
                try player.insert(db)
                clock.advance()
            }
        }
        #expect(try dates(1) == dates(2))
    }

    @Test("A plain update writes all columns, and leaves the modification date", .behaviour(33))
    func plainUpdate() throws {
        var player = try inserted()
        player.score += 1
        try dbQueue.write { db in try player.update(db) }
        #expect(
            writes() == [
                #"UPDATE "player" SET "creationDate" = ?, "modificationDate" = ?, "name" = ?, "score" = ? "#
                    + #"WHERE "id" = ?"#
            ])
        #expect(try dates() == [Self.first, Self.first])
    }

    @Test("updateWithTimestamp writes all columns, and the modification date among them", .behaviour(33))
    func updateWithTimestamp() throws {
        var player = try inserted()
        player.score += 1
        try dbQueue.write { db in try player.updateWithTimestamp(db) }
        #expect(player.modificationDate == clock.now)
        #expect(try dates() == [Self.first, Self.second])
        try dbQueue.write { db in
            try player.updateWithTimestamp(db, modificationDate: Date(timeIntervalSince1970: 0))
        }
        #expect(try dates() == [Self.first, "1970-01-01 00:00:00.000"])
    }

    @Test("updateChangesWithTimestamp writes the changed columns and the modification date", .behaviour(33))
    func updateChangesWithTimestamp() throws {
        var player = try inserted()
        let isModified = try dbQueue.write { db in
            try player.updateChangesWithTimestamp(db) { $0.score = 2000 }
        }
        #expect(isModified)
        #expect(writes() == [#"UPDATE "player" SET "modificationDate" = ?, "score" = ? WHERE "id" = ?"#])
        #expect(player.modificationDate == clock.now)
        #expect(try dates() == [Self.first, Self.second])
    }

    @Test("updateChangesWithTimestamp does nothing where nothing else has changed", .behaviour(33))
    func updateNothingWithTimestamp() throws {
        var player = try inserted()
        let isModified = try dbQueue.write { db in
            try player.updateChangesWithTimestamp(db) { $0.score = 1000 }
        }
        #expect(!isModified)
        #expect(writes() == [])
        #expect(try dates() == [Self.first, Self.first])
    }

    @Test("updateChanges updates the modification date even if no other column has changed", .behaviour(33))
    func updateChanges() throws {
        var player = try inserted()
        let isModified = try dbQueue.write { db in
            try player.updateChanges(db) {
                $0.score = 1000
                $0.modificationDate = try db.transactionDate
            }
        }
        #expect(isModified)
        #expect(writes() == [#"UPDATE "player" SET "modificationDate" = ? WHERE "id" = ?"#])
        #expect(try dates() == [Self.first, Self.second])
    }

    @Test("touch writes one column, and nothing in the transaction of the date it has", .behaviour(33))
    func touch() throws {
        var player = try inserted()
        try dbQueue.write { db in
            try player.touch(db)
            try player.touch(db)
        }
        #expect(writes() == [#"UPDATE "player" SET "modificationDate" = ? WHERE "id" = ?"#])
        #expect(player.modificationDate == clock.now)
        #expect(try dates() == [Self.first, Self.second])
    }

    @Test(
        "saveWithTimestamp inserts without an id, updates with one, and inserts where there is no row",
        .behaviour(33))
    func saveWithTimestamp() throws {
        var player = Player(name: "Arthur", score: 1000)
        try dbQueue.write { db in try player.saveWithTimestamp(db) }
        #expect(player.id == 1)
        #expect(try dates() == [Self.first, Self.first])
        clock.advance()
        try dbQueue.write { db in try player.saveWithTimestamp(db) }
        #expect(try dates() == [Self.first, Self.second])
        clock.advance()
        try dbQueue.write { db in
            try player.delete(db)
            try player.saveWithTimestamp(db)
        }
        #expect(player.id == 1)
        #expect(try dates() == [Self.first, "1970-01-12 13:48:40.000"])
    }

    @Test("A fetched player is found clean by updateChangesWithTimestamp", .behaviour(33))
    func fetched() throws {
        _ = try inserted()
        try dbQueue.write { db in
            var player = try Player.find(db, key: 1)
            #expect(player.creationDate == clock.now - 60)
            #expect(try !player.updateChangesWithTimestamp(db) { _ in })
        }
        #expect(writes() == [])
    }

    @Test("An update of a player that is not there throws recordNotFound, and touch too", .behaviour(33))
    func missing() throws {
        var player = Player(id: 12, creationDate: clock.now, name: "Arthur", score: 1000)
        try dbQueue.write { db in
            let missing = RecordError.recordNotFound(databaseTableName: "player", key: ["id": 12])
            #expect(throws: missing) { try player.touch(db) }
            #expect(throws: missing) { try player.updateWithTimestamp(db) }
            #expect(throws: missing) { try player.updateChangesWithTimestamp(db) { $0.score = 0 } }
        }
    }

    @Test("insertAndFetch gives a persisted player, whose dates are not optional", .behaviour(33))
    func persistedPlayer() throws {
        try dbQueue.write { db in
            var player = TwoTypes.Player(id: nil, name: "Arthur", score: 1000)
            let persistedPlayer = try player.insertAndFetch(db, as: TwoTypes.PersistedPlayer.self)
            #expect(persistedPlayer.id == 1)
            #expect(persistedPlayer.creationDate == clock.now)
            #expect(persistedPlayer.modificationDate == clock.now)
            #expect(persistedPlayer.name == "Arthur" && persistedPlayer.score == 1000)
            #expect(player.id == 1 && player.creationDate == clock.now)
            #expect(try TwoTypes.PersistedPlayer.find(db, id: 1).name == "Arthur")
        }
        #expect(
            writes() == [
                #"INSERT INTO "player" ("id", "creationDate", "modificationDate", "name", "score") "#
                    + "VALUES (?, ?, ?, ?, ?) RETURNING *"
            ])
    }
}
