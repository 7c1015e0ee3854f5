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
            ("full-text search", "SQLOfYourOwn"),
            ("graceful shutdown", "Servers"), ("dirty", "ChangeTracking"), ("reactive", "Live"),
        ])
    func words(word: String, article: String) throws {
        let text = try text(article).replacing("thread-safe", with: "thread safe")
        #expect(text.contains(word))
    }

    @Test("each article for users says what else its subject is called")
    func otherNames() throws {
        let folder = Repository.root.appending(path: "Sources/Shellac/Shellac.docc")
        // These are the front page, and those for contributors.
        let excepted: Set = ["Shellac.md", "Architecture.md", "Guarantees.md", "Questions.md"]
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        where file.hasSuffix(".md") && !excepted.contains(file) {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            #expect(text.contains("\nAlso called: "), "\(file)")
        }
    }
}
