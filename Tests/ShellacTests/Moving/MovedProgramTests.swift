import Foundation
import TestSupport
import Testing

/// A program that a user of the family's newest library would write, as it was (`Bookshop.txt`) and
/// as it became (`Bookshop.swift`): see `Tests/MovedProgram`. That it is built is half of the
/// proof.
@Suite("A program that moved over", .serialized)
struct MovedProgramTests {
    private static let folder = Repository.root.appending(path: "Tests/MovedProgram")

    private static func lines(_ name: String) throws -> [String] {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8).components(separatedBy: "\n")
    }

    /// A reason why a line had to change.
    private enum Reason: CaseIterable { case importing, readingColumns, functions }

    private static func reason(_ old: String, _ new: String) -> Reason? {
        if old == "import GRDB", new == "import Shellac" { return .importing }
        if new.contains("db.add("), new.replacing("try ", with: "") == old { return .functions }
        // `try` and `throws`, and nothing else.
        let bare = new.replacing("try ", with: "").replacing(") throws {", with: ") {")
        return bare == old.replacing("try ", with: "").replacing(") throws {", with: ") {")
            ? .readingColumns : nil
    }

    @Test("Few of its lines had to change, as many as the article says, each for one of three reasons")
    func changedLines() throws {
        let (old, new) = try (Self.lines("Bookshop.txt"), Self.lines("Bookshop.swift"))
        #expect(old.count == new.count)
        #expect(old.count > 1500)
        var counts: [Reason: Int] = [:]
        for (number, (old, new)) in zip(old, new).enumerated() where old != new {
            let reason = Self.reason(old, new)
            #expect(reason != nil, "line \(number + 1): \(old) became \(new)")
            if let reason { counts[reason, default: 0] += 1 }
        }
        #expect(counts == [.importing: 1, .readingColumns: 37, .functions: 4])
        let article = try Self.article()
        #expect(article.contains("42 of its \(old.count - 1) lines"))
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

    @Test("It does what it did")
    func runs() async throws {
        let program = try Repository.modules().deletingLastPathComponent().appending(path: "MovedProgram")
        let result = try await Command.run([program.path])
        #expect(result.succeeded, "\(result.output)")
        #expect(result.output.split(separator: "\n").last == "The shop is open.", "\(result.output)")
    }
}
