//: # Rows
//: SQL is welcome here. It returns rows and values, read at the speed of SQLite's own interface.

import Shellac

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.execute(
        sql: """
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER, photo BLOB);
            INSERT INTO player (name, score, photo) VALUES ('Arthur', 1000, x'C0FFEE'), ('Barbara', NULL, NULL);
            """)
}

//: A cursor steps through rows where SQLite holds them. Columns are read by name or by position.

try dbQueue.read { db in
    let rows = try Row.fetchCursor(db, sql: "SELECT * FROM player")
    while let row = try rows.next() {
        let name: String = try row["name"]
        let score: Int? = try row["SCORE"]
        print(name, score.map { "has \($0) points" } ?? "has not played")
    }
}

//: Arrays hold rows that own their values.

let rows = try dbQueue.read { db in try Row.fetchAll(db, sql: "SELECT * FROM player") }
for row in rows { print(row) }
for (column, value) in rows[0] { print("  \(column) = \(value)") }

//: Nothing crashes because of data: a value that does not convert throws, and says why.

do {
    let score: Int = try rows[1]["score"]
    print(score)
} catch {
    print(error)
}
do {
    let level: Int = try rows[0]["level"]
    print(level)
} catch {
    print(error)
}

//: Values are fetched without rows around them.

try dbQueue.read { db in
    print(try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name DESC"))
    print(try Int?.fetchAll(db, sql: "SELECT score FROM player"))
    print(
        try Set(String.fetchCursor(db, literal: "SELECT name FROM player WHERE id IN \([1, 2, 3])")).sorted())
    print(try Int.fetchOne(db, sql: "SELECT MAX(score) FROM player") ?? 0)
}

//: A blob can be looked at without copying it.

let size = try rows[0].withUnsafeData(named: "photo") { data in data?.count ?? 0 }
print("The photo has \(size) bytes.")
