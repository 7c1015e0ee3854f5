//: # Requests
//: Raw SQL is first class. Requests are for users who would rather not write it: they are values,
//: built from Swift.

import Shellac

struct Player: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String
    var score: Int
    var teamID: Int64?
    var isFlagged = false

    enum Columns {
        static let name = Column(CodingKeys.name)
        static let score = Column(CodingKeys.score)
        static let isFlagged = Column(CodingKeys.isFlagged)
    }
}

let dbQueue = try DatabaseQueue()

try dbQueue.write { db in
    try db.execute(
        sql: """
            CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues');
            CREATE TABLE player (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL,
                teamID INTEGER REFERENCES team(id), isFlagged BOOLEAN NOT NULL);
            INSERT INTO player VALUES (1, 'Arthur', 100, 1, 0), (2, 'Barbara', 250, 1, 0), (3, 'Craig', 50, 2, 0);
            """)
}

//: A request knows no database. It is fetched in an access to one.

let best = Player.filter(Column("score") > 60).order(Column("score").desc)

extension DerivableRequest<Player> {
    func named(_ pattern: String) -> Self { filter(Column("name").like(pattern)) }
}

try dbQueue.read { db in
    print("The best:", try best.fetchAll(db).map(\.name))
    print("With a B:", try best.named("B%").fetchOne(db)?.name ?? "nobody")
    print("How many:", try best.fetchCount(db))
}

//: Other things than records are selected, too.

try dbQueue.read { db in
    let scores = try Player.select(sum(Column("score")), as: Int.self).fetchOne(db)
    print("All scores:", scores ?? 0)

    let (player, team) = (TableAlias("p"), TableAlias("t"))
    let rows = try Player.aliased(player)
        .join(Table("team"), aliased: team, on: player[Column("teamID")] == team[Column("id")])
        .select(team[Column("name")].forKey("team"), max(player[Column("score")]).forKey("best"))
        .group(team[Column("id")])
        .asRequest(of: Row.self)
        .fetchAll(db)
    for row in rows { print("The best score of \(try row["team"] as String):", try row["best"] as Int) }
}

//: Many rows are updated by one statement.

try dbQueue.write { db in
    let count = try Player.filter { $0.score < 200 }.updateAll(db) {
        $0.score += 10
        $0.isFlagged.toggle()
    }
    print("Updated:", count)
    print("Deleted:", try Player.filter(Column("score") < 100).deleteAll(db))
    try db.dumpRequest(Player.order(Column("id")))
}

//: Many records are inserted by one statement, all of them or none.

try dbQueue.write { db in
    let players = (10..<110).map { Player(id: $0, name: "Player \($0)", score: Int($0)) }
    try Player.insertAll(db, players)
    do {
        try Player.insertAll(
            db, [Player(id: 200, name: "Eve", score: 1), Player(id: 1, name: "Arthur", score: 1)])
    } catch {
        print("None of them:", error)
    }
    print("Players:", try Player.fetchCount(db))
}

//: An upsert says what it does with the row in the way.

try dbQueue.write { db in
    let arthur = Player(id: 1, name: "King Arthur", score: 5)
    let stored = try arthur.upsertAndFetch(db, onConflict: ["id"]) { excluded in
        Column("score") += excluded[Column("score")]
        Column("isFlagged").noOverwrite
    }
    print(stored.name, stored.score)
}

//: SQLite itself explains its plan for a request.

try dbQueue.read { db in print(try best.explain(db)) }

//: Closures name columns, a request becomes elements of the type that fetches it, and an adapter
//: shows some of the columns.

try dbQueue.read { db in
    let pairs = Player.select { [$0.name, $0.score] }.withStableOrder().limit(2)
    for row in try Row.fetchAll(db, pairs) { print(row) }
    let sql = "SELECT team.name, player.* FROM player JOIN team ON team.id = teamID ORDER BY player.id"
    let first = try Player.fetchOne(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 1))
    print("Without its team:", first?.name ?? "nobody")
}
