import Foundation
import TestSupport
import Testing

/// The list of faults that tests must see, and the script that puts them into the sources.
@Suite struct MutantsTests {
    private static let script = ".ci/mutants"

    @Test("each fault's line stands in its file once")
    func lines() async throws {
        let report = try await Command.run(["bash", Self.script, "--check"], in: Repository.root)
        #expect(report.succeeded, "\(report.output)")
        let list = try String(
            contentsOf: Repository.root.appending(path: ".ci/mutants.list"), encoding: .utf8)
        let count = list.split(separator: "\n").count { $0.hasPrefix("- ") }
        #expect(count > 100 && report.output.contains("the lines of \(count) faults are there"))
    }

    @Test("a line that is gone, or stands twice, is named with its fault", arguments: ["gone", "twice"])
    func untrueLines(what: String) async throws {
        let copy = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: copy) }
        for folder in [".ci", "Sources/Shellac/Support"] {
            try FileManager.default.createDirectory(
                at: copy.appending(path: folder), withIntermediateDirectories: true)
        }
        try FileManager.default.copyItem(
            at: Repository.root.appending(path: Self.script), to: copy.appending(path: Self.script))
        try "# A fault.\n@ Sum.swift\n- a += 1\n+ a -= 1\n".write(
            to: copy.appending(path: ".ci/mutants.list"), atomically: true, encoding: .utf8)
        let source = what == "gone" ? "a += 2\n" : "a += 1\n    a += 1\n"
        try source.write(
            to: copy.appending(path: "Sources/Shellac/Support/Sum.swift"), atomically: true, encoding: .utf8)
        let report = try await Command.run(["bash", Self.script, "--check"], in: copy)
        #expect(!report.succeeded)
        let count = what == "gone" ? 0 : 2
        #expect(
            report.output.contains("fault 1: this line stands \(count) times in Sum.swift: a += 1"))
        #expect(report.output.contains("1 of 1 faults are no longer true"))
    }

    @Test("the random faults that change no result stand in their files, each with a reason")
    func harmlessFaults() async throws {
        let report = try await Command.run(
            ["python3", ".ci/faults", "--count", "1", "--list"], in: Repository.root)
        #expect(report.succeeded, "\(report.output)")
        let list = try String(
            contentsOf: Repository.root.appending(path: ".ci/faults.harmless"), encoding: .utf8)
        let marks = list.split(separator: "\n").compactMap(\.first).filter { $0 != "#" }
        #expect(marks.count > 4 && marks.count.isMultiple(of: 4))
        #expect(stride(from: 0, to: marks.count, by: 4).allSatisfy { String(marks[$0..<$0 + 4]) == "@-+?" })
    }
}
