//: # Records
//: A class whose instances are rows of a table, and know whether they have changed.

import Observation
import Shellac

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.create(table: "player") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.column("score", .integer).notNull().defaults(to: 0)
    }
}

//: All properties have a default value here, so that the class inherits its initializers. Its
//: columns are listed once. It may be observable, too.

@Observable
class Player: Record {
    var id: Int64?
    var name = ""
    var score = 0

    override class var databaseTableName: String { "player" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }
}

//: A record that is saved gets its row id, and knows what the database holds.

let arthur = Player()
arthur.name = "Arthur"
try dbQueue.write { db in
    try arthur.save(db)
    print("inserted with id \(arthur.id ?? 0), changed: \(arthur.hasDatabaseChanges)")
    arthur.score = 1000
    print("changed: \(arthur.hasDatabaseChanges), \(try arthur.databaseChanges)")
    try arthur.updateChanges(db)
    print("saved: \(arthur.savedDatabaseChanges)")
}

//: Its knowledge follows the transaction.

struct Regret: Error {}
let barbara = Player()
do {
    try dbQueue.write { db in
        barbara.name = "Barbara"
        try barbara.insert(db)
        try arthur.delete(db)
        throw Regret()
    }
} catch is Regret {
    print(
        "rolled back: Barbara's id is \(barbara.id.map(String.init) ?? "nil"), changed: \(barbara.hasDatabaseChanges)"
    )
    print("rolled back: Arthur is there, changed: \(arthur.hasDatabaseChanges)")
}

//: Records are fetched by keys, by SQL, and all together.

try dbQueue.write { db in
    try barbara.insert(db)
    print("by key:", try Player.find(db, key: 1).name)
    print(
        "by SQL:",
        try Player.fetchAll(db, sql: "SELECT * FROM player WHERE score > ?", arguments: [100]).map(\.name))
    print("all:", try Player.fetchAll(db).map(\.name))
    print("count:", try Player.fetchCount(db))
    print("deleted:", try Player.deleteOne(db, key: 2))
    do {
        try barbara.update(db)
    } catch {
        print(error)
    }
}

//: A struct can be a record as well.

struct Score: FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "player"
    var id: Int64?
    var score: Int

    init(row: Row) throws {
        id = try row["id"]
        score = try row["score"]
    }

    func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["score"] = score
    }
}

try dbQueue.write { db in
    var score = try Score.find(db, key: 1)
    try score.updateChanges(db) { $0.score += 1 }
    try arthur.reload(db)
    print("reloaded:", arthur.score)
}

//: Records cross to asynchronous accesses, and the compiler ensures that they are not shared.

func fetchPlayers() async throws -> [Player] {
    try await dbQueue.read { db in try Player.fetchAll(db) }
}
print("read:", try await fetchPlayers().map(\.name))

let id = try await dbQueue.write(sending: Player()) { db, player in
    player.name = "Craig"
    try player.insert(db)
    return player.id
}
print("written:", id ?? 0)

arthur.score += 1
try await arthur.save(in: dbQueue)
print("saved where it is, changed: \(arthur.hasDatabaseChanges)")

// Several of them are saved in one transaction; and they are deleted, and reloaded.
let lancelot = Player()
lancelot.name = "Lancelot"
arthur.score += 1
try await dbQueue.save([arthur, lancelot])
try await arthur.reload(in: dbQueue)
try await lancelot.delete(in: dbQueue)
