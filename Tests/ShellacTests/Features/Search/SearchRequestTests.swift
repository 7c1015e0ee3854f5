import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Requests for the rows that match a query.
@Suite("Requests for rows that match", .behaviour(125))
struct SearchRequestTests {
    final class Author: Record {
        static let notes = hasMany(Note.self)

        var id: Int64?
        var name = ""

        override class var databaseTableName: String { "author" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
        convenience init(_ name: String) {
            self.init()
            self.name = name
        }
    }

    final class Note: Record {
        static let search = fullText("title", "body", weights: ["title": 4])
        static let author = belongsTo(Author.self)

        var id: Int64?
        var title = ""
        var body: String?
        var authorID: Int64?
        var deletedAt: Date?

        override class var databaseTableName: String { "note" }
        override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("title", title) { title = $0 }
            try column("body", body) { body = $0 }
            try column("authorID", authorID) { authorID = $0 }
            try column("deletedAt", deletedAt) { deletedAt = $0 }
        }
        convenience init(_ title: String, _ body: String?, by author: Author? = nil) {
            self.init()
            (self.title, self.body, authorID) = (title, body, author?.id)
        }
    }

    struct Hit: Codable, FetchableRecord, TableRecord {
        static let databaseTableName = "note"
        var id: Int64
        var title: String
        var bodySnippet: String?

        enum CodingKeys: String, CodingKey {
            case id, title
            case bodySnippet = "body_snippet"
        }
    }

