import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A reminder of seed 002.
private protocol ReminderRecord: Record, SendableMetatype {
    var title: String { get set }
    var isCompleted: Bool { get set }
    var updatedAt: Date? { get set }

    init()
}

extension ReminderRecord {
    fileprivate init(_ title: String) {
        self.init()
        self.title = title
    }
}

private class TabledReminder: Record {
    override class var databaseTableName: String { "reminder" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
}

private final class PairReminder: TabledReminder, ReminderRecord {
    var id: Int64?
    var title = ""
    var isCompleted = false
    var isFlagged = false
    var createdAt: Date?
    var updatedAt: Date?

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("title") { title = try row["title"] }
        if row.hasColumn("isCompleted") { isCompleted = try row["isCompleted"] }
        if row.hasColumn("isFlagged") { isFlagged = try row["isFlagged"] }
        if row.hasColumn("createdAt") { createdAt = try row["createdAt"] }
        if row.hasColumn("updatedAt") { updatedAt = try row["updatedAt"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["title"] = title
        container["isCompleted"] = isCompleted
        container["isFlagged"] = isFlagged
        container["createdAt"] = createdAt
        container["updatedAt"] = updatedAt
    }
}

private final class ListedReminder: TabledReminder, ReminderRecord {
    var id: Int64?
    var title = ""
    var isCompleted = false
    var isFlagged = false
    var createdAt: Date?
    var updatedAt: Date?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("isCompleted", isCompleted) { isCompleted = $0 }
        try column("isFlagged", isFlagged) { isFlagged = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

private final class CodedReminder: TabledReminder, ReminderRecord, Codable {
    var id: Int64?
    var title = ""
    var isCompleted = false
    var isFlagged = false
    var createdAt: Date?
    var updatedAt: Date?
}

extension RecordStyle {
    fileprivate var reminder: any ReminderRecord.Type {
        choose(PairReminder.self, ListedReminder.self, CodedReminder.self)
    }
}

@Suite("Reminders")
struct RemindersTests {
    @Test(
        "Columns added by a migration, stamped: by a record, by a bulk update, by raw SQL",
        arguments: RecordStyle.allCases)
    func endToEnd(style: RecordStyle) throws { try endToEnd(style.reminder) }

    private func endToEnd<Reminder: ReminderRecord>(_: Reminder.Type) throws {
        let clock = StampClock()
        let queue = try DatabaseQueue(configuration: clock.configuration())
        var migrator = DatabaseMigrator()
        migrator.registerMigration("Create tables") { db in
            try db.create(table: "reminder") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull()
                t.column("isCompleted", .boolean).notNull().defaults(to: false)
                t.column("isFlagged", .boolean).notNull().defaults(to: false)
            }
            try db.execute(sql: "INSERT INTO reminder (title) VALUES ('From before')")
        }
        migrator.registerMigration("Add 'createdAt' and 'updatedAt' to 'reminder'") { db in
            try db.alter(table: "reminder") { t in
                t.add(column: "createdAt", .datetime)
                t.add(column: "updatedAt", .datetime)
            }
        }
        try migrator.migrate(queue)
        try queue.register(Reminder.self)

        func stamps() throws -> [String] {
            try queue.read { db in
                try Row.fetchAll(db, sql: "SELECT createdAt, updatedAt FROM reminder ORDER BY id")
                    .map { $0.databaseValues.map(short).joined(separator: " ") }
            }
        }
        #expect(try stamps() == ["- -"])

        clock.advance()
        let milk = Reminder("Get milk")
        try queue.write { db in try milk.insert(db) }
        #expect(try stamps() == ["- -", "1 1"])

        // One is toggled.
        clock.advance()
        let isUpdated = try queue.write { db in
            try milk.updateChanges(db) { $0.isCompleted.toggle() }
        }
        #expect(isUpdated)
        #expect(try stamps() == ["- -", "1 2"])
        #expect(milk.updatedAt == clock.date(2))

        // All are flagged at once, which calls no callback of a record.
        clock.advance()
        let count = try queue.write { db in try Reminder.updateAll(db, Column("isFlagged").toggle()) }
        #expect(count == 2)
        #expect(try stamps() == ["- 3", "1 3"])

        // Raw SQL.
        clock.advance()
        try queue.write { db in
            try db.execute(sql: "UPDATE reminder SET title = title || ' Copy' WHERE id = 1")
            try db.execute(sql: "INSERT INTO reminder (title) VALUES ('Raw')")
        }
        #expect(try stamps() == ["- 4", "1 3", "4 4"])

        // The record is older than all of that, and puts no old stamp back.
        clock.advance()
        try queue.write { db in try milk.update(db) }
        #expect(try stamps() == ["- 4", "1 5", "4 4"])

        // A maintenance job leaves the stamps alone.
        clock.advance()
        try queue.write { db in
            try db.withoutStamps { try db.execute(sql: "UPDATE reminder SET title = trim(title)") }
        }
        #expect(try stamps() == ["- 4", "1 5", "4 4"])
    }
}
