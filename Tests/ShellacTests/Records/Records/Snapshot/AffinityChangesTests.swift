import TestSupport
import Testing

@testable import Shellac

/// A record with one value of any kind in each of five columns.
private protocol FiveRecord: Record, SendableMetatype {
    var id: Int64? { get set }
    var value: DatabaseValue { get set }

    init()
}

private let fiveColumns = ["i": "INTEGER", "t": "TEXT", "b": "BLOB", "r": "REAL", "n": "NUMERIC"]

private class TabledFive: Record {
    override class var databaseTableName: String { "five" }
}

private final class PairFive: TabledFive, FiveRecord {
    var id: Int64?
    var value: DatabaseValue = .null

    override func updateFromRow(_ row: Row) throws { if row.hasColumn("id") { id = try row["id"] } }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        for column in fiveColumns.keys.sorted() { container[column] = value }
    }
}

private final class ListedFive: TabledFive, FiveRecord {
    var id: Int64?
    var value: DatabaseValue = .null

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        for name in fiveColumns.keys.sorted() { try column.writing(name, value) }
    }
}

private final class CodedFive: TabledFive, FiveRecord, Codable {
    var id: Int64?
    var i: AnyValue?
    var t: AnyValue?
    var b: AnyValue?
    var r: AnyValue?
    var n: AnyValue?

    var value: DatabaseValue {
        get { i?.databaseValue ?? .null }
        set {
            let any = AnyValue(newValue)
            (i, t, b, r, n) = (any, any, any, any, any)
        }
    }
}

/// An integer that is read from whatever looks like a number.
private struct ReadNumber: DatabaseValueConvertible, Codable {
    var number: Int
    var databaseValue: DatabaseValue { number.databaseValue }
    static func fromDatabaseValue(_ value: DatabaseValue) -> ReadNumber? {
        Double("\(value)").map { ReadNumber(number: Int($0)) }
    }
}

/// A record that reads and writes an integer.
private protocol NumberRecord: Record {
    var number: Int? { get set }
}

private class Number: Record {
    override class var databaseTableName: String { "number" }
}

private class Homeless: Number {
    override class var databaseTableName: String { "homeless" }
}

private class Nameless: Number {
    override class var databaseTableName: String { "" }
}

private final class PairNumber: Number, NumberRecord {
    var id: Int64?
    var number: Int?

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("a") { number = try Double("\(row["a"] as DatabaseValue)").map { Int($0) } }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["a"] = number
    }
}

private final class ListedNumber: Number, NumberRecord {
    var id: Int64?
    var number: Int?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("a", number.map(ReadNumber.init)) { number = $0?.number }
    }
}

private final class CodedNumber: Number, NumberRecord, Codable {
    var id: Int64?
    var a: ReadNumber?

    var number: Int? {
        get { a?.number }
        set { a = newValue.map(ReadNumber.init) }
    }
}

private final class PairHomeless: Homeless, NumberRecord {
    var id: Int64?
    var number: Int?

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("a") { number = try Double("\(row["a"] as DatabaseValue)").map { Int($0) } }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["a"] = number
    }
}

private final class ListedHomeless: Homeless, NumberRecord {
    var id: Int64?
    var number: Int?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("a", number.map(ReadNumber.init)) { number = $0?.number }
    }
}

private final class CodedHomeless: Homeless, NumberRecord, Codable {
    var id: Int64?
    var a: ReadNumber?

    var number: Int? {
        get { a?.number }
        set { a = newValue.map(ReadNumber.init) }
    }
}

private final class PairNameless: Nameless, NumberRecord {
    var id: Int64?
    var number: Int?

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("a") { number = try Double("\(row["a"] as DatabaseValue)").map { Int($0) } }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["a"] = number
    }
}

private final class ListedNameless: Nameless, NumberRecord {
    var id: Int64?
    var number: Int?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("a", number.map(ReadNumber.init)) { number = $0?.number }
    }
}

