import Foundation
import TestSupport
import Testing

/// Programs that users of GRDB would write, as they were (`Bookshop.txt`) and as they became
/// (`Bookshop.swift`): see `Tests/MovedProgram`. That they are built is half of the proof.
@Suite("Programs that moved over", .serialized)
struct MovedProgramTests {
    private static let folder = Repository.root.appending(path: "Tests/MovedProgram")

    private static func lines(_ name: String) throws -> [String] {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8).components(separatedBy: "\n")
    }

    /// A reason why a line had to change.
    private enum Reason: CaseIterable { case importing, readingColumns, functions, others }

    private static func reason(_ old: String, _ new: String) -> Reason {
        if old == "import GRDB", new == "import Shellac" { return .importing }
        if new.contains("db.add("), new.replacing("try ", with: "") == old { return .functions }
        // `try` and `throws`, and nothing else.
        func bare(_ line: String) -> String {
            line.replacing("try ", with: "").replacing(") throws {", with: ") {")
        }
        return bare(old) == bare(new) ? .readingColumns : .others
    }

    /// The programs, with their last words, and the numbers of lines that had to change.
    private static let programs: [(name: String, lastWords: String, changes: [Reason: Int])] = [
        ("Bookshop", "The shop is open.", [.importing: 1, .readingColumns: 37, .functions: 4]),
        ("Library", "The library is open.", [.importing: 1, .readingColumns: 3, .others: 9]),
        ("Board", "The board is up.", [.importing: 1, .readingColumns: 4, .functions: 2, .others: 1]),
        ("Ledger", "The ledger balances.", [.importing: 1, .readingColumns: 32, .others: 3]),
    ]

    @Test("Few of their lines had to change, as many as the article says, and no more than before")
    func changedLines() throws {
        var (total, sums) = (0, [Reason: Int]())
        for program in Self.programs {
            let (old, new) = try (Self.lines("\(program.name).txt"), Self.lines("\(program.name).swift"))
            #expect(old.count == new.count)
            #expect(old.count > 400)
            var counts: [Reason: Int] = [:]
            for (old, new) in zip(old, new) where old != new {
                counts[Self.reason(old, new), default: 0] += 1
            }
            #expect(counts == program.changes, "\(program.name)")
            print("moved: \(counts.values.reduce(0, +)) of \(old.count - 1) lines of \(program.name) changed")
            total += old.count - 1
            sums.merge(counts) { $0 + $1 }
        }
        let article = try Self.article().replacing("\n", with: " ")
        let changed = sums.values.reduce(0, +)
        #expect(article.contains("Only \(changed) of their \(total) lines changed"))
        for (reason, text) in [
            (Reason.readingColumns, "for columns"), (.functions, "for functions"),
            (.importing, "for the imports"),
            (.others, "for what the tables below list"),
        ] {
            #expect(article.contains("\(sums[reason] ?? 0) \(text)"), "\(reason)")
        }
    }

    private static func article() throws -> String {
        let url = Repository.root.appending(path: "Sources/Shellac/Shellac.docc/ComingFromGRDB.md")
        return try String(contentsOf: url, encoding: .utf8)
    }

    @Test(
        "The script of the article makes most of these changes, and no others",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/perl")))
    func script() async throws {
        let script = try #require(try Self.article().firstMatch(of: /(?s)perl -i -pe '\n(.*?)\n' Sources/)).1
        let folder = try TemporaryFolder()
        let file = folder.path("Bookshop.swift")
        let original = try Self.lines("Bookshop.txt").joined(separator: "\n")
        try original.write(toFile: file, atomically: true, encoding: .utf8)
        let result = try await Command.run(["/usr/bin/perl", "-i", "-pe", String(script), file])
        try #require(result.succeeded, "\(result.output)")
        let made = try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n")
        let (old, new) = try (Self.lines("Bookshop.txt"), Self.lines("Bookshop.swift"))
        let changed = made.indices.filter { made[$0] != old[$0] }
        #expect(changed.count == 31)
        for line in changed { #expect(made[line] == new[line], "line \(line + 1)") }
    }

    @Test("They do what they did", arguments: programs.map(\.name))
    func runs(name: String) async throws {
        let program = try Repository.modules().deletingLastPathComponent().appending(path: "MovedProgram")
        let result = try await Command.run([program.path, name])
        #expect(result.succeeded, "\(result.output)")
        let lastWords = Self.programs.first { $0.name == name }?.lastWords
        #expect(result.output.split(separator: "\n").last.map(String.init) == lastWords, "\(result.output)")
    }
}
