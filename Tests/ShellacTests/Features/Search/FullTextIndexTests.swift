import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Full-text indexes that follow their tables.
@Suite("Full-text indexes in step with their tables", .behaviour(124))
struct FullTextIndexTests {
    typealias Note = SearchRequestTests.Note

    private static let index = FullTextIndex(table: "note", columns: ["title", "body"])

    private static func expectInStep(_ db: Database, _ comment: String = "") throws {
        for (name, _, fault) in try db.fullTextIndexes() { #expect(fault == nil, "\(name): \(comment)") }
    }

    private static func create(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE note (id INTEGER PRIMARY KEY, code INTEGER UNIQUE, title TEXT NOT NULL CHECK (title <> 'no'),
                body TEXT COLLATE NOCASE, parentID INTEGER REFERENCES note ON DELETE CASCADE ON UPDATE CASCADE);
                """)
        try db.create(fullText: index)
    }

    private static func ids(_ db: Database, _ text: String) throws -> [Int] {
        try Int.fetchAll(
            db, Table<Row>("note").matching(text, in: index).select(Column("id")).order(Column("id")))
    }

    @Test(
        "Random writes of every kind leave the words that the rows have",
        arguments: SeededGenerator.seeds("SEARCH", count: 2))
    func randomWrites(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
        let words = ["arthur", "Arthur", "merlin", "京都", "東京都", "e\u{301}té", "Straße", "a\0b", "", "ЁЖ"]
        func text() -> String {
            (0..<number(0..<4)).map { _ in words[number(0..<words.count)] }.joined(separator: " ")
        }
        let queue = try DatabaseQueue()
        try queue.inDatabase { db throws in
            try db.execute(sql: "PRAGMA recursive_triggers = \(seed % 2 == 0)")
            try Self.create(db)
            // Triggers of a user, before and after those of the index, which change the same row.
            try db.execute(
                sql: """
                    CREATE TRIGGER trim AFTER INSERT ON note WHEN NEW.title LIKE '% ' BEGIN
                    UPDATE note SET title = trim(title) WHERE id = NEW.id; END;
                    CREATE TRIGGER copy AFTER UPDATE OF title ON note WHEN NEW.title LIKE 'merlin%' BEGIN
                    UPDATE note SET body = NEW.title || ' copied' WHERE id = NEW.id; END;
                    CREATE TRIGGER drop3 AFTER UPDATE OF body ON note WHEN NEW.body = 'arthur' BEGIN
                    DELETE FROM note WHERE id = NEW.id; END;
                    """)
            let conflicts = ["", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT"]
            for step in 1...1_500 {
                let (id, other, code) = (number(0..<40), number(0..<40), number(0..<40))
                let values: StatementArguments = [id, code, number(0..<30) == 0 ? "no" : text(), text()]
                let conflict = conflicts[number(0..<conflicts.count)]
                let parent = number(0..<4) == 0 ? "(SELECT id FROM note WHERE id = \(other))" : "NULL"
                let thrown = thrownError {
                    switch number(0..<14) {
                    case 0..<3:
                        try db.execute(
                            sql: "INSERT \(conflict) INTO note VALUES (?, ?, ?, ?, \(parent))",
                            arguments: values)
                    case 3:
                        try db.execute(
                            sql: "INSERT \(conflict) INTO note (code, title, body) VALUES (\(code), ?, ?)",
                            arguments: [text(), text()])
                    case 4:
                        try db.execute(
                            sql: """
                                INSERT INTO note VALUES (?, ?, ?, ?, \(parent)) ON CONFLICT DO UPDATE
                                SET title = excluded.title, code = excluded.code
                                """, arguments: values)
                    case 5..<8:
                        try db.execute(
                            sql:
                                "UPDATE \(conflict) note SET id = ?, code = ?, title = ?, body = ? WHERE id = \(other)",
                            arguments: values)
                    case 8:
                        try db.execute(sql: "UPDATE \(conflict) note SET id = id + 1 WHERE id > \(id)")
                    case 9:
                        try db.execute(
                            sql: "UPDATE note SET body = ? WHERE id % 5 = \(id % 5)", arguments: [text()])
                    case 10: try db.execute(sql: "DELETE FROM note WHERE id = \(id) OR code = \(code)")
                    case 11:
                        try db.inSavepoint {
                            try db.execute(
                                sql: "REPLACE INTO note VALUES (?, ?, ?, ?, NULL)", arguments: values)
                            try db.execute(sql: "DELETE FROM note WHERE id > \(other)")
                            return .rollback
                        }
                    case 12:
                        try db.execute(
                            sql:
                                "INSERT \(conflict) INTO note SELECT id + \(other % 3), code + 1, body, title, NULL FROM note WHERE id % 7 = 0 AND title IS NOT NULL AND body IS NOT NULL"
                        )
                    default:
                        switch number(0..<8) {
                        case 0: try db.execute(sql: "VACUUM")
                        case 1: try db.execute(sql: "DELETE FROM note")
                        case 2: try db.rebuild(fullText: Self.index)
                        default: try db.execute(sql: "REPLACE INTO note SELECT * FROM note WHERE id % 3 = 0")
                        }
                    }
                }
                if let error = thrown as? DatabaseError {
                    try #require(
                        [.SQLITE_CONSTRAINT, .SQLITE_LOCKED].contains(error.resultCode),
                        "seed \(seed), step \(step): \(error)")
                }
                if step % 25 == 0 {
                    let fault = try db.fullTextIndexes().first?.fault
                    try #require(fault == nil, "seed \(seed), step \(step)")
                }
            }
        }
    }

    @Test("REPLACE, IGNORE and upserts keep the index in step", arguments: [false, true])
    func conflicts(isRecursive: Bool) throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: "PRAGMA recursive_triggers = \(isRecursive)")
            try Self.create(db)
            try db.execute(
                sql: "INSERT INTO note (id, code, title) VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three')"
            )
            try db.execute(sql: "REPLACE INTO note (id, code, title) VALUES (1, 2, 'merged')")
            #expect(try Self.ids(db, "one") == [])
            #expect(try Self.ids(db, "two") == [])
            #expect(try Self.ids(db, "merged") == [1])
            try db.execute(sql: "INSERT OR IGNORE INTO note (id, code, title) VALUES (1, 9, 'ignored')")
            #expect(try Self.ids(db, "merged") == [1])
            try db.execute(
                sql:
                    "INSERT INTO note (id, title) VALUES (1, 'new') ON CONFLICT DO UPDATE SET title = 'upserted'"
            )
            #expect(try Self.ids(db, "upserted") == [1])
            #expect(try Self.ids(db, "merged") == [])
            try db.execute(sql: "UPDATE OR REPLACE note SET id = 1 WHERE id = 3")
            #expect(try Self.ids(db, "three") == [1])
            #expect(try Self.ids(db, "upserted") == [])
            try Self.expectInStep(db)
        }
    }

    @Test("A row whose key changes is found, and so are rows that refer to it and follow")
    func cascadedKeys() throws {
        try DatabaseQueue().inDatabase { db throws in
            try Self.create(db)
            try db.execute(
                sql: """
                    INSERT INTO note (id, title, parentID) VALUES (5, 'parent', NULL), (9, 'child', 5);
                    UPDATE note SET id = 6 WHERE id = 5;
                    """)
            #expect(try Self.ids(db, "parent") == [6])
            try Self.expectInStep(db)
            try db.execute(sql: "UPDATE OR REPLACE note SET id = 9, parentID = NULL WHERE id = 6")
            #expect(try Self.ids(db, "parent") == [9])
            #expect(try Self.ids(db, "child") == [])
            try Self.expectInStep(db)
        }
    }

    @Test("A rebuilt table, new names, new unique indexes and VACUUM keep the index")
    func schemaChanges() throws {
        try DatabaseQueue().inDatabase { db throws in
            try Self.create(db)
            try db.execute(
                sql: "INSERT INTO note (id, title, body) VALUES (1, 'arthur', 'x'), (7, 'merlin', 'y')")
            try db.execute(sql: "VACUUM")
            #expect(try Self.ids(db, "merlin") == [7])
            try db.rebuild(table: "note", copying: ["title": "title || ' again'"]) { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull()
                t.column("body", .text)
                t.column("slug", .text)
            }
            #expect(try Self.ids(db, "again") == [1, 7])
            try Self.expectInStep(db)
            try db.create(index: "slugs", on: "note", columns: ["slug"], options: .unique)
            try db.execute(sql: "UPDATE note SET slug = id")
            try db.execute(sql: "REPLACE INTO note (id, title, slug) VALUES (8, 'bors', '7')")
            #expect(try Self.ids(db, "merlin") == [])
            try Self.expectInStep(db)
            // By SQL as well as by methods.
            try db.execute(sql: "ALTER TABLE note RENAME TO memo")
            try db.execute(sql: "ALTER TABLE memo RENAME COLUMN title TO headline")
            try db.execute(sql: "INSERT INTO memo (headline) VALUES ('gawain')")
            try Self.expectInStep(db)
            try db.alter(table: "memo") { t in t.rename(column: "body", to: "words") }
            try db.rename(table: "memo", to: "page")
            try db.execute(sql: "INSERT INTO page (headline, words) VALUES ('percival', 'grail')")
            try Self.expectInStep(db)
            let renamed = FullTextIndex(table: "page", columns: ["headline", "words"], name: "note_search")
            #expect(
                try Table<Row>("page").matching(.column("words", "grail"), in: renamed).fetchCount(db) == 1)
            try db.drop(table: "page")
            #expect(try db.fullTextIndexes().isEmpty)
            #expect(
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite%'")
                    == 0)
        }
    }

    @Test("An index is created with the words of all rows, dropped without a trace, and created again")
    func creation() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
            let before = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master")
            try db.execute(sql: "INSERT INTO note (title) VALUES ('arthur')")
            for _ in 0..<2 {
                try db.create(fullText: Self.index)
                try db.create(fullText: Self.index, options: .ifNotExists)
                #expect(try Self.ids(db, "arthur") == [1])
                expectError(containing: "already exists") { try db.create(fullText: Self.index) }
                try db.drop(fullText: Self.index)
                #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master") == before)
            }
            expectError(containing: "there is no full-text index note_search of the table note") {
                try db.drop(fullText: Self.index)
            }
            // Names that FTS5 reserves.
            try db.execute(sql: "CREATE TABLE odd (id INTEGER PRIMARY KEY, rank TEXT, \"a \"\" b\" TEXT)")
            let odd = FullTextIndex(table: "odd", columns: ["rank", "a \" b"], name: "the 'odd' \"one\"")
            try db.create(fullText: odd)
            try db.execute(sql: "INSERT INTO odd VALUES (1, 'arthur', 'merlin')")
            #expect(
                try Table<Row>("odd").matching(.column("rank", "arthur"), in: odd).ranked().fetchCount(db)
                    == 1)
            #expect(try Table<Row>("odd").matching(.column("a \" b", "merlin"), in: odd).fetchCount(db) == 1)
            try Self.expectInStep(db)
        }
    }

    @Test("Tables and columns that cannot be indexed are refused with a sentence")
    func refusals() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE key (id TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID;
                    CREATE TABLE loose (id TEXT PRIMARY KEY, body TEXT);
                    CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT, n INTEGER, data BLOB);
                    CREATE VIEW seen AS SELECT * FROM note;
                    """)
            func index(_ table: String, _ columns: String..., weights: [String: Double] = [:])
                -> FullTextIndex
            {
                FullTextIndex(table: table, columns: columns, weights: weights)
            }
            let cases: [(FullTextIndex, String)] = [
                (index("key", "body"), "it is WITHOUT ROWID, and FTS5 finds rows by their row id"),
                (
                    index("loose", "body"),
                    "it has no INTEGER PRIMARY KEY. FTS5 finds rows by their row id, and VACUUM"
                ),
                (index("seen", "body"), "it is a view. Index its table"),
                (index("note", "n"), "the column n is declared INTEGER, and holds no text"),
                (index("note", "data"), "the column data is declared BLOB, and holds no text"),
                (index("note", "bdy"), "the table has no column bdy (did you mean body?)"),
                (index("note"), "it names no columns"),
                (index("note", "body", "BODY"), "it names a column twice"),
                (
                    index("note", "body", weights: ["title": 2]),
                    "it has a weight for title, which it does not name"
                ),
                (index("none", "body"), "no such table: none"),
            ]
            for (index, sentence) in cases {
                expectError(containing: sentence) { try db.create(fullText: index) }
            }
            #expect(try db.fullTextIndexes().isEmpty)
        }
    }

    @Test("Without FTS5, an index is refused with a sentence, and the rest works")
    func missingFTS5() throws {
        try Features.hiddenOptions.withValue(["ENABLE_FTS5"]) {
            try DatabaseQueue().write { db throws in
                try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
                expectError(containing: "full-text search: SQLite ") { try db.create(fullText: Self.index) }
                expectError(containing: "was compiled without SQLITE_ENABLE_FTS5") {
                    try Self.ids(db, "arthur")
                }
                #expect(try Note.fetchCountOfTable(db) == 0)
            }
        }
    }

    @Test("The drift check names an index that is out of step, and rebuild repairs it")
    func driftCheck() throws {
        try DatabaseQueue().write { db throws in
            try SearchRequestTests.create(db)
            try Note("Arthur", "king").insert(db)
            try db.checkSchema(of: Note.self)
            func expectFault(_ words: String) {
                let text = thrownText { try db.checkSchema(of: Note.self) }
                #expect(text.contains(words), "\(text)")
            }
            try db.execute(sql: "DROP TRIGGER \"shellac search note_search on delete\"")
            expectFault(
                "The full-text index note_search of the table note is out of step: its triggers are missing")
            try db.rebuild(fullText: Note.search)
            try db.checkSchema(of: Note.self)
            try db.execute(
                sql:
                    "INSERT INTO note_search (note_search, rowid, title, body) VALUES ('delete', 1, 'Arthur', 'king')"
            )
            expectFault("it lacks 1 of the rows, and has 0 that are gone. Call rebuild(fullText:)")
            try db.rebuild(fullText: Note.search)
            try db.execute(
                sql: """
                    INSERT INTO note_search (note_search, rowid, title, body) VALUES ('delete', 1, 'Arthur', 'king');
                    INSERT INTO note_search (rowid, title, body) VALUES (1, 'Merlin', 'king');
                    """)
            expectFault("its words are not those of the rows. Call rebuild(fullText:)")
            try db.rebuild(fullText: Note.search)
            try db.checkSchema(of: Note.self)
        }
    }

    @Test("Undo, import and cascades keep the index in step")
    func otherWays() throws {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try SearchRequestTests.create(db)
            let author = SearchRequestTests.Author("Malory")
            try author.insert(db)
            try Note("Arthur", "king", by: author).insert(db)
            try Note("Merlin", "wizard", by: author).insert(db)
            try author.delete(db)
            #expect(try Note.matching("arthur", in: Note.search).fetchCount(db) == 0)
            _ = try db.importRows(
                into: "note", from: .bytes("title,body\nBors,knight\nLancelot,knight\n".utf8))
            #expect(try Note.matching("knight", in: Note.search).fetchCount(db) == 2)
            try Self.expectInStep(db)
        }
    }

    @Test("A pool's readers search what its writer has written")
    func pool() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path + "/notes.sqlite")
        try pool.write { db throws in
            try SearchRequestTests.create(db)
            try Note("京都", "天気").insert(db)
        }
        #expect(try pool.read { try Note.matching("京", in: Note.search).ranked().fetchAll($0).count } == 1)
        try pool.read { try $0.checkSchema(of: Note.self) }
    }

    // MARK: - Tokenizers of users

    struct Refusal: Error {}

    final class Codes: FTS5Tokenizer {
        static let name = "codes"
        init(_ db: Database, arguments: [String]) throws {
            if arguments == ["bad"] { throw Refusal() }
        }
        func tokens(of text: String, for purpose: FTS5Purpose) throws -> [FTS5Token] {
            if text.contains("throw") { throw Refusal() }
            if text.contains("overlap") {
                return [FTS5Token("b", range: 3..<7), FTS5Token("a", range: 0..<4)]
            }
            if text.contains("outside") { return [FTS5Token("b", range: 3..<700)] }
            return text.split(separator: " ").map {
                FTS5Token($0.lowercased(), at: $0.startIndex..<$0.endIndex, in: text)
            }
        }
    }

    @Test("A tokenizer of a user splits texts, and its errors are thrown by the statement")
    func ownTokenizer() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.add(tokenizer: Codes.self) }
        try DatabaseQueue(configuration: configuration).write { db throws in
            try db.execute(sql: "CREATE TABLE part (id INTEGER PRIMARY KEY, code TEXT)")
            let index = FullTextIndex(table: "part", columns: ["code"], tokenizer: .custom(Codes.self))
            try db.create(fullText: index)
            try db.execute(sql: "INSERT INTO part (code) VALUES ('A-1 b/2'), (CAST(x'61ff2062' AS TEXT))")
            #expect(try Table<Row>("part").matching("a-1", in: index).fetchCount(db) == 1)
            #expect(try Table<Row>("part").matching("b", in: index).fetchCount(db) == 1)
            let shown = try Row.fetchOne(
                db, Table<Row>("part").matching("b/2", in: index).highlight("code", around: ("[", "]")))
            #expect(try shown?["code_highlight"] == "A-1 [b/2]")
            #expect(throws: Refusal.self) { try db.execute(sql: "INSERT INTO part (code) VALUES ('throw')") }
            #expect(throws: Refusal.self) {
                try Table<Row>("part").matching("throw", in: index).fetchCount(db)
            }
            expectError(containing: "tokens must be in the text, in its order") {
                try db.execute(sql: "INSERT INTO part (code) VALUES ('overlap')")
            }
            expectError(containing: "the tokenizer codes gave the token \"b\" the bytes 3 to 700") {
                try db.execute(sql: "INSERT INTO part (code) VALUES ('outside')")
            }
            #expect(try db.fullTextIndexes().allSatisfy { $0.fault == nil })
            let thrown = thrownError {
                try db.create(
                    fullText: FullTextIndex(
                        table: "part", columns: ["code"],
                        tokenizer: .custom(Codes.self, arguments: ["bad"]), name: "bad"))
            }
            #expect(thrown is Refusal)
        }
        expectError(containing: "no such tokenizer: codes") {
            try DatabaseQueue().write { db throws in
                try db.execute(sql: "CREATE TABLE part (id INTEGER PRIMARY KEY, code TEXT)")
                try db.create(
                    fullText: FullTextIndex(table: "part", columns: ["code"], tokenizer: .custom(Codes.self)))
            }
        }
    }

    @Test("Suggestions are the words that differ least")
    func suggestions() throws {
        try DatabaseQueue().write { db throws in
            try SearchRequestTests.create(db)
            try Note("Arthur Arthus Martha", "arthur king ring sing").insert(db)
            #expect(
                try Note.suggestions(for: "arthr", in: Note.search, db) == ["arthur", "arthus", "martha"])
            #expect(try Note.suggestions(for: "ARHTUR", in: Note.search, db, limit: 1) == ["arthur"])
            #expect(try Note.suggestions(for: "kong", in: Note.search, db) == ["king"])
            #expect(try Note.suggestions(for: "…", in: Note.search, db) == [])
            #expect(try Note.suggestions(for: "unknown", in: Note.search, db) == [])
            // A letter of four bytes is one difference.
            try Note("\u{10428}\u{10429}", "").insert(db)
            #expect(
                try Note.suggestions(for: "\u{10428}", in: Note.search, db) == ["\u{10428}\u{10429}"])
        }
    }
}

