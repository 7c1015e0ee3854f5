import Foundation
import TestSupport
import Testing

/// The numbers of the article "What Shellac guarantees", and of the tests.
@Suite("Guarantees")
struct GuaranteesTests {
    @Test("each guarantee has a test that bears its number")
    func proven() throws {
        let untested = Set(try guarantees()).subtracting(try numbersOfTests().keys)
        #expect(untested.isEmpty, "no test bears the numbers \(untested.sorted())")
    }

    @Test("each number of a test is that of a guarantee")
    func known() throws {
        let guarantees = Set(try guarantees())
        for (number, files) in try numbersOfTests() where !guarantees.contains(number) {
            Issue.record("there is no guarantee \(number), which \(files.sorted()) have tests of")
        }
    }

    @Test("no two guarantees have the same number")
    func unique() throws {
        let guarantees = try guarantees()
        #expect(guarantees.count > 60)
        let numbers = Dictionary(grouping: guarantees) { $0 }
        #expect(numbers.values.allSatisfy { $0.count == 1 }, "\(numbers.filter { $1.count > 1 }.keys)")
    }

    @Test("a number stands in a trait, and in front of no name")
    func names() throws {
        for (file, text) in try tests() {
            for match in text.matches(
                of: /@(?:Test|Suite)\(\s*"([1-9][0-9]*[a-z]?(?:, [1-9][0-9]*)*\. [^"]*)"/)
            {
                Issue.record("\(file): say .behaviour(…) for the number in \"\(match.1)\"")
            }
        }
    }

    @Test(
        "the numbers of an article are its headings of the third level, and those of tests are in their traits"
    )
    func reading() {
        let article = "# What is\n\n## Rows\n\n### 7\n\nSee guarantee 8.\n\n### 12\n\n### Of 9\n\n#### 10\n"
        #expect(Self.guarantees(in: article) == [7, 12])
        let source = """
            @Suite("A suite", .behaviour(3))
            @Test("One", .behaviour(4, 15))
            @Test(
                "Two",
                .behaviour(
                    16), arguments: [1, 2])
            """
        #expect(Self.numbers(in: source) == [3, 4, 15, 16])
    }

    // MARK: - Reading

    private static func guarantees(in article: String) -> [Int] {
        article.matches(of: /(?m)^### ([0-9]+)$/).compactMap { Int($0.1) }
    }

    private static func numbers(in source: String) -> [Int] {
        source.matches(of: /\.behaviour\(([0-9,\s]+)\)/).flatMap { match in
            match.1.split { !$0.isNumber }.compactMap { Int($0) }
        }
    }

    private func guarantees() throws -> [Int] {
        let article = Repository.root.appending(path: "Sources/Shellac/Shellac.docc/Guarantees.md")
        return Self.guarantees(in: try String(contentsOf: article, encoding: .utf8))
    }

    /// The files whose tests bear a number.
    private func numbersOfTests() throws -> [Int: Set<String>] {
        var files: [Int: Set<String>] = [:]
        for (file, text) in try tests() {
            for number in Self.numbers(in: text) { files[number, default: []].insert(file) }
        }
        return files
    }

    /// The sources of all tests but these.
    private func tests() throws -> [(file: String, text: String)] {
        let folder = Repository.root.appending(path: "Tests/ShellacTests")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") && !$0.hasSuffix("/GuaranteesTests.swift") }
            .map { ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    }
}
