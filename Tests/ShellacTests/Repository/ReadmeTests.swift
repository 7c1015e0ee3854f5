import Foundation
import TestSupport
import Testing

/// README.md, and what it leads to.
@Suite struct ReadmeTests {
    @Test("README.md has 120 lines at most")
    func length() throws {
        #expect(try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
    }

    @Test("what README.md links to is there")
    func links() throws {
        let links = Self.links(in: try text("README.md"))
        #expect(links.count > 20)
        for link in links { #expect(exists(link), "there is no \(link)") }
    }

    // The pages of the folder Extensions are exempt. They only group the members of a type, or list
    // symbols by subject, so README.md has no use for them.
    @Test("each article is linked by README.md, and is a topic of the catalogue's page")
    func articles() throws {
        let folder = "Sources/Shellac/Shellac.docc"
        let articles = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appending(path: folder).path
        )
        .filter { $0.hasSuffix(".md") && $0 != "Shellac.md" }.sorted()
        #expect(articles.count > 20)
        let links = Self.links(in: try text("README.md"))
        let topics = try text("\(folder)/Shellac.md")
        for article in articles {
            #expect(links.contains("\(folder)/\(article)"), "README.md does not link \(article)")
            #expect(
                topics.contains("- <doc:\(article.dropLast(3))>\n"), "\(article) is no topic of Shellac.md")
        }
    }

    @Test("each page of the folder Extensions groups a type's members, or is a topic of the first page")
    func extensions() throws {
        let catalogue = "Sources/Shellac/Shellac.docc"
        let pages = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appending(path: "\(catalogue)/Extensions").path
        ).sorted()
        #expect(pages.contains("Record.md") && pages.count > 20)
        let topics = try text("\(catalogue)/Shellac.md")
        for page in pages {
            let content = try text("\(catalogue)/Extensions/\(page)")
            #expect(content.contains("\n## Topics\n"), "\(page)")
            let isOfType = content.hasPrefix("# ``Shellac/\(page.dropLast(3))``\n")
            #expect(isOfType != topics.contains("- <doc:\(page.dropLast(3))>\n"), "\(page)")
        }
    }

    @Test("the pictures of README.md are there, for a light and for a dark ground")
    func pictures() throws {
        let pictures = Self.pictures(in: try text("README.md"))
        #expect(pictures.count >= 4)
        for picture in pictures { #expect(exists(picture), "there is no \(picture)") }
        for picture in pictures where !picture.hasSuffix("~dark.svg") {
            #expect(pictures.contains("\(picture.dropLast(4))~dark.svg"), "\(picture) has no dark form")
        }
    }

    @Test("the pictures of README.md and of the articles are what `.ci/drawings` draws")
    func drawings() async throws {
        let checked = try await Command.run([".ci/drawings", "--check"], in: Repository.root)
        #expect(checked.succeeded && checked.output.isEmpty, "\(checked.output)")
    }

    @Test("a chart that the benchmarks draw is named with the command that draws it")
    func charts() throws {
        let readme = try text("README.md")
        let drawn = try text(".ci/drawings").matches(of: /"(\.github\/[a-z]+\.svg)"/).map { String($0.1) }
        #expect(!drawn.isEmpty)
        for chart in drawn { #expect(readme.contains("Benchmarks --chart \(chart)"), "\(chart)") }
    }

    @Test("ninety questions have an answer each")
    func questions() throws {
        let lines = try text("Sources/Shellac/Shellac.docc/Questions.md").split(separator: "\n")
            .filter { $0.hasPrefix("- …") }
        #expect(lines.count >= 90)
        #expect(Set(lines).count == lines.count)
        // DocC looks at where the links lead: see ArticleTests.
        for line in lines { #expect(line.contains(/\? <doc:[^>]+>$/), "\(line)") }
    }

    @Test("the article on settings has each property of a configuration")
    func settings() throws {
        let source = try text("Sources/Shellac/Connection/Connection/Opening/Configuration.swift")
        let declaration = try #require(
            source.firstMatch(of: /(?ms)^public struct Configuration: Sendable \{$(.*?)^\}$/)
        ).1
        let properties = declaration.matches(of: /(?m)^    public var (\w+)/).map { String($0.1) }
        #expect(properties.count > 20)
        let article = try text("Sources/Shellac/Shellac.docc/Settings.md")
        for property in properties {
            #expect(article.contains("| ``Configuration/\(property)`` |"), "\(property)")
        }
    }

    @Test("CONTRIBUTING.md draws the layers of .ci/layers, the last one on top")
    func layers() throws {
        let layers = try Repository.storeys().flatMap(\.layers)
        #expect(layers.count > 10)
        let drawn = try text(".github/CONTRIBUTING.md").matches(of: /(?m)^  ([A-Z][A-Za-z]+)  +[^\s]/).map {
            String($0.1)
        }
        #expect(drawn == layers.reversed() + ["SQLite"])
        let gate = try text(".ci/run")
        for match in try text(".github/CONTRIBUTING.md").matches(
            of: /(?m)^  ([A-Za-z]+)  .*\(can be left out\)$/)
        {
            #expect(gate.contains("--without \(match.1)"), "\(match.1)")
        }
    }

    @Test("links are those of Markdown, without their headings")
    func reading() {
        #expect(
            Self.links(in: "[a](b.md), ![c](d.svg) and [e](f/g.md#h) [i](https://j)") == [
                "b.md", "d.svg", "f/g.md",
            ])
    }

    @Test("pictures are those of Markdown, of img and of each source")
    func readingPictures() {
        #expect(
            Self.pictures(
                in: """
                    ![a](b.svg), [c](d.md) and <picture><source media="(prefers-color-scheme: dark)"
                    srcset="e~dark.svg, f.svg 2x"><img alt="g" src="h.svg"></picture> <img src="https://i/j.svg">
                    """) == ["b.svg", "e~dark.svg", "f.svg", "h.svg"])
    }

    // MARK: - Reading

    private static func links(in text: String) -> [String] {
        text.matches(of: /\]\(([^)#]+)[^)]*\)/).map { String($0.1) }.filter { !$0.contains("://") }
    }

    /// Returns the files that a text shows as pictures, in their order.
    private static func pictures(in text: String) -> [String] {
        text.matches(of: /!\[[^\]]*\]\(([^)]+)\)|<img\s[^>]*?src="([^"]+)"|<source\s[^>]*?srcset="([^"]+)"/)
            .flatMap { match in
                // A srcset has several files, each with a width or a density behind it.
                String(match.1 ?? match.2 ?? match.3 ?? "").split(separator: ",")
                    .compactMap { $0.split(separator: /\s+/).first.map(String.init) }
            }
            .filter { !$0.contains("://") }
    }

    private func text(_ path: String) throws -> String {
        try String(decoding: Data(contentsOf: Repository.root.appending(path: path)), as: UTF8.self)
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Repository.root.appending(path: path).path)
    }
}
