import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Records whose key was changed")
struct ChangedKeyTests {
    private func withHeroes(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10), (2, 'Barbara', 20)")
            try body(db)
        }
    }

    @Test(
        "a record whose key was changed writes all that it has read or been given to the row that it now means",
        .behaviour(100), arguments: RecordStyle.each([false, true]), [false, true])
    func changedKey(_ first: (style: RecordStyle, overrides: Bool), byClosure: Bool) throws {
        let hero: any HeroRecord.Type = first.overrides ? first.style.overridingHero : first.style.hero
        try changedKey(hero, byClosure: byClosure)
    }

    private func changedKey<Hero: HeroRecord>(_: Hero.Type, byClosure: Bool) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db, key: 1))
            try db.execute(sql: "DELETE FROM hero WHERE id = 1")
            if byClosure {
                #expect(try hero.updateChanges(db) { $0.id = 2 })
            } else {
                hero.id = 2
                #expect(try hero.databaseChanges == ["id": 1, "name": nil, "score": nil])
                #expect(try hero.updateChanges(db))
            }
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM hero WHERE id = 2"))
            #expect(row == ["id": 2, "name": "Arthur", "score": 10])
            #expect(!hero.hasDatabaseChanges)
            #expect(hero.savedDatabaseChanges == Hero.allUnknown, "nothing was known of the row")
        }
    }

    @Test(
        "a record whose key is changed by the closure of updateChangesAndFetch writes all that it has read",
        .behaviour(100), arguments: [false, true], RecordStyle.allCases)
    func changedKeyAndFetch(overrides: Bool, style: RecordStyle) throws {
        let hero: any HeroRecord.Type = overrides ? style.overridingHero : style.hero
        try changedKeyAndFetch(hero)
    }

    private func changedKeyAndFetch<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            var hero = try #require(try Hero.fetchOne(db, key: 1))
            try db.execute(sql: "DELETE FROM hero WHERE id = 1")
            let fetched = try #require(try hero.updateChangesAndFetch(db) { $0.id = 2 })
            #expect(fetched.name == "Arthur")
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM hero WHERE id = 2"))
            #expect(row == ["id": 2, "name": "Arthur", "score": 10])
            #expect(!hero.hasDatabaseChanges)
        }
    }

    @Test(
        "after a partial update of another row, only what was written is known of it", .behaviour(100),
        arguments: RecordStyle.allCases)
    func partial(style: RecordStyle) throws { try partial(style.hero) }

    private func partial<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db, key: 1))
            hero.id = 2
            try hero.update(db, columns: ["score"])
            #expect(try hero.databaseChanges == ["name": nil])
            #expect(hero.hasDatabaseChanges)
            #expect(try db.heroes() == ["Arthur", "Barbara"])
        }
    }

    @Test(
        "columns that were never read stay unwritten in the row that a record now means", .behaviour(100),
        arguments: RecordStyle.allCases)
    func unread(style: RecordStyle) throws { try unread(style.hero) }

    private func unread<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db, sql: "SELECT id, score FROM hero"))
            hero.id = 2
            #expect(try hero.updateChanges(db))
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM hero WHERE id = 2") == [
                    "id": 2, "name": "Barbara", "score": 10,
                ])
            #expect(try hero.databaseChanges == ["name": nil])
        }
    }

    // MARK: - Stamps

    enum Save: CaseIterable { case update, save, updateChanges, columns }

    private func run(_ save: Save, of memo: some MemoRecord, in db: Database) throws {
        switch save {
        case .update: try memo.update(db)
        case .save: try memo.save(db)
        case .updateChanges: try memo.updateChanges(db)
        case .columns: try memo.update(db, columns: ["score"])
        }
    }

    @Test(
        "stamps that were left out of a save under a changed key are left out of the next one, too",
        .behaviour(38, 100),
        arguments: RecordStyle.each(Save.allCases), Save.allCases)
    func stamps(_ first: (style: RecordStyle, save: Save), _ second: Save) throws {
        try stamps(first.style.memo, first.save, second)
    }

    private func stamps<Memo: MemoRecord>(_: Memo.Type, _ first: Save, _ second: Save) throws {
        let memos = try MemoDatabase()
        let memo = try memos.inserted(Memo.self)
        try memos.queue.write { db in
            try db.withoutStamps {
                try db.execute(
                    sql: "INSERT INTO memo VALUES (2, 'a', 0, ?, ?, ?), (3, 'a', 0, ?, ?, ?)",
                    arguments: [
                        minute(7), minute(7), minute(7), minute(8), minute(8), minute(8),
                    ])
            }
        }
        for (number, created) in [(2, "7"), (3, "8")] {
            memo.id = Int64(number)
            for save in [first, second] {
                try memos.later { db in
                    memo.score += 1
                    try run(save, of: memo, in: db)
                    let stamps = try db.memoStamps(Int64(number))
                    #expect(stamps.hasPrefix(created), "\(stamps)")
                    let titled = stamps.suffix(1)
                    #expect(
                        titled != "0" && titled != "-",
                        "\(stamps): the first row's stamp was never this row's")
                }
            }
        }
        #expect(try memos.queue.read { db in try db.memoStamps(1) } == "0 0 -")
    }

    @Test(
        "a stamp of a group that a save has read is known, also where the record had not read the column",
        .behaviour(38), arguments: RecordStyle.allCases)
    func stampOfGroup(style: RecordStyle) throws { try stampOfGroup(style.memo) }

    private func stampOfGroup<Memo: MemoRecord>(_: Memo.Type) throws {
        let memos = try MemoDatabase()
        _ = try memos.inserted(Memo.self)
        let memo = try #require(
            try memos.queue.read { db in try Memo.fetchOne(db, sql: "SELECT id, title FROM memo") })
        try memos.later { db in
            memo.title = "b"
            try memo.update(db)
        }
        #expect(memo.stamps.suffix(1) == "1")
        try memos.later { db in
            try db.withoutStamps {
                try db.execute(sql: "UPDATE memo SET titleChangedAt = ?", arguments: [minute(9)])
            }
            memo.score = 7
            try memo.updateChanges(db)
            #expect(try db.memoStamps().suffix(1) == "9")
        }
    }

    @Test(
        "a stamp that was given with the key is written when its turn comes", .behaviour(38, 100),
        arguments: RecordStyle.allCases)
    func givenStamp(style: RecordStyle) throws { try givenStamp(style.memo) }

    private func givenStamp<Memo: MemoRecord>(_: Memo.Type) throws {
        let memos = try MemoDatabase()
        let memo = try memos.inserted(Memo.self)
        try memos.queue.write { db in try db.execute(sql: "INSERT INTO memo (id, title) VALUES (2, 'a')") }
        try memos.later { db in
            (memo.id, memo.createdAt) = (2, memos.clock.date(5))
            try memo.update(db, columns: ["score"])
            #expect(try db.memoStamps(2).prefix(1) == "0")
            try memo.update(db)
            #expect(try db.memoStamps(2).prefix(1) == "5")
        }
    }

    // MARK: - Rows that own their values

    @Test(
        "a record that was made of a fetched row that owns its values tells all once its key was changed",
        .behaviour(100), arguments: [false, true], RecordStyle.allCases)
    func ownedRow(isAskedInside: Bool, style: RecordStyle) throws {
        try ownedRow(style.hero, isAskedInside: isAskedInside)
    }

    private func ownedRow<Hero: HeroRecord>(_: Hero.Type, isAskedInside: Bool) throws {
        var hero: Hero?
        let expected: [String: DatabaseValue?] = ["id": 1, "name": nil, "score": nil]
        try withHeroes { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM hero WHERE id = 1"))
            for _ in 0..<2 {
                let made = try Hero(row: row)
                made.id = 2
                if isAskedInside { #expect(try made.databaseChanges == expected) }
                hero = made
            }
        }
        if !isAskedInside { #expect(try hero?.databaseChanges == expected) }
    }

    @Test(
        "a record that was made outside of all accesses learns its key when it is asked in one, or is first saved",
        .behaviour(100), arguments: ["ask", "full", "some", "changes"], RecordStyle.allCases)
    func learningLater(_ way: String, style: RecordStyle) throws { try learningLater(style.hero, way) }

    private func learningLater<Hero: HeroRecord>(_: Hero.Type, _ way: String) throws {
        let queue = try DatabaseQueue.withHeroes()
        let row = try queue.write { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10), (2, 'Barbara', 20)")
            return try #require(try Row.fetchOne(db, sql: "SELECT * FROM hero WHERE id = 1"))
        }
        let hero = try Hero(row: row)
        try queue.write { db in
            hero.score += 1
            switch way {
            case "full": try hero.update(db)
            case "some": try hero.update(db, columns: ["score"])
            case "changes": try hero.updateChanges(db)
            default: break
            }
            if way == "ask" {
                hero.id = 2
                #expect(try hero.databaseChanges == ["id": 1, "name": nil, "score": nil])
            }
        }
        if way == "ask" { return }
        hero.id = 2
        #expect(try hero.databaseChanges == ["id": 1, "name": nil, "score": nil])
    }

    // MARK: - Keys and NULL

    @Test(
        "a record whose key was NULL and is a value now tells of all that it writes", .behaviour(100),
        arguments: RecordStyle.allCases)
    func keyFromNull(style: RecordStyle) throws { try keyFromNull(style.tag) }

    private func keyFromNull<Tag: TagRecord>(_: Tag.Type) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE tag (name TEXT PRIMARY KEY, color TEXT);
                    INSERT INTO tag VALUES (NULL, 'red'), ('sea', 'blue')
                    """)
            let tag = try #require(try Tag.fetchOne(db, sql: "SELECT * FROM tag WHERE name IS NULL"))
            tag.name = "sea"
            #expect(try tag.databaseChanges == ["name": .null, "color": nil])
            #expect(try tag.updateChanges(db))
            #expect(try String.fetchOne(db, sql: "SELECT color FROM tag WHERE name = 'sea'") == "red")
            #expect(tag.savedDatabaseChanges == ["name": nil, "color": nil])
            #expect(!tag.hasDatabaseChanges)
        }
    }

    @Test(
        "a record whose key was never read, and is given, tells of all that it writes; one without it does not",
        .behaviour(100), arguments: RecordStyle.allCases)
    func keyNeverRead(style: RecordStyle) throws { try keyNeverRead(style.hero) }

    private func keyNeverRead<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db, sql: "SELECT score FROM hero WHERE id = 1"))
            #expect(try hero.databaseChanges == ["id": nil, "name": nil], "guarantee 4")
            hero.id = 2
            #expect(try hero.databaseChanges == Hero.allUnknown)
            #expect(try hero.updateChanges(db))
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM hero WHERE id = 2") == [
                    "id": 2, "name": "Barbara", "score": 10,
                ])
            #expect(hero.savedDatabaseChanges == ["id": nil, "score": nil])
        }
    }

    @Test(
        "a record whose key became NULL means another row, or none: all of it counts as changed",
        .behaviour(100), arguments: RecordStyle.allCases)
    func noKey(style: RecordStyle) throws { try noKey(style.hero) }

    private func noKey<Hero: HeroRecord>(_: Hero.Type) throws {
        try withHeroes { db in
            let hero = try #require(try Hero.fetchOne(db, key: 1))
            hero.id = nil
            #expect(try hero.databaseChanges == ["id": 1, "name": nil, "score": nil])
            #expect(throws: RecordError.recordNotFound(databaseTableName: "hero", key: ["id": .null])) {
                try hero.updateChanges(db)
            }
            try db.execute(sql: "DELETE FROM hero WHERE id = 1")
            try hero.save(db)
            #expect(hero.savedDatabaseChanges == Hero.allUnknown, "it was told before as it is told now")
            // The key that the flag took for known was none.
            let new = Hero("Craig")
            new.hasDatabaseChanges = false
            try new.insert(db)
            #expect(new.savedDatabaseChanges == Hero.allUnknown)
        }
    }

    // MARK: - Dates

    @Test(
        "A record is found by a key that is a date, in whatever readable format the database holds it",
        arguments: RecordStyle.each(["2020-02-29T12:30:00", "2020-02-29 12:30", "2020-02-29 12:30:00.000"]),
        [false, true])
    func dates(_ first: (style: RecordStyle, text: String), overrides: Bool) throws {
        try dates(first.style.day(overrides: overrides), first.text)
    }

    private func dates<Day: DayRecord>(_: Day.Type, _ text: String) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE day (date TEXT PRIMARY KEY, title TEXT)")
            try db.execute(sql: "INSERT INTO day VALUES (?, 'one')", arguments: [text])
            let day = try #require(try Day.fetchOne(db))
            #expect(!day.hasDatabaseChanges)
            func rows() throws -> [[String: DatabaseValue]] {
                try Row.fetchAll(db, sql: "SELECT * FROM day").map(\.dictionary)
            }
            day.title = "two"
            #expect(try day.updateChanges(db))
            #expect(try rows() == [["date": text.databaseValue, "title": "two"]])
            day.title = "three"
            try day.update(db)
            day.title = "four"
            try day.save(db)
            #expect(try rows() == [["date": text.databaseValue, "title": "four"]])
            #expect(try day.exists(db))
            try day.reload(db)
            #expect(try day.delete(db))
            #expect(try rows() == [])
            try day.save(db)
            #expect(try rows().count == 1)
        }
    }
}
