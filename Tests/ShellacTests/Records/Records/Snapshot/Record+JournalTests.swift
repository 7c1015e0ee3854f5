import TestSupport
import Testing

@testable import Shellac

@Suite("Records follow their transaction")
struct RecordJournalTests {
    /// The operations that change the row that a record remembers.
    enum Operation: String, CaseIterable, Sendable {
        case insert, refreshingInsert, saveNew, upsertNew
        case update, partialUpdate, updateChanges, save, upsert, delete, reload, flagFalse, flagTrue

        var isInsertion: Bool { [.insert, .refreshingInsert, .saveNew, .upsertNew].contains(self) }

        /// A record to run the operation on, which has changes to write.
        func makeHero<Hero: HeroRecord>(_ db: Database) throws -> Hero {
            if isInsertion { return Hero("new") }
            try db.execute(sql: "INSERT INTO hero VALUES (7, 'old', 10)")
            let hero = try #require(try Hero.fetchOne(db, key: 7))
            (hero.name, hero.score) = ("new", 11)
            return hero
        }

        func run(_ hero: some HeroRecord, _ db: Database) throws {
            switch self {
            case .insert: try hero.insert(db)
            case .refreshingInsert: try hero.insert(db, refreshing: true)
            case .saveNew, .save: try hero.save(db)
            case .upsertNew, .upsert: try hero.upsert(db)
            case .update: try hero.update(db)
            case .partialUpdate: try hero.update(db, columns: ["score"])
            case .updateChanges: try hero.updateChanges(db)
            case .delete: try hero.delete(db)
            case .reload:
                try db.execute(sql: "UPDATE hero SET score = 12 WHERE id = 7")
                try hero.reload(db)
            case .flagFalse: hero.hasDatabaseChanges = false
            case .flagTrue: hero.hasDatabaseChanges = true
            }
        }
    }

    @Test(
        "Setting the flag leaves what the last save has changed", .behaviour(5), arguments: [true, false],
        RecordStyle.allCases)
    func flagAfterSave(flag: Bool, style: RecordStyle) throws { try flagAfterSave(style.hero, flag: flag) }