extension Record {
    /// The number of rows, in a program without full-text search.
    fileprivate static func fetchCountOfTable(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM note") ?? -1
    }
}

/// The rows with the nearest vectors.
@Suite("Nearest vectors", .behaviour(127))
struct NearestVectorTests {
    final class Item: Record {
        var id: Int64?
        var vector: DatabaseVector?

        override class var databaseTableName: String { "item" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("vector", vector) { vector = $0 }
        }
        convenience init(_ values: [Float]) {
            self.init()
            vector = DatabaseVector(values)
        }
    }

    private func product(_ a: [Float], _ b: [Float]) -> Double {
        var sum = 0.0
        for (x, y) in zip(a, b) { sum += Double(x) * Double(y) }
        return sum
    }

    private func distance(_ a: [Float], _ b: [Float], _ metric: VectorMetric) -> Double {
        let product = product(a, b)
        let (first, second) = (self.product(a, a), self.product(b, b))
        switch metric {
        case .cosine: return 1 - product / (first * second).squareRoot()
        case .dot: return -product
        case .euclidean: return max(first + second - 2 * product, 0).squareRoot()
        }
    }

    @Test("The rows of a request with the nearest vectors, exactly", arguments: VectorMetric.allCases)
    func nearest(metric: VectorMetric) throws {
        var generator = SeededGenerator(seed: 5)
        for count in [1, 3, 8, 19, 100] {
            func vector() -> [Float] { (0..<count).map { _ in Float.random(in: -1...1, using: &generator) } }
            try DatabaseQueue().write { db throws in
                try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, vector BLOB)")
                let vectors = (0..<50).map { _ in vector() }
                for vector in vectors { try Item(vector).insert(db) }
                try db.execute(sql: "INSERT INTO item (vector) VALUES (NULL)")
                let query = vector()
                let found = try Item.filter(Column("id") > 10).nearest(
                    to: query, by: "vector", limit: 5, metric: metric
                )
                .fetchAll(db).map { try #require($0.id) }
                let best = (11...50).sorted {
                    distance(query, vectors[$0 - 1], metric) < distance(query, vectors[$1 - 1], metric)
                }
                if count > 1 { #expect(found == best.prefix(5).map(Int64.init)) }
                #expect(
                    try Item.nearest(to: query, by: "vector", limit: 99, metric: metric).fetchAll(db).count
                        == 50)
                #expect(try Item.fetchOne(db)?.vector?.values == vectors[0])
                // Another order does not decide which rows are kept.
                let ordered = Item.order(Column("id").desc)
                    .nearest(to: query, by: "vector", limit: 1, metric: metric)
                #expect(
                    try ordered.fetchOne(db)?.id
                        == Item.nearest(
                            to: query, by: "vector", limit: 1, metric: metric
                        ).fetchOne(db)?.id)
            }
        }
    }

    @Test("A vector of another length, and a value that is none, are errors")
    func errors() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, vector BLOB)")
            try Item([1, 2, 3]).insert(db)
            expectError(containing: "a vector of 12 bytes cannot be compared with one of 8 bytes") {
                try Item.nearest(to: [1, 2], by: "vector", limit: 1).fetchAll(db)
            }
            try db.execute(sql: "UPDATE item SET vector = 'text'")
            expectError(containing: "a vector is a BLOB of 32-bit floats") {
                try Item.nearest(to: [1, 2], by: "vector", limit: 1).fetchAll(db)
            }
            #expect(DatabaseVector.fromDatabaseValue(Data([1, 2, 3]).databaseValue) == nil)
        }
    }
}
