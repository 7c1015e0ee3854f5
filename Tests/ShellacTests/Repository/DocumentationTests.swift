import Foundation
import TestSupport
import Testing

/// The Swift blocks of README.md and of the articles compile without a warning. The blocks marked
/// `run` do what they say: see ``DocumentationScript``.
@Suite(.serialized) struct DocumentationTests {
    @Test(
        "every Swift block of README.md and of the articles compiles without a warning, and is run, or says why not"
    )
    func blocksCompile() async throws {
        let articles = Repository.root.appending(path: "Sources/Shellac/Shellac.docc")
        let files = try FileManager.default.subpathsIfPresent(of: articles)
            .filter { $0.hasSuffix(".md") }.sorted().map { "Sources/Shellac/Shellac.docc/\($0)" }
        let scripts = try (["README.md"] + files).flatMap { file in
            let url = Repository.root.appending(path: file)
            return DocumentationScript.scripts(
                of: try String(contentsOf: url, encoding: .utf8), file: file)
        }
        let failures = try await DocumentationScript.failures(of: scripts)
        for failure in failures + DocumentationScript.unreasoned(scripts) { Issue.record("\(failure)") }
        let (blocks, run) = (scripts.map(\.lines.count), scripts.filter(\.isRun).map(\.lines.count))
        let statements = scripts.map(\.shownStatements).reduce(0, +)
        let lines = scripts.map(\.shownLines).reduce(0, +)
        print(
            "documentation: \(blocks.reduce(0, +)) Swift blocks in \(scripts.count) scripts are compiled, \(run.reduce(0, +)) are run, "
                + "and \(statements) statements of SQL and \(lines) printed lines are compared")
        for script in scripts {
            if let reason = script.reason {
                print("documentation: \(script.file):\(script.lines[0]) is not run: \(reason)")
            }
        }
    }

