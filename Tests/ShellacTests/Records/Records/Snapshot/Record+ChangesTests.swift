import TestSupport
import Testing

@testable import Shellac

@Suite("Changes of records")
struct RecordChangesTests {
    /// Runs a body on a database with one hero, which is fetched.
    private func withArthur<Hero: HeroRecord>(
        _: Hero.Type, _ body: (Database, Hero) throws -> Void
    ) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            try body(db, #require(try Hero.fetchOne(db)))
        }
    }

    // MARK: - Dirty is computed

    @Test(
        "A record has changes while its values are not those of its row, whoever set them", .behaviour(1),
        arguments: RecordStyle.allCases)
    func computed(style: RecordStyle) throws { try computed(style.hero) }

    private func computed<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero in
            #expect(!hero.hasDatabaseChanges)
            hero.score = 11
            #expect(hero.hasDatabaseChanges)
            try #expect(hero.databaseChanges == ["score": 10])
            hero.score = 10
            #expect(!hero.hasDatabaseChanges)
            hero.name = "Arth" + "ur"
            #expect(!hero.hasDatabaseChanges)
            try #expect(hero.databaseChanges == [:])
            hero.score = 12
            hero.name = "Barbara"
            try #expect(hero.databaseChanges == ["score": 10, "name": "Arthur"])
        }
    }

    /// A value that stores itself more than once, which none should.
    private struct Stutter: DatabaseValueConvertible {
        var number: Int
        var databaseValue: DatabaseValue { number.databaseValue }
        func store(in sink: borrowing DatabaseValueSink) { for _ in 0..<20 { sink.store(Int64(number)) } }
        static func fromDatabaseValue(_ value: DatabaseValue) -> Stutter? {
            Int.fromDatabaseValue(value).map { Stutter(number: $0) }
        }
    }

    /// A record of two such values, or of NULLs.
    private final class Stammerer: Record {
        var first: Stutter?
        var middle: Int?
        var last: Stutter?

        override class var databaseTableName: String { "stammerer" }
        override func updateFromRow(_ row: Row) throws {
            if row.hasColumn("first") { first = try row["first"] }
            if row.hasColumn("middle") { middle = try row["middle"] }
            if row.hasColumn("last") { last = try row["last"] }
        }
        override func encode(to container: inout PersistenceContainer) throws {
            container["first"] = first
            container["middle"] = middle
            container["last"] = last
        }
    }

    @Test("A value that stores itself more than once is still compared with its own column", .behaviour(1))
    func stutter() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE stammerer (first INTEGER PRIMARY KEY, middle INTEGER, last INTEGER)")
            let record = Stammerer()
            (record.first, record.middle, record.last) = (Stutter(number: 1), 1, Stutter(number: 1))
            try record.insert(db)
            #expect(!record.hasDatabaseChanges)
            for record in try [record]
                + Stammerer.fetchAll(db, sql: "SELECT * FROM stammerer UNION ALL VALUES (0, 1, 2)")
            {
                #expect(!record.hasDatabaseChanges)
                record.last?.number += 1
                let old = (record.last?.number ?? 0) - 1
                #expect(record.hasDatabaseChanges)
                #expect(try record.databaseChanges == ["last": old.databaseValue])
                record.last?.number -= 1
                #expect(!record.hasDatabaseChanges)
                record.last = nil
                #expect(record.hasDatabaseChanges)
            }
            record.middle = 2
            #expect(try record.updateChanges(db))
            #expect(
                try Row.fetchAll(db, sql: "SELECT * FROM stammerer").map { try $0["middle"] as Int } == [2])
        }
    }

    @Test(
        "A record that cannot be encoded has changes, and setting the flag to false leaves it so",
        .behaviour(1), arguments: RecordStyle.allCases)
    func encodingFails(style: RecordStyle) throws { try encodingFails(style.fickleHero) }

    private func encodingFails<Fickle: FickleHero>(_: Fickle.Type) throws {
        try withArthur(Fickle.self) { db, hero in
            #expect(!hero.hasDatabaseChanges)
            hero.fails = true
            #expect(hero.hasDatabaseChanges)
            #expect(throws: TestError(1)) { try hero.databaseChanges }
            hero.hasDatabaseChanges = false
            #expect(hero.hasDatabaseChanges)
            hero.fails = false
            #expect(!hero.hasDatabaseChanges, "the snapshot is still that of the fetched row")
            hero.score = 11
            try #expect(hero.databaseChanges == ["score": 10])
            let new = Fickle()
            new.fails = true
            new.hasDatabaseChanges = false
            #expect(new.hasDatabaseChanges)
        }
    }

    // MARK: - What sets the snapshot

    @Test(
        "A new record has changes, of which nothing is known", .behaviour(2), arguments: RecordStyle.allCases)
    func new(style: RecordStyle) throws { try new(style.hero) }

    private func new<Hero: HeroRecord>(_: Hero.Type) throws {
        #expect(Hero().hasDatabaseChanges)
        #expect(try Hero("Arthur").databaseChanges == Hero.allUnknown)
    }

    @Test(
        "A record read from a row made by hand has changes, one read from a fetched row has none",
        .behaviour(2), arguments: RecordStyle.allCases)
    func rows(style: RecordStyle) throws { try rows(style.hero) }

    private func rows<Hero: HeroRecord>(_: Hero.Type) throws {
        let row: Row = ["id": 1, "name": "Arthur", "score": 10]
        #expect(try Hero(row: row).hasDatabaseChanges)
        #expect(try Hero(row: row.copy()).databaseChanges == Hero.allUnknown)
        #expect(try Hero(row: Row(["id": 1])).hasDatabaseChanges)
        try withArthur(Hero.self) { db, hero in
            let sql = "SELECT * FROM hero"
            let rows = try Row.fetchCursor(db, sql: sql)
            let live = try #require(try rows.next())
            #expect(try !Hero(row: live).hasDatabaseChanges)
            #expect(try !Hero(row: live.copy()).hasDatabaseChanges)
            let owned = try #require(try Row.fetchOne(db, sql: sql))
            #expect(try !Hero(row: owned).hasDatabaseChanges)
            #expect(try Hero(row: Row(Array(owned))).hasDatabaseChanges)
            #expect(try !Hero.fetchAll(db)[0].hasDatabaseChanges)
            #expect(try Hero.fetchCursor(db, sql: sql).next()?.hasDatabaseChanges == false)
            #expect(try !Hero.find(db, key: 1).hasDatabaseChanges)
        }
    }

    @Test(
        "Old values are nil until they are known, and NULL is a known one", .behaviour(3),
        arguments: RecordStyle.allCases)
    func unknown(style: RecordStyle) throws { try unknown(style.scoreless) }

    private func unknown<Scoreless: ScorelessRecord>(_: Scoreless.Type) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE scoreless (points INTEGER); INSERT INTO scoreless VALUES (NULL)")
            let known = try #require(try Scoreless.fetchOne(db))
            known.points = 1
            #expect(try known.databaseChanges == ["points": DatabaseValue.null])
            #expect(try known.databaseChanges["points"] != .some(nil))
            let unknown = Scoreless()
            #expect(try unknown.databaseChanges == ["points": nil])
            try unknown.insert(db)
            unknown.points = 2
            #expect(try unknown.databaseChanges == ["points": DatabaseValue.null])
        }
    }

    @Test(
        "A fetch of all columns is clean, and so is a wider one", .behaviour(4),
        arguments: [
            "*", "score, name, id", "*, 'more' AS more, 1", "id, 5 AS x, score, name, 'other' AS NAME",
        ], RecordStyle.allCases)
    func wide(columns: String, style: RecordStyle) throws { try wide(style.hero, columns: columns) }

    private func wide<Hero: HeroRecord>(_: Hero.Type, columns: String) throws {
        try withArthur(Hero.self) { db, _ in
            let hero = try #require(try Hero.fetchOne(db, sql: "SELECT \(columns) FROM hero"))
            #expect(!hero.hasDatabaseChanges)
            #expect(try hero.databaseChanges == [:])
            hero.name = "Barbara"
            #expect(hero.hasDatabaseChanges)
            #expect(try hero.databaseChanges == ["name": "Arthur"])
        }
    }

    @Test(
        "A fetch of some columns is dirty on those that it lacks", .behaviour(4),
        arguments: [
            "id": ["name", "score"], "name": ["id", "score"], "score, id": ["name"],
            "1 AS x": ["id", "name", "score"],
        ], RecordStyle.allCases)
    func partial(_ both: (key: String, value: Set<String>), style: RecordStyle) throws {
        try partial(style.hero, columns: both.key, missing: both.value)
    }

    private func partial<Hero: HeroRecord>(_: Hero.Type, columns: String, missing: Set<String>) throws {
        try withArthur(Hero.self) { db, _ in
            let hero = try #require(try Hero.fetchOne(db, sql: "SELECT \(columns) FROM hero"))
            #expect(hero.hasDatabaseChanges)
            let changes = try hero.databaseChanges
            #expect(Set(changes.keys) == missing)
            #expect(changes.values.allSatisfy { $0 == nil })
        }
    }

    // MARK: - Names

    @Test(
        "Columns match without regard to case, and changes are spelled as they are encoded", .behaviour(5),
        arguments: RecordStyle.allCases)
    func spelling(style: RecordStyle) throws { try spelling(style.shouting) }

    private func spelling<Shouting: HeroRecord>(_: Shouting.Type) throws {
        try withArthur(Shouting.self) { db, _ in
            for sql in ["SELECT * FROM hero", "SELECT score AS SCORE, id AS Id, name FROM hero"] {
                let hero = try #require(try Shouting.fetchOne(db, sql: sql))
                #expect(!hero.hasDatabaseChanges, "\(sql)")
                (hero.name, hero.score) = ("Barbara", 11)
                #expect(try hero.databaseChanges == ["Name": "Arthur", "sCORE": 10], "\(sql)")
            }
            let saved = Shouting("Craig")
            try saved.insert(db)
            saved.score = 12
            #expect(try saved.databaseChanges == ["sCORE": 0])
            try saved.update(db, columns: ["SCORE"])
            #expect(!saved.hasDatabaseChanges)
            #expect(try db.score("Craig") == 12)
        }
    }

    // MARK: - The flag

    @Test(
        "The flag informs: a record without changes is updated, saved and inserted all the same",
        .behaviour(8), arguments: RecordStyle.allCases)
    func informs(style: RecordStyle) throws { try informs(style.hero) }

    private func informs<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero in
            try db.execute(sql: "UPDATE hero SET score = 99")
            #expect(!hero.hasDatabaseChanges)
            try hero.update(db)
            #expect(try db.score("Arthur") == 10)
            try db.execute(sql: "UPDATE hero SET score = 99")
            try hero.save(db)
            #expect(try db.score("Arthur") == 10)
            try db.execute(sql: "DELETE FROM hero")
            #expect(!hero.hasDatabaseChanges)
            try hero.insert(db)
            #expect(try db.score("Arthur") == 10)
        }
    }

    @Test(
        "Setting the flag to false takes the values for those of the database, and later edits show",
        .behaviour(9), arguments: RecordStyle.allCases)
    func flagFalse(style: RecordStyle) throws { try flagFalse(style.hero) }

    private func flagFalse<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero in
            hero.score = 11
            hero.hasDatabaseChanges = false
            #expect(!hero.hasDatabaseChanges)
            hero.score = 12
            try #expect(hero.databaseChanges == ["score": 11])
            let new = Hero("Barbara")
            new.hasDatabaseChanges = false
            try #expect(!new.hasDatabaseChanges && new.databaseChanges == [:])
            new.name = "Craig"
            try #expect(new.databaseChanges == ["name": "Barbara"])
            try #expect(db.score("Arthur") == 10, "nothing was written")
        }
    }

    @Test(
        "Setting the flag to true forgets what is known, until the next save", .behaviour(9),
        arguments: RecordStyle.allCases)
    func flagTrue(style: RecordStyle) throws { try flagTrue(style.hero) }

    private func flagTrue<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero in
            hero.hasDatabaseChanges = true
            #expect(hero.hasDatabaseChanges)
            #expect(try hero.databaseChanges == Hero.allUnknown)
            hero.hasDatabaseChanges = true
            #expect(hero.hasDatabaseChanges)
            try hero.update(db)
            #expect(!hero.hasDatabaseChanges)
        }
    }
}

// Heroes that spell their columns in their own way.

private final class PairShouting: PairHero {
    override func encode(to container: inout PersistenceContainer) throws {
        container["ID"] = id
        container["Name"] = name
        container["sCORE"] = score
    }
}

private final class ListedShouting: ListedHero {
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("ID", id) { id = $0 }
        try column("Name", name) { name = $0 }
        try column("sCORE", score) { score = $0 }
    }
}

private final class CodedShouting: TabledHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0

    enum CodingKeys: String, CodingKey {
        case id = "ID"
        case name = "Name"
        case score = "sCORE"
    }
}

extension RecordStyle {
    fileprivate var shouting: any HeroRecord.Type {
        choose(PairShouting.self, ListedShouting.self, CodedShouting.self)
    }
}
