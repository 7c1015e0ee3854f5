import Foundation
import TestSupport
import Testing

/// The script that proves the layers is itself proved here, on a copy of the sources.
@Suite(.serialized) struct LayersTests {
    @Test("the lowest layers know only those before them")
    func unmodifiedSourcesPass() async throws {
        let report = try await withCopy { copy in try await layers("Support", "Columns", "Values", of: copy) }
        #expect(report.succeeded, "\(report.output)")
        #expect(report.output.contains("✔ Values"))
    }

    @Test("an upward reference fails, and its layer is named")
    func upwardReferenceFails() async throws {
        let report = try await withCopy { copy in
            try append(
                "func upward(_ value: DatabaseValue) {}\n", to: "Ground/Support/Misuse.swift", of: copy)
            return try await layers("Support", "Columns", of: copy)
        }
        #expect(!report.succeeded)
        #expect(report.output.contains("cannot find type 'DatabaseValue' in scope"))
        #expect(report.output.contains("layers: Support looks upward"))
        // The layers after it are not blamed.
        #expect(report.output.contains("✔ Columns"))
    }

    @Test("a conformance declared in the lower layer is an upward reference")
    func upwardConformanceFails() async throws {
        let report = try await withCopy { copy in
            try append(
                "extension SQLiteValue: DatabaseValueConvertible {}\n",
                to: "Ground/Columns/SQLiteValue.swift",
                of: copy)
            return try await layers("Columns", of: copy)
        }
        #expect(!report.succeeded)
        #expect(report.output.contains("layers: Columns looks upward"))
    }

    @Test("a word of an upper layer fails in a lower one, in code and in comments")
    func upwardWordsFail() async throws {
        let report = try await withCopy { copy in
            try append("// Told to the broker.\n", to: "Connection/Connection/Slot.swift", of: copy)
            try append("let stampCount = 0\nlet timestamp = 0\n", to: "Ground/Support/Misuse.swift", of: copy)
            try append("// What a record remembers, of a row.\n", to: "Ground/Rows/Row.swift", of: copy)
            try append("// Statements of ours can undo.\n", to: "Connection/SQL/SQL.swift", of: copy)
            return try await layers("Support", of: copy)
        }
        #expect(!report.succeeded)
        let words = report.output.split(separator: "\n").filter { $0.contains("says a word of") }
        #expect(words.count == 2, "\(report.output)")
        #expect(report.output.contains("Connection says a word of Observation: // Told to the broker."))
        #expect(report.output.contains("Support says a word of Stamps: let stampCount = 0"))
    }

