import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Keys that are compared by SQLite in ways of its own: what is loaded is what a query for each
/// record finds.
@Suite("Keys of relations that are odd") struct RelationKeysTests {
    /// A record with any key, and any reference.
    class Node: Record {
        var id: Int64?
        var k: DatabaseValue = .null
        var p: DatabaseValue = .null

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("k", k) { k = $0 }
            try column("p", p) { p = $0 }
        }
    }

    final class Parent: Node {
        override class var databaseTableName: String { "parent" }
        static let children = hasMany(Child.self, using: ForeignKey(["p"], to: ["k"])).order(Column("id"))
        static let first = hasOne(Child.self, using: ForeignKey(["p"], to: ["k"])).order(Column("id"))
        static let two = children.limitPerParent(2).forKey("two")
    }

    final class Child: Node {
        override class var databaseTableName: String { "child" }
        override class var databasePrimaryKey: [String]? { ["id"] }
        static let parent = belongsTo(Parent.self, using: ForeignKey(["p"], to: ["k"]))
    }

    /// Returns what differs between the roads and a query for each parent.
    private func differences(
        _ schema: String, keys: [DatabaseValue], references: [DatabaseValue]
    ) throws -> [String] {
        try DatabaseQueue().write { db in
            try db.execute(sql: schema)
            for key in keys { try db.execute(sql: "INSERT INTO parent (k) VALUES (?)", arguments: [key]) }
            let into = try db.schema.table("row") == nil ? "child" : "row"
            for reference in references {
                try db.execute(sql: "INSERT INTO \(into) (p) VALUES (?)", arguments: [reference])
            }
            return try differences(db)
        }
    }

    private func differences(_ db: Database) throws -> [String] {
        let all = Parent.order(Column("id"))
        // The collation of the column that is referred to, as for a foreign key.
        let declared = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'parent'")
        let collation = ["NOCASE", "RTRIM"].first { declared?.contains($0) == true } ?? "BINARY"
        var differences: [String] = []
        func check(_ road: String, _ parents: [Parent]) throws {
            for parent in parents {
                let expected = try Int64.fetchAll(
                    db, sql: "SELECT id FROM child WHERE p COLLATE \(collation) = ? ORDER BY id",
                    arguments: [parent.k])
                let found = try parent[Parent.children].compactMap(\.id)
                let two = try parent[Parent.two].compactMap(\.id)
                let first = try parent[Parent.first]?.id
                if found != expected { differences.append("\(road) \(parent.k): \(found), not \(expected)") }
                if two != Array(expected.prefix(2)) { differences.append("\(road) \(parent.k): two \(two)") }
                if first != expected.first { differences.append("\(road) \(parent.k): first") }
            }
        }
        let relations: [any Relation] = [Parent.children, Parent.two, Parent.first]
        try check("including", all.including(relations).fetchAll(db))
        let loaded = try all.fetchAll(db)
        try db.load(loaded, relations)
        try check("load", loaded)
        let peers = try all.fetchAll(db)
        for parent in peers {
            try parent.load(Parent.children, db)
            try parent.load(Parent.two, db)
            try parent.load(Parent.first, db)
        }
        try check("peers", peers)
        let alone = try all.fetchAll(db)
        for parent in alone {
            try parent.load(Parent.children, db, .single)
            try parent.load(Parent.two, db, .single)
            try parent.load(Parent.first, db, .single)
        }
        try check("alone", alone)
        return differences
    }

    static let odd: [DatabaseValue] = [
        "abc", "ABC", "abc ", "x\0y".databaseValue, "x\0z".databaseValue, "X\0Y".databaseValue,
        "\u{e9}".databaseValue, "e\u{301}".databaseValue, "", " ", 1, 1.0, 1.5, "1", "1.0", "01", " 1 ",
        Int64.max.databaseValue, Int64.min.databaseValue, "9223372036854775807", "9223372036854775808",
        (Int64(1) << 53).databaseValue, ((Int64(1) << 53) + 1).databaseValue, 9007199254740992.0,
        9.2233720368547758e18, -9.2233720368547758e18, Data().databaseValue,
        Data([97, 98, 99]).databaseValue,
        "1e3", 1000, -0.0, 0, "\"quoted\"", "back\\slash", "\u{1}\u{1f}", "\u{10ffff}", "[1]", "null",
        Double.infinity.databaseValue, "inf",
    ]

    @Test(
        "of every type and collation are found as a query finds them", .behaviour(67),
        arguments: [
            "INTEGER", "TEXT", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM", "BLOB", "REAL", "NUMERIC", "",
        ])
    func types(_ type: String) throws {
        for parentType in ["", "TEXT", "INTEGER"] {
            for collation in ["", "COLLATE NOCASE", "COLLATE RTRIM"] {
                let schema = """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY, k \(parentType) \(collation), p);
                    CREATE TABLE child (id INTEGER PRIMARY KEY, k, p \(type));
                    """
                let found = try differences(schema, keys: Self.odd + [.null], references: Self.odd + [.null])
                #expect(found.isEmpty, "parent \(parentType) \(collation)")
            }
        }
    }

    @Test("in a strict table that has any type", .behaviour(67))
    func strict() throws {
        let found = try differences(
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY, k ANY, p ANY) STRICT;
            CREATE TABLE child (id INTEGER PRIMARY KEY, k ANY, p ANY) STRICT;
            """, keys: Self.odd, references: Self.odd)
        #expect(found.isEmpty)
    }

    @Test(
        "of a view are compared as the column that they refer to", .behaviour(67),
        arguments: [
            "p TEXT COLLATE NOCASE|p", "p TEXT COLLATE RTRIM|p", "p|CAST(p AS TEXT) AS p", "p INTEGER|p",
            "p|p COLLATE NOCASE AS p", "p TEXT|p", "p TEXT|+p AS p", "p INTEGER|p || '' AS p",
        ])
    func views(_ parts: String) throws {
        let parts = parts.split(separator: "|", maxSplits: 1)
        for collation in ["", "COLLATE NOCASE", "COLLATE RTRIM"] {
            let found = try differences(
                """
                CREATE TABLE parent (id INTEGER PRIMARY KEY, k \(collation), p);
                CREATE TABLE row (id INTEGER PRIMARY KEY, k, \(parts[0]));
                CREATE VIEW child AS SELECT id, k, \(parts[1]) FROM row;
                """, keys: ["abc", "ABC", "abc ", 1, "1"], references: ["abc", "ABC", "abc ", 1, "1"])
            #expect(found.isEmpty, "parent \(collation)")
        }
    }

    @Test("in generated columns, tables without row ids, and indices", .behaviour(67))
    func places() throws {
        let keys: [DatabaseValue] = ["abc", "ABC", 1, 2, "2"]
        for schema in [
            "CREATE TABLE child (id INTEGER PRIMARY KEY, p0, k, p TEXT COLLATE NOCASE); CREATE INDEX i ON child(p)",
            "CREATE TABLE child (id INTEGER PRIMARY KEY, k, p NOT NULL) WITHOUT ROWID",
        ] {
            let found = try differences(
                "CREATE TABLE parent (id INTEGER PRIMARY KEY, k, p);" + schema, keys: keys,
                references: schema.contains("WITHOUT") ? [] : keys)
            #expect(found.isEmpty)
        }
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY, k, p);
                    CREATE TABLE child (id INTEGER PRIMARY KEY, k, p TEXT AS (lower(k)) VIRTUAL COLLATE NOCASE);
                    INSERT INTO parent (k) VALUES ('a'), ('B');
                    INSERT INTO child (k) VALUES ('A'), ('b'), ('A');
                    """)
            try #expect(differences(db).isEmpty)
        }
    }

    @Test("in a temporary table that shadows another one between two loads", .behaviour(64, 67))
    func shadow() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY, k, p);
                    CREATE TABLE child (id INTEGER PRIMARY KEY, k, p TEXT COLLATE NOCASE);
                    INSERT INTO parent (k) VALUES ('a'), ('b'), ('c');
                    INSERT INTO child (p) VALUES ('A'), ('b');
                    """)
            try #expect(differences(db).isEmpty)
            let parents = try Parent.order(Column("id")).fetchAll(db)
            for parent in parents { try parent.load(Parent.children, db) }
            try #expect(parents.map { try $0[Parent.children].count } == [0, 1, 0])
            try db.execute(
                sql: """
                    CREATE TEMP TABLE child (id INTEGER PRIMARY KEY, k, p BLOB);
                    INSERT INTO temp.child (p) VALUES ('A'), ('b'), ('c'), ('c');
                    """)
            for parent in parents { try parent.load(Parent.children, db) }
            try #expect(parents.map { try $0[Parent.children].count } == [0, 1, 2])
            try #expect(differences(db).isEmpty)
            try db.execute(sql: "DROP TABLE temp.child")
            for parent in parents { try parent.load(Parent.children, db) }
            try #expect(parents.map { try $0[Parent.children].count } == [0, 1, 0])
        }
    }

    // MARK: - Through

    final class Reader: Record {
        static let loans = hasMany(Loan.self, using: "reader")
        static let pages = hasMany(Page.self, through: loans, using: Loan.pages)
        var id: Int64?
        override class var databaseTableName: String { "reader" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    final class Loan: Record {
        static let pages = hasMany(Page.self, using: ForeignKey(["loan"], to: ["id"]))
        var id: Int64?
        override class var databaseTableName: String { "loan" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    final class Page: Record {
        var name: String?
        var text = ""
        override class var databaseTableName: String { "page" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("name", name) { name = $0 }
            try column("text", text) { text = $0 }
        }
    }

    @Test("that are NULL in a primary key tell no rows apart", .behaviour(65, 67))
    func nullPrimaryKey() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE reader (id INTEGER PRIMARY KEY);
                    CREATE TABLE loan (id INTEGER PRIMARY KEY, reader INTEGER);
                    CREATE TABLE page (name TEXT PRIMARY KEY, text TEXT NOT NULL, loan INTEGER);
                    INSERT INTO reader VALUES (1);
                    INSERT INTO loan VALUES (1, 1), (2, 1);
                    INSERT INTO page VALUES (NULL, 'a', 1), (NULL, 'b', 1), (NULL, 'c', 2), ('x', 'd', 2);
                    """)
            let reader = try #require(try Reader.including(Reader.pages).fetchOne(db))
            try #expect(reader[Reader.pages].map(\.text).sorted() == ["a", "b", "c", "d"])
        }
    }

    // MARK: - Values stored in another form

    final class Day: Record {
        static let visits = hasMany(Visit.self, using: "day")
        var date = Date(timeIntervalSince1970: 0)
        var name = ""
        override class var databaseTableName: String { "day" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("date", date) { date = $0 }
            try column("name", name) { name = $0 }
        }
    }

    final class Visit: Record {
        static let day = belongsTo(Day.self, using: "day")
        var id: Int64?
        var day: Date?
        override class var databaseTableName: String { "visit" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("day", day) { day = $0 }
        }
    }

    @Test(
        "that are dates in another form than the class writes are found on every road", .behaviour(63, 64, 66)
    )
    func otherForm() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE day (date TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
                    CREATE TABLE visit (id INTEGER PRIMARY KEY, day TEXT REFERENCES day);
                    INSERT INTO day VALUES ('2024-05-01 00:00:00', 'May'), ('2024-06-01T00:00:00', 'June');
                    INSERT INTO visit (day) SELECT date FROM day;
                    """)
            let included = try Day.including(Day.visits).fetchAll(db)
            try #expect(included.map { try $0[Day.visits].count } == [1, 1])
            let days = try Day.fetchAll(db)
            #expect(days.allSatisfy { !$0.hasDatabaseChanges })
            try db.load(days, Day.visits)
            try #expect(days.map { try $0[Day.visits].count } == [1, 1])
            for day in days { try day.load(Day.visits, db) }
            try #expect(days.map { try $0[Day.visits].count } == [1, 1])
            let visits = try Visit.order(Column("id")).fetchAll(db)
            for visit in visits { try visit.load(Visit.day, db, .single) }
            try #expect(visits.map { try $0[Visit.day]?.name } == ["May", "June"])
            // Nothing has changed: nothing is written.
            days[1].name = "Juni"
            try days[1].save(db, with: Day.visits, removed: .delete)
            try #expect(
                String.fetchAll(db, sql: "SELECT day FROM visit ORDER BY id") == [
                    "2024-05-01 00:00:00", "2024-06-01T00:00:00",
                ])
            // A changed key counts with its present value.
            days[0].date = days[1].date
            try days[0].load(Day.visits, db)
            try #expect(days[0][Day.visits].isEmpty)
        }
    }
}
