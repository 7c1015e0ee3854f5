// The words that people search for lead to an article.

import Foundation
import TestSupport
import Testing

@Suite("Words that people search for")
struct SearchWordsTests {
    private func text(_ name: String) throws -> String {
        let file = Repository.root.appending(path: "Sources/Shellac/Shellac.docc/\(name).md")
        return try String(contentsOf: file, encoding: .utf8).lowercased()
            .replacing("\n", with: " ").replacing("  ", with: " ")
    }

    @Test(
        "each leads to the article on what it names",
        arguments: [
            ("optimistic locking", "LostUpdates"), ("single-table inheritance", "Kinds"),
            ("polymorphic", "Kinds"), ("n+1", "Relations"), ("eager loading", "Relations"),
            ("associations", "Relations"), ("pagination", "Requests"), ("query builder", "Requests"),
            ("connection pool", "QueueAndPool"), ("soft delete", "Scopes"), ("deadlock", "ConcurrencyErrors"),
            ("thread safe", "ConcurrencyErrors"), ("counter cache", "Counters"),
            ("full-text search", "SQLOfYourOwn"), ("full text", "Search"),
            ("prepared statement", "SQLOfYourOwn"),
            ("graceful shutdown", "Servers"), ("dirty tracking", "ChangeTracking"), ("reactive", "Live"),
            ("lazy loading", "Relations"), ("polymorphic associations", "Relations"),
            ("many-to-many", "Relations"), ("upsert", "Requests"), ("timestamps", "Callbacks"),
            ("hooks", "Callbacks"), ("hooks", "Observation"), ("retry", "LostUpdates"),
            ("wal mode", "QueueAndPool"), ("race condition", "ConcurrencyErrors"),
            ("semantic versioning", "PublicAPI"), ("encryption", "Limits"),
            ("bm25", "SQLOfYourOwn"), ("r-tree", "SQLOfYourOwn"), ("embeddings", "SQLOfYourOwn"),
            ("rate limits", "Servers"), ("spans", "Servers"), ("contention", "Servers"),
            ("app group", "Apple"), ("0xdead10cc", "Apple"), ("icloud", "Limits"),
            ("downgrade", "Migrations"),
        ])
    func words(word: String, article: String) throws {
        let names = try #require(text(article).firstMatch(of: /also called: (.*?)\.\s/)).1
        #expect(names.replacing("thread-safe", with: "thread safe").contains(word))
    }

    @Test("each article says what else its subject is called, and those for contributors say that they are")
    func otherNames() throws {
        for article in try articles() {
            #expect(try text(article).contains(/\salso called: \S/), "\(article)")
        }
        for article in ["Architecture", "Guarantees", "Performance"] {
            #expect(try text(article).contains("for contributors"), "\(article)")
        }
    }

    @Test("each article ends with the one to read next, and from the first one a reader comes to all")
    func readingOrder() throws {
        var next: [String: String] = [:]
        for article in try articles() {
            let lines = try text(article).matches(of: /next: <doc:([a-z]+)>\./).map { String($0.1) }
            // The last article leads to the contributing guide.
            #expect(lines.count == (article == "Architecture" ? 0 : 1), "\(article)")
            next[article.lowercased()] = lines.last
        }
        var read: Set<String> = []
        var article: String? = "gettingstarted"
        while let present = article, read.insert(present).inserted { article = next[present] }
        // A reader begins with these, if they are the answer to the reader's question.
        let beginnings: Set = [
            "questions", "comparison", "comingfromgrdb", "comingfromelsewhere", "movingrecordclasses",
        ]
        #expect(try read.union(beginnings) == Set(articles().map { $0.lowercased() }))
        #expect(read.contains("architecture") && read.isDisjoint(with: beginnings))
    }

    /// Returns the names of all articles. The front page is none.
    private func articles() throws -> [String] {
        let folder = Repository.root.appending(path: "Sources/Shellac/Shellac.docc")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".md") && $0 != "Shellac.md" }.map { String($0.dropLast(3)) }
    }
}