    @Test("features can be left out, and a layer that needs one of them fails then", .behaviour(122))
    func featuresCanBeLeftOut() async throws {
        let names = [
            "RecordCodable", "Validation", "SchemaCheck", "Kinds", "Counters", "Held", "LostUpdates",
            "Stamps",
            "Relations", "SoftDelete", "Live", "Lists", "Exchange", "Search", "Journal",
        ]
        // The gate leaves out the same ones.
        let gate = try String(contentsOf: Repository.root.appending(path: ".ci/run"), encoding: .utf8)
        for name in names {
            #expect(gate.contains("--without \(name) ") || gate.contains("--without \(name)\n"))
        }
        let features = names.flatMap { ["--without", $0] }
        let report = try await withCopy { copy in
            let script = copy.appending(path: ".ci/layers").path
            let healthy = try await Command.run([script] + features)
            #expect(healthy.succeeded, "\(healthy.output)")
            #expect(healthy.output.contains("✔ Triggers"))
            for name in names { #expect(!healthy.output.contains(" \(name)\n")) }
            try append(
                "let drift = SchemaDriftError.self\n", to: "Features/Triggers/TriggerSource.swift", of: copy)
            return try await Command.run([script] + features)
        }
        #expect(!report.succeeded)
        #expect(report.output.contains("layers: Triggers looks upward"))
    }

    @Test("the spellings of a layer know what the layer knows, and are left out with it")
    func spellings() async throws {
        let report = try await withCopy { copy in
            try FileManager.default.createDirectory(
                at: copy.appending(path: "Sources/Shellac/Spellings/Columns"),
                withIntermediateDirectories: false)
            try append(
                "// Upward.\nfunc upward(_ value: DatabaseValue) {}\n// The broker.\n",
                to: "Spellings/Columns/Upward.swift", of: copy)
            return try await layers("Columns", of: copy)
        }
        #expect(!report.succeeded)
        #expect(report.output.contains("cannot find type 'DatabaseValue' in scope"))
        #expect(report.output.contains("layers: Columns looks upward"))
        #expect(report.output.contains("Columns says a word of Observation: // The broker."))

        let left = try await withCopy { copy in
            try FileManager.default.createDirectory(
                at: copy.appending(path: "Sources/Shellac/Spellings/Lists"),
                withIntermediateDirectories: false)
            try append(
                "// Faulty.\nlet faulty: None = none\n", to: "Spellings/Lists/Faulty.swift", of: copy)
            return try await Command.run([copy.appending(path: ".ci/layers").path, "--without", "Lists"])
        }
        #expect(left.succeeded, "\(left.output)")
    }

    @Test("a Swift file outside of the layers fails")
    func strayFilesFail() async throws {
        let report = try await withCopy { copy in
            try FileManager.default.createDirectory(
                at: copy.appending(path: "Sources/Shellac/Misc"), withIntermediateDirectories: false)
            try append("", to: "Stray.swift", of: copy)
            try append("", to: "Ground/Adrift.swift", of: copy)
            try FileManager.default.createDirectory(
                at: copy.appending(path: "Sources/Shellac/Ground/Cellar"), withIntermediateDirectories: false)
            try FileManager.default.createDirectory(
                at: copy.appending(path: "Sources/Shellac/Spellings/Cellar"),
                withIntermediateDirectories: false)
            try append("", to: "Spellings/Loose.swift", of: copy)
            return try await layers("Support", of: copy)
        }
        #expect(!report.succeeded)
        for folder in ["Misc", "Ground/Cellar"] {
            #expect(report.output.contains("Sources/Shellac/\(folder) is no layer, and no storey"))
        }
        #expect(report.output.contains("Sources/Shellac/Spellings/Cellar is named for no layer"))
        for file in ["Stray.swift", "Ground/Adrift.swift", "Spellings/Loose.swift"] {
            #expect(report.output.contains("Sources/Shellac/\(file) stands in no layer"))
        }
    }

    @Test("a file of more than 350 lines fails, unless its header says why")
    func longFilesFail() async throws {
        let lines = String(repeating: "// A line.\n", count: 351)
        let report = try await withCopy { copy in
            try append(lines, to: "Ground/Support/Long.swift", of: copy)
            try append(
                "// Over 350 lines: for this test.\n" + lines, to: "Ground/Support/Reasoned.swift", of: copy)
            return try await layers("Support", of: copy)
        }
        #expect(!report.succeeded)
        #expect(report.output.contains("Ground/Support/Long.swift has 351 lines"))
        #expect(!report.output.contains("Reasoned.swift"))
    }

    @Test("a file that does not begin with its purpose fails")
    func captions() async throws {
        let report = try await withCopy { copy in
            try append("enum Uncaptioned {}\n", to: "Ground/Support/Uncaptioned.swift", of: copy)
            try append(
                "// A sentence.\n\nenum Captioned {}\n", to: "Ground/Support/Captioned.swift", of: copy)
            return try await layers("Support", of: copy)
        }
        #expect(!report.succeeded)
        #expect(
            report.output.contains(
                "Support/Uncaptioned.swift does not begin with a comment that says what it is for"))
        #expect(!report.output.contains("/Captioned.swift does not"))
    }

    private func withCopy(_ body: (URL) async throws -> Command) async throws -> Command {
        let copy = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: copy) }
        for folder in [".ci", "Sources"] {
            try FileManager.default.copyItem(
                at: Repository.root.appending(path: folder), to: copy.appending(path: folder))
        }
        return try await body(copy)
    }

    private func append(_ text: String, to file: String, of copy: URL) throws {
        let url = copy.appending(path: "Sources/Shellac").appending(path: file)
        let old = (try? Data(contentsOf: url)) ?? Data()
        try (old + Data(text.utf8)).write(to: url)
    }

    private func layers(_ names: String..., of copy: URL) async throws -> Command {
        let script = copy.appending(path: ".ci/layers").path
        return try await Command.run([script] + names.flatMap { ["--only", $0] })
    }
}
