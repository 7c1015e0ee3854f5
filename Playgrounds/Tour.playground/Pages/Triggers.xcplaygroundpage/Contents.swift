//: # Triggers
//: Stamps and callbacks that bulk updates and raw SQL cannot bypass.

import Foundation
import Shellac

class Reminder: Record {
    var id: Int64?
    var title = ""
    var isFlagged = false
    var updatedAt: Date?

    override class var databaseTableName: String { "reminder" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("isFlagged", isFlagged) { isFlagged = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

//: The clock of the tour is a counter of days.

nonisolated(unsafe) var day = 0
var configuration = Configuration()
configuration.transactionClock = .custom { _ in
    Date(timeIntervalSince1970: 1_000_000_000 + Double(day) * 86_400)
}
let dbQueue = try DatabaseQueue(configuration: configuration)

func show(_ title: String) throws {
    print(title)
    let rows = try dbQueue.read { db in
        try Row.fetchAll(
            db, sql: "SELECT title, date(createdAt) AS created, date(updatedAt) AS updated FROM reminder")
    }
    for row in rows { print("   ", row) }
}

try dbQueue.write { db in
    try db.create(table: "reminder") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("title", .text).notNull()
        t.column("isFlagged", .boolean).notNull().defaults(to: false)
        t.column("createdAt", .datetime)
        t.column("updatedAt", .datetime)
    }
}

//: After the migrations, the types are registered. A record's own save writes its stamps.

try dbQueue.register(Reminder.self)
let milk = Reminder()
milk.title = "Get milk"
try dbQueue.write { db in try milk.save(db) }
try show("Saved:")

//: Rows that no record has written are stamped, too.

day = 1
try dbQueue.write { db in
    try db.execute(sql: "INSERT INTO reminder (title) VALUES ('Get bread')")
    try db.execute(sql: "UPDATE reminder SET isFlagged = 1 WHERE title LIKE '%milk'")
}
try show("Raw SQL, a day later:")

//: Unless it is not wanted.

day = 2
try dbQueue.write { db in
    try db.withoutStamps { try db.execute(sql: "UPDATE reminder SET title = upper(title)") }
}
try show("Without stamps:")

//: A callback is called for each row, and may write.

try dbQueue.after(.delete, on: Reminder.self) { db, change in
    print("Deleted:", try change.old?["title"] as String? ?? "")
    if try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM reminder") == 0 {
        try db.execute(sql: "INSERT INTO reminder (title) VALUES ('Make plans')")
    }
}
try dbQueue.write { db in try db.execute(sql: "DELETE FROM reminder") }
try show("A table that is never empty:")

//: An error that it throws fails the statement.

struct TooLong: Error {}
try dbQueue.after(.insert, .update(of: "title"), on: Reminder.self) { _, change in
    let title: String = try change.new?["title"] ?? ""
    if title.count > 20 { throw TooLong() }
}
do {
    try dbQueue.write { db in
        try db.execute(sql: "UPDATE reminder SET title = 'Make plans, and think of something to do'")
    }
} catch {
    print("Refused:", error)
}

//: Writes can be undone, a transaction at a time, whatever code has written.

let undo = try DatabaseUndo(dbQueue, Reminder.self)
try dbQueue.write { db in
    try undo.setActionName("Delete All", in: db)
    try db.execute(sql: "DELETE FROM reminder")
}
print("Undo", undo.undoName ?? "")
try undo.undo()
try show("Undone, with the stamps as they were:")
try undo.redo()
print("Redone. Once more?", undo.canRedo)
