import Observation
import TestSupport
import Testing

@testable import Shellac

@Suite("Merging a row into a record", .behaviour(71))
struct RecordMergingTests {
    private func withArthur<Hero: HeroRecord>(
        _: Hero.Type, _ body: (Database, Hero) throws -> Void
    ) throws {
        try DatabaseQueue.withLooseHeroes().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10), (2, 'Barbara', 20)")
            try body(db, Hero.find(db, key: 1))
        }
    }

    private func row(_ db: Database, _ sql: String = "SELECT * FROM hero WHERE id = 1") throws -> Row {
        try #require(try Row.fetchOne(db, sql: sql))
    }

    @Test(
        "Clean columns take the row's values, and dirty ones stay and stay dirty",
        arguments: RecordStyle.allCases)
    func cleanAndDirty(style: RecordStyle) throws { try cleanAndDirty(style.hero) }

    private func cleanAndDirty<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, hero in
            hero.score = 11
            try db.execute(sql: "UPDATE hero SET name = 'Art', score = 12 WHERE id = 1")
            try hero.merge(row(db))
            #expect(hero.id == 1 && hero.name == "Art" && hero.score == 11)
            try #expect(hero.databaseChanges == ["score": 12.databaseValue])
            try #expect(hero.tellsTheTruth(on: db))
            // The value that the record has by now makes it clean.
            try db.execute(sql: "UPDATE hero SET score = 11 WHERE id = 1")
            try hero.merge(row(db))
            #expect(!hero.hasDatabaseChanges)
            // It follows from now on.
            try db.execute(sql: "UPDATE hero SET score = 13 WHERE id = 1")
            try hero.merge(row(db))
            #expect(hero.score == 13 && !hero.hasDatabaseChanges)
            // The dirty columns are written.
            hero.name = "Arthur"
            try hero.updateChanges(db)
            try #expect(db.score("Arthur") == 13)
        }
    }

    @Test("A row of a cursor is merged where it stands", arguments: RecordStyle.allCases)
    func liveRow(style: RecordStyle) throws { try liveRow(style.hero) }

    private func liveRow<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, hero in
            try db.execute(sql: "UPDATE hero SET name = 'Art' WHERE id = 1")
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM hero ORDER BY id")
            try hero.merge(#require(try rows.next()))
            _ = try rows.next()
            #expect(hero.name == "Art" && !hero.hasDatabaseChanges)
        }
    }

    @Test("Columns that the row lacks are left alone", arguments: RecordStyle.allCases)
    func partialRow(style: RecordStyle) throws { try partialRow(style.hero) }

    private func partialRow<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, hero in
            hero.name = "mine"
            try db.execute(sql: "UPDATE hero SET name = 'Art', score = 12 WHERE id = 1")
            try hero.merge(row(db, "SELECT score, id FROM hero WHERE id = 1"))
            #expect(hero.name == "mine" && hero.score == 12)
            try #expect(hero.databaseChanges == ["name": "Arthur".databaseValue])
            // Without the key in the row, the caller must know that it is the same row.
            try hero.merge(row(db, "SELECT name FROM hero WHERE id = 1"))
            try #expect(hero.databaseChanges == ["name": "Art".databaseValue])
            try #expect(hero.tellsTheTruth(on: db))
        }
    }

    @Test("Columns that were never read are clean until they are set", arguments: RecordStyle.allCases)
    func unreadColumns(style: RecordStyle) throws { try unreadColumns(style.hero) }

    private func unreadColumns<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, _ in
            func partial() throws -> Hero {
                try #require(try Hero.fetchOne(db, sql: "SELECT id, name FROM hero WHERE id = 1"))
            }
            let hero = try partial()
            try hero.merge(row(db))
            #expect(hero.score == 10 && !hero.hasDatabaseChanges)
            let changed = try partial()
            changed.score = 5
            try changed.merge(row(db))
            #expect(changed.score == 5)
            try #expect(changed.databaseChanges == ["score": 10.databaseValue])
            // A column that neither the fetch nor the merged row has is not written.
            let other = try partial()
            try other.merge(row(db, "SELECT id, 'Art' AS name FROM hero WHERE id = 1"))
            try other.update(db)
            try #expect(db.score("Art") == 10)
        }
    }

    @Test("A column that the table was given after the fetch is clean", arguments: RecordStyle.allCases)
    func addedColumns(style: RecordStyle) throws { try addedColumns(style.hero) }

    private func addedColumns<Hero: HeroRecord>(_: Hero.Type) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE hero (id INTEGER PRIMARY KEY, name); INSERT INTO hero VALUES (1, 'Arthur')"
            )
            let (hero, changed) = (try Hero.find(db, key: 1), try Hero.find(db, key: 1))
            changed.score = 3
            try db.execute(sql: "ALTER TABLE hero ADD COLUMN score INTEGER NOT NULL DEFAULT 7")
            try hero.merge(row(db))
            #expect(hero.score == 7 && !hero.hasDatabaseChanges)
            try changed.merge(row(db))
            #expect(changed.score == 3)
            try #expect(changed.databaseChanges == ["score": 7.databaseValue])
        }
    }

    @Test("A row of another key is refused, and nothing has changed", arguments: RecordStyle.allCases)
    func otherKey(style: RecordStyle) throws { try otherKey(style.hero) }

    private func otherKey<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, hero in
            let barbara = try row(db, "SELECT * FROM hero WHERE id = 2")
            let error = #expect(throws: RecordError.self) { try hero.merge(barbara) }
            let sentence = try #require(error).description
            #expect(sentence.contains("id: 1") && sentence.contains("id: 2") && sentence.contains("hero"))
            #expect(hero.name == "Arthur" && !hero.hasDatabaseChanges)
            // A key that was changed stays changed: the row is the one that the record remembers.
            hero.id = 2
            #expect(throws: RecordError.self) { try hero.merge(barbara) }
            try db.execute(sql: "UPDATE hero SET name = 'Art' WHERE id = 1")
            try hero.merge(row(db))
            #expect(hero.id == 2 && hero.name == "Art")
        }
    }

    @Test("A row of another table is refused", arguments: RecordStyle.allCases)
    func otherTable(style: RecordStyle) throws { try otherTable(style.hero) }

    private func otherTable<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, hero in
            let error = #expect(throws: RecordError.self) {
                try hero.merge(row(db, "SELECT 1 AS weight, 2 AS colour"))
            }
            #expect(error?.description.contains("table hero") == true)
            #expect(throws: RecordError.self) { try hero.merge(Row()) }
            #expect(!hero.hasDatabaseChanges)
        }
    }

    @Test("A record that was never fetched keeps all that it has", arguments: RecordStyle.allCases)
    func newRecord(style: RecordStyle) throws { try newRecord(style.hero) }

    private func newRecord<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, _ in
            let hero = Hero("mine", score: 10)
            // It has no key, and the row has one.
            #expect(throws: RecordError.self) { try hero.merge(row(db)) }
            #expect(hero.hasDatabaseChanges && hero.id == nil)
            hero.id = 1
            try hero.merge(row(db))
            #expect(hero.name == "mine" && hero.score == 10)
            try #expect(hero.databaseChanges == ["name": "Arthur".databaseValue])
            try hero.updateChanges(db)
            try #expect(db.heroes() == ["mine", "Barbara"])
        }
    }

    @Test(
        "A value that does not convert throws, naming column and SQL, and leaves the record as it was",
        arguments: RecordStyle.allCases)
    func wrongValue(style: RecordStyle) throws { try wrongValue(style.hero) }

    private func wrongValue<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, hero in
            for wrong in ["NULL", "'many'"] {
                try db.execute(sql: "UPDATE hero SET name = 'Art', score = \(wrong) WHERE id = 1")
                let error = #expect(throws: RowDecodingError.self) { try hero.merge(row(db)) }
                let sentence = try #require(error).description
                #expect(sentence.contains("score") && sentence.contains("SELECT * FROM hero"))
                #expect(hero.name == "Arthur" && hero.score == 10 && !hero.hasDatabaseChanges)
            }
            // If the column is dirty, the property need not take it.
            hero.score = 4
            try hero.merge(row(db))
            #expect(hero.name == "Art" && hero.score == 4)
            try #expect(hero.databaseChanges == ["score": "many".databaseValue])
        }
    }

    @Test("A setter that throws leaves the record as it was")
    func throwingSetter() throws {
        final class Strict: TabledHero {
            var id: Int64?
            var name = ""
            var score = 0
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("name", name) { name = $0 }
                try column("score", score) {
                    guard $0 < 100 else { throw CancellationError() }
                    score = $0
                }
            }
        }
        try DatabaseQueue.withLooseHeroes().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            let hero = try Strict.find(db, key: 1)
            try db.execute(sql: "UPDATE hero SET name = 'Art', score = 100")
            #expect(throws: CancellationError.self) { try hero.merge(row(db)) }
            #expect(hero.name == "Arthur" && hero.score == 10 && !hero.hasDatabaseChanges)
        }
    }

    @Test("A class that reads no rows is told so")
    func deafClass() throws {
        final class Deaf: Record {
            var id: Int64?
            override class var databaseTableName: String { "hero" }
            override func encode(to container: inout PersistenceContainer) throws { container["id"] = id }
        }
        try DatabaseQueue.withLooseHeroes().inDatabase { db in
            let deaf = Deaf()
            deaf.id = 1
            try deaf.insert(db)
            try deaf.merge(Row([("id", 1.databaseValue)]))
            #expect(throws: RecordError.self) {
                try deaf.merge(Row([("id", 1.databaseValue), ("name", "x".databaseValue)]))
            }
        }
    }

    @Test("Columns of superclasses and of subclasses are merged", arguments: RecordStyle.allCases)
    func hierarchy(style: RecordStyle) throws {
        let lancer: any (Armed & HeroRecord).Type = style.choose(
            PairLancer.self, ListedLancer.self, CodedLancer.self)
        try hierarchy(lancer)
    }

    private func hierarchy<Lancer: Armed & HeroRecord>(_: Lancer.Type) throws {
        try DatabaseQueue.withLooseHeroes().inDatabase { db in
            try db.execute(
                sql:
                    "ALTER TABLE hero ADD COLUMN weapon TEXT; INSERT INTO hero VALUES (1, 'Arthur', 10, 'Sword')"
            )
            let hero = try Lancer.find(db, key: 1)
            try db.execute(sql: "UPDATE hero SET score = 11, weapon = NULL")
            try hero.merge(row(db))
            #expect(hero.weapon == nil && hero.score == 11 && !hero.hasDatabaseChanges)
            hero.weapon = "Lance"
            try db.execute(sql: "UPDATE hero SET score = 12, weapon = 'Bow'")
            try hero.merge(row(db))
            #expect(hero.weapon == "Lance" && hero.score == 12)
            try #expect(hero.databaseChanges == ["weapon": "Bow".databaseValue])
        }
    }

    @Test(
        "A rollback gives back what was remembered before, and an access of its own keeps it", .behaviour(15))
    func rollback() throws {
        let queue = try DatabaseQueue.withLooseHeroes()
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            let hero = try ListedHero.find(db, key: 1)
            try db.execute(sql: "BEGIN; UPDATE hero SET name = 'Art'")
            try hero.merge(row(db))
            #expect(hero.name == "Art" && !hero.hasDatabaseChanges)
            try db.execute(sql: "ROLLBACK")
            try #expect(hero.name == "Art" && hero.databaseChanges == ["name": "Arthur".databaseValue])
        }
        let hero = try queue.write { db in
            try db.execute(sql: "UPDATE hero SET name = 'Arthur'")
            return try ListedHero.find(db, key: 1)
        }
        // Outside of an access.
        try hero.merge(Row([("id", 1.databaseValue), ("name", "Art".databaseValue)]))
        #expect(hero.name == "Art" && !hero.hasDatabaseChanges)
    }

    @Test("What the last save has changed is told still", .behaviour(5), arguments: RecordStyle.allCases)
    func savedChanges(style: RecordStyle) throws { try savedChanges(style.hero) }

    private func savedChanges<Hero: HeroRecord>(_ type: Hero.Type) throws {
        try withArthur(type) { db, hero in
            hero.score = 11
            try hero.update(db)
            try hero.merge(row(db, "SELECT id, 'Art' AS name, 12 AS score FROM hero WHERE id = 1"))
            #expect(hero.savedDatabaseChanges == ["score": 10.databaseValue])
            #expect(hero.score == 12)
        }
    }

    @Test("Who observes a property that stays as it is hears nothing")
    func observers() throws {
        try DatabaseQueue.withLooseHeroes().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            let hero = try ObservedHero.find(db, key: 1)
            func isAnnounced(_ read: () -> Void, _ change: () throws -> Void) rethrows -> Bool {
                let recorder = Recorder<Bool>()
                withObservationTracking(read) { recorder.record(true) }
                try change()
                return !recorder.elements.isEmpty
            }
            try db.execute(sql: "UPDATE hero SET score = 11")
            try #expect(!isAnnounced({ _ = (hero.id, hero.name) }) { try hero.merge(row(db)) })
            try db.execute(sql: "UPDATE hero SET score = 12")
            try #expect(isAnnounced({ _ = hero.score }) { try hero.merge(row(db)) })
            hero.score = 13
            try db.execute(sql: "UPDATE hero SET score = 14")
            try #expect(!isAnnounced({ _ = hero.score }) { try hero.merge(row(db)) })
            #expect(hero.score == 13)
        }
    }
}

/// The property that heroes of subclasses have in addition, which each style lists.
private protocol Armed: Record { var weapon: String? { get set } }

private final class PairLancer: PairHero, Armed {
    var weapon: String?
    override func updateFromRow(_ row: Row) throws {
        try super.updateFromRow(row)
        if row.hasColumn("weapon") { weapon = try row["weapon"] }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        try super.encode(to: &container)
        container["weapon"] = weapon
    }
}

private final class ListedLancer: ListedHero, Armed {
    var weapon: String?
    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("weapon", weapon) { weapon = $0 }
    }
}

/// A subclass with a list, whose superclass leaves its columns to `Codable`.
private final class CodedLancer: CodedHero, Armed {
    var weapon: String?
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("weapon", weapon) { weapon = $0 }
    }
}

@Observable
private final class ObservedHero: Record {
    var id: Int64?
    var name = ""
    var score = 0

    override class var databaseTableName: String { "hero" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }
}
