//: # Import and export
//: Rows as text for other programs, and back.

import Shellac

class Player: Record {
    var id: Int64?
    var name = ""
    var score: Int?

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
        t.column("name", .text).notNull().unique()
        t.column("score", .integer)
    }
}

//: A table takes rows of CSV. A name in the data is that of a column, or mapped to one. The text
//: between quotes is arbitrary.

let text = """
    Nickname,score,comment
    Arthur,100,
    "Barbara, ""the great""
    and the wise",,"no score: NULL"
    """
try dbQueue.write { db in
    let count = try db.importRows(
        into: "player", from: .bytes(text.utf8), columns: ["Nickname": "name"], ignoring: ["comment"])
    print(count, "players")
}

//: All rows are inserted, or none. The error says which one is wrong.

do {
    try dbQueue.write { db in
        try db.importRows(into: "player", from: .bytes("name,score\nCraig,5\nArthur,7\n".utf8))
    }
} catch {
    print(error)
}

//: A table, a request or an array of records goes to a file, a pipe, or a function, as CSV or as
//: JSON lines.

try dbQueue.read { db in
    print(try Player.fetchCount(db), "players")
    try db.exportRows(of: "player", to: .chunks { print(String(decoding: $0, as: UTF8.self)) })
    try db.exportRows(
        of: Player.filter(Column("score") == nil).select(Column("id"), Column("name")),
        to: .chunks { print(String(decoding: $0, as: UTF8.self)) }, as: .jsonLines)
}

//: Records are made of rows as fetched ones are, and inserted with all that belongs to it.

try dbQueue.write { db in
    try Player.importAll(db, from: .bytes("{\"name\":\"Diane\",\"score\":300}".utf8), as: .jsonLines)
    print(try Player.fetchAll(db).map(\.name))
}
