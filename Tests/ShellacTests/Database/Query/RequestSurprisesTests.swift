import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Requests that may surprise")
struct RequestSurprisesTests {
    typealias Player = League.Player
    private static let name = Column("name")
    private static let score = Column("score")

    // MARK: - Limits

    @Test("with a limit and no order depend on the plan, as explain says")
    func limitWithoutOrder() throws {
        let note = "NOTE: a LIMIT without ORDER BY: the plan decides which rows are returned"
        try League.database().write { db in
            let request = Player.filter(Self.score > 60).limit(1)
            let before = try request.fetchAll(db).map(\.name)
            try db.execute(sql: "CREATE INDEX i ON player(score DESC)")
            let after = try request.fetchAll(db).map(\.name)
            #expect(before == ["Arthur"])
            #expect(after != before)
            let notes = try [
                request.explain(db), Player.limit(2, offset: 1).explain(db),
                Table("player").limit(1).explain(db),
            ]
            #expect(notes.allSatisfy { $0.hasSuffix("\n" + note) })
            let others = try [
                Player.order(Self.name).limit(1).explain(db), Player.all().explain(db),
                Player.filter(key: 1).limit(1).explain(db),
            ]
            #expect(others.allSatisfy { !$0.contains("NOTE") })
        }
    }

    // MARK: - Keys