private final class CodedNameless: Nameless, NumberRecord, Codable {
    var id: Int64?
    var a: ReadNumber?

    var number: Int? {
        get { a?.number }
        set { a = newValue.map(ReadNumber.init) }
    }
}

extension RecordStyle {
    fileprivate var five: any FiveRecord.Type { choose(PairFive.self, ListedFive.self, CodedFive.self) }
    fileprivate var number: any NumberRecord.Type {
        choose(PairNumber.self, ListedNumber.self, CodedNumber.self)
    }
    fileprivate var homeless: any NumberRecord.Type {
        choose(PairHomeless.self, ListedHomeless.self, CodedHomeless.self)
    }
    fileprivate var nameless: any NumberRecord.Type {
        choose(PairNameless.self, ListedNameless.self, CodedNameless.self)
    }
}

@Suite("Changes and the affinity of columns")
struct AffinityChangesTests {
    @Test(
        "A value that affinity stores in another class is clean after a save and after a fetch",
        .behaviour(6),
        arguments: RecordStyle.allCases)
    func everyValue(style: RecordStyle) throws {
        try expectClean(style.five, ColumnAffinityStoringTests.chosen)
    }

    @Test(
        "A text of many digits is clean, also where SQLite reads the neighbour of the number that Swift reads",
        .behaviour(6), arguments: RecordStyle.allCases)
    func manyDigits(style: RecordStyle) throws {
        // SQLite 3.40 does so with all of these.
        try expectClean(
            style.five,
            [
                "23932.0854470405411180", "15234.8482548758956945677810", "282029.7419095574005342019",
                "767.3476691022163368745e-17", "7296.72782942898220455",
            ])
    }