    private func flagAfterSave<Hero: HeroRecord>(_: Hero.Type, flag: Bool) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            let hero: Hero = try Operation.update.makeHero(db)
            try hero.update(db)
            hero.hasDatabaseChanges = flag
            #expect(hero.savedDatabaseChanges == ["name": "old", "score": 10])
        }
    }

    @Test(
        "What an earlier save has changed is not told of once a later operation is rolled back",
        .behaviour(15), arguments: [Operation.update, .delete, .reload, .flagFalse, .flagTrue],
        RecordStyle.allCases)
    func earlierSave(operation: Operation, style: RecordStyle) throws {
        try earlierSave(style.hero, operation: operation)
    }

    private func earlierSave<Hero: HeroRecord>(_: Hero.Type, operation: Operation) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            let hero: Hero = try operation.makeHero(db)
            try hero.update(db)
            #expect(hero.savedDatabaseChanges == ["name": "old", "score": 10])
            hero.score = 12
            try db.inSavepoint {
                try operation.run(hero, db)
                return .rollback
            }
            #expect(hero.savedDatabaseChanges == [:])
        }
    }

    @Test(
        "What is undone is forgotten: the record remembers what it did before, and has no id that is gone",
        .behaviour(15), arguments: RecordStyle.each(Operation.allCases), Undoing.allCases)
    func undone(_ first: (style: RecordStyle, operation: Operation), way: Undoing) throws {
        try undone(first.style.hero, operation: first.operation, way: way)
    }

    private func undone<Hero: HeroRecord>(_: Hero.Type, operation: Operation, way: Undoing) throws {
        let queue = try DatabaseQueue.withHeroes()
        let hero: Hero = try queue.inDatabase(operation.makeHero)
        let (id, remembered) = try (hero.id, hero.remembered)
        var during: [String: DatabaseValue?] = [:]
        try way.run(queue) { db in
            do {
                try operation.run(hero, db)
                during = try hero.remembered
            } catch {
                throw UnexpectedIssue(error: error)
            }
        }
        #expect(during != remembered, "the operation changes what the record remembers")
        #expect(try hero.remembered == remembered)
        #expect(hero.id == id)
        #expect(hero.savedDatabaseChanges == [:])
        try queue.inDatabase { db in
            #expect(try hero.tellsTheTruth(on: db))
            #expect(!db.isInsideTransaction)
            #expect(try db.heroes() == (operation.isInsertion ? [] : ["old"]))
            // The record works on: it is saved as if nothing had happened.
            hero.name = "next"
            try hero.save(db)
            #expect(try !hero.hasDatabaseChanges && hero.tellsTheTruth(on: db))
        }
    }

    /// A way to commit.
    enum Commit: String, CaseIterable, Sendable {
        case autocommit, write, raw, savepoint, savepointInTransaction, rollbackToEarlier

        func run(_ queue: DatabaseQueue, _ body: (Database) throws -> Void) throws {
            func sql(_ before: String, _ after: String) throws {
                try queue.inDatabase { db in
                    try db.execute(sql: before)
                    try body(db)
                    try db.execute(sql: after)
                }
            }
            switch self {
            case .autocommit: try queue.writeWithoutTransaction(body)
            case .write: try queue.write(body)
            case .raw: try sql("BEGIN", "END")
            case .savepoint: try sql("SAVEPOINT a", "RELEASE A")
            case .savepointInTransaction: try sql("BEGIN; SAVEPOINT a", "RELEASE A; COMMIT")
            case .rollbackToEarlier: try sql("BEGIN", "SAVEPOINT a; ROLLBACK TO a; COMMIT")
            }
        }
    }

    @Test(
        "What is committed stays, whatever is rolled back later", .behaviour(15),
        arguments: RecordStyle.each(Operation.allCases), Commit.allCases)
    func committed(_ first: (style: RecordStyle, operation: Operation), commit: Commit) throws {
        try committed(first.style.hero, operation: first.operation, commit: commit)
    }

    private func committed<Hero: HeroRecord>(_: Hero.Type, operation: Operation, commit: Commit) throws {
        let queue = try DatabaseQueue.withHeroes()
        let hero: Hero = try queue.inDatabase(operation.makeHero)
        var remembered: [String: DatabaseValue?] = [:]
        try commit.run(queue) { db in
            try operation.run(hero, db)
            remembered = try hero.remembered
        }
        #expect(try hero.remembered == remembered)
        let id = hero.id
        #expect(id != nil)
        try queue.inTransaction { db in
            try Hero("other").insert(db)
            return .rollback
        }
        try queue.inDatabase { db in
            expectError("table hero has 3 columns but 1 values were supplied") {
                try db.execute(sql: "INSERT INTO hero VALUES (1)")
            }
            expectError("NOT NULL constraint failed: hero.name") {
                try db.execute(sql: "INSERT INTO hero (name) VALUES (NULL)")
            }
        }
        #expect(try hero.remembered == remembered)
        #expect(hero.id == id)
    }

    @Test(
        "A record saved in nested savepoints goes back one level at a time", .behaviour(15),
        arguments: RecordStyle.allCases)
    func nested(style: RecordStyle) throws { try nested(style.hero) }

    private func nested<Hero: HeroRecord>(_: Hero.Type) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            let hero = Hero("Arthur")
            try db.execute(sql: "BEGIN")
            try hero.insert(db)
            for score in 1...3 {
                try db.execute(sql: "SAVEPOINT s")
                hero.score = score
                try hero.update(db)
                hero.score = score * 10
                try hero.updateChanges(db)
            }
            hero.score = 99
            #expect(try hero.databaseChanges == ["score": 30])
            for old in [20, 10, 0] as [DatabaseValue] {
                try db.execute(sql: "ROLLBACK TO S")
                #expect(try hero.databaseChanges == ["score": old])
                #expect(try hero.tellsTheTruth(on: db))
                // Going back again changes nothing, and neither does saving and going back.
                try hero.update(db)
                try db.execute(sql: "ROLLBACK TO s; ROLLBACK TO s; RELEASE s")
                #expect(try hero.databaseChanges == ["score": old])
            }
            #expect(hero.id == 1)
            try db.execute(sql: "ROLLBACK")
            #expect(try hero.id == nil && hero.databaseChanges == Hero.allUnknown)
        }
    }

    @Test(
        "A released savepoint is undone with the one around it, and not with an earlier one inside",
        .behaviour(15), arguments: RecordStyle.allCases)
    func released(style: RecordStyle) throws { try released(style.hero) }

    private func released<Hero: HeroRecord>(_: Hero.Type) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            let (first, second, third) = (Hero("Arthur"), Hero("Barbara"), Hero("Craig"))
            try db.execute(sql: "BEGIN")
            try first.insert(db)
            try db.execute(sql: "SAVEPOINT outer; SAVEPOINT inner")
            try second.insert(db)
            try db.execute(sql: "RELEASE Inner; SAVEPOINT later")
            try third.insert(db)
            try db.execute(sql: "ROLLBACK TO LATER")
            #expect([first.id, second.id, third.id] == [1, 2, nil])
            try third.insert(db)
            try db.execute(sql: "ROLLBACK TO OUTER")
            #expect([first.id, second.id, third.id] == [1, nil, nil])
            expectError("no such savepoint: inner") { try db.execute(sql: "ROLLBACK TO inner") }
            #expect(first.id == 1)
            try db.execute(sql: "COMMIT")
            #expect([first.id, second.id, third.id] == [1, nil, nil])
            #expect(try first.tellsTheTruth(on: db) && second.tellsTheTruth(on: db))
        }
    }

    // MARK: - Row ids

    @Test(
        "An id is taken away where the base filled it in, and where it is still the same", .behaviour(15),
        arguments: RecordStyle.allCases)
    func ids(style: RecordStyle) throws { try ids(style.hero) }

    private func ids<Hero: HeroRecord>(_: Hero.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        let (filled, given, changed, emptied) = (Hero("a"), Hero("b"), Hero("c"), Hero("d"))
        given.id = 50
        try queue.inTransaction { db in
            for hero in [filled, given, changed, emptied] { try hero.insert(db) }
            changed.id = 77
            emptied.id = nil
            return .rollback
        }
        #expect([filled.id, given.id, changed.id, emptied.id] == [nil, 50, 77, nil])
        #expect(
            try [filled, given, changed, emptied].allSatisfy { try $0.databaseChanges == Hero.allUnknown })
        #expect(
            [filled, given, changed, emptied].map(\.name) == ["a", "b", "c", "d"], "the rest is as it was")
    }

    @Test(
        "A record inserted, deleted and inserted again in one transaction loses its id all the same",
        .behaviour(15), arguments: RecordStyle.allCases)
    func insertedTwice(style: RecordStyle) throws { try insertedTwice(style.hero) }

    private func insertedTwice<Hero: HeroRecord>(_: Hero.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        let hero = Hero("Arthur")
        try queue.inTransaction { db in
            try hero.insert(db)
            try hero.delete(db)
            #expect(try hero.id == 1 && hero.databaseChanges == Hero.allUnknown)
            hero.id = nil
            try hero.insert(db)
            try hero.update(db)
            return .rollback
        }
        #expect(try hero.id == nil && hero.databaseChanges == Hero.allUnknown)
    }

    @Test(
        "An id that the user's didInsert has set stays, and the record has changes", .behaviour(15),
        arguments: RecordStyle.allCases)
    func didInsert(style: RecordStyle) throws { try didInsert(style.stubborn) }

    private func didInsert<Stubborn: StubbornHero>(_: Stubborn.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        for _ in 1...2 {
            let hero = Stubborn()
            try queue.inTransaction { db in
                try hero.insert(db)
                #expect(!hero.hasDatabaseChanges)
                return .rollback
            }
            #expect(hero.id == 1)
            #expect(try hero.databaseChanges == PairHero.allUnknown)
        }
    }
}

/// A hero that sets its id on its own.
private protocol StubbornHero: Record {
    var id: Int64? { get }

    init()
}

private class InsertedStubborn: TabledHero {
    final var id: Int64?

    override func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private final class PairStubborn: InsertedStubborn, StubbornHero {
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = "Arthur"
        container["score"] = 0
    }
}

private final class ListedStubborn: InsertedStubborn, StubbornHero {
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { _ in }
        try column("name", "Arthur") { _ in }
        try column("score", 0) { _ in }
    }
}

private class IdentifiedStubborn: InsertedStubborn {
    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { _ in } }
}

private final class CodedStubborn: IdentifiedStubborn, StubbornHero, Codable {
    var name = "Arthur"
    var score = 0
}

extension RecordStyle {
    fileprivate var stubborn: any StubbornHero.Type {
        choose(PairStubborn.self, ListedStubborn.self, CodedStubborn.self)
    }
}
