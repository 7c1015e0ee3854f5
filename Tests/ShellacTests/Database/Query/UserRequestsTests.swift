// The samples of seeds 000, 002 and 004 that concern requests, as their readers would copy them.
// Comments beside them say what had to be changed.

import Foundation
import Shellac
import TestSupport
import Testing

// MARK: - Seed 002

struct ReminderGRDB: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var isCompleted = false
    var title: String
    var updatedAt: Date = Date()
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let isCompleted = Column(CodingKeys.isCompleted)
        static let title = Column(CodingKeys.title)
        static let updatedAt = Column(CodingKeys.updatedAt)
    }
    mutating func willSave(_ db: Database) throws {
        updatedAt = Date()
    }
    // The sample has none, and its record would not learn its id.
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// The seed's `@Table struct Reminder`, with its columns in a namespace.
private struct Reminder: Codable, Identifiable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "reminders"
    let id: Int
    var dueDate: Date?
    var isCompleted = false
    var isFlagged = false
    var notes = ""
    var priority: Priority?
    var title = ""
    var updatedAt: Date?

    enum Priority: Int, Codable, DatabaseValueConvertible {
        case low = 1
        case medium
        case high
    }

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let isCompleted = Column(CodingKeys.isCompleted)
        static let isFlagged = Column(CodingKeys.isFlagged)
        static let priority = Column(CodingKeys.priority)
        static let title = Column(CodingKeys.title)
        static let updatedAt = Column(CodingKeys.updatedAt)
    }
}

// MARK: - Seed 004

private class Player: Record {
    var id: Int64?
    var name: String?

    override class var databaseTableName: String {
        return "player"
    }
    override func updateFromRow(_ row: Row) throws {
        id = try row["id"]
        name = try row["name"]
    }
    override func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
    }
}

private class RestrictedPlayer: Record {
    nonisolated(unsafe) static var seen: [String] = []
    override class var databaseTableName: String { "player" }
    // `[any SQLSelectable]`: Swift asks for the `any`. `class var`: a `static` one cannot be
    // overridden again.
    override class var databaseSelection: [any SQLSelectable] {
        return [Column("id"), Column("name")]
    }
    let columns: [String]
    required init(row: Row) throws {
        columns = Array(row.columnNames)
        try super.init(row: row)
    }
}

private class ExtendedPlayer: Player {
    override class var databaseSelection: [any SQLSelectable] {
        return [AllColumns(), Column.rowID]
    }
}

/// Seed 000's two record types of one table.
private struct PersistedPlayer: Identifiable {
    let id: Int64  // not optional
    let creationDate: Date  // not optional
    var modificationDate: Date  // not optional
    var name: String
    var score: Int
}

extension PersistedPlayer: Codable, FetchableRecord, PersistableRecord {
    static var databaseTableName: String { "player" }
}

