import TestSupport
import Testing

@testable import Shellac

/// A record with one value of any kind in each of five columns.
private final class Five: Record {
    var id: Int64?
    var value: DatabaseValue = .null

    override class var databaseTableName: String { "five" }
    static let columns = ["i": "INTEGER", "t": "TEXT", "b": "BLOB", "r": "REAL", "n": "NUMERIC"]

    override func updateFromRow(_ row: Row) throws { if row.hasColumn("id") { id = try row["id"] } }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        for column in Self.columns.keys.sorted() { container[column] = value }
    }
}

/// A record that reads and writes an integer.
private class Number: Record {
    var id: Int64?
    var a: Int?
    override class var databaseTableName: String { "number" }
    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("a") { a = try Double("\(row["a"] as DatabaseValue)").map { Int($0) } }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["a"] = a
    }
}

private final class Homeless: Number {
    override class var databaseTableName: String { "homeless" }
}

private final class Nameless: Number {
    override class var databaseTableName: String { "" }
}

@Suite("Changes and the affinity of columns")
struct AffinityChangesTests {
    @Test(
        "A value that affinity stores in another class is clean after a save and after a fetch", .behaviour(6)
    )
    func everyValue() throws { try expectClean(ColumnAffinityStoringTests.chosen) }

    @Test(
        "A text of many digits is clean, also where SQLite reads the neighbour of the number that Swift reads",
        .behaviour(6))
    func manyDigits() throws {
        // SQLite 3.40 does so with all of these.
        try expectClean([
            "23932.0854470405411180", "15234.8482548758956945677810", "282029.7419095574005342019",
            "767.3476691022163368745e-17", "7296.72782942898220455",
        ])
    }

    /// A record of any of the values is clean when it was saved, and when it was fetched and given the same value.
    private func expectClean(_ values: [DatabaseValue]) throws {
        try DatabaseQueue().write { db in
            let columns = Five.columns.map { "\($0) \($1)" }.joined(separator: ", ")
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
        arguments: [
            "SELECT * FROM number", "SELECT number.*, other.a FROM number JOIN other USING (id)",
            "SELECT number.*, texts.* FROM number, texts", "SELECT other.id, number.a FROM number JOIN other",
            "SELECT id, a || '' AS a FROM number WHERE typeof(a) = 'text'",
            "SELECT id, CAST(5 AS TEXT) AS A FROM number",
            "SELECT 1 AS id, a FROM texts", "SELECT id, (SELECT a FROM texts) AS a FROM other",
            "WITH w AS (SELECT a FROM number) SELECT 1 AS id, w.a FROM w",
        ])
    func ownTable(sql: String) throws {
        try withNumbers("TEXT") { db in
            let record = try #require(try Number.fetchOne(db, sql: sql))
            #expect(try record.a == 5 && !record.hasDatabaseChanges && record.databaseChanges == [:])
            record.a = 6
            #expect(try record.databaseChanges == ["a": "5"])
        }
    }

    @Test(
        "A text that another table's affinity made is a change, where the own table has no affinity",
        .behaviour(6))
    func otherTable() throws {
        try withNumbers("BLOB") { db in
            let record = try #require(try Number.fetchOne(db, sql: "SELECT 1 AS id, a FROM texts"))
            #expect(try record.a == 5 && record.databaseChanges == ["a": "5"])
        }
        try withNumbers("REAL") { db in
            let record = try #require(try Number.fetchOne(db))
            #expect(
                try !record.hasDatabaseChanges
                    && String.fetchOne(db, sql: "SELECT typeof(a) FROM number") == "real")
        }
    }

    @Test("Without a table, integers and reals compare exactly, and texts are texts", .behaviour(6))
    func noTable() throws {
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
        arguments: [true, false])
    func madeAnew(byOther: Bool) throws {
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
