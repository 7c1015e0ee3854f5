import TestSupport
import Testing

@testable import Shellac

@Suite("Both sides of changes")
struct ColumnChangesTests {
    private func withArthur<Hero: HeroRecord>(
        _: Hero.Type, _ body: (Database, Hero) throws -> Void
    ) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            try db.execute(sql: "INSERT INTO hero VALUES (1, 'Arthur', 10)")
            try body(db, #require(try Hero.fetchOne(db)))
        }
    }

    @Test(
        "databaseColumnChanges tells old and new values, and savedDatabaseColumnChanges those of the last save",
        arguments: RecordStyle.allCases)
    func bothSides(style: RecordStyle) throws { try bothSides(style.hero) }

    private func bothSides<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero in
            hero.score = 11
            let change = DatabaseColumnChange(old: 10, new: 11)
            #expect(try hero.databaseColumnChanges == ["score": change])
            #expect("\(change)" == "10 → 11")
            try hero.updateChanges(db)
            #expect(try hero.databaseColumnChanges == [:])
            #expect(hero.savedDatabaseColumnChanges == ["score": change])
            let new = Hero("Barbara")
            #expect(try new.databaseColumnChanges["name"] == DatabaseColumnChange(old: nil, new: "Barbara"))
            #expect("\(DatabaseColumnChange(old: nil, new: 1))" == "? → 1")
            #expect("\(DatabaseColumnChange(old: "", new: "a \"b\""))" == #""" → "a \"b\"""#)
            #expect("\(DatabaseColumnChange(old: .null, new: 0.5))" == "NULL → 0.5")
        }
    }

    @Test("databaseColumnChanges throws what the encoding throws", arguments: RecordStyle.allCases)
    func encodingFails(style: RecordStyle) throws { try encodingFails(style.fickleHero) }

    private func encodingFails<Fickle: FickleHero>(_: Fickle.Type) throws {
        try withArthur(Fickle.self) { _, hero in
            hero.fails = true
            #expect(throws: TestError(1)) { try hero.databaseColumnChanges }
        }
    }

    @Test(
        "savedDatabaseChanges takes the leftmost of columns with the same name", .behaviour(17),
        arguments: RecordStyle.allCases)
    func duplicates(style: RecordStyle) throws { try duplicates(style.hero) }

    private func duplicates<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, _ in
            let hero = try #require(
                try Hero.fetchOne(
                    db, sql: "SELECT hero.*, other.* FROM hero, (SELECT 7 AS id, 'Team' AS name) AS other"))
            hero.score += 1
            #expect(try hero.updateChanges(db))
            #expect(hero.savedDatabaseChanges == ["score": 10])
            #expect(!hero.hasDatabaseChanges)
        }
    }

    /// A record of any columns.
    private final class Loose: Record {
        var columns: [(String, DatabaseValue)] = []
        override class var databaseTableName: String { "any" }
        override func updateFromRow(_ row: Row) throws { columns = row.map { ($0, $1) } }
        override func encode(to container: inout PersistenceContainer) throws {
            for (name, value) in columns { container[name] = value }
        }
    }

    @Test("Old values are what the database holds, after affinity, also of a row that was saved")
    func affinity() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE any (id INTEGER PRIMARY KEY, t TEXT, i INTEGER, r REAL)")
            let record = Loose()
            record.columns = [("id", 1), ("t", 5), ("i", 1.0), ("r", 2)]
            try record.insert(db)
            record.columns = [("id", 1), ("t", 6), ("i", 2.0), ("r", 3)]
            let held: [String: DatabaseValue?] = ["t": "5", "i": 1, "r": 2.0]
            #expect(try record.databaseChanges == held)
            try record.update(db)
            #expect(record.savedDatabaseChanges == held)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT t, i, r FROM any"))
            record.columns = [("id", 1), ("t", 7), ("i", 3.0), ("r", 4)]
            #expect(try record.databaseChanges == row.dictionary.mapValues(Optional.some))
        }
    }

    @Test("A full update with fewer columns forgets nothing of the others")
    func fewerColumns() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE any (id INTEGER PRIMARY KEY, a, b)")
            let record = Loose()
            record.columns = [("id", 1), ("a", 1), ("b", 1)]
            try record.insert(db)
            record.columns = [("a", 2), ("id", 1)]
            try record.update(db)
            record.columns = [("id", 1), ("a", 2), ("b", 1)]
            #expect(!record.hasDatabaseChanges)
            record.columns = [("id", 1), ("a", 3), ("b", 2)]
            #expect(try record.databaseChanges == ["a": 2, "b": 1])
        }
    }

    @Test("A record that encodes nothing any more has changes once its flag was set")
    func encodesNothing() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE any (id INTEGER PRIMARY KEY)")
            let record = Loose()
            record.columns = [("id", 1)]
            try record.insert(db)
            record.hasDatabaseChanges = true
            record.columns = []
            #expect(record.hasDatabaseChanges)
        }
    }

    @Test("Columns whose names Swift takes for equal are told apart by their bytes, in any order")
    func equivalentNames() throws {
        let (one, two) = ("\u{e9}", "e\u{301}")
        #expect(one == two)
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE any (id INTEGER PRIMARY KEY, \"\(one)\", \"\(two)\")")
            func values() throws -> [DatabaseValue] {
                let row = try Row.fetchOne(db, sql: "SELECT * FROM any")
                return try #require(row).databaseValues
            }
            let record = Loose()
            record.columns = [("id", 1), (one, 10), (two, 20)]
            try record.insert(db)
            #expect(try values() == [1, 10, 20])
            record.columns = [(two, 21), ("id", 1), (one, 11)]
            try record.update(db)
            #expect(try values() == [1, 11, 21])
            #expect(!record.hasDatabaseChanges)
            record.columns = [(one, 12), (two, 21), ("id", 1)]
            #expect(try record.updateChanges(db))
            #expect(try values() == [1, 12, 21])
            record.columns = [("id", 1), (two, 23), (one, 13)]
            try record.update(db, columns: [two])
            #expect(try values() == [1, 12, 23])
            try record.update(db, columns: [one])
            #expect(try values() == [1, 13, 23])
        }
    }

    // MARK: - Shapes

    @Test("Records that encode their columns in other orders share a shape, and few shapes are kept")
    func shapes() throws {
        try DatabaseQueue().inDatabase { db in
            let names = (0..<12).map { "c\($0)" }
            try db.execute(sql: "CREATE TABLE any (id INTEGER PRIMARY KEY, \(names.joined(separator: ", ")))")
            var generator = SeededGenerator(seed: 5)
            func insert(_ names: [String]) throws {
                let record = Loose()
                record.columns =
                    [("id", .null)] + names.enumerated().map { ($1, $1.dropFirst().databaseValue) }
                record.columns.shuffle(using: &generator)
                try record.insert(db)
            }
            for _ in 0..<50 { try insert(names) }
            let plan = try db.plan(for: Loose.self).object
            #expect(plan.statementsCount == 1)
            for mask in 1..<200 { try insert(names.indices.filter { mask & 1 << $0 != 0 }.map { names[$0] }) }
            #expect(plan.statementsCount == 64)
            for row in try Row.fetchAll(db, sql: "SELECT * FROM any") {
                for (name, value) in row where name != "id" && !value.isNull {
                    #expect(value == name.dropFirst().databaseValue)
                }
            }
        }
    }

    @Test("A mask of columns tells whether it reaches one, and holds many")
    func masks() {
        #expect(!ColumnMask([0, 63]).reaches(64))
        #expect(ColumnMask([0, 63]).reaches(63))
        #expect(ColumnMask([70]).reaches(64))
        let many = ColumnMask(0..<2000)
        #expect(many.count == 2000 && many.contains(1999) && !many.contains(2000))
        #expect(many.subtracting(ColumnMask(64..<2000)) == ColumnMask(0..<64))
    }

    @Test(
        "Two classes that are updated by turns are written each by its own columns",
        arguments: RecordStyle.allCases)
    func turns(style: RecordStyle) throws { try turns(style.hero) }

    private func turns<Hero: HeroRecord>(_: Hero.Type) throws {
        try withArthur(Hero.self) { db, hero in
            try db.execute(
                sql:
                    "CREATE TABLE villain (score INTEGER, id INTEGER PRIMARY KEY); INSERT INTO villain VALUES (5, 3)"
            )
            let villain = try #require(try Villain.fetchOne(db))
            try hero.update(db)
            try villain.update(db)
            func change(_ step: Int) throws {
                hero.score = step
                villain.score = 100 + step
                #expect(try hero.updateChanges(db))
                #expect(try villain.updateChanges(db))
                #expect(
                    try Row.fetchOne(db, sql: "SELECT * FROM hero") == [
                        "id": 1, "name": "Arthur", "score": step.databaseValue,
                    ])
                #expect(
                    try Row.fetchOne(db, sql: "SELECT * FROM villain") == [
                        "score": (100 + step).databaseValue, "id": 3,
                    ])
                #expect(!hero.hasDatabaseChanges && !villain.hasDatabaseChanges)
            }
            for step in 1...4 { try change(step) }
            // Inside of a transaction, the comparison goes on as packing.
            try db.inTransaction {
                for step in 5...8 { try change(step) }
                return .commit
            }
        }
    }

    @Test(
        "An upsert tells the row id of the row that it met, also where the table has no column for it",
        arguments: RecordStyle.allCases)
    func upsertedRowID(style: RecordStyle) throws { try upsertedRowID(style.word) }

    private func upsertedRowID<Word: WordRecord & TabledWord>(_: Word.Type) throws {
        try DatabaseQueue().inDatabase { db in
            // A column that has one of the names of the row id hides it under that name.
            try db.execute(
                sql: """
                    CREATE TABLE word (text TEXT PRIMARY KEY, count INTEGER, oid TEXT DEFAULT 'none');
                    INSERT INTO word VALUES ('one', 1, 'x'), ('two', 2, 'y')
                    """)
            let word = Word()
            word.text = "one"
            try word.upsert(db)
            #expect(word.rowID == 1, "and not 2, the row id that was inserted last")
            word.text = "three"
            try word.upsert(db)
            #expect(word.rowID == 3)
        }
    }
}

