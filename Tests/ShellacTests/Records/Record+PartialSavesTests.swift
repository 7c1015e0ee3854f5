import TestSupport
import Testing

@testable import Shellac

@Suite("Partial saves of records")
struct RecordPartialSavesTests {
    /// A database with one hero, who is fetched, and what is heard of its SQL.
    private func withArthur(_ body: (Database, Hero, SQLSpy) throws -> Void) throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue.withHeroes { $0 = spy.configuration($0) }
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            let hero = try #require(try Hero.fetchOne(db))
            spy.removeAll()
            try body(db, hero, spy)
        }
    }

    @Test("A partial update cleans the columns that it wrote, and the others stay dirty", .behaviour(10))
    func partialUpdate() throws {
        try withArthur { db, hero, spy in
            (hero.name, hero.score) = ("Barbara", 11)
            try hero.update(db, columns: ["score"])
            #expect(try hero.databaseChanges == ["name": "Arthur"])
            #expect(try hero.tellsTheTruth(on: db))
            #expect(spy.sql.contains { $0.hasPrefix(#"UPDATE "hero" SET "score" = "#) })
            try hero.update(db, columns: ["name"])
            #expect(try !hero.hasDatabaseChanges && hero.tellsTheTruth(on: db))
        }
    }

    @Test("A partial update of a record that knows little makes it know what was written", .behaviour(10))
    func partialOfPartial() throws {
        try withArthur { db, _, _ in
            let hero = try #require(try Hero.fetchOne(db, sql: "SELECT id FROM hero"))
            (hero.name, hero.score) = ("Barbara", 11)
            try hero.update(db, columns: ["NAME"])
            #expect(try hero.databaseChanges == ["score": nil])
            hero.name = "Craig"
            #expect(try hero.databaseChanges == ["name": "Barbara", "score": nil])
            let new = Hero("Daniel")
            new.id = 1
            try new.update(db, columns: ["name"])
            #expect(try new.databaseChanges == ["score": nil], "the row was found by its id")
            try new.updateChanges(db)
            #expect(try new.tellsTheTruth(on: db))
        }
    }

    @Test(
        "updateChanges writes what differs from the snapshot, and says whether there was something",
        .behaviour(11))
    func updateChanges() throws {
        try withArthur { db, hero, spy in
            hero.score = 11
            #expect(try hero.updateChanges(db))
            #expect(spy.removeAll().filter { $0.hasPrefix("UPDATE") }.count == 1)
            #expect(try !hero.hasDatabaseChanges && hero.tellsTheTruth(on: db))
            try db.execute(sql: "UPDATE hero SET name = 'Changed'")
            hero.score = 12
            #expect(try hero.updateChanges(db))
            #expect(try db.heroes() == ["Changed"], "the name was not written")
        }
    }

    @Test("updateChanges with a closure writes what the closure changed, and no earlier edit", .behaviour(11))
    func updateChangesModifying() throws {
        try withArthur { db, hero, spy in
            hero.name = "Barbara"
            try #expect(hero.updateChanges(db) { $0.score = 11 })
            try #expect(db.heroes() == ["Arthur"])
            try #expect(db.score("Arthur") == 11)
            try #expect(hero.databaseChanges == ["name": "Arthur"])
            try #expect(!hero.updateChanges(db) { $0.score = 11 })
            try #expect(!hero.updateChanges(db) { $0.name = "Barbara" })
            #expect(throws: TestError(1)) {
                try hero.updateChanges(db) { hero in
                    hero.score = 13
                    throw TestError(1)
                }
            }
            try #expect(db.score("Arthur") == 11)
        }
    }

    /// A hero who counts the callbacks.
    private final class Counting: Hero {
        var calls: [String] = []
        override func willSave(_ db: Database) throws { calls.append("willSave") }
        override func willUpdate(_ db: Database, columns: Set<String>) throws { calls.append("willUpdate") }
        override func didUpdate(_ updated: PersistenceSuccess) { calls.append("didUpdate") }
        override func didSave(_ saved: PersistenceSuccess) { calls.append("didSave") }
        override func update(_ db: Database, columns: Set<String>) throws {
            calls.append("update \(columns.sorted())")
            try super.update(db, columns: columns)
        }
    }

    @Test("Without changes, updateChanges runs no SQL and no callback", .behaviour(11))
    func nothingToUpdate() throws {
        try withArthur { db, _, spy in
            let hero = try #require(try Counting.fetchOne(db))
            try db.inTransaction {
                _ = try hero.exists(db)  // what the connection must learn of the schema
                spy.removeAll()
                #expect(try !hero.updateChanges(db))
                #expect(try !hero.updateChanges(db) { _ in })
                #expect(spy.sql == [])
                #expect(hero.calls == [])
                #expect(try hero.updateChanges(db) { $0.score = 3 })
                #expect(
                    hero.calls == ["update [\"score\"]", "willSave", "willUpdate", "didUpdate", "didSave"])
                return .commit
            }
        }
    }

    @Test("updateChanges of a record that was never inserted throws recordNotFound", .behaviour(12))
    func neverInserted() throws {
        try withArthur { db, _, _ in
            let hero = Hero("Barbara")
            for _ in 1...2 {
                let error = #expect(throws: RecordError.self) { try hero.updateChanges(db) }
                guard case .recordNotFound("hero", ["id": .null])? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(hero.hasDatabaseChanges)
                hero.hasDatabaseChanges = false
                hero.score += 1
            }
            #expect(throws: RecordError.self) { try hero.updateChanges(db) { $0.score += 1 } }
            hero.id = 7
            let error = #expect(throws: RecordError.self) { try hero.updateChanges(db) { $0.score += 1 } }
            guard case .recordNotFound("hero", ["id": 7])? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try #expect(db.heroes() == ["Arthur"])
        }
    }

    /// A hero with a property that is not stored.
    private final class Noisy: Hero { var noise = 0 }

    @Test("databaseChanges(modify:) modifies the record, also when it finds no change", .behaviour(13))
    func modifying() throws {
        try withArthur { db, _, _ in
            let hero = try #require(try Noisy.fetchOne(db))
            // Not inside of #expect, where the compiler has mixed up closures of the same type.
            var changes = try hero.databaseChanges { $0.noise = 1 }
            #expect(hero.noise == 1 && changes == [:])
            changes = try hero.databaseChanges { $0.score = 11 }
            #expect(changes == ["score": 10])
            changes = try hero.databaseChanges { $0.score = 12 }
            #expect(changes == ["score": 11], "not the snapshot is compared")
            #expect(try hero.databaseChanges == ["score": 10])
            changes = try hero.databaseChanges {
                $0.id = nil
                $0.name = "Barbara"
            }
            #expect(hero.id == nil && hero.name == "Barbara")
            #expect(changes == ["id": 1, "name": "Arthur"])
            changes = try Noisy("Craig").databaseChanges { $0.id = 5 }
            #expect(changes == ["id": .null])
            #expect(throws: TestError(1)) { try hero.databaseChanges { _ in throw TestError(1) } }
            #expect(try db.heroes() == ["Arthur"], "nothing was written")
        }
    }

    /// A hero who overrides all callbacks, and calls no `super`.
    private final class Forgetful: Hero {
        override func willSave(_ db: Database) throws {}
        override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
            _ = try save()
        }
        override func didSave(_ saved: PersistenceSuccess) {}
        override func willInsert(_ db: Database) throws {}
        override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
            _ = try insert()
        }
        override func didInsert(_ inserted: InsertionSuccess) {}
        override func willUpdate(_ db: Database, columns: Set<String>) throws {}
        override func aroundUpdate(
            _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
        ) throws {
            _ = try update()
        }
        override func didUpdate(_ updated: PersistenceSuccess) {}
        override func willDelete(_ db: Database) throws {}
        override func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }
        override func didDelete(deleted: Bool) {}
        override func updateFromRow(_ row: Row) throws {
            id = try row["id"]
            name = try row["name"]
            score = try row["score"]
        }
    }

    @Test("Forgetting super in any callback changes nothing about the snapshot", .behaviour(14))
    func forgettingSuper() throws {
        try withArthur { db, _, _ in
            let hero = Forgetful("Barbara")
            try db.inTransaction {
                try hero.insert(db)
                #expect(try hero.id == 2 && hero.tellsTheTruth(on: db))
                return .rollback
            }
            #expect(try hero.id == nil && hero.tellsTheTruth(on: db))
            try hero.save(db)
            #expect(try !hero.hasDatabaseChanges && hero.tellsTheTruth(on: db))
            hero.score = 3
            #expect(try hero.databaseChanges == ["score": 0])
            try hero.update(db)
            #expect(!hero.hasDatabaseChanges)
            try hero.reload(db)
            #expect(!hero.hasDatabaseChanges)
            try hero.delete(db)
            #expect(try hero.databaseChanges == Hero.allUnknown)
        }
    }

    // MARK: - Encoders of their own kind

    /// A hero whose name is a column only now and then.
    private final class Incognito: Hero {
        var tellsName = false
        override func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            if tellsName { container["name"] = name }
            container["score"] = score
        }
    }

    /// The same, with the database in a transaction, or not.
    private func withArthur(inTransaction: Bool, _ body: (Database) throws -> Void) throws {
        try withArthur { db, _, _ in
            guard inTransaction else { return try body(db) }
            try db.inTransaction {
                try body(db)
                return .commit
            }
        }
    }

    @Test(
        "A column that the record did not encode before is written with those that have changed",
        .behaviour(10),
        arguments: [true, false])
    func moreColumns(inTransaction: Bool) throws {
        try withArthur(inTransaction: inTransaction) { db in
            for (name, score) in [("Barbara", 11), ("Craig", 11), ("Craig", 12)] {
                let hero = try #require(try Incognito.fetchOne(db, sql: "SELECT id, score FROM hero"))
                hero.score = -1
                hero.name = "nobody"
                try hero.updateChanges(db)
                // The columns without the name are now those that are expected.
                (hero.tellsName, hero.name, hero.score) = (true, name, score)
                #expect(hero.hasDatabaseChanges)
                #expect(try hero.updateChanges(db))
                #expect(!hero.hasDatabaseChanges)
                let row = try #require(try Row.fetchOne(db, sql: "SELECT name, score FROM hero"))
                #expect(try row["name"] == name && row["score"] == score)
            }
        }
    }

    /// A hero who reads what the superclass has encoded, and refuses some of it.
    private final class Strict: Hero {
        override func encode(to container: inout PersistenceContainer) throws {
            try super.encode(to: &container)
            guard let name: String = container["name"], !name.isEmpty else { throw TestError(1) }
        }
    }

    @Test(
        "An encode that reads what was encoded, and throws where it is missing, is compared all the same",
        .behaviour(1),
        arguments: [true, false])
    func readingEncoder(inTransaction: Bool) throws {
        try withArthur(inTransaction: inTransaction) { db in
            let hero = try #require(try Strict.fetchOne(db))
            #expect(!hero.hasDatabaseChanges)
            #expect(try !hero.updateChanges(db))
            hero.score = 11
            #expect(hero.hasDatabaseChanges)
            #expect(try hero.updateChanges(db))
            #expect(try !hero.hasDatabaseChanges && hero.tellsTheTruth(on: db))
            try hero.save(db)
            hero.name = ""
            #expect(hero.hasDatabaseChanges)
            #expect(throws: TestError(1)) { try hero.updateChanges(db) }
            #expect(throws: TestError(1)) { try hero.save(db) }
            #expect(try Int.fetchOne(db, sql: "SELECT score FROM hero WHERE name = 'Arthur'") == 11)
        }
    }
}