    @Test("by key throw where there is no primary key, and say which table")
    func keyless() throws {
        struct Name: Codable, Identifiable, FetchableRecord, PersistableRecord {
            static let databaseTableName = "names"
            var id: Int64
            var name: String
        }
        struct Keyed: FetchableRecord, TableRecord, Identifiable {
            static let databaseTableName = "names"
            static let databasePrimaryKey: [String]? = ["id"]
            let id: Int64
            init(row: Row) throws { id = try row["id"] }
        }
        final class NamedRecord: Record {
            override class var databaseTableName: String { "names" }
        }
        try League.database().write { db in
            try db.execute(sql: "CREATE VIEW names AS SELECT id, name FROM player")
            let sentence = #expect(throws: DatabaseError.self) { try NamedRecord.fetchOne(db, key: 1) }?
                .message
            #expect(
                sentence
                    == "names has no primary key to find a row by: declare one with `static var "
                    + "databasePrimaryKey`, or fetch by a query")
            for request in [
                Name.filter(key: 1), Name.filter(id: 1), Name.filter(keys: [1, 2]), Name.filter(ids: [1, 2]),
            ] {
                let error = thrownError { _ = try request.fetchAll(db) }
                #expect(
                    error.map { "\($0)" }?.contains("names has no primary key") == true, "\(error as Any)")
                let deletion = thrownError { _ = try request.deleteAll(db) }
                #expect(deletion.map { "\($0)" }?.contains("names has no primary key") == true)
            }
            let keyed = try Keyed.filter(id: 2).fetchOne(db)
            #expect(keyed?.id == 2)
            // A composite key is not one value, and a dictionary must be a unique key.
            #expect(
                throws: RecordError.compositeKey(databaseTableName: "visit", columns: ["playerID", "year"])
            ) {
                try Table("visit").filter(key: 1).fetchAll(db)
            }
            #expect(throws: RecordError.notAUniqueKey(databaseTableName: "player", columns: ["score"])) {
                try Player.filter(key: ["score": 100]).fetchAll(db)
            }
        }
    }

    @Test("by a row id that no column names find the row")
    func hiddenRowID() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE word (text TEXT); INSERT INTO word VALUES ('a'), ('b')")
            let row = try Table("word").filter(key: 2).fetchOne(db)
            #expect(row == ["text": "b"])
        }
    }

    @Test("by very many keys take one value for all, whatever the limit of values is")
    func manyKeys() throws {
        let spy = SQLSpy()
        try League.database(spy).write { db in
            limitVariables(of: db, to: 100)
            spy.removeAll()
            let players = try Player.filter(keys: Array(2...5000)).order(Column("id")).fetchAll(db)
            #expect(players.map(\.id) == [2, 3, 4, 5])
            #expect(
                spy.sql.filter { $0.contains("json_each") } == [
                    #"SELECT * FROM "player" WHERE "id" IN (SELECT +value FROM json_each(?)) ORDER BY "id""#
                ])
            let count = try Player.filter(keys: (-3000...1).map { Int64($0) } + [.max, .min]).fetchCount(db)
            #expect(count == 1)
            let updated = try Player.filter(ids: (1...2000).map { Int64($0) }).updateAll(
                db, Self.score.set(to: 1))
            #expect(updated == 5)
            let deleted = try Table("player").filter(keys: Array(1...1500)).deleteAll(db)
            #expect(deleted == 5)
        }
    }

    @Test("by very many texts find the same as one by one, whatever is in these")
    func manyTexts() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE word (text TEXT PRIMARY KEY, number INTEGER UNIQUE)")
            let odd = [
                "", "\"", "\\", "\\u0041", "'; DROP TABLE word; --", "a\nb\tc\u{1}\u{1f}", "é", "👩‍👩‍👧", "1",
                "1.0",
                "null", "[1,2]", "\u{2028}", "\u{7f}",
            ]
            for word in odd { try db.execute(sql: "INSERT INTO word (text) VALUES (?)", arguments: [word]) }
            let keys = odd + (0..<2000).map { "other \($0)" }
            let found = try Table("word").filter(keys: keys).select(Column("text"), as: String.self).fetchSet(
                db)
            #expect(found == Set(odd))
            // An integer finds the text that the column would store.
            let one = try Table("word").filter(keys: Array(1...2000)).fetchCount(db)
            #expect(one == 1)
            // A text with a NUL in it, or a blob, is no JSON: these are values of their own.
            try db.execute(sql: "INSERT INTO word (text) VALUES (?)", arguments: ["a\0b"])
            let null = try Table("word").filter(keys: keys + ["a\0b", "a"]).fetchCount(db)
            #expect(null == odd.count + 1)
        }
    }

    @Test("by more blobs than SQLite takes throw what it says")
    func manyBlobs() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE thing (id BLOB PRIMARY KEY)")
            let keys = (0..<1200).map { _ in UUID() }
            try db.execute(sql: "INSERT INTO thing VALUES (?)", arguments: [keys[700]])
            let count = try Table("thing").filter(keys: keys).fetchCount(db)
            #expect(count == 1)
            limitVariables(of: db, to: 1000)
            let error = databaseError { _ = try Table("thing").filter(keys: keys + [UUID()]).fetchCount(db) }
            #expect(error?.message == "too many SQL variables")
            #expect(error?.sql?.hasPrefix(#"SELECT COUNT(*) FROM "thing" WHERE "id" IN (?, "#) == true)
        }
    }

    // MARK: - Coalescing

    @Test("take another value for NULL by ??")
    func coalescing() throws {
        let alias: Int? = nil
        let expressions: [(SQLExpression, String)] = [
            (Self.score ?? 0, #"COALESCE("score", ?)"#),
            (Self.score ?? Column("teamID") ?? -1, #"COALESCE("score", "teamID", ?)"#),
            ((Self.score + 1) ?? (Column("id") * 2), #"COALESCE("score" + ?, "id" * ?)"#),
            ((Self.score ?? 0) + (alias ?? 3), #"COALESCE("score", ?) + ?"#),
        ]
        try League.database().write { db in
            for (expression, sql) in expressions {
                let request = Player.select(expression, as: Int.self).filter(key: 5)
                let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
                #expect(statement.sql == #"SELECT \#(sql) FROM "player" WHERE "id" = ?"#)
            }
            let values = try expressions.map { expression, _ in
                try Player.select(expression, as: Int.self).filter(key: 5).fetchOne(db)
            }
            #expect(values == [0, -1, 10, 3])
            let low = try Player.filter((Self.score ?? 0) < 60).order(Column("id")).fetchAll(db)
            #expect(low.map(\.id) == [3, 5])
        }
    }

    // MARK: - What is added to SQLite

    @Test("match full-text tables")
    func match() throws {
        try League.sqlAndDatabase { db, spy in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE book USING fts5(title, body);
                    INSERT INTO book VALUES ('Moby Dick', 'a whale'), ('Emma', 'a match maker');
                    """)
            spy.removeAll()
            let title = Column("title")
            let whales = try Table("book").filter(Column("book").match("whale")).select(
                title, as: String.self
            )
            .fetchAll(db)
            #expect(whales == ["Moby Dick"])
            #expect(spy.sql.contains(#"SELECT "title" FROM "book" WHERE "book" MATCH ?"#))
            let titles = try Table("book").filter(title.match("emma OR moby")).fetchCount(db)
            #expect(titles == 2)
            let error = databaseError { _ = try Table("book").filter(title.match("\"")).fetchCount(db) }
            #expect(error?.message == "unterminated string")
            #expect(error?.sql == #"SELECT COUNT(*) FROM "book" WHERE "title" MATCH ?"#)
            let plain = databaseError { _ = try Player.filter(Self.name.match("a")).fetchCount(db) }
            #expect(plain?.message == "unable to use function MATCH in the requested context")
        }
    }

    @Test("match regular expressions by a function in Swift, which throws through")
    func regexp() throws {
        let regexp = DatabaseFunction("regexp", argumentCount: 2) { arguments in
            guard let pattern = String.fromDatabaseValue(arguments[0]) else { return nil }
            guard let text = String.fromDatabaseValue(arguments[1]) else { return nil }
            if pattern == "(" { throw Boom(3) }
            return text.range(of: pattern, options: .regularExpression) != nil
        }
        try League.database().write { db in
            let request = Player.filter(Self.name.regexp("^.r.+r$"))
            let missing = databaseError { _ = try request.fetchCount(db) }
            #expect(missing?.message == "no such function: REGEXP")
            try db.add(function: regexp)
            let names = try request.select(Self.name, as: String.self).fetchAll(db)
            #expect(names == ["Arthur"].filter { $0.hasSuffix("r") })
            let others = try Player.filter(!Self.name.regexp("r")).fetchCount(db)
            #expect(others == 1)
            #expect(throws: Boom(3)) { try Player.filter(Self.name.regexp("(")).fetchCount(db) }
            let count = try Player.fetchCount(db)
            #expect(count == 5)
        }
    }

    @Test("call functions made in Swift, and sort by collations made in Swift")
    func functionsAndCollations() throws {
        let initials = DatabaseFunction("initials of", argumentCount: 1) { arguments in
            String.fromDatabaseValue(arguments[0]).map { String($0.prefix(1)) }
        }
        let byLength = DatabaseCollation("by length") { a, b in
            a.count == b.count ? .orderedSame : a.count < b.count ? .orderedAscending : .orderedDescending
        }
        try League.sqlAndDatabase { db, spy in
            let request = Player.select(initials(Self.name), as: String.self)
                .order(Self.name.collating(byLength).desc, Column("id")).limit(3)
            let noFunction = databaseError { _ = try request.fetchAll(db) }
            #expect(noFunction?.message == "no such function: initials of")
            try db.add(function: initials)
            let noCollation = databaseError { _ = try request.fetchAll(db) }
            #expect(noCollation?.message == "no such collation sequence: by length")
            try db.add(collation: byLength)
            spy.removeAll()
            let letters = try request.fetchAll(db)
            #expect(letters == ["B", "O", "A"])
            #expect(
                spy.sql == [
                    #"SELECT "initials of"("name") FROM "player" ORDER BY "name" COLLATE "by length" DESC, "id" LIMIT ?"#
                ])
            let same = try Player.filter(Self.name.collating(byLength) == "123456").fetchCount(db)
            #expect(same == 1)
            let called = try Player.filter(SQLExpression.call("initials of", Self.name) == "D").fetchOne(db)
            #expect(called?.name == "Diane")
        }
    }
}

extension League {
    /// Runs a body on the database of the league, with a spy that records its statements.
    static func sqlAndDatabase(_ body: (Database, SQLSpy) throws -> Void) throws {
        let spy = SQLSpy()
        try database(spy).write { try body($0, spy) }
    }
}
