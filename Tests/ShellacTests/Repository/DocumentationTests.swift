import Foundation
import TestSupport
import Testing

/// The Swift blocks of README.md and of the articles compile, without a warning.
///
/// Each block is compiled as a script of its own that imports Shellac and Foundation. What it needs and the
/// reader need not see stands in an HTML comment right above the block. With the word `continues`, the block
/// goes on from the block before it:
///
///     <!-- compile:
///     let dbQueue = try DatabaseQueue()
///     -->
///
///     <!-- compile: continues -->
@Suite(.serialized) struct DocumentationTests {
    @Test("every Swift block of README.md and of the articles compiles without a warning")
    func blocksCompile() async throws {
        let articles = Repository.root.appending(path: "Sources/Shellac/Shellac.docc")
        let files = try FileManager.default.subpathsIfPresent(of: articles)
            .filter { $0.hasSuffix(".md") }.sorted().map { "Sources/Shellac/Shellac.docc/\($0)" }
        let scripts = try (["README.md"] + files).flatMap { file in
            let url = Repository.root.appending(path: file)
            return DocumentationScript.scripts(
                of: try String(contentsOf: url, encoding: .utf8), file: file)
        }
        for failure in try await DocumentationScript.failures(of: scripts) {
            Issue.record("\(failure)")
        }
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

/// A block of a Markdown text, or several that go on from one another, as one Swift file.
private struct DocumentationScript {
    let file: String
    /// The line of each block's first line.
    var lines: [Int] = []
    var source: String

    static func scripts(of markdown: String, file: String) -> [DocumentationScript] {
        var scripts: [DocumentationScript] = []
        var place = Place.text
        var hidden: [String] = []
        var continues = false
        let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (number, line) in zip(1..., lines) {
            switch place {
            case .text where line == "```swift":
                place = .block
                if !continues || scripts.isEmpty {
                    scripts.append(
                        DocumentationScript(file: file, source: "import Foundation\nimport Shellac\n"))
                }
                let script = scripts.count - 1
                scripts[script].lines.append(number + 1)
                scripts[script].source += hidden.joined()
                scripts[script].source += location(file, number + 1)
                (hidden, continues) = ([], false)
            case .text where line.hasPrefix("```"):
                place = .otherBlock
            case .text where line.hasPrefix("<!-- compile:"):
                continues = line.contains("continues")
                hidden = [location(file, number + 1)]
                place = line.hasSuffix("-->") ? .text : .comment
            case .block where line == "```", .otherBlock where line == "```", .comment where line == "-->":
                place = .text
            case .block:
                scripts[scripts.count - 1].source += line + "\n"
            case .comment:
                hidden.append(line + "\n")
            case .text, .otherBlock:
                break
            }
        }
        return scripts
    }

    private enum Place { case text, block, otherBlock, comment }

    private static func location(_ file: String, _ line: Int) -> String {
        "#sourceLocation(file: \"\(file)\", line: \(line))\n"
    }

    /// What the compiler says of each script that does not compile. Two are compiled at a time.
    static func failures(of scripts: [DocumentationScript]) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await withThrowingTaskGroup(of: (Int, String)?.self) { group in
            var waiting = scripts.enumerated().makeIterator()
            func startNext() {
                guard let (index, script) = waiting.next() else { return }
                group.addTask {
                    let url = folder.appending(path: "\(index).swift")
                    try Data(script.source.utf8).write(to: url)
                    let result = try await SwiftScript.compile(url, warningsAreErrors: true)
                    return result.succeeded ? nil : (index, result.output)
                }
            }
            startNext()
            startNext()
            var failures: [(Int, String)] = []
            for try await failure in group {
                if let failure { failures.append(failure) }
                startNext()
            }
            return failures.sorted { $0.0 < $1.0 }.map { index, output in
                "The block at \(scripts[index].file):\(scripts[index].lines[0]) does not compile:\n\(output)"
            }
        }
    }
}

extension FileManager {
    fileprivate func subpathsIfPresent(of folder: URL) throws -> [String] {
        fileExists(atPath: folder.path) ? try subpathsOfDirectory(atPath: folder.path) : []
    }
}
