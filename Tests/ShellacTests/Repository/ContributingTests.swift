import Foundation
import TestSupport
import Testing

/// CONTRIBUTING.md names files, commands and words of this repository. They are there.
@Suite struct ContributingTests {
    @Test("CONTRIBUTING.md names no path that is not there")
    func paths() throws {
        let text = try contributing()
        let links = text.matches(of: /\]\(([^)#]+)\)/).map { ".github/" + String($0.1) }
        let words = code(in: text).flatMap { $0.split(whereSeparator: { " \n".contains($0) }) }.map(
            String.init)
        let paths = words.filter { $0.contains("/") && !$0.hasPrefix("//") } + links
        let gate = try self.text(".ci/run") + self.text(".ci/sqlites")
        #expect(paths.count > 5)
        // The gate names the files that it makes.
        for path in paths where !exists(path) {
            #expect(gate.contains(path), "there is no \(path)")
        }
    }

    @Test("CONTRIBUTING.md names no word that this repository does not know")
    func names() throws {
        let known = try
            ([
                ".ci/run", ".ci/faults", ".ci/schedules", ".ci/platforms", ".ci/layers", ".ci/look",
                ".ci/sanitize", ".ci/sqlites",
                ".ci/prose", "Package.swift", ".swift-format",
            ]
            + files(in: "Sources") + files(in: "Tests") + files(in: "Playgrounds"))
            .filter { !$0.hasSuffix("ContributingTests.swift") }
            .map { try text($0) }.joined(separator: "\n")
        let words = code(in: try contributing()).flatMap { $0.split(whereSeparator: { " \n".contains($0) }) }
            .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "#,.:…")) }
        #expect(words.count > 30)
        // Words that must not be written, such as `try!`, are not there.
        for word in Set(words) where !word.isEmpty && !word.hasSuffix("!") && !exists(word) {
            #expect(known.contains(word), "nothing here knows \(word)")
        }
    }

    @Test("the glossary has 25 words at the most, each in one line and in order, and the sources use each")
    func glossary() throws {
        let section = try #require(try contributing().firstMatch(of: /(?s)\n## Glossary\n(.*?)\n##\s/)).1
        let lines = section.split(separator: "\n").filter { $0.hasPrefix("- ") }
        let words = lines.compactMap { $0.firstMatch(of: /^- \*\*([a-z ]+)\*\*: .+\.$/).map { String($0.1) } }
        #expect(words.count == lines.count, "a line is \"- **word**: what it means.\"")
        #expect((20...25).contains(words.count))
        #expect(words == words.sorted())
        #expect(lines.allSatisfy { $0.count <= 120 })
        let sources = try files(in: "Sources").map { try text($0) }.joined(separator: "\n").lowercased()
        for word in words {
            // `liveRow` is a live row.
            let spelling = word.replacing(" ", with: "")
            #expect(
                sources.contains(word) || sources.contains(spelling), "nothing in Sources is called \(word)")
        }
    }

    @Test("the commands of CONTRIBUTING.md run what is there")
    func commands() throws {
        let lines = try contributing().matches(of: /```sh\n([^`]*)```/).flatMap {
            $0.1.split(separator: "\n")
        }
        #expect(lines.count > 4)
        let manifest = try text("Package.swift")
        let tests = try files(in: "Tests").map { try text($0) }.joined()
        for line in lines {
            let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            switch (words.first, words.dropFirst().first, words.last) {
            case ("bash", let script?, _): #expect(exists(script), "\(line)")
            case ("swift", "build", _): break
            case ("swift", "run", let product?): #expect(manifest.contains("name: \"\(product)\""), "\(line)")
            case ("swift", "test", "test"): break
            case ("swift", "test", let suite?): #expect(tests.contains("struct \(suite) "), "\(line)")
            case (let script?, nil, _), (let script?, _, _):
                let path = Repository.root.appending(path: script).path
                #expect(FileManager.default.isExecutableFile(atPath: path), "\(line)")
            case (nil, _, _): break
            }
        }
    }

    @Test("the gate runs README.md's first command as it is written, with no sudo of its own making")
    func firstCommand() throws {
        let command = "$(command -v sudo) apt-get install -y libsqlite3-dev && swift run Tour"
        #expect(try text("README.md").contains("```sh\n\(command)\n"))
        let gate = try text(".ci/run")
        #expect(gate.contains("readme 'swift run Tour' tour"))
        #expect(!gate.contains("sudo()"))
    }

    // MARK: - Reading

    private func contributing() throws -> String { try text(".github/CONTRIBUTING.md") }

    private func text(_ path: String) throws -> String {
        try String(decoding: Data(contentsOf: Repository.root.appending(path: path)), as: UTF8.self)
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Repository.root.appending(path: path).path)
    }

    /// The words in backticks, and the blocks of commands.
    private func code(in text: String) -> [String] {
        let blocks = text.matches(of: /```sh\n([^`]*)```/).map { String($0.1) }
        let prose = text.replacing(/```[^`]*```/, with: "")
        return blocks + prose.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    private func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: Repository.root.appending(path: folder).path)
            .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".xcplayground") }.map { "\(folder)/\($0)" }
    }
}
