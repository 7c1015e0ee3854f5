import TestSupport
import Testing

@testable import Shellac

@Suite("Copies and saved changes of records")
struct RecordCopyTests {
    private func withHeroes(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            try body(db)
        }
    }

    // MARK: - copy()

    @Test(
        "A copy has what is encoded, and remembers the same row", .behaviour(25),
        arguments: ["*", "id", "id, score", "*, 1 AS more"], RecordStyle.allCases)
    func copies(columns: String, style: RecordStyle) throws { try copies(style.hero, columns: columns) }

    private func copies<Hero: HeroRecord>(_: Hero.Type, columns: String) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db, sql: "SELECT \(columns) FROM hero"))
            for name in ["Arthur", "Barbara"] {
                hero.name = name
                let copy = try hero.copy()
                #expect(copy !== hero)
                #expect(copy.id == 1 && copy.name == name && copy.score == hero.score)
                #expect(copy.hasDatabaseChanges == hero.hasDatabaseChanges)
                #expect(try copy.databaseChanges == hero.databaseChanges)
            }
            let copy = try hero.copy()
            (copy.name, copy.score) = ("Craig", 3)
            try copy.update(db)
            #expect(!copy.hasDatabaseChanges)
            #expect(hero.name == "Barbara" && hero.hasDatabaseChanges, "each goes its own way")
        }
    }

    @Test("A copy of a new record is new", .behaviour(25), arguments: RecordStyle.allCases)
    func copyOfNew(style: RecordStyle) throws { try copyOfNew(style.hero) }

    private func copyOfNew<Hero: HeroRecord>(_: Hero.Type) throws {
        #expect(try Hero("Barbara", score: 2).copy().databaseChanges == Hero.allUnknown)
    }

    @Test(
        "A copy of a subclass is of the subclass, and its override can copy more", .behaviour(25),
        arguments: RecordStyle.allCases)
    func subclass(style: RecordStyle) throws { try subclass(style.armedHero) }

    private func subclass<Armed: ArmedHero & HeroRecord>(_: Armed.Type) throws {
        let hero = Armed("Arthur")
        hero.weapon = "Excalibur"
        #expect(try hero.copy().weapon == "Excalibur")
        #expect(try type(of: (hero as ArmedHero).copy()) == Armed.self)
    }

    @Test(
        "A record that cannot be encoded is not copied, and the error is the encoder's", .behaviour(25),
        arguments: RecordStyle.allCases)
    func cannotCopy(style: RecordStyle) throws { try cannotCopy(style.fickleHero) }

    private func cannotCopy<Fickle: FickleHero>(_: Fickle.Type) throws {
        let hero = Fickle()
        hero.fails = true
        #expect(throws: TestError(1)) { try hero.copy() }
    }

    /// A hero that refuses each row.
    private final class Refusing: PairHero {
        required init() { super.init() }
        required init(row: Row) throws { throw TestError(2) }
    }

    @Test("A record whose initializer throws is not copied, and the error is the initializer's")
    func refusedCopy() throws {
        #expect(throws: TestError(2)) { try Refusing().copy() }
    }

    // MARK: - savedDatabaseChanges

    @Test(
        "savedDatabaseChanges has the old values of what the last save changed, until the next save",
        .behaviour(17), arguments: RecordStyle.allCases)
    func savedChanges(style: RecordStyle) throws { try savedChanges(style.hero) }

    private func savedChanges<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db))
            #expect(hero.savedDatabaseChanges == [:])
            hero.score = 11
            #expect(hero.savedDatabaseChanges == [:])
            try hero.update(db)
            #expect(hero.savedDatabaseChanges == ["score": 10])
            (hero.name, hero.score) = ("Barbara", 12)
            #expect(hero.savedDatabaseChanges == ["score": 10], "edits are not saved")
            try hero.update(db, columns: ["name"])
            #expect(hero.savedDatabaseChanges == ["name": "Arthur"])
            try hero.updateChanges(db)
            #expect(hero.savedDatabaseChanges == ["score": 11])
            try hero.updateChanges(db)
            #expect(hero.savedDatabaseChanges == ["score": 11], "nothing was saved")
            try hero.save(db)
            #expect(hero.savedDatabaseChanges == [:], "saved without a change")
            let new = Hero("Craig")
            try new.save(db)
            #expect(new.savedDatabaseChanges == Hero.allUnknown)
        }
    }

    @Test(
        "What affinity stores in another class is no saved change", .behaviour(6, 17),
        arguments: RecordStyle.allCases)
    func savedAffinity(style: RecordStyle) throws { try savedAffinity(style.real) }

    private func savedAffinity<Real: RealRecord>(_: Real.Type) throws {
        try withHeroes { db in
            try db.execute(
                sql: "CREATE TABLE reals (id INTEGER PRIMARY KEY, a REAL); INSERT INTO reals VALUES (1, 5)")
            let record = try #require(try Real.fetchOne(db))
            try record.update(db)
            #expect(record.savedDatabaseChanges == [:])
            record.a = 6
            try record.update(db)
            #expect(record.savedDatabaseChanges == ["A": 5.0], "a REAL column holds a real number")
        }
    }

    @Test(
        "savedDatabaseChanges is empty after a rollback, and stays after a commit", .behaviour(17),
        arguments: RecordStyle.allCases)
    func savedAndRolledBack(style: RecordStyle) throws { try savedAndRolledBack(style.hero) }

    private func savedAndRolledBack<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db))
            hero.score = 11
            try db.inTransaction {
                try hero.update(db)
                return .commit
            }
            #expect(hero.savedDatabaseChanges == ["score": 10])
            try db.inTransaction {
                hero.score = 12
                try hero.update(db)
                #expect(hero.savedDatabaseChanges == ["score": 11])
                return .rollback
            }
            #expect(hero.savedDatabaseChanges == [:])
        }
    }

    @Test(
        "Neither a reload, nor the flag, nor a deletion is a save: savedDatabaseChanges stays",
        .behaviour(17), arguments: RecordStyle.allCases)
    func noSaves(style: RecordStyle) throws { try noSaves(style.hero) }

    private func noSaves<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db))
            func expectStill(_ what: Comment) {
                #expect(hero.savedDatabaseChanges == ["score": 10], what)
            }
            hero.score = 11
            try hero.update(db)
            expectStill("update")
            try db.execute(sql: "UPDATE hero SET name = 'Barbara'")
            try hero.reload(db)
            expectStill("reload")
            hero.name = "Craig"
            hero.hasDatabaseChanges = false
            expectStill("false")
            hero.hasDatabaseChanges = true
            expectStill("true")
            try hero.delete(db)
            expectStill("delete")
            try hero.insert(db)
            #expect(hero.savedDatabaseChanges == Hero.allUnknown)
        }
    }

    @Test(
        "savedDatabaseChanges is what the last save changed when the callbacks of the save ask for it",
        .behaviour(17), arguments: RecordStyle.allCases)
    func inCallback(style: RecordStyle) throws { try inCallback(style.curiousHero) }

    private func inCallback<Curious: CuriousHero & HeroRecord>(_: Curious.Type) throws {
        try withHeroes { db in
            let hero = try #require(try Curious.fetchOne(db))
            hero.score = 11
            try hero.update(db)
            hero.name = "Barbara"
            try hero.update(db, columns: ["name"])
            #expect(hero.heard == [["score": 10], ["name": "Arthur"]])
        }
    }
}

/// A record whose integer is stored as a real number.
private protocol RealRecord: Record {
    var a: Int { get set }
}

private class Reals: Record {
    override class var databaseTableName: String { "reals" }
}

private final class PairReal: Reals, RealRecord {
    var a = 0

    override func updateFromRow(_ row: Row) throws { a = try row["a"] }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = 1
        container["A"] = a
    }
}

private final class ListedReal: Reals, RealRecord {
    var a = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", 1) { _ in }
        try column("A", a) { a = $0 }
    }
}

private final class CodedReal: Reals, RealRecord, Codable {
    var id = 1
    var a = 0

    enum CodingKeys: String, CodingKey {
        case id
        case a = "A"
    }
}

extension RecordStyle {
    fileprivate var real: any RealRecord.Type { choose(PairReal.self, ListedReal.self, CodedReal.self) }
}
