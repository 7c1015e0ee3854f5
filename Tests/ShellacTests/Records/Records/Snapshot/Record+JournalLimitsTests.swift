import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Records and the bounds of their transaction")
struct RecordJournalLimitsTests {
    // MARK: - Commits that are refused

    @Test(
        "A COMMIT refused by a deferred foreign key leaves the notes: a rollback takes the state back",
        .behaviour(15), arguments: RecordStyle.allCases)
    func refusedAndRolledBack(style: RecordStyle) throws { try refusedAndRolledBack(style.hero) }

    private func refusedAndRolledBack<Hero: HeroRecord>(_: Hero.Type) throws {
        try withRefusedCommit(Hero.self) { db, hero in
            try db.execute(sql: "ROLLBACK")
            #expect(try hero.id == nil && hero.databaseChanges == Hero.allUnknown)
        }
    }

    @Test(
        "A COMMIT refused by a deferred foreign key, and tried again with success, keeps the state",
        .behaviour(15), arguments: RecordStyle.allCases)
    func refusedAndRetried(style: RecordStyle) throws { try refusedAndRetried(style.hero) }

    private func refusedAndRetried<Hero: HeroRecord>(_: Hero.Type) throws {
        try withRefusedCommit(Hero.self) { db, hero in
            try db.execute(sql: "DELETE FROM child; COMMIT")
            #expect(hero.id == 1 && !hero.hasDatabaseChanges)
            try db.execute(sql: "BEGIN; ROLLBACK")
            #expect(try hero.id == 1 && hero.tellsTheTruth(on: db))
        }
    }

