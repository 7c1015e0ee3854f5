import Foundation
import TestSupport
import Testing

/// The articles and the comments of public symbols, as DocC sees them. The targets of their links
/// exist, and a symbol that documents some of its parameters documents all of them.
@Suite(.serialized) struct ArticleTests {
    @Test(
        "DocC finds nothing wrong with the articles and the comments, and `.ci/docs` makes a web site of them"
    )
    func articles() async throws {
        let catalogue = Repository.root.appending(path: "Sources/Shellac/Shellac.docc")
        let articles = try FileManager.default.contentsOfDirectory(atPath: catalogue.path)
        #expect(articles.contains("Shellac.md") && articles.count > 3)
        let folder = try TemporaryFolder()
        let made = try await Command.run([
            "SHELLAC_MODULES=\(try Repository.modules().path)", "bash", Self.script, folder.path("site"),
        ])
        try #require(made.succeeded, "\(made.output)")
        let complaints = Self.complaints(in: made.output)
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")

        // Links lead to articles and to symbols.
        let data = folder.url.appending(path: "site/data/documentation/shellac/settings.json")
        let settings = try String(decoding: Data(contentsOf: data), as: UTF8.self)
            .replacing("\\/", with: "/")
        #expect(settings.contains("\"/documentation/shellac/servers#Something-to-look-at\""))
        #expect(settings.contains("\"/documentation/shellac/configuration/readonly\""))
        for page in ["servers", "configuration/readonly"] {
            let url = folder.url.appending(path: "site/documentation/shellac/\(page)/index.html")
            #expect(FileManager.default.fileExists(atPath: url.path), "\(page)")
        }
    }

    @Test("`.ci/docs` replaces no folder that is no site")
    func otherFolder() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("mine".utf8, to: "note.txt")
        let refused = try await Command.run(["bash", Self.script, folder.url.path])
        #expect(!refused.succeeded && refused.output.contains("is no documentation"))
        #expect(FileManager.default.fileExists(atPath: folder.path("note.txt")))
    }

    @Test("symbols and members of Record that are no topics are found")
    func missingTopics() async throws {
        let folder = try TemporaryFolder()
        for name in [".ci", "Sources/Shellac/Shellac.docc"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
        }
        for name in [".ci/docs", "Sources/CSQLite"] {
            try FileManager.default.copyItem(
                at: Repository.root.appending(path: name), to: folder.url.appending(path: name))
        }
        _ = try folder.write(
            "# ``Shellac``\n\nA page.\n\n## Topics\n\n### Types\n\n- ``Record``\n- ``Row``\n".utf8,
            to: "Sources/Shellac/Shellac.docc/Shellac.md")
        let made = try await Command.run([
            "SHELLAC_MODULES=\(try Repository.modules().path)", "bash", folder.path(".ci/docs"),
            folder.path("site"),
        ])
        try #require(made.succeeded, "\(made.output)")
        let topics = Self.complaints(in: made.output).filter { $0.contains(" has no topic for ") }
        #expect(topics.count == 2, "\(made.output)")
        let symbols = try #require(topics.first)
        let members = try #require(topics.last)
        #expect(symbols.contains(" Database,") && !symbols.contains(" Row,"), "\(symbols)")
        #expect(members.contains(" Record/columns(_:),"), "\(members)")
        #expect(!members.contains("Implementations"), "\(members)")
    }

    @Test("links to articles, headings and symbols that are not there are found")
    func missingLinks() async throws {
        let folder = try TemporaryFolder()
        let catalogue = folder.url.appending(path: "Shellac.docc")
        try FileManager.default.createDirectory(at: catalogue, withIntermediateDirectories: false)
        let text = """
            # ``Shellac``

            A page.

            ## Overview

            See <doc:Nowhere>, <doc:Other#Nothing>, <doc:Other#15>, ``Record/nothing`` and ``Record/save(_:)``.
            """
        _ = try folder.write(text.utf8, to: "Shellac.docc/Shellac.md")
        _ = try folder.write(
            "# Other\n\nA page.\n\n## Headings\n\n### 15\n\nText.\n".utf8, to: "Shellac.docc/Other.md")
        let complaints = try await Self.complaints(of: catalogue)
        #expect(complaints.count == 3, "\(complaints)")
        for word in ["Nowhere", "Nothing", "nothing"] {
            #expect(complaints.contains { $0.contains("'\(word)'") }, "\(complaints)")
        }
    }

    private static var script: String { Repository.root.appending(path: ".ci/docs").path }

    /// Returns what DocC warns of: in the articles of a catalogue, and in the comments of public
    /// symbols.
    private static func complaints(of catalogue: URL) async throws -> [String] {
        let folder = try TemporaryFolder()
        for (name, symbols) in try await PublicSymbols.ofLibrary().files {
            _ = try folder.write(symbols, to: name)
        }
        let report = try await Command.run([
            "docc", "convert", catalogue.path, "--additional-symbol-graph-dir", folder.path,
            "--fallback-display-name", "Shellac", "--fallback-bundle-identifier", "Shellac",
            "--output-path", folder.path("archive"),
        ])
        try #require(report.succeeded, "\(report.output)")
        return complaints(in: report.output)
    }

    private static func complaints(in output: String) -> [String] {
        let lines = output.split(separator: "\n").map(String.init)
        return zip(lines, lines.dropFirst() + [""])
            .filter { line, _ in line.hasPrefix("warning: ") || line.hasPrefix("error: ") }
            .map { "\($0) \($1)" }
    }
}