    static func create(_ db: Database) throws {
        try db.create(table: "author") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull()
        }
        try db.create(table: "note") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("title", .text).notNull()
            t.column("body", .text)
            t.belongsTo("author", onDelete: .cascade)
            t.column("deletedAt", .datetime)
        }
        try db.create(fullText: Note.search)
    }

    private func filled() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try Self.create(db)
            let (mallory, white) = (Author("Malory"), Author("White"))
            try mallory.insert(db)
            try white.insert(db)
            try Note("King Arthur", "The knights of the round table, and Merlin.", by: mallory).insert(db)
            try Note("The table", "Arthur came late. A king has no round table at home.", by: white).insert(
                db)
            try Note("京都の天気", "東京都の天気は晴れです", by: white).insert(db)
            try Note("Nothing", nil).insert(db)
        }
        return queue
    }

    private func titles(_ db: Database, _ query: SearchQuery) throws -> [String] {
        try Note.matching(query, in: Note.search).orderByPrimaryKey().fetchAll(db).map(\.title)
    }

    @Test("A query is all words, any word, a phrase, a prefix, words nearby, or words of a column")
    func queries() throws {
        try filled().read { db throws in
            let (king, table, kyoto) = ("King Arthur", "The table", "京都の天気")
            #expect(try titles(db, "arthur king") == [king, table])
            #expect(try titles(db, .words("KING table")) == [king, table])
            #expect(try titles(db, .words("merlin late")) == [])
            #expect(try titles(db, .anyWord(of: "merlin late")) == [king, table])
            #expect(try titles(db, .any("merlin", "天気")) == [king, kyoto])
            #expect(try titles(db, .all("arthur", .prefix("knig"))) == [king])
            #expect(try titles(db, .phrase("round table")) == [king, table])
            #expect(try titles(db, .phrase("table round")) == [])
            #expect(try titles(db, .typed("arthur mer")) == [king])
            #expect(try titles(db, .words("arthur mer")) == [])
            #expect(try titles(db, .near("knights", "table", within: 3)) == [king])
            #expect(try titles(db, .near("knights", "merlin", within: 2)) == [])
            #expect(try titles(db, .column("title", "arthur")) == [king])
            #expect(try titles(db, SearchQuery.words("arthur").inColumns("body")) == [table])
            #expect(try titles(db, SearchQuery.words("arthur").excluding("merlin")) == [table])
            #expect(try titles(db, .all(.any("merlin", "late"), .column("title", "table"))) == [table])
            #expect(try titles(db, "京都 天気") == [kyoto])
            #expect(try titles(db, "京") == [kyoto])
            #expect(try titles(db, .column("title", "東")) == [])
        }
    }

    @Test("A request that matches is filtered, counted, limited, and fetched by page")
    func refinements() throws {
        try filled().read { db throws in
            let request = Note.matching("arthur", in: Note.search)
            #expect(try request.fetchCount(db) == 2)
            #expect(try request.filter(Column("title") == "The table").fetchCount(db) == 1)
            #expect(
                try Note.filter(Column("title") == "The table").matching("arthur", in: Note.search)
                    .fetchCount(db) == 1)
            #expect(try request.order(Column("id").desc).limit(1).fetchAll(db).map(\.id) == [2])
            #expect(try request.order(Column("id")).limit(1, offset: 1).fetchAll(db).map(\.id) == [2])
            #expect(try request.isEmpty(db) == false)
            #expect(try request.matching("merlin", in: Note.search).fetchCount(db) == 1)
            #expect(try request.ranked().fetchCount(db) == 2)
            #expect(try request.matching("merlin", in: Note.search).ranked().fetchAll(db).map(\.id) == [1])
            #expect(try Int64.fetchAll(db, request.select(Column("id")).order(Column("id"))) == [1, 2])
        }
    }

    @Test("Ranked rows are sorted by the weights of the index, or by others")
    func ranks() throws {
        try filled().read { db throws in
            let request = Note.matching("arthur", in: Note.search)
            #expect(try request.ranked().fetchAll(db).map(\.title) == ["King Arthur", "The table"])
            #expect(
                try request.ranked(weights: ["title": 0.01, "body": 9]).fetchAll(db).map(\.id) == [2, 1])
            #expect(try request.ranked().limit(1).fetchAll(db).map(\.id) == [1])
            #expect(try request.ranked().fetchOne(db)?.id == 1)
            expectError(containing: "has no column titel (did you mean title?)") {
                try request.ranked(weights: ["titel": 1]).fetchAll(db)
            }
            expectError(containing: "ranked() needs a search") { try Note.all().ranked().fetchAll(db) }
        }
    }

    @Test("Snippets and highlights are read from the record, and throw where they were not asked for")
    func snippets() throws {
        try filled().read { db throws in
            let request = Note.matching("arthur", in: Note.search).ranked()
            let hits = try request.snippet("body", around: ("[", "]"), words: 3)
                .highlight("title", around: ("<b>", "</b>")).fetchAll(db)
            #expect(
                try hits.map { try $0.databaseHighlight("title") } == ["King <b>Arthur</b>", "The table"])
            #expect(try hits[1].databaseSnippet("body") == "[Arthur] came late…")
            #expect(hits[0].hasDatabaseChanges == false)
            expectError(
                "the Note was fetched without the snippet of title: add snippet(\"title\") to its request"
            ) {
                try hits[0].databaseSnippet("title")
            }
            let plain = try #require(try Note.fetchOne(db))
            expectError(containing: "was fetched without the highlight of title") {
                try plain.databaseHighlight("title")
            }
            expectError(containing: "no column boddy (did you mean body?)") {
                try request.snippet("boddy").fetchAll(db)
            }
            expectError(containing: "snippet(_:) needs a search") {
                try Note.all().snippet("body").fetchAll(db)
            }
            let structs = try Hit.matching("arthur", in: Note.search).ranked().snippet("body", words: 2)
                .fetchAll(db)
            #expect(structs.map(\.bodySnippet) == ["The knights…", "Arthur came…"])
            let kyoto = try Note.matching("天気", in: Note.search).highlight("body", around: ("[", "]"))
                .fetchOne(db)
            #expect(try kyoto?.databaseHighlight("body") == "東京都の[天気]は晴れです")
        }
    }

    @Test("A match is joined with relations, and filters those of others")
    func relations() throws {
        try filled().read { db throws in
            let notes = try Note.matching("arthur", in: Note.search).ranked().snippet("body", words: 2)
                .including(required: Note.author).fetchAll(db)
            #expect(notes.count == 2)
            #expect(try notes[0][Note.author]?.name == "Malory")
            #expect(try notes[1].databaseSnippet("body") == "Arthur came…")
            let request = Author.including(all: Author.notes.matching("天気", in: Note.search)).order(
                Column("name"))
            let authors = try request.fetchAll(db)
            #expect(try authors.map { try $0[Author.notes].map(\.title) } == [[], ["京都の天気"]])
            let names = try Author.joining(required: Author.notes.matching("merlin", in: Note.search))
                .fetchAll(db)
            #expect(names.map(\.name) == ["Malory"])
        }
    }

    @Test("Soft deletion, restoration, and bulk writes of matching rows")
    func softDelete() throws {
        try filled().write { db throws in
            let request = Note.matching("arthur", in: Note.search)
            #expect(try request.filter(Column("id") == 1).deleteAll(db) == 1)
            #expect(try request.fetchAll(db).map(\.id) == [2])
            #expect(try request.ranked().fetchAll(db).map(\.id) == [2])
            let all = Note.ignoringDefaultFilter(.deleted).matching("arthur", in: Note.search)
            #expect(try all.fetchCount(db) == 2)
            #expect(try all.restoreAll(db) == 1)
            #expect(try request.updateAll(db, Column("body").set(to: "galahad")) == 2)
            #expect(try Note.matching("galahad", in: Note.search).fetchCount(db) == 2)
            #expect(try Note.matching("merlin", in: Note.search).fetchCount(db) == 0)
            #expect(
                try Note.matching("galahad", in: Note.search).ranked().updateAll(
                    db, Column("body").set(to: "bors")) == 2)
            #expect(try Note.matching("bors", in: Note.search).fetchCount(db) == 2)
            try db.checkSchema(of: Note.self)
        }
    }

    @Test("A request depends on the columns of the index, and values follow it")
    func live() async throws {
        let queue = try filled()
        let region = try await queue.read { db throws in
            try Note.matching("arthur", in: Note.search).select(Column("id")).region(db)
        }
        #expect("\(region)".contains("body"))
        let values = queue.values(of: Note.matching("galahad", in: Note.search))
        var counts: [Int] = []
        for try await notes in values {
            counts.append(notes.count)
            if notes.count == 1 { break }
            try await queue.write { db throws in
                try db.execute(sql: "UPDATE note SET body = 'Galahad' WHERE id = 1")
            }
        }
        #expect(counts == [0, 1])
    }

    @Test(
        "Text from a user is never a syntax error",
        arguments: SeededGenerator.seeds("SEARCH_QUERIES", count: 1))
    func fuzz(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "\"", "'", "(", ")", "*", "^", "+", "-", ":", "{", "}", ",", ".", ";", "NEAR", "NEAR(", "AND",
            "OR", "NOT",
            " ", "\t", "\n", "\0", "a", "b*", "title:", "\\", "%", "京", "東京", "é", "e\u{301}", "\u{301}", "😀",
            "👨‍👩‍👧",
            "\u{200B}", "\u{FFFD}", "--", "/*", "*/", "?", "?1", "$a", "@", "#", "arthur", "0", "1e9", "rank",
            "note_search",
        ]
        try filled().read { db throws in
            for round in 0..<500 {
                func text() -> String {
                    (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                        pieces.randomElement(using: &generator) ?? ""
                    }.joined()
                }
                func query(_ depth: Int) -> SearchQuery {
                    switch Int.random(in: 0...(depth > 0 ? 9 : 5), using: &generator) {
                    case 0: .words(text())
                    case 1: .typed(text())
                    case 2: .anyWord(of: text())
                    case 3: .phrase(text())
                    case 4: .prefix(text())
                    case 5: .near(text(), text(), text(), within: Int.random(in: -1...9, using: &generator))
                    case 6: .all(query(depth - 1), query(depth - 1))
                    case 7: .any(query(depth - 1), query(depth - 1), query(depth - 1))
                    case 8: query(depth - 1).excluding(query(depth - 1))
                    default: .column(Bool.random(using: &generator) ? "title" : "body", query(depth - 1))
                    }
                }
                let query = query(3)
                let request = Note.matching(query, in: Note.search)
                let thrown = thrownError {
                    let count = try request.fetchCount(db)
                    let ranked = try request.ranked().snippet("body").highlight("title", around: ("[", "]"))
                        .fetchAll(db)
                    #expect(ranked.count == count, "seed \(seed), round \(round): \(query)")
                }
                #expect(thrown == nil, "seed \(seed), round \(round): \(query)")
            }
        }
    }

    @Test("Empty texts, signs, operators and large texts are queries like others")
    func oddTexts() throws {
        try filled().write { db throws in
            func count(_ text: String) throws -> Int {
                try Note.matching(text, in: Note.search).fetchCount(db)
            }
            for text in ["", " ", "…", "\"", "*", "()", "\0", "-", "\u{301}", "😀"] {
                #expect(try count(text) == 0)
            }
            #expect(try count("arthur \"") == 2)
            #expect(try count("arthur NOT king") == 0)
            #expect(try count("arthur OR") == 0)
            #expect(try count("arthur*") == 2)
            #expect(try count("title:king") == 0)
            #expect(try count("king^ -arthur") == 2)
            #expect(try count("arthur\0king") == 2)
            #expect(try count(String(repeating: "arthur ", count: 150_000)) == 2)
            #expect(try count((0..<3_000).map { "w\($0)" }.joined(separator: " ")) == 0)
            #expect(try count(String(repeating: "京", count: 100_000)) == 0)
            let large = String(repeating: "lancelot 東京 ", count: 60_000)
            try Note("large", large).insert(db)
            #expect(try count("lancelot") == 1)
            #expect(try count("京") == 2)
            try db.execute(
                sql:
                    "INSERT INTO note (title, body) VALUES (?, ?), ('nul', ?), ('no', CAST(x'61ff62' AS TEXT))",
                arguments: ["number", 4711, "gawain\0bors"])
            #expect(try count("4711") == 1)
            #expect(try count("gawain") == 1)
            #expect(try count("b") == 1)
            try db.checkSchema(of: Note.self)
        }
    }

    @Test("An index of another table, or a missing one, is refused with a sentence")
    func wrongIndexes() throws {
        try filled().write { db throws in
            expectError(
                "the full-text index note_search cannot be searched: it is an index of the table note, and the "
                    + "request is for author"
            ) { try Author.matching("a", in: Note.search).fetchAll(db) }
            expectError(containing: "it does not exist. Create it with create(fullText:)") {
                try Author.matching("a", in: Author.fullText("name")).fetchAll(db)
            }
            expectError(containing: "it has other columns, or another tokenizer, than its declaration") {
                try Note.matching("a", in: Note.fullText("title")).fetchAll(db)
            }
            expectError(containing: "it has other columns, or another tokenizer, than its declaration") {
                try Note.matching("a", in: Note.fullText("title", "body", tokenizer: .porter)).fetchAll(db)
            }
            expectError(containing: "has no column text") {
                try Note.matching(.column("text", "a"), in: Note.search).fetchAll(db)
            }
        }
    }
}
