import Shellac
import TestSupport
import Testing

/// What was called, in order.
private final class Calls {
    var list: [String] = []
    /// What a callback does, by its name.
    var actions: [String: () throws -> Void] = [:]

    func call(_ name: String) throws {
        list.append(name)
        try actions[name]?()
    }

    func note(_ name: String) { list.append(name) }

    func take() -> [String] {
        defer { list = [] }
        return list
    }
}

/// A class that overrides all callbacks, and never calls `super`.
private final class CalledClass: Record {
    let calls: Calls
    var id: Int64?
    var name = ""
    var score = 0

    init(_ calls: Calls, name: String = "") {
        (self.calls, self.name) = (calls, name)
        super.init()
    }

    required init(row: Row) throws {
        calls = Calls()
        (id, name, score) = (try row["id"], try row["name"], try row["score"])
        try super.init(row: row)
    }

    override class var databaseTableName: String { "player" }

    override func encode(to container: inout PersistenceContainer) throws {
        calls.note("encode")
        (container["id"], container["name"], container["score"]) = (id, name, score)
    }

    override func willSave(_ db: Database) throws { try calls.call("willSave") }
    override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        try calls.call("aroundSave {")
        let saved = try save()
        try calls.call("} aroundSave \(saved.insertion?.rowID ?? -1)")
    }
    override func didSave(_ saved: PersistenceSuccess) {
        calls.note("didSave \(saved.insertion?.rowID ?? -1)")
    }
    override func willInsert(_ db: Database) throws { try calls.call("willInsert") }
    override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        try calls.call("aroundInsert {")
        let inserted = try insert()
        try calls.call("} aroundInsert \(inserted.rowID)")
    }
    override func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
        calls.note("didInsert \(inserted.rowIDColumn ?? "")")
    }
    override func willUpdate(_ db: Database, columns: Set<String>) throws {
        try calls.call("willUpdate \(columns.sorted())")
    }
    override func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        try calls.call("aroundUpdate {")
        _ = try update()
        try calls.call("} aroundUpdate")
    }
    override func didUpdate(_ updated: PersistenceSuccess) { calls.note("didUpdate") }
    override func willDelete(_ db: Database) throws { try calls.call("willDelete") }
    override func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        try calls.call("aroundDelete {")
        let isDeleted = try delete()
        try calls.call("} aroundDelete \(isDeleted)")
    }
    override func didDelete(deleted: Bool) { calls.note("didDelete \(deleted)") }
}