    /// A record of any of the values is clean when it was saved, and when it was fetched and given
    /// the same value.
    private func expectClean<Five: FiveRecord>(_: Five.Type, _ values: [DatabaseValue]) throws {
        try DatabaseQueue().write { db in
            let columns = fiveColumns.map { "\($0) \($1)" }.joined(separator: ", ")
            try db.execute(sql: "CREATE TABLE five (id INTEGER PRIMARY KEY, \(columns))")
            for value in values {
                let record = Five()
                record.value = value
                try record.insert(db)
                #expect(!record.hasDatabaseChanges, "\(value.debugDescription) after an insertion")
                try record.update(db)
                #expect(!record.hasDatabaseChanges, "\(value.debugDescription) after an update")
                for columns in ["*", "r, n, b, t, i, id"] {
                    let fetched = try #require(
                        try Five.fetchOne(
                            db, sql: "SELECT \(columns) FROM five WHERE id = ?", arguments: [record.id]))
                    fetched.value = value
                    let comment: Comment = "\(value.debugDescription) after a fetch of \(columns)"
                    #expect(!fetched.hasDatabaseChanges, comment)
                    #expect(try fetched.databaseChanges == [:], comment)
                    fetched.value = value == "another" ? "one" : "another"
                    #expect(fetched.hasDatabaseChanges, comment)
                    fetched.value = value
                    try fetched.reload(db)
                    #expect(!fetched.hasDatabaseChanges, comment)
                    #expect(try !fetched.updateChanges(db), comment)
                }
            }
        }
    }

    private func withNumbers(_ type: String, _ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE number (id INTEGER PRIMARY KEY, a \(type));
                    INSERT INTO number VALUES (1, 5);
                    CREATE TABLE other (id INTEGER PRIMARY KEY, a INTEGER);
                    INSERT INTO other VALUES (1, 6);
                    CREATE TABLE texts (a TEXT);
                    INSERT INTO texts VALUES ('5');
                    """)
            try body(db)
        }
    }

    @Test(
        "The affinity is that of the record's own table, by name, in a join and for an expression",
        .behaviour(6),
        arguments: RecordStyle.allCases,
        [
            "SELECT * FROM number", "SELECT number.*, other.a FROM number JOIN other USING (id)",
            "SELECT number.*, texts.* FROM number, texts", "SELECT other.id, number.a FROM number JOIN other",
            "SELECT id, a || '' AS a FROM number WHERE typeof(a) = 'text'",
            "SELECT id, CAST(5 AS TEXT) AS A FROM number",
            "SELECT 1 AS id, a FROM texts", "SELECT id, (SELECT a FROM texts) AS a FROM other",
            "WITH w AS (SELECT a FROM number) SELECT 1 AS id, w.a FROM w",
        ])
    func ownTable(style: RecordStyle, sql: String) throws { try ownTable(style.number, sql) }

    private func ownTable<Number: NumberRecord>(_: Number.Type, _ sql: String) throws {
        try withNumbers("TEXT") { db in
            let record = try #require(try Number.fetchOne(db, sql: sql))
            #expect(try record.number == 5 && !record.hasDatabaseChanges && record.databaseChanges == [:])
            record.number = 6
            #expect(try record.databaseChanges == ["a": "5"])
        }
    }

    @Test(
        "A text that another table's affinity made is a change, where the own table has no affinity",
        .behaviour(6), arguments: RecordStyle.allCases)
    func otherTable(style: RecordStyle) throws { try otherTable(style.number) }

    private func otherTable<Number: NumberRecord>(_: Number.Type) throws {
        try withNumbers("BLOB") { db in
            let record = try #require(try Number.fetchOne(db, sql: "SELECT 1 AS id, a FROM texts"))
            #expect(try record.number == 5 && record.databaseChanges == ["a": "5"])
        }
        try withNumbers("REAL") { db in
            let record = try #require(try Number.fetchOne(db))
            #expect(
                try !record.hasDatabaseChanges
                    && String.fetchOne(db, sql: "SELECT typeof(a) FROM number") == "real")
        }
    }

    @Test(
        "Without a table, integers and reals compare exactly, and texts are texts", .behaviour(6),
        arguments: RecordStyle.allCases)
    func noTable(style: RecordStyle) throws { try noTable(style.homeless, style.nameless) }

    private func noTable<Homeless: NumberRecord, Nameless: NumberRecord>(_: Homeless.Type, _: Nameless.Type)
        throws
    {
        try withNumbers("TEXT") { db in
            for (sql, isClean) in [
                ("SELECT 1 AS id, 5 AS a", true), ("SELECT 1.0 AS id, 5.0 AS a", true),
                ("SELECT 1 AS id, '5' AS a", false),
                ("SELECT 1 AS id, 5.5 AS a", false),
            ] {
                try #expect(Homeless.fetchOne(db, sql: sql)?.hasDatabaseChanges == !isClean, "\(sql)")
                try #expect(Nameless.fetchOne(db, sql: sql)?.hasDatabaseChanges == !isClean, "\(sql)")
            }
        }
    }

    @Test(
        "A table made anew with another type has its new affinity, for the same SQL", .behaviour(6),
        arguments: RecordStyle.allCases, [true, false])
    func madeAnew(style: RecordStyle, byOther: Bool) throws { try madeAnew(style.number, byOther: byOther) }

    private func madeAnew<Number: NumberRecord>(_: Number.Type, byOther: Bool) throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"))
        let other = try DatabaseQueue(path: folder.path("a.sqlite"))
        func make(_ type: String) throws {
            try (byOther ? other : queue).inDatabase { db in
                try db.execute(
                    sql:
                        "DROP TABLE IF EXISTS number; CREATE TABLE number (id INTEGER PRIMARY KEY, a \(type))"
                )
            }
        }
        try make("TEXT")
        func isClean() throws -> Bool {
            try queue.inDatabase { db in
                try db.execute(sql: "INSERT OR REPLACE INTO number VALUES (1, '5')")
                return try Number.fetchOne(db)?.hasDatabaseChanges == false
            }
        }
        #expect(try isClean())
        try make("BLOB")
        #expect(try !isClean())
        try make("TEXT")
        #expect(try isClean())
    }
}
