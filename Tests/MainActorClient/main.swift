// A program of a module whose default isolation is the main actor. It uses what such a module
// declares, on the main actor and elsewhere, and prints what came of it: see
// MainActorClientTests.swift.
import Foundation
import Shellac

/// The state that a view shows.
final class Screen {
    var players: [Player] = []
    let edited = Game(title: "Edited")
    private let dbQueue: DatabaseQueue
    private let audience = Audience()

    init(_ dbQueue: DatabaseQueue) {
        self.dbQueue = dbQueue
        dbQueue.add(transactionObserver: audience)
    }

    var heard: Int { audience.committed }

    func load() async throws {
        players = try await dbQueue.read { db in try Player.order(Column("name")).fetchAll(db) }
    }

    func saveEdited() async throws { try await edited.save(in: dbQueue) }

    /// All that is done to records that stay here.
    func edit() async throws {
        let (tristan, gawain, bors) = (Player(), Player(), Player())
        (tristan.name, gawain.name, bors.name) = ("Tristan", "Gawain", "Bors")
        try await dbQueue.insert([tristan, gawain, bors])
        tristan.name = "Tristram"
        print(
            try await dbQueue.updateChanges([tristan, gawain, bors]),
            try await tristan.updateChanges(in: dbQueue))
        gawain.name = "Gawaine"
        try await gawain.update(in: dbQueue)
        bors.name = "nobody"
        try await bors.reload(in: dbQueue)
        print([tristan, gawain, bors].map(\.name), bors.createdAt != nil)
        print(try await tristan.delete(in: dbQueue), try await dbQueue.delete([tristan, gawain, bors]))
    }
}

func makeSchema(_ dbQueue: DatabaseQueue) throws {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("v1") { db in
        try db.create(table: "player") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull()
            t.column("color", .text)
            t.column("height", .real)
            t.column("address", .text)
            t.column("createdAt", .datetime)
            t.column("armband", .text)
        }
        try db.create(table: "game") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("title", .text)
        }
        try db.create(table: "team") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text)
            t.column("color", .text)
            t.column("address", .text)
        }
        try db.create(table: "place") { t in
            t.column("name", .text).primaryKey()
            t.column("height", .real)
        }
    }
    try migrator.migrate(dbQueue)
}

func classes(_ dbQueue: DatabaseQueue) throws {
    let arthur = Player()
    (arthur.name, arthur.height, arthur.address) = ("Arthur", Metres(value: 2.1), Address(street: "Camelot"))
    let captain = Captain()
    captain.name = "Lancelot"
    let game = Game(title: "Chess")
    try dbQueue.write { db in
        try arthur.save(db)
        arthur.name = "King Arthur"
        try arthur.updateChanges(db)
        try captain.insert(db)
        try game.insert(db)
        let fetched = try Player.find(db, key: arthur.id)
        print(
            fetched.name, fetched.address?.street ?? "", fetched.createdAt != nil, fetched.hasDatabaseChanges)
        print(try Captain.filter(Column("armband") == "blue").fetchAll(db).map(\.name))
        print(try Game.fetchAll(db).map(\.title))
        try fetched.delete(db)
        print(fetched.log)
        _ = try db.inSavepoint {
            try game.delete(db)
            return .rollback
        }
    }
    print(arthur.log)
}

func structs(_ dbQueue: DatabaseQueue) throws {
    try dbQueue.write { db in
        var team = Team(name: "Red", color: .red, address: Address(street: "Main"))
        try team.insert(db)
        print(try Team.find(db, id: team.id).address?.street ?? "")
        print(try Team.filter { $0.color == TeamColor.red }.order { $0.name.desc }.fetchAll(db).map(\.name))
        try Team.filter { $0.name == "Red" }.updateAll(db) { $0.color.set(to: TeamColor.blue) }
        print(try TeamColor.fetchAll(db, sql: "SELECT color FROM team"))
        try Place(name: "Tower", height: Metres(value: 50)).insert(db)
        print(
            try Place.filter(IsTall()).fetchCount(db),
            try Metres.fetchOne(db, sql: "SELECT height FROM place") == Metres(value: 50))
    }
}

func functions(_ dbQueue: DatabaseQueue) throws {
    try dbQueue.inDatabase { db in
        try db.add(
            function: DatabaseFunction("twice", argumentCount: 1) { values in
                Metres.fromDatabaseValue(values[0]).map { Metres(value: $0.value * 2) }
            })
        try db.add(function: DatabaseFunction("longest", argumentCount: 1, aggregate: Longest.self))
        try db.add(
            collation: DatabaseCollation("byLength") { a, b in
                a.count < b.count ? .orderedAscending : a.count > b.count ? .orderedDescending : .orderedSame
            })
        print(try Double.fetchOne(db, sql: "SELECT twice(height) FROM place") ?? 0)
        print(
            try String.fetchOne(db, sql: "SELECT longest(name) FROM (SELECT 'a' AS name UNION SELECT 'abc')")
                ?? "")
        print(try String.fetchAll(db, sql: "SELECT name FROM team ORDER BY name COLLATE byLength"))
    }
}

func elsewhere(_ dbQueue: DatabaseQueue) async throws {
    let screen = Screen(dbQueue)
    try await dbQueue.register(Player.self)
    try dbQueue.after(.insert, on: Player.self) { db, change in
        try db.execute(sql: "INSERT INTO game(title) VALUES ('after')")
    }
    try await screen.saveEdited()
    try await dbQueue.write { db in
        let percival = Player()
        percival.name = "Percival"
        try percival.insert(db)
        db.afterNextTransaction { _ in }
    }
    let galahad = Player()
    galahad.name = "Galahad"
    let inserted = try await dbQueue.write(sending: galahad) { db, galahad in
        try galahad.insert(db)
        return galahad
    }
    print(inserted.id != nil)
    try await screen.load()
    print(screen.players.map(\.name), screen.heard)
    print(try await dbQueue.read { db in try Game.filter(Column("title") == "after").fetchCount(db) })
    let undo = try DatabaseUndo(dbQueue, tables: ["team"])
    try await dbQueue.write { db in _ = try Team.deleteAll(db) }
    print(try await undo.undo(), try await dbQueue.read { db in try Team.fetchCount(db) })
    let (changes, told) = AsyncStream<Int>.makeStream()
    let observation = DatabaseRegionObservation(tracking: Team.all()).start(
        in: dbQueue, onError: { _ in told.finish() },
        onChange: { db in told.yield((try? Team.fetchCount(db)) ?? -1) })
    try await dbQueue.write { db in _ = try Team.deleteAll(db) }
    for await count in changes {
        print(count)
        break
    }
    observation.cancel()
    try await screen.edit()
}

let dbQueue = try DatabaseQueue()
try makeSchema(dbQueue)
try classes(dbQueue)
try structs(dbQueue)
try functions(dbQueue)
try await elsewhere(dbQueue)
