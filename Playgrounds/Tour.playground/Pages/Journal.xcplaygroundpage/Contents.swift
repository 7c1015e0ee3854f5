//: # The journal
//: Each transaction as a value. The past can be read, restored and undone.

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
}

//: From now on, each transaction has an entry with its changes. The entry is written
//: inside of the transaction.

try dbQueue.keepJournal(of: Player.self)

let arthur = Player()
arthur.name = "Arthur"
try dbQueue.write { db in try arthur.insert(db) }
try JournalNote.current.withValue(["author": "ann"]) {
    try dbQueue.write { db in
        try db.execute(sql: "UPDATE player SET score = score + 10")
        try db.execute(sql: "INSERT INTO player (name, score) VALUES ('Barbara', 5)")
    }
}
try dbQueue.read { db in
    for entry in try db.journalEntries(after: 1) {
        print("Entry \(entry.number), by \(entry.note["author"] ?? "nobody"):")
        print(try entry.changeset.described(db))
    }
}

//: The versions of one row, as records:

try dbQueue.write { db in
    for version in try arthur.databaseHistory(db) {
        let player: Player? = try version.record(db)
        print(version.operation, "→ score", player!.score)
    }
}

//: The database as it was after an entry. Any request runs on it.

let past = try dbQueue.asOf(2)
print(try past.read { db in try Player.fetchAll(db).map { "\($0.name) \($0.score)" } })

//: Undo needs nothing but the journal. So it also works in the next run of the program.

let undo = JournalUndo()
try dbQueue.write { db in try undo.undo(db) }
print(try dbQueue.read { db in try Player.fetchAll(db).map { "\($0.name) \($0.score)" } })
try dbQueue.write { db in try undo.redo(db) }
print(try dbQueue.read { db in try Player.fetchAll(db).map { "\($0.name) \($0.score)" } })

//: A changeset is a value. Its bytes can be sent to another database, and applied there.

let other = try DatabaseQueue()
try other.write { db in
    try db.execute(
        sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL)")
    for entry in try dbQueue.read({ db in try db.journalEntries() }) {
        try Changeset(data: entry.changeset.data).apply(db)
    }
    print(try Player.fetchAll(db).map { "\($0.name) \($0.score)" })
}