@Suite("Requests as their users write them")
struct UserRequestsTests {
    private func reminders(_ spy: SQLSpy) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.write { db in
            try db.create(table: "reminders") { t in
                t.primaryKey("id", .integer)
                t.column("dueDate", .datetime)
                t.column("isCompleted", .boolean).notNull().defaults(to: false)
                t.column("isFlagged", .boolean).notNull().defaults(to: false)
                t.column("notes", .text).notNull().defaults(to: "")
                t.column("priority", .integer)
                t.column("title", .text).notNull()
                t.column("updatedAt", .datetime)
            }
            try Reminder.insertAll(
                db, (1...4).map { Reminder(id: $0, isCompleted: $0 == 4, title: "Reminder \($0)") })
        }
        spy.removeAll()
        return queue
    }

    @Test("A record with a namespace of columns saves, and all rows are updated by a column of it")
    func namespaces() throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE reminderGRDB (id INTEGER PRIMARY KEY, isCompleted, title, updatedAt)")
            let reminder = ReminderGRDB(title: "Get milk")
            let newReminder = try reminder.saved(db)
            #expect(newReminder.id == 1)
            var other = ReminderGRDB(title: "Get bread")
            try other.save(db)
            _ = other.updatedAt
            spy.removeAll()
            try ReminderGRDB
                .updateAll(db, [ReminderGRDB.Columns.isCompleted.set(to: true)])
            #expect(spy.sql == [#"UPDATE "reminderGRDB" SET "isCompleted" = ?"#])
            let completed = try ReminderGRDB.filter(ReminderGRDB.Columns.isCompleted).fetchCount(db)
            #expect(completed == 2)
            // The same by the namespace that the closure is given.
            try ReminderGRDB.updateAll(db) { $0.isCompleted.toggle() }
            let open = try ReminderGRDB.filter { !$0.isCompleted }.order { $0.title }.fetchAll(db)
            #expect(open.map(\.title) == ["Get bread", "Get milk"])
            // A column that the namespace lacks does not compile: see RecordColumnsTests.
        }
    }

    @Test("One reminder is changed in place, and many are")
    func toggles() throws {
        let spy = SQLSpy()
        try reminders(spy).write { db in
            let reminder = try Reminder.find(db, id: 2)
            spy.removeAll()
            let date = Date(timeIntervalSince1970: 0)
            // The seed's `Reminder.find(reminder.id).update { … }.execute(db)`. An assignment is
            // `set(to:)`: `=` is Swift's.
            try Reminder
                .filter(id: reminder.id)
                .updateAll(db) {
                    $0.isFlagged.toggle()
                    $0.updatedAt.set(to: date)
                }
            #expect(
                spy.sql == [
                    #"UPDATE "reminders" SET "isFlagged" = NOT "isFlagged", "updatedAt" = ? WHERE "id" = ?"#
                ])
            let changed = try Reminder.find(db, id: 2)
            #expect(changed.isFlagged && changed.updatedAt == date)
            // The seed's
            // `Reminder.where { $0.id.in(rows.map(\.reminder.id)) }.update { $0.isFlagged = true }.execute(db)`.
            let rows = try Reminder.limit(3).fetchAll(db)
            try Reminder
                .filter { rows.map(\.id).contains($0.id) }
                .updateAll(db) { $0.isFlagged.set(to: true) }
            let flags = try Reminder.order { $0.id }.fetchAll(db).map(\.isFlagged)
            #expect(flags == [true, true, true, false])
            try Reminder.filter { $0.priority == nil }.updateAll(db) {
                $0.priority.set(to: Reminder.Priority.high)
            }
            let high = try Reminder.filter { $0.priority == Reminder.Priority.high }.fetchCount(db)
            #expect(high == 4)
        }
    }

    @Test("Raw SQL, an upsert and a deletion stand beside them")
    func rawSQL() throws {
        try reminders(SQLSpy()).write { db in
            try db.execute(
                literal: """
                    UPDATE "reminders"
                    SET "isCompleted" = 1
                    WHERE NOT "isCompleted"
                    """)
            let open = try Reminder.filter { !$0.isCompleted }.isEmpty(db)
            #expect(open)
            // The seed's `Reminder.upsert { reminder }.execute(db)` and
            // `Reminder.find(reminder.id).delete().execute(db)`.
            var reminder = try Reminder.find(db, id: 1)
            reminder.title = "Get milk"
            try reminder.upsert(db)
            try Reminder(id: 5, title: "Get bread").upsert(db)
            try Reminder.filter(id: 2).deleteAll(db)
            let titles = try Reminder.select({ $0.title }, as: String.self).order(Column("id"))
                .fetchAll(db)
            #expect(titles == ["Get milk", "Reminder 3", "Reminder 4", "Get bread"])
        }
    }

    @Test("A class says what is selected of it")
    func selections() throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
            let player = Player()
            player.name = "Arthur"
            try player.save(db)
            spy.removeAll()
            // SELECT * FROM player
            #expect(try Player.fetchAll(db).map(\.name) == ["Arthur"])
            // SELECT id, name FROM player
            #expect(try RestrictedPlayer.fetchAll(db).map(\.columns) == [["id", "name"]])
            // SELECT *, rowid FROM player
            #expect(try ExtendedPlayer.fetchAll(db).map(\.id) == [1])
            #expect(
                spy.sql == [
                    #"SELECT * FROM "player""#, #"SELECT "id", "name" FROM "player""#,
                    #"SELECT *, "rowid" FROM "player""#,
                ])
            let filtered = try ExtendedPlayer.filter(Column("name") == "Arthur").fetchAll(db)
            #expect(filtered.allSatisfy { !$0.hasDatabaseChanges })
        }
    }

    @Test("A record type that only reads finds its records by id")
    func persisted() throws {
        try DatabaseQueue().write { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("creationDate", .datetime).notNull()
                t.column("modificationDate", .datetime).notNull()
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull()
            }
            let date = try db.transactionDate
            let players = ["Arthur", "Barbara"].enumerated().map { index, name in
                PersistedPlayer(
                    id: Int64(index + 1), creationDate: date, modificationDate: date, name: name, score: 1000)
            }
            try PersistedPlayer.insertAll(db, players)
            let persistedPlayer = try PersistedPlayer.find(db, id: 1)
            #expect(persistedPlayer.name == "Arthur")
            let found = try PersistedPlayer.filter(ids: [1, 2]).order(Column("name").desc).fetchAll(db)
            #expect(found.map(\.id) == [2, 1])
            let one = try PersistedPlayer.filter(key: 2).fetchOne(db)
            #expect(one?.name == "Barbara")
        }
    }
}
