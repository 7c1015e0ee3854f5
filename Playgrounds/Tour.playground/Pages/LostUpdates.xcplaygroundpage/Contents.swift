//: # Two who change the same row
//:
//: The row that a record remembers is its version: it overwrites no other user's change unseen.

import Foundation
import Shellac

class Player: Record {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }
}

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.create(table: "player") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.column("score", .integer).notNull()
    }
    let player = Player()
    (player.name, player.score) = ("Arthur", 100)
    try player.insert(db)
}

//: Two have the same player in hand. Both change it.

let (mine, theirs) = try dbQueue.read { db in (try Player.find(db, key: 1), try Player.find(db, key: 1)) }
theirs.score = 500
try dbQueue.write { db in try theirs.update(db, checking: .changedColumns) }

mine.score = 150
mine.name = "King Arthur"
do {
    try dbQueue.write { db in try mine.update(db, checking: .changedColumns) }
} catch RecordError.stale(let columns, let row) {
    let score: Int = try row["score"]
    print("somebody else has changed \(columns.joined(separator: ", ")): the score is \(score) now")

    //: The clean columns take what the other one has written. Mine stay, and are still to be
    //: written.

    try mine.merge(row)
    print("still to be written:", try mine.databaseChanges.keys.sorted())
}
try dbQueue.write { db in try mine.update(db, checking: .changedColumns) }
print("both agree:", try dbQueue.read { db in try Player.find(db, key: 1).score })

//: If the new value is made of the old one, a function makes it again.

try dbQueue.write { db in try theirs.updateChanges(db, retrying: 1) { $0.score += 10 } }
print("\(theirs.name) has \(theirs.score) points")

//: A row that is gone is no row that was changed.

try dbQueue.write { db in try mine.delete(db) }
theirs.score = 0
do {
    try dbQueue.write { db in try theirs.update(db, checking: .all) }
} catch { print(error) }