/// The same as a struct.
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

    /// The calls, without those that encode: how often that happens is nobody's business.
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
        arguments: [true, false])
    func order(_ isClass: Bool) throws {
        try write { db in
            let calls = Calls()
            func run<R: MutablePersistableRecord>(
                _ record: R, setID: (inout R, Int64?) -> Void, change: (inout R) -> Void
            ) throws {
                var record = record
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
                #expect(throws: DatabaseError.self) { try record.insert(db) }
                #expect(take(calls) == Array(Self.insertion.prefix(4)))
            }
            if isClass {
                try run(CalledClass(calls, name: "Arthur"), setID: { $0.id = $1 }, change: { $0.score += 1 })
            } else {
                try run(CalledStruct(calls, name: "Arthur"), setID: { $0.id = $1 }, change: { $0.score += 1 })
            }
        }
    }

    @Test(
        "save calls willSave and aroundSave once around methods that a class overrides, and their order stays",
        .behaviour(98)
    )
    func overriddenMethods() throws {
        final class Player: Record {
            var id: Int64?
            var name = "Arthur"
            var calls: [String] = []
            var names: [String] = []
            override class var databaseTableName: String { "player" }
            override func updateFromRow(_ row: Row) throws { id = try row["id"] }
            override func encode(to container: inout PersistenceContainer) throws {
                (container["id"], container["name"], container["score"]) = (id, name, 1)
            }
            override func insert(_ db: Database) throws {
                calls.append("insert {")
                try super.insert(db)
                calls.append("} \(id ?? 0)")
            }
            override func update(_ db: Database) throws {
                calls.append("update {")
                try super.update(db)
                calls.append("}")
            }
            override func update(_ db: Database, columns: Set<String>) throws {
                calls.append("update columns {")
                try super.update(db, columns: names.isEmpty ? columns : Set(names))
                calls.append("}")
            }
            override func willSave(_ db: Database) throws {
                calls.append("willSave")
                name += "!"
            }
            override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
                calls.append("aroundSave {")
                _ = try save()
                calls.append("}")
            }
            override func willUpdate(_ db: Database, columns: Set<String>) throws {
                calls.append("willUpdate")
            }
            override func willInsert(_ db: Database) throws { calls.append("willInsert") }
            override func didInsert(_ inserted: InsertionSuccess) { calls.append("didInsert") }
            override func didUpdate(_ updated: PersistenceSuccess) { calls.append("didUpdate") }
            override func didSave(_ saved: PersistenceSuccess) { calls.append("didSave") }
            func take() -> [String] {
                defer { calls = [] }
                return calls
            }
        }
        try write { db in
            let player = Player()
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
            // What willSave changes is written, whatever columns the method names.
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
        arguments: [
            "willSave", "willInsert", "aroundSave {", "aroundInsert {",
        ])
    func throwing(_ name: String) throws {
        struct Refusal: Error {}
        try write { db in
            let calls = Calls()
            calls.actions[name] = { throw Refusal() }
            let player = CalledClass(calls, name: "Arthur")
            spy.removeAll()
            #expect(throws: Refusal.self) { try player.insert(db) }
            #expect(!spy.sql.contains { $0.hasPrefix("INSERT") })
            #expect(take(calls).last == name)
            #expect(player.id == nil)
            #expect(player.hasDatabaseChanges)
        }
    }

    @Test("an error behind the statement reaches the caller, and the row is written", .behaviour(35))
    func throwingAfterwards() throws {
        struct Regret: Error {}
        try write { db in
            let calls = Calls()
            calls.actions["} aroundInsert 1"] = { throw Regret() }
            let player = CalledClass(calls, name: "Arthur")
            #expect(throws: Regret.self) { try player.insert(db) }
            let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
            #expect(count == 1)
            // What the record knows is what the database holds, but its id: it takes that in didInsert. Without a key, it
            // does not mean that row.
            #expect(try player.databaseChanges["id"] == 1)
            player.id = 1
            #expect(!player.hasDatabaseChanges)
        }
    }

    @Test(
        "what a class's will-callback changes is written, also where other columns are updated",
        .behaviour(35),
        arguments: [
            "willSave", "willUpdate [\"score\"]", "aroundSave {", "aroundUpdate {",
        ])
    func changesOfCallbacks(_ name: String) throws {
        try write { db in
            let calls = Calls()
            let player = CalledClass(calls, name: "Arthur")
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

    @Test("a class that overrides all callbacks and never calls super knows what it saved", .behaviour(14))
    func withoutSuper() throws {
        try write { db in
            let player = CalledClass(Calls(), name: "Arthur")
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
            // What the copy's willSave changed is written.
            #expect(try score() == 5)
            try player.save(db)
            #expect(player.log == "fours")
            let inserted = try Player(name: "Barbara").inserted(db)
            #expect(inserted.id == 2)
            #expect(inserted.log == "si")
        }
    }

    @Test("a callback that does not call the function that it was given stops the program, with a sentence")
    func uncalledFunction() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            final class Player: Record {
                override class var databaseTableName: String { "player" }
                override func encode(to container: inout PersistenceContainer) throws { container["id"] = 1 }
                override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {}
            }
            try DatabaseQueue().write { db in
                try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
                try Player().insert(db)
            }
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("aroundInsert of Player has returned without having called the function"))
    }
}