    @Test("a block that is not run says why, or is reported")
    func unreasoned() {
        let article = """
            <!-- compile: run -->
            ```swift
            print(1)
            ```
            <!-- compile: only: it needs a cluster, and nobody has one to run -->
            ```swift
            print(2)
            ```
            <!-- compile: continues -->
            ```swift
            print(3)
            ```
            <!-- compile: only: it runs for ever
            let value = 4
            -->
            ```swift
            print(value)
            ```
            <!-- compile:
            let value = 5
            -->
            ```swift
            print(value)
            ```
            ```swift
            print(6)
            ```
            """
        let scripts = DocumentationScript.scripts(of: article, file: "Article.md")
        #expect(scripts.map(\.isRun) == [true, false, false, false, false])
        let cluster = "it needs a cluster, and nobody has one to run"
        #expect(scripts.map(\.reason) == [nil, cluster, "it runs for ever", nil, nil])
        #expect(
            DocumentationScript.unreasoned(scripts).map { String($0.prefix(35)) } == [
                "The block at Article.md:23 is not r", "The block at Article.md:26 is not r",
            ])
    }

    @Test("a block that does not compile is reported with its file and line")
    func failuresAreLocated() async throws {
        let article = """
            # Article

            <!-- compile:
            let value: DatabaseValue = 1
            -->
            ```swift
            print(value)
            ```

            <!-- compile: continues -->
            ```swift
            print(value.isNull)
            ```

            ```swift
            print(value)
            ```

            ```sh
            swift test
            ```
            """
        let scripts = DocumentationScript.scripts(of: article, file: "Article.md")
        #expect(scripts.map(\.lines) == [[7, 12], [16]])
        let failures = try await DocumentationScript.failures(of: scripts)
        #expect(failures.count == 1)
        #expect(failures.first?.contains("Article.md:16:7: error: cannot find 'value' in scope") == true)
    }

    @Test("a block that is run must come to its end, and run the SQL that it shows")
    func shownStatements() async throws {
        let beginning = """
            <!-- compile: run
            struct Player: Codable, FetchableRecord, MutablePersistableRecord { var name: String }
            let dbQueue = try DatabaseQueue(configuration: .shown)
            try dbQueue.write { db in try db.execute(sql: "CREATE TABLE player (name TEXT)") }
            -->
            ```swift
            try dbQueue.write { db in
                var player = Player(name: "Arthur")
                try player.insert(db)
                // INSERT INTO "player" ("name") VALUES (?)
            }
            ```

            <!-- compile: continues -->
            ```swift
            let first = Player
                .order(Column("name"))
                .limit(1)
            // SELECT * FROM "player"
            //   ORDER BY "name" LIMIT 1
            let count = try dbQueue.read { db in try Player.fetchCount(db) }
            // SELECT COUNT(*) FROM "player"
            print(count)
            ```
            """
        let ends = [
            "",
            """
            let all = Player.all()
            // SELECT name FROM "player"
            """,
            """
            try dbQueue.write { db in
                try Player.updateAll(db, Column("name").set(to: "Barbara"))
                try Player.deleteAll(db)
                // DELETE FROM "player"
            }
            """,
            """
            try dbQueue.read { db in _ = try Player.find(db, key: 2) }
            """,
            """
            print(try dbQueue.read { db in try Player.fetchCount(db) }, "players")   // 1 players: Arthur
            print(count + 1)                                                         // 3
            """,
            """
            func never() {
                print(count)    // 1
            }
            """,
        ]
        let scripts = ends.flatMap { end in
            DocumentationScript.scripts(
                of: beginning + (end.isEmpty ? "" : "\n<!-- compile: continues -->\n```swift\n\(end)\n```\n"),
                file: "Article.md")
        }
        #expect(scripts.map(\.isRun) == [true, true, true, true, true, true])
        #expect(scripts.map(\.shownStatements) == [3, 4, 4, 3, 3, 3])
        let failures = try await DocumentationScript.failures(of: scripts)
        #expect(failures.count == 5, "\(failures)")
        for (failure, word) in zip(
            failures,
            [
                "line 28: ", "line 30: ", "Fatal error", "line 28: 3 is shown, and 2 was printed",
                "the lines [28] are not reached",
            ])
        {
            #expect(failure.contains(word), "\(failures)")
        }
    }

    @Test("a warning in a block is reported")
    func warningsAreFound() async throws {
        let article = """
            ```swift
            func price() -> Int { 1 }
            price()
            ```
            """
        let failures = try await DocumentationScript.failures(
            of: DocumentationScript.scripts(of: article, file: "Article.md"))
        #expect(failures.count == 1)
        #expect(
            failures.first?.contains("Article.md:3:1: error: result of call to 'price()' is unused") == true)
    }

    @Test("a block for modules of the main actor must compile there, too")
    func mainActorIsMeant() async throws {
        let block = """
            ```swift
            struct Place: Codable { var town = "" }
            class Spot: Record {
                var place = Place()
                override func columns(_ column: borrowing RecordColumns) throws {
                    try column("place", place) { place = $0 }
                }
            }
            ```
            """
        func failures(_ words: String) async throws -> [String] {
            try await DocumentationScript.failures(
                of: DocumentationScript.scripts(
                    of: "<!-- compile: \(words) -->\n\(block)", file: "Article.md"))
        }
        #expect(try await failures("") == [])
        let failures = try await failures("mainActor")
        #expect(failures.count == 1)
        #expect(
            failures.first?.contains("Article.md:7:") == true && failures.first?.contains("'Place'") == true,
            "\(failures)")
    }

    @Test("a data race in a block is reported")
    func racesAreFound() async throws {
        let article = """
            ```swift
            class Box { var value = 0 }
            func share(_ box: Box) {
                Task { box.value += 1 }
                print(box.value)
            }
            ```
            """
        let failures = try await DocumentationScript.failures(
            of: DocumentationScript.scripts(of: article, file: "Article.md"))
        #expect(failures.count == 1)
        #expect(failures.first?.contains("Article.md:4:") == true)
    }
}

extension FileManager {
    fileprivate func subpathsIfPresent(of folder: URL) throws -> [String] {
        fileExists(atPath: folder.path) ? try subpathsOfDirectory(atPath: folder.path) : []
    }
}