private final class Villain: Record {
    var score = 0
    var id: Int64?
    override class var databaseTableName: String { "villain" }
    override func updateFromRow(_ row: Row) throws { (id, score) = (try row["id"], try row["score"]) }
    override func encode(to container: inout PersistenceContainer) throws {
        container["score"] = score
        container["id"] = id
    }
}

/// A record of a table whose row id is no column.
private protocol WordRecord: Record {
    var text: String { get set }
    var count: Int { get set }

    init()
}

private class TabledWord: Record {
    final var rowID: Int64?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "word" }
    override func didInsert(_ inserted: InsertionSuccess) { rowID = inserted.rowID }
}

private final class PairWord: TabledWord, WordRecord {
    var text = ""
    var count = 0

    override func updateFromRow(_ row: Row) throws { (text, count) = (try row["text"], try row["count"]) }
    override func encode(to container: inout PersistenceContainer) throws {
        container["text"] = text
        container["count"] = count
    }
}

private final class ListedWord: TabledWord, WordRecord {
    var text = ""
    var count = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("text", text) { text = $0 }
        try column("count", count) { count = $0 }
    }
}

private final class CodedWord: TabledWord, WordRecord, Codable {
    var text = ""
    var count = 0
}

extension RecordStyle {
    fileprivate var word: any (WordRecord & TabledWord).Type {
        choose(PairWord.self, ListedWord.self, CodedWord.self)
    }
}
