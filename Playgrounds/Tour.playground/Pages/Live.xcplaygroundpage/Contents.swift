//: # Live
//: Values that follow the database: a list that prints itself again when it has changed, and only
//: then.

import Shellac

class Player: Record {
    var id: Int64?
    var name = ""
    var score = 0
    var teamID = 1

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("teamID", teamID) { teamID = $0 }
    }
}

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.create(table: "player") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.column("score", .integer).notNull()
        t.column("teamID", .integer).notNull()
    }
    for (name, score) in [("Arthur", 100), ("Barbara", 200), ("Craig", 300)] {
        let player = Player()
        (player.name, player.score) = (name, score)
        try player.insert(db)
    }
}

func write(_ sql: String) async throws {
    print(sql)
    try await dbQueue.write { db in try db.execute(sql: sql) }
}

//: A loop follows a request. The objects are the loop's own: here, each line also changes them.

func bar(_ player: Player) -> String {
    player.name += String(repeating: " ", count: 8 - player.name.count)
    return "  \(player.name) \(String(repeating: "█", count: player.score / 20)) \(player.score)"
}

//: Writes while the list is shown. Most of it fetches nothing: no row of the team has
//: other values.

func showList() async throws {
    var rest = [
        "UPDATE player SET score = score + 150 WHERE name = 'Arthur'",
        "INSERT INTO player (name, score, teamID) VALUES ('Diane', 900, 2)",  // another team
        "UPDATE player SET score = score WHERE teamID = 1",  // the same values
        "UPDATE player SET score = 1000 WHERE teamID = 2",  // another team
        "DELETE FROM player WHERE name = 'Barbara'",
    ][...]
    let team = Player.filter(Column("teamID") == 1).order(Column("score").desc)
    for try await players in dbQueue.values(of: team) {
        for player in players { print(bar(player)) }
        if rest.isEmpty { return }
        while let sql = rest.popFirst() {
            try await write(sql)
            // The others change nothing that the loop could wait for.
            if sql.contains("Arthur") || sql.contains("Barbara") { break }
        }
    }
}
try await showList()

//: An observation follows what a function fetches. Operators go in between.

let best = ValueObservation.tracking { db in
    try Int.fetchOne(db, sql: "SELECT MAX(score) FROM player WHERE teamID = 1") ?? 0
}.removeDuplicates().map { score in "the best has \(score)" }

func showBest() async throws {
    var lines = best.values(in: dbQueue).makeAsyncIterator()
    print(try await lines.next() ?? "")
    try await write("UPDATE player SET name = 'Eve', score = 700 WHERE name = 'Craig'")
    print(try await lines.next() ?? "")

    //: Closing the database ends what follows it.

    try await dbQueue.close()
    print(try await lines.next() ?? "no more values")
}
try await showBest()
