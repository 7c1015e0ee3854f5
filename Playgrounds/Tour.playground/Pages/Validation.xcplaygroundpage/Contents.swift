//: # Validation
//:
//: A record is validated before it is saved, and the table enforces what must always hold.

import Foundation
import Shellac

class Player: Record {
    var id: Int64?
    var name = ""
    var score = 0
    var teamID: Int64?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("teamID", teamID) { teamID = $0 }
    }

    override func willSave(_ db: Database) throws {
        name = name.trimmingCharacters(in: .whitespaces)
    }

    override func validate(_ db: Database) throws {
        try ValidationError.collect { errors in errors.require(name, "name") }
    }
}

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.create(table: "team") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
    }
    try db.create(table: "player") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull().unique()
        t.column("score", .integer).notNull().check(sql: "score >= 0")
        t.column("teamID", .integer).references("team")
    }
}

//: An error of `validate` stops the save. It runs after `willSave`, which may change the record.

let player = Player()
player.name = "   "
do {
    try dbQueue.write { db in try player.save(db) }
} catch { print("refused:", error) }

player.name = " Arthur "
try dbQueue.write { db in try player.save(db) }
print("saved: \(player.name)")

//: The error of a violated constraint has parts: the kind, the table, the columns. It becomes a
//: validation error, too.

func attempt(_ change: (Player) -> Void) throws {
    let other = Player()
    other.name = "Barbara"
    change(other)
    do {
        try dbQueue.write { db in try other.insert(db) }
    } catch let error as DatabaseError {
        guard let constraint = error.constraint else { throw error }
        print(
            "\(constraint.kind) of \(constraint.table ?? "?"): \(constraint.columns.joined(separator: ", "))")
        if let key = constraint.foreignKey { print("there is no such \(key.destinationTable)") }
        if let errors = ValidationError(error, for: other) { print(errors) }
    }
}

try attempt { $0.name = "Arthur" }
try attempt { $0.score = -1 }
try attempt { $0.teamID = 7 }
