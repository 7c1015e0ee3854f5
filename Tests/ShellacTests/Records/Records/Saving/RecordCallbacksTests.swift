import Shellac
import TestSupport
import Testing

/// The same as ``CalledPlayer``, as a struct.
private struct CalledStruct: MutablePersistableRecord {
    static var databaseTableName: String { "player" }
    let calls: Calls
    var id: Int64?
    var name = ""
    var score = 0

    init(_ calls: Calls, name: String = "") { (self.calls, self.name) = (calls, name) }

    func encode(to container: inout PersistenceContainer) throws {
        calls.note("encode")
        (container["id"], container["name"], container["score"]) = (id, name, score)
    }

    func willSave(_ db: Database) throws { try calls.call("willSave") }
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        try calls.call("aroundSave {")
        let saved = try save()
        try calls.call("} aroundSave \(saved.insertion?.rowID ?? -1)")
    }
    func didSave(_ saved: PersistenceSuccess) { calls.note("didSave \(saved.insertion?.rowID ?? -1)") }
    func willInsert(_ db: Database) throws { try calls.call("willInsert") }
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        try calls.call("aroundInsert {")
        let inserted = try insert()
        try calls.call("} aroundInsert \(inserted.rowID)")
    }
    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
        calls.note("didInsert \(inserted.rowIDColumn ?? "")")
    }
    func willUpdate(_ db: Database, columns: Set<String>) throws {
        try calls.call("willUpdate \(columns.sorted())")
    }
    func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        try calls.call("aroundUpdate {")
        _ = try update()
        try calls.call("} aroundUpdate")
    }
    func didUpdate(_ updated: PersistenceSuccess) { calls.note("didUpdate") }
    func willDelete(_ db: Database) throws { try calls.call("willDelete") }
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        try calls.call("aroundDelete {")
        let isDeleted = try delete()
        try calls.call("} aroundDelete \(isDeleted)")
    }
    func didDelete(deleted: Bool) { calls.note("didDelete \(deleted)") }
}

@Suite("Callbacks of records")
struct RecordCallbacksTests {
    private let spy = SQLSpy()

    private func write(_ body: (Database) throws -> Void) throws {
        let dbQueue = try DatabaseQueue(configuration: spy.configuration())
        try dbQueue.writeWithoutTransaction { db in
            try db.execute(
                sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, score INTEGER)")
            try body(db)
        }
    }

    /// Returns the calls, without those that encode: their number is not specified.
    private func take(_ calls: Calls) -> [String] { calls.take().filter { $0 != "encode" } }

    private static let insertion = [
        "willSave", "willInsert", "aroundSave {", "aroundInsert {", "} aroundInsert 1", "} aroundSave 1",
        "didInsert id", "didSave 1",
    ]

    private static func update(_ columns: [String]) -> [String] {
        [
            "willSave", "willUpdate \(columns)", "aroundSave {", "aroundUpdate {", "} aroundUpdate",
            "} aroundSave -1", "didUpdate", "didSave -1",
        ]
    }

    /// A save whose update finds no row.
    private static let saveOfNone =
        Array(update(["id", "name", "score"]).prefix(4)) + [
            "willInsert", "aroundInsert {", "} aroundInsert 1", "} aroundSave 1", "didInsert id", "didSave 1",
        ]

    @Test(
        "the order of callbacks, each of which is called once, class and struct", .behaviour(35, 98),
        arguments: RecordStyle.allCases as [RecordStyle?] + [nil])
    func order(_ style: RecordStyle?) throws {
        if let style {
            try order(style.calledPlayer)
        } else {
            try order(
                of: { CalledStruct($0, name: "Arthur") }, setID: { $0.id = $1 }, change: { $0.score += 1 })
        }
    }

    private func order<Player: CalledPlayer & HeroRecord>(_: Player.Type) throws {
        try order(of: { Player($0, name: "Arthur") }, setID: { $0.id = $1 }, change: { $0.score += 1 })
    }