    private func withRefusedCommit<Hero: HeroRecord>(
        _: Hero.Type, _ body: (Database, Hero) throws -> Void
    ) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE child (hero REFERENCES hero(id) DEFERRABLE INITIALLY DEFERRED)")
            for commit in ["BEGIN; COMMIT", "SAVEPOINT a; RELEASE a"].map({ $0.components(separatedBy: "; ") }
            ) {
                let hero = Hero("Arthur")
                try db.execute(sql: commit[0])
                try hero.insert(db)
                try db.execute(sql: "INSERT INTO child VALUES (1000)")
                for _ in 1...2 {
                    expectError("FOREIGN KEY constraint failed (the transaction is still open)") {
                        try db.execute(sql: commit[1])
                    }
                    #expect(hero.id == 1 && !hero.hasDatabaseChanges)
                }
                try body(db, hero)
                #expect(!db.isInsideTransaction)
                try db.execute(sql: "DELETE FROM hero")
            }
        }
    }

    @Test(
        "A COMMIT of the C interface keeps the state, and the access lets go of the records",
        arguments: RecordStyle.allCases)
    func committedUnheard(style: RecordStyle) throws { try committedUnheard(style.hero) }

    private func committedUnheard<Hero: HeroRecord>(_: Hero.Type) throws {
        weak var passing: Hero?
        let queue = try DatabaseQueue.withHeroes()
        let kept = Hero("Arthur")
        try queue.inDatabase { db in
            let connection = try #require(db.sqliteConnection)
            #expect(sqlite3_exec(connection, "BEGIN", nil, nil, nil) == SQLITE_OK)
            try kept.insert(db)
            let hero = Hero("Barbara")
            try hero.insert(db)
            passing = hero
            #expect(sqlite3_exec(connection, "COMMIT", nil, nil, nil) == SQLITE_OK)
        }
        #expect(passing == nil)
        try queue.inTransaction { db in
            try kept.update(db)
            return .rollback
        }
        try queue.inDatabase { db in try #expect(kept.id == 1 && kept.tellsTheTruth(on: db)) }
    }

    @Test(
        "A COMMIT refused because another process reads leaves the notes", .behaviour(15),
        arguments: [true, false], RecordStyle.allCases)
    func busy(retries: Bool, style: RecordStyle) throws { try busy(style.hero, retries: retries) }

    private func busy<Hero: HeroRecord>(_: Hero.Type, retries: Bool) throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue.withHeroes(path: folder.path("a.sqlite"))
        let hero = Hero("Arthur")
        try queue.inDatabase { db in
            let other = try SecondProcess(path: folder.path("a.sqlite"), lock: .read)
            try db.execute(sql: "BEGIN")
            try hero.insert(db)
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "COMMIT") }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(hero.id == 1 && !hero.hasDatabaseChanges)
            other.release()
            try db.execute(sql: retries ? "COMMIT" : "ROLLBACK")
            #expect(hero.id == (retries ? 1 : nil))
            #expect(try hero.hasDatabaseChanges == !retries && hero.tellsTheTruth(on: db))
        }
    }

    // MARK: - Statements that fail

    @Test(
        "A save that fails alone leaves the record as it was, and the transaction's notes", .behaviour(15),
        arguments: RecordStyle.allCases)
    func failedSave(style: RecordStyle) throws { try failedSave(style.hero) }

    private func failedSave<Hero: HeroRecord>(_: Hero.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        let (first, second) = (Hero("Arthur"), Hero("Arthur"))
        try queue.inTransaction { db in
            try first.insert(db)
            expectError("UNIQUE constraint failed: hero.name") { try second.insert(db) }
            #expect(try second.id == nil && second.databaseChanges == Hero.allUnknown)
            second.name = "Barbara"
            try second.insert(db)
            second.name = "Arthur"
            expectError("UNIQUE constraint failed: hero.name") { try second.update(db) }
            #expect(try second.databaseChanges == ["name": "Barbara"])
            #expect(first.id == 1 && second.id == 2)
            return .rollback
        }
        #expect([first.id, second.id] == [nil, nil])
    }

    // MARK: - What is held

    @Test(
        "A record is held until its transaction ends, and not beyond", .behaviour(15),
        arguments: ["COMMIT", "ROLLBACK"], RecordStyle.allCases)
    func freed(end: String, style: RecordStyle) throws { try freed(style.hero, end: end) }

    private func freed<Hero: HeroRecord>(_: Hero.Type, end: String) throws {
        weak var saved: Hero?
        try DatabaseQueue.withHeroes().inDatabase { db in
            try db.execute(sql: "BEGIN; SAVEPOINT a")
            func save() throws {
                let hero = Hero("Arthur")
                try hero.insert(db)
                saved = hero
            }
            try save()
            #expect(saved != nil)
            try db.execute(sql: "RELEASE a")
            #expect(saved != nil)
            try db.execute(sql: end)
            #expect(saved == nil)
        }
    }

    @Test(
        "A record saved through two queues follows each rollback in turn", .behaviour(15),
        arguments: RecordStyle.allCases)
    func twoQueues(style: RecordStyle) throws { try twoQueues(style.hero) }

    private func twoQueues<Hero: HeroRecord>(_: Hero.Type) throws {
        let (a, b) = (try DatabaseQueue.withHeroes(), try DatabaseQueue.withHeroes())
        let hero = Hero("Arthur")
        try a.write { db in try hero.insert(db) }
        hero.score = 1
        try b.inTransaction { db in
            try hero.insert(db)
            #expect(!hero.hasDatabaseChanges)
            return .rollback
        }
        #expect(hero.id == 1, "the second database did not give the id")
        #expect(try hero.databaseChanges == ["score": 0])
        #expect(try a.inDatabase { db in try hero.tellsTheTruth(on: db) })
        try a.inTransaction { db in
            try hero.update(db)
            try b.write { db in try hero.insert(db) }
            return .commit
        }
        #expect(!hero.hasDatabaseChanges)
        try b.inTransaction { db in
            hero.score = 2
            try hero.update(db)
            return .rollback
        }
        #expect(try hero.databaseChanges == ["score": 1])
    }

    @Test(
        "A record that does not take the NULL for its id keeps the id, and the others lose theirs",
        .behaviour(15), arguments: RecordStyle.allCases)
    func refusing(style: RecordStyle) throws { try Self.rollBackRefusing(style.refusingHero) }

    private static func rollBackRefusing<Refusing: RefusingHero & HeroRecord>(_: Refusing.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        let heroes = ["a", "b", "c"].map { Refusing($0) }
        try queue.inTransaction { db in
            for hero in heroes { try hero.insert(db) }
            heroes[1].refuses = true
            return .rollback
        }
        #expect(heroes.map(\.id) == [nil, 2, nil])
        #expect(try heroes.allSatisfy { try $0.databaseChanges == Refusing.allUnknown })
        try queue.inDatabase { db in try #expect(db.heroes() == []) }
    }

    @Test(
        "A record that does not take the NULL for its id is told of in the log", .behaviour(15),
        arguments: RecordStyle.allCases)
    func refusingIsLogged(style: RecordStyle) async {
        // In a process of its own: there is one log.
        await #expect(processExitsWith: .success) { [style] in
            let log = Recorder<String>()
            Database.logError = { code, message in log.record("\(code.rawValue) \(message)") }
            try RecordJournalLimitsTests.rollBackRefusing(style.refusingHero)
            let expected = [
                "28 the insertion of a \(style.refusingHero) was rolled back, but the record has kept the row id 2: "
                    + "\(style.choose("updateFromRow", "columns(_:)", "setting it")) threw TestError(number: 9)"
            ]
            guard log.elements == expected else { throw TestError(1) }
        }
    }

    @Test(
        "Fifty thousand records saved in one transaction are all given back", .behaviour(15),
        arguments: RecordStyle.allCases)
    func many(style: RecordStyle) throws { try many(style.hero) }

    private func many<Hero: HeroRecord>(_: Hero.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        let heroes = (0..<50_000).map { Hero("\($0)") }
        try queue.inTransaction { db in
            for hero in heroes { try hero.insert(db) }
            try db.execute(sql: "SAVEPOINT a")
            for hero in heroes.prefix(1000) {
                hero.score = 1
                try hero.updateChanges(db)
            }
            try db.execute(sql: "ROLLBACK TO a")
            #expect(heroes.prefix(1001).filter(\.hasDatabaseChanges).count == 1000)
            #expect(heroes.allSatisfy { $0.id != nil })
            return .rollback
        }
        #expect(heroes.allSatisfy { $0.id == nil && $0.hasDatabaseChanges })
    }

    // MARK: - Asynchronous accesses

    @Test(
        "The state follows an asynchronous access that throws", .behaviour(15),
        arguments: RecordStyle.allCases)
    func asynchronous(style: RecordStyle) async throws { try await asynchronous(style.hero) }

    private func asynchronous<Hero: HeroRecord>(_: Hero.Type) async throws {
        let queue = try DatabaseQueue.withHeroes()
        let results = Recorder<String>()
        await #expect(throws: TestError(1)) {
            try await queue.write { db in
                let hero = Hero("Arthur")
                try hero.insert(db)
                try db.add(
                    function: DatabaseFunction("tell", argumentCount: 0) { _ in nil })
                results.record("\(hero.id ?? 0) \(hero.hasDatabaseChanges)")
                throw TestError(1)
            }
        }
        #expect(results.elements == ["1 false"])
        let state: [String] = try await queue.writeWithoutTransaction { db in
            let hero = Hero("Arthur")
            try? db.inTransaction {
                try hero.insert(db)
                throw TestError(2)
            }
            return try ["\(hero.id ?? 0)", "\(hero.hasDatabaseChanges)", "\(hero.tellsTheTruth(on: db))"]
        }
        #expect(state == ["0", "true", "true"])
    }

    @Test(
        "A record handed to an access that is cancelled comes out as it went in", .behaviour(15),
        arguments: RecordStyle.allCases)
    func cancelled(style: RecordStyle) async throws { try await cancelled(style.tellingHero) }

    private func cancelled<Telling: TellingHero>(_: Telling.Type) async throws {
        let queue = try DatabaseQueue.withHeroes()
        let (started, states) = (Gate(), Recorder<String>())
        let task = Task {
            try await queue.write { db in
                let hero = Telling("Arthur")
                hero.told = states
                try hero.insert(db)
                states.record("\(hero.id ?? 0) \(hero.hasDatabaseChanges)")
                try db.addFunction("started") { started.open() }
                try db.add(function: .pause)
                try db.execute(
                    sql: """
                        WITH RECURSIVE n(i) AS (SELECT started() UNION ALL SELECT i + pause() FROM n LIMIT 300000000)
                        UPDATE hero SET score = (SELECT COUNT(*) FROM n)
                        """)
            }
        }
        try await waitUntil { started.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(states.elements == ["1 false", "0 true"])
        try await queue.write { db in try #expect(db.heroes() == []) }
    }
}

/// A hero that reports its state when it is released.
private protocol TellingHero: HeroRecord {
    var told: Recorder<String>? { get set }
}

private final class PairTelling: PairHero, TellingHero {
    var told: Recorder<String>?
    deinit { told?.record("\(id ?? 0) \(hasDatabaseChanges)") }
}

private final class ListedTelling: ListedHero, TellingHero {
    var told: Recorder<String>?
    deinit { told?.record("\(id ?? 0) \(hasDatabaseChanges)") }
}

private final class CodedTelling: CodedHero, TellingHero {
    var told: Recorder<String>?
    deinit { told?.record("\(id ?? 0) \(hasDatabaseChanges)") }
    override func columns(_ column: borrowing RecordColumns) throws { try super.columns(column) }
}

extension RecordStyle {
    fileprivate var tellingHero: any TellingHero.Type {
        choose(PairTelling.self, ListedTelling.self, CodedTelling.self)
    }
}
