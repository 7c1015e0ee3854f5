import TestSupport
import Testing

@testable import Shellac

@Suite("Partial saves of records")
struct RecordPartialSavesTests {
    /// Runs a body on a database with one hero, which is fetched, and a recorder of its SQL.
    private func withArthur<Hero: HeroRecord>(
        _: Hero.Type, _ body: (Database, Hero, SQLSpy) throws -> Void
    ) throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue.withHeroes { $0 = spy.configuration($0) }
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            let hero = try #require(try Hero.fetchOne(db))
            spy.removeAll()
            try body(db, hero, spy)
        }
    }

    @Test(
        "A partial update cleans the columns that it wrote, and the others stay dirty", .behaviour(10),
        arguments: RecordStyle.allCases)
    func partialUpdate(style: RecordStyle) throws { try partialUpdate(style.hero) }

    private func partialUpdate<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero, spy in
            (hero.name, hero.score) = ("Barbara", 11)
            try hero.update(db, columns: ["score"])
            #expect(try hero.databaseChanges == ["name": "Arthur"])
            #expect(try hero.tellsTheTruth(on: db))
            #expect(spy.sql.contains { $0.hasPrefix(#"UPDATE "hero" SET "score" = "#) })
            try hero.update(db, columns: ["name"])
            #expect(try !hero.hasDatabaseChanges && hero.tellsTheTruth(on: db))
        }
    }

    @Test(
        "A partial update of a record that knows little makes it know what was written", .behaviour(10),
        arguments: RecordStyle.allCases)
    func partialOfPartial(style: RecordStyle) throws { try partialOfPartial(style.hero) }

    private func partialOfPartial<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, _, _ in
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
        .behaviour(11), arguments: RecordStyle.allCases)
    func updateChanges(style: RecordStyle) throws { try updateChanges(style.hero) }

    private func updateChanges<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero, spy in
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

    @Test(
        "updateChanges with a closure writes what the closure changed, and no earlier edit", .behaviour(11),
        arguments: RecordStyle.allCases)
    func updateChangesModifying(style: RecordStyle) throws { try updateChangesModifying(style.hero) }

    private func updateChangesModifying<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero, spy in
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

    @Test(
        "Without changes, updateChanges runs no SQL and no callback", .behaviour(11),
        arguments: RecordStyle.allCases)
    func nothingToUpdate(style: RecordStyle) throws { try nothingToUpdate(style.countingHero) }

    private func nothingToUpdate<Counting: CountingHero & HeroRecord>(_: Counting.Type) throws {
        try withArthur(Counting.self) { db, hero, spy in
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

    @Test(
        "updateChanges of a record that was never inserted throws recordNotFound", .behaviour(12),
        arguments: RecordStyle.allCases)
    func neverInserted(style: RecordStyle) throws { try neverInserted(style.hero) }

    private func neverInserted<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, _, _ in
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

    @Test(
        "databaseChanges(modify:) modifies the record, also when it finds no change", .behaviour(13),
        arguments: RecordStyle.allCases)
    func modifying(style: RecordStyle) throws { try modifying(style.noisyHero) }

    private func modifying<Noisy: NoisyHero>(_: Noisy.Type) throws {
        try withArthur(Noisy.self) { db, hero, _ in
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

    @Test(
        "Forgetting super in any callback changes nothing about the snapshot", .behaviour(14),
        arguments: RecordStyle.allCases)
    func forgettingSuper(style: RecordStyle) throws { try forgettingSuper(style.forgetfulHero) }

    private func forgettingSuper<Forgetful: ForgetfulHero & HeroRecord>(_: Forgetful.Type) throws {
        try withArthur(Forgetful.self) { db, _, _ in
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
            #expect(try hero.databaseChanges == Forgetful.allUnknown)
        }
    }

    // MARK: - Encoders of their own kind

    /// A hero whose name is a column only now and then.
    private final class Incognito: PairHero {
        var tellsName = false
        override func encode(to container: inout PersistenceContainer) throws {
            container["id"] = id
            if tellsName { container["name"] = name }
            container["score"] = score
        }
    }

    /// The same, with the database in a transaction, or not.
    private func withArthur(inTransaction: Bool, _ body: (Database) throws -> Void) throws {
        try withArthur(PairHero.self) { db, _, _ in
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

    /// A hero that reads the values that the superclass has encoded, and refuses some of them.
    private final class Strict: PairHero {
        override func encode(to container: inout PersistenceContainer) throws {
            try super.encode(to: &container)
            guard let name: String = container["name"], !name.isEmpty else { throw TestError(1) }
        }
    }

    /// A hero that reads the values that the superclass has encoded, whatever their types are.
    private final class Untyped: PairHero {
        enum Columns { static let name = Column("name") }
        override func encode(to container: inout PersistenceContainer) throws {
            try super.encode(to: &container)
            let read: [(any DatabaseValueConvertible)?] = [
                container["score"], container[Column("SCORE")], container[Columns.name],
            ]
            let cape: (any DatabaseValueConvertible)? = container["cape"]
            let expected = [score.databaseValue, score.databaseValue, name.databaseValue]
            guard read.map({ $0?.databaseValue }) == expected, cape == nil else { throw TestError(2) }
        }
    }

    @Test("An encode reads values of unknown types back", .behaviour(1), arguments: [true, false])
    func untypedReading(inTransaction: Bool) throws {
        try withArthur(inTransaction: inTransaction) { db in
            let hero = try #require(try Untyped.fetchOne(db))
            #expect(!hero.hasDatabaseChanges)
            hero.score = 11
            #expect(try hero.databaseChanges == ["score": 10])
            #expect(try hero.updateChanges(db))
            #expect(try !hero.hasDatabaseChanges && hero.tellsTheTruth(on: db))
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
            #expect(try !hero.updateChanges(db))
            try hero.save(db)
            hero.name = ""
            #expect(hero.hasDatabaseChanges)
            #expect(throws: TestError(1)) { try hero.updateChanges(db) }
            #expect(throws: TestError(1)) { try hero.save(db) }
            #expect(try Int.fetchOne(db, sql: "SELECT score FROM hero WHERE name = 'Arthur'") == 11)
        }
    }
}

/// A hero with a property that is not stored.
private protocol NoisyHero: HeroRecord {
    var noise: Int { get set }
}

private final class PairNoisy: PairHero, NoisyHero { var noise = 0 }

private final class ListedNoisy: ListedHero, NoisyHero { var noise = 0 }

private final class CodedNoisy: CodedHero, NoisyHero {
    var noise = 0

    // The columns that are not Codable's are listed: there are none here.
    override func columns(_ column: borrowing RecordColumns) throws { try super.columns(column) }
}

extension RecordStyle {
    fileprivate var noisyHero: any NoisyHero.Type {
        choose(PairNoisy.self, ListedNoisy.self, CodedNoisy.self)
    }
}
