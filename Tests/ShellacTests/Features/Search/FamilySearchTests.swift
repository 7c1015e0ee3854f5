import TestSupport
import Testing

@testable import Shellac

/// Full-text tables and queries in the family's spelling.
@Suite("Full-text search in the family's spelling", .behaviour(124), .behaviour(125))
struct FamilySearchTests {
    struct Document: Codable, FetchableRecord, PersistableRecord {
        var content: String
        var tag = ""
    }

    private static func create(_ db: Database, using define: (FTS5TableDefinition) -> Void) throws {
        try db.create(virtualTable: "document", using: FTS5()) { t in
            define(t)
            t.column("content")
            t.column("tag").notIndexed()
        }
    }

    @Test("A full-text table has the columns and the options of its definition")
    func definition() throws {
        try DatabaseQueue().inDatabase { db throws in
            try Self.create(db) { t in
                t.tokenizer = .porter(wrapping: .unicode61(diacritics: .remove, tokenCharacters: ["-", "'"]))
                t.prefixes = [3, 2]
                t.columnSize = 0
                t.detail = "column"
            }
            let sql = try #require(
                try String.fetchOne(db, sql: "SELECT sql FROM sqlite_schema WHERE name = 'document'"))
            #expect(sql.contains(#""content", "tag" UNINDEXED"#), "\(sql)")
            #expect(sql.contains("prefix='2 3', columnsize=0, detail=\"column\""), "\(sql)")
            try Document(content: "Connected co-operation", tag: "table").insert(db)
            for (text, count) in [("connection", 1), ("co-operation", 1), ("operation", 0), ("table", 0)] {
                let pattern = try db.makeFTS5Pattern(rawPattern: "\"\(text)\"", forTable: "document")
                #expect(try Document.matching(pattern).fetchCount(db) == count, "\(text)")
            }
            try db.create(virtualTable: "document", options: .ifNotExists, using: FTS5()) {
                $0.column("other")
            }
            #expect(throws: DatabaseError.self) {
                try db.create(virtualTable: "other", using: FTS5()) { t in
                    t.tokenizer = SearchTokenizer(name: "nothing")
                    t.column("content")
                }
            }
            #expect(try !db.tableExists("other"))
            try db.execute(
                sql:
                    "CREATE TABLE stored (k INTEGER PRIMARY KEY, content TEXT); INSERT INTO stored VALUES (7, 'connected')"
            )
            try db.create(virtualTable: "external", using: FTS5()) { t in
                t.content = "stored"
                t.contentRowID = "k"
                t.column("content")
            }
            try db.execute(sql: "INSERT INTO external (external) VALUES ('rebuild')")
            let pattern = FTS5Pattern(matchingAllTokensIn: "connected")
            #expect(try Table<Row>("external").matching(pattern).fetchCount(db) == 1)
        }
    }

    @Test("Tokenizers are those of SQLite, with their arguments")
    func tokenizers() throws {
        #expect(SearchTokenizer.unicode61().sql == "'unicode61'")
        #expect(
            FTS5TokenizerDescriptor.unicode61(diacritics: .keep).sql == "'unicode61' 'remove_diacritics' '0'")
        #expect(SearchTokenizer.ascii(separators: ["x", "a"]).sql == "'ascii' 'separators' 'ax'")
        #expect(SearchTokenizer.porter().sql == "'porter' 'unicode61'")
    }

    @Test("A synchronized table follows its table, also under REPLACE and new names, until it is dropped")
    func synchronized() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE book (id INTEGER PRIMARY KEY, content TEXT, tag TEXT, year INTEGER);
                    INSERT INTO book VALUES (1, 'Moby Dick', 'whale', 1851);
                    """)
            try Self.create(db) { t in
                t.synchronize(withTable: "book")
                t.tokenizer = .unicode61()
                t.prefixes = [2]
            }
            func count(_ text: String) throws -> Int? {
                try Int.fetchOne(
                    db,
                    sql: """
                        SELECT count(*) FROM book JOIN document ON document.rowid = book.id
                        WHERE document MATCH ?
                        """, arguments: [FTS5Pattern(matchingAllPrefixesIn: text)])
            }
            #expect(try count("mob") == 1)
            // The words of a column that is not indexed are not found.
            #expect(try count("whale") == 0)
            try db.execute(sql: "REPLACE INTO book VALUES (1, 'Ulysses', 'day', 1922)")
            #expect(try count("mob") == 0)
            #expect(try count("uly") == 1)
            try db.rename(table: "book", to: "novel")
            try db.execute(sql: "UPDATE novel SET content = 'Emma'")
            #expect(
                try FTS5Pattern(matchingAllTokensIn: "emma").map { try Document.matching($0).fetchCount(db) }
                    == 1)
            for (_, _, fault) in try db.fullTextIndexes() { #expect(fault == nil) }
            try db.drop(table: "document")
            try db.dropFTS5SynchronizationTriggers(forTable: "document")
            try db.execute(sql: "UPDATE novel SET content = 'Persuasion'")
            #expect(try db.fullTextIndexes().isEmpty)
            #expect(try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema ORDER BY name") == ["novel"])
        }
    }

    @Test("After a full-text table was dropped by SQL, its triggers are dropped by name")
    func droppedBySQL() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE book (id INTEGER PRIMARY KEY, content TEXT, tag TEXT)")
            try Self.create(db) { $0.synchronize(withTable: "book") }
            // A file of the family's library has triggers of these names.
            try db.execute(
                sql:
                    "CREATE TRIGGER __document_ai AFTER INSERT ON book BEGIN SELECT count(*) FROM document; END"
            )
            try db.execute(sql: "DROP TABLE document")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO book VALUES (1, 'Emma', '')")
            }
            #expect(error?.message?.contains("no such table: main.document") == true, "\(error as Any)")
            try db.dropFTS5SynchronizationTriggers(forTable: "document")
            try db.execute(sql: "INSERT INTO book VALUES (1, 'Emma', '')")
        }
    }

    @Test("What cannot be synchronized is refused with a sentence, and leaves nothing")
    func refusals() throws {
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE book (id INTEGER PRIMARY KEY, content TEXT, tag TEXT);
                    CREATE TABLE plain (content TEXT, tag TEXT);
                    """)
            func refusal(_ define: (FTS5TableDefinition) -> Void) -> String {
                let error = #expect(throws: DatabaseError.self) { try Self.create(db, using: define) }
                return error?.message ?? ""
            }
            #expect(
                refusal { t in
                    t.synchronize(withTable: "book")
                    t.columnSize = 0
                }
                    == "the full-text table document cannot have columnSize = 0 along with synchronize(withTable:)"
            )
            #expect(
                refusal { t in
                    t.synchronize(withTable: "book")
                    t.content = ""
                } == "the full-text table document cannot have content along with synchronize(withTable:)")
            #expect(refusal { $0.synchronize(withTable: "plain") }.contains("it has no INTEGER PRIMARY KEY"))
            #expect(refusal { $0.synchronize(withTable: "nothing") }.contains("nothing"))
            #expect(
                refusal { t in
                    t.synchronize(withTable: "book")
                    t.column("missing")
                }.contains("the table has no column missing"))
            #expect(
                try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema ORDER BY name") == [
                    "book", "plain",
                ])
        }
    }

    @Test("Patterns are made of words, and are never a syntax error")
    func patterns() throws {
        #expect(FTS5Pattern(matchingAnyTokenIn: "Moby's dick")?.rawPattern == #""Moby" OR "s" OR "dick""#)
        #expect(FTS5Pattern(matchingAllTokensIn: "moby AND")?.rawPattern == #""moby" AND "AND""#)
        #expect(FTS5Pattern(matchingAllPrefixesIn: "mo di")?.rawPattern == #""mo"* AND "di"*"#)
        #expect(FTS5Pattern(matchingPhrase: " moby\ndick ")?.rawPattern == #""moby dick""#)
        #expect(FTS5Pattern(matchingPrefixPhrase: "moby dick")?.rawPattern == #"^"moby dick""#)
        for text in ["", " ", "\"*(^", "\0", "🎉", "\u{301}"] {
            #expect(FTS5Pattern(matchingAnyTokenIn: text) == nil)
            #expect(FTS5Pattern(matchingAllTokensIn: text) == nil)
            #expect(FTS5Pattern(matchingAllPrefixesIn: text) == nil)
            #expect(FTS5Pattern(matchingPhrase: text) == nil)
            #expect(FTS5Pattern(matchingPrefixPhrase: text) == nil)
            #expect(FTS3Pattern(matchingAnyTokenIn: text) == nil)
            #expect(FTS3Pattern(matchingPhrase: text) == nil)
        }
        try DatabaseQueue().inDatabase { db throws in
            try Self.create(db) { _ in }
            try Document(content: "Moby Dick is a whale, cre\u{301}ole 中文 x1.").insert(db)
            var generator = SeededGenerator(seed: 57)
            let pieces = [
                "moby", "Dick", "NEAR", "AND", "OR", "NOT", "\"", "(", ")", "*", "^", ":", "{", "}", "-", "+",
                "\0", "'", "中", "cre\u{301}ole", " ", "\u{200D}", ",", "content",
            ]
            for _ in 0..<20_000 {
                let count = Int.random(in: 0...8, using: &generator)
                let text = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)]
                }
                .joined()
                for pattern in [
                    FTS5Pattern(matchingAnyTokenIn: text), FTS5Pattern(matchingAllTokensIn: text),
                    FTS5Pattern(matchingAllPrefixesIn: text), FTS5Pattern(matchingPhrase: text),
                    FTS5Pattern(matchingPrefixPhrase: text),
                ] { _ = try Document.matching(pattern).fetchCount(db) }
            }
        }
    }

    @Test("Requests, relations and aliases match a pattern; without one, they match nothing")
    func requests() throws {
        try DatabaseQueue().inDatabase { db throws in
            try Self.create(db) { _ in }
            try Document(content: "whale whale", tag: "a").insert(db)
            try Document(content: "a whale among words of others", tag: "b").insert(db)
            try Document(content: "fish", tag: "a").insert(db)
            let whale = FTS5Pattern(matchingAllTokensIn: "whale")
            #expect(try Document.matching(whale).order(Column.rank).fetchAll(db).map(\.tag) == ["a", "b"])
            #expect(try Document.all().filter(Column("tag") == "b").matching(whale).fetchCount(db) == 1)
            let none: FTS5Pattern? = nil
            #expect(try Document.matching(none).fetchCount(db) == 0)
            #expect(try Document.filter(Column("content").match(whale)).fetchCount(db) == 2)
            let alias = TableAlias(name: "d")
            #expect(try Document.all().aliased(alias).matching(whale).fetchCount(db) == 2)
            // A pattern is stored as its text, and fetched again.
            #expect(try FTS5Pattern.fetchOne(db, sql: "SELECT ?", arguments: [whale]) == whale)
            try db.execute(sql: "CREATE TABLE plain (id INTEGER PRIMARY KEY)")
            let error = #expect(throws: DatabaseError.self) {
                try Table<Row>("plain").matching(whale).fetchCount(db)
            }
            #expect(error?.message?.contains("no such column: plain.plain") == true, "\(error as Any)")
            let malformed = #expect(throws: DatabaseError.self) {
                try db.makeFTS5Pattern(rawPattern: "AND", forTable: "document")
            }
            #expect(malformed?.message?.contains("syntax error") == true, "\(malformed as Any)")
        }
    }

    @Test("FTS3 and FTS4 tables match patterns of their own language")
    func olderTables() throws {
        try DatabaseQueue().inDatabase { db throws in
            let isThere = try Bool.fetchOne(
                db, sql: "SELECT count(*) FROM pragma_module_list WHERE name = 'fts4'")
            guard isThere == true else { return }
            try db.create(virtualTable: "document", using: "fts4") { t in
                t.column("content")
                t.column("tag")
            }
            try Document(content: "Moby Dick is a whale").insert(db)
            try Document(content: "a dictionary").insert(db)
            func count(_ pattern: FTS3Pattern?) throws -> Int {
                try Document.matching(pattern).fetchCount(db)
            }
            #expect(try count(FTS3Pattern(matchingAnyTokenIn: "moby dictionary")) == 2)
            #expect(try count(FTS3Pattern(matchingAllTokensIn: "moby AND whale")) == 0)
            #expect(try count(FTS3Pattern(matchingAllTokensIn: "moby whale")) == 1)
            #expect(try count(FTS3Pattern(matchingAllPrefixesIn: "dic")) == 2)
            #expect(try count(FTS3Pattern(matchingPhrase: "dick is")) == 1)
            #expect(try count(FTS3Pattern(rawPattern: "moby OR dictionary")) == 2)
            #expect(try count(nil as FTS3Pattern?) == 0)
            #expect(throws: DatabaseError.self) { try FTS3Pattern(rawPattern: "(") }
        }
    }
}