    private func order<R: MutablePersistableRecord>(
        of make: (Calls) -> R, setID: (inout R, Int64?) -> Void, change: (inout R) -> Void
    ) throws {
        try write { db in
            let calls = Calls()
            var record = make(calls)
            try record.insert(db)
            #expect(take(calls) == Self.insertion)
            try record.update(db)
            #expect(take(calls) == Self.update(["id", "name", "score"]))
            try record.update(db, columns: ["score"])
            #expect(take(calls) == Self.update(["score"]))
            #expect(try record.updateChanges(db) { change(&$0) })
            #expect(take(calls) == Self.update(["score"]))
            #expect(try !record.updateChanges(db) { _ in })
            #expect(take(calls) == [])
            try record.save(db)
            #expect(take(calls) == Self.update(["id", "name", "score"]))
            try record.upsert(db)
            #expect(take(calls) == Self.insertion)
            try record.delete(db)
            #expect(
                take(calls) == ["willDelete", "aroundDelete {", "} aroundDelete true", "didDelete true"])
            try record.delete(db)
            #expect(take(calls).last == "didDelete false")
            // An update that finds no row, and then an insertion.
            try record.save(db)
            #expect(take(calls) == Self.saveOfNone)
            setID(&record, nil)
            try record.insert(db, onConflict: .ignore)
            #expect(take(calls) == Array(Self.insertion.prefix(4)))
            expectError("UNIQUE constraint failed: player.name") { try record.insert(db) }
            #expect(take(calls) == Array(Self.insertion.prefix(4)))
        }
    }

    @Test(
        "save calls willSave and aroundSave once around methods that a class overrides, and their order stays",
        .behaviour(98), arguments: RecordStyle.allCases)
    func overriddenMethods(style: RecordStyle) throws { try overriddenMethods(style.methodicalPlayer) }

    private func overriddenMethods<Player: MethodicalPlayer & HeroRecord>(_: Player.Type) throws {
        try write { db in
            let player = Player("Arthur", score: 1)
            try player.save(db)
            #expect(
                player.take() == [
                    "insert {", "willSave", "willInsert", "aroundSave {", "}", "didInsert", "didSave", "} 1",
                ])
            try player.save(db)
            let update = [
                "willSave", "aroundSave {", "update {", "update columns {", "willUpdate", "}", "}", "}",
            ]
            #expect(player.take() == update + ["didUpdate", "didSave"])
            try player.delete(db)
            try player.save(db)
            let insertion = ["insert {", "willInsert", "} 1", "}", "didInsert", "didSave"]
            #expect(player.take() == update.prefix(5) + insertion)
            #expect(try String.fetchOne(db, sql: "SELECT name FROM player") == "Arthur!!!")
            #expect(!player.hasDatabaseChanges)
            // The changes of willSave are written, whatever columns the method names.
            player.names = ["score"]
            try player.save(db)
            #expect(try String.fetchOne(db, sql: "SELECT name FROM player") == "Arthur!!!!")
            #expect(!player.hasDatabaseChanges)
        }
    }

    @Test(
        "a struct's mutating willSave and willInsert run once in a save that inserts, and what they change is written",
        .behaviour(98)
    )
    func mutatingSave() throws {
        struct Player: MutablePersistableRecord {
            var id: Int64?
            var name = ""
            func encode(to container: inout PersistenceContainer) throws {
                (container["id"], container["name"]) = (id, name)
            }
            mutating func willSave(_ db: Database) throws { name += "s" }
            mutating func willInsert(_ db: Database) throws { name += "i" }
            mutating func didInsert(_ inserted: InsertionSuccess) { name += "d" }
        }
        try write { db in
            var player = Player(id: 5)
            try player.save(db)
            #expect(player.name == "sid")
            #expect(try String.fetchOne(db, sql: "SELECT name FROM player") == "si")
            try player.save(db)
            #expect(player.name == "sids")
        }
    }

    @Test(
        "a will-callback that throws: nothing is executed, and nothing else is called", .behaviour(35),
        arguments: RecordStyle.allCases, ["willSave", "willInsert", "aroundSave {", "aroundInsert {"])
    func throwing(style: RecordStyle, _ name: String) throws { try throwing(style.calledPlayer, name) }

    private func throwing<Player: CalledPlayer & HeroRecord>(_: Player.Type, _ name: String) throws {
        try write { db in
            let calls = Calls()
            calls.actions[name] = { throw TestError(1) }
            let player = Player(calls, name: "Arthur")
            spy.removeAll()
            #expect(throws: TestError(1)) { try player.insert(db) }
            #expect(!spy.sql.contains { $0.hasPrefix("INSERT") })
            #expect(take(calls).last == name)
            #expect(player.id == nil)
            #expect(player.hasDatabaseChanges)
        }
    }

    @Test(
        "an error behind the statement reaches the caller, and the row is written", .behaviour(35),
        arguments: RecordStyle.allCases)
    func throwingAfterwards(style: RecordStyle) throws {
        try throwingAfterwards(style.calledPlayer, listsID: style != .pair)
    }

    private func throwingAfterwards<Player: CalledPlayer & HeroRecord>(_: Player.Type, listsID: Bool) throws {
        try write { db in
            let calls = Calls()
            calls.actions["} aroundInsert 1"] = { throw TestError(2) }
            let player = Player(calls, name: "Arthur")
            #expect(throws: TestError(2)) { try player.insert(db) }
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
            #expect(count == 1)
            if listsID {
                #expect(player.id == 1, "it is given its id before its callbacks are called")
            } else {
                // The snapshot of the record is its row, without the id, which the record takes in
                // didInsert. Without a key, it does not mean that row.
                #expect(try player.databaseChanges["id"] == 1)
                player.id = 1
            }
            #expect(!player.hasDatabaseChanges)
        }
    }

    @Test(
        "what a class's will-callback changes is written, also where other columns are updated",
        .behaviour(35),
        arguments: RecordStyle.allCases,
        ["willSave", "willUpdate [\"score\"]", "aroundSave {", "aroundUpdate {"])
    func changesOfCallbacks(style: RecordStyle, _ name: String) throws {
        try changesOfCallbacks(style.calledPlayer, name)
    }

    private func changesOfCallbacks<Player: CalledPlayer & HeroRecord>(_: Player.Type, _ name: String) throws
    {
        try write { db in
            let calls = Calls()
            let player = Player(calls, name: "Arthur")
            try player.insert(db)
            calls.actions[name] = { player.name = "Changed by \(name)" }
            player.score = 5
            spy.removeAll()
            try player.update(db, columns: ["score"])
            #expect(spy.sql.last == #"UPDATE "player" SET "name" = ?, "score" = ? WHERE "id" = ?"#)
            #expect(try String.fetchOne(db, sql: "SELECT name FROM player") == "Changed by \(name)")
            #expect(!player.hasDatabaseChanges)
            player.score = 6
            calls.actions[name] = { player.name = "Changed again" }
            #expect(try player.updateChanges(db))
            #expect(try String.fetchOne(db, sql: "SELECT name FROM player") == "Changed again")
            #expect(!player.hasDatabaseChanges)
        }
    }

    @Test(
        "a class that overrides all callbacks and never calls super knows what it saved", .behaviour(14),
        arguments: RecordStyle.allCases)
    func withoutSuper(style: RecordStyle) throws { try withoutSuper(style.calledPlayer) }

    private func withoutSuper<Player: CalledPlayer & HeroRecord>(_: Player.Type) throws {
        try write { db in
            let player = Player(Calls(), name: "Arthur")
            try player.insert(db)
            #expect(!player.hasDatabaseChanges)
            player.score = 1
            #expect(try player.databaseChanges == ["score": 0])
            try player.update(db)
            #expect(!player.hasDatabaseChanges)
            try player.delete(db)
            #expect(player.hasDatabaseChanges)
        }
    }

    @Test("a struct's mutating willSave and willInsert are honoured, by update on a copy", .behaviour(34))
    func mutatingCallbacks() throws {
        struct Player: MutablePersistableRecord {
            var id: Int64?
            var name: String
            var log = ""
            func encode(to container: inout PersistenceContainer) throws {
                (container["id"], container["name"], container["score"]) = (id, name, log.count)
            }
            mutating func willSave(_ db: Database) throws { log += "s" }
            mutating func willInsert(_ db: Database) throws { log += "i" }
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        try write { db in
            func score() throws -> Int? { try Int.fetchOne(db, sql: "SELECT score FROM player") }
            var player = Player(name: "Arthur")
            try player.insert(db)
            #expect(player.log == "si")
            #expect(player.id == 1)
            #expect(try score() == 2)
            let constant = player
            try constant.update(db)
            #expect(constant.log == "si")
            #expect(try score() == 3)
            player.log = "four"
            try player.update(db, columns: ["name"])
            // The changes of the copy's willSave are written.
            #expect(try score() == 5)
            try player.save(db)
            #expect(player.log == "fours")
            let inserted = try Player(name: "Barbara").inserted(db)
            #expect(inserted.id == 2)
            #expect(inserted.log == "si")
        }
    }

    @Test(
        "a callback that does not call the function that it was given stops the program, with a sentence",
        arguments: RecordStyle.allCases)
    func uncalledFunction(style: RecordStyle) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [style = style as RecordStyle] in
            crashWithoutBacktrace()
            try DatabaseQueue().write { db in
                try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name, score)")
                try style.uncallingPlayer.init().insert(db)
            }
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            said.contains(
                "aroundInsert of \(style.uncallingPlayer) returned without calling the function"))
    }
}
