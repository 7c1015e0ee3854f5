import Foundation
import TestSupport
import Testing

@testable import ShellacCommand

/// `.ci/api` compares the public API with that of the last version. A small package of the
/// library's name shows that it does.
@Suite(.serialized) struct APITests {
    @Test("without a recorded version, no public API is compared, and that is said")
    func withoutVersion() async throws {
        let package = try await Package()
        let result = try await package.run()
        #expect(result.succeeded)
        #expect(
            result.output == "no version is recorded: no public API is promised, and none was compared\n")
    }

    @Test("what the public API has lost since the last version is named, unless it is allowed")
    func comparison() async throws {
        let package = try await Package()
        try package.write(
            """
            public struct Player {
                public var name = ""
                public var _hidden = 0
                public init() {}
                public func play(times: Int) {}
                public func play(times: String) {}
            }
            """)
        let recorded = try await package.run("--record", "0.9.0")
        // Some toolchains come without the tool.
        if recorded.output.hasPrefix("this toolchain has no swift-api-digester") { return }
        #expect(recorded.output == "recorded 5 declarations\n")
        _ = try await package.run("--record", "0.10.0")

        try package.write(
            """
            public struct Player {
                public var name = ""
                public var score = 0
                @_documentation(visibility: internal) public init() {}
                public func play(times: Int) {}
                public func play(times: String) {}
                public func stop() {}
            }
            """)
        let more = try await package.run()
        #expect(more.succeeded, "\(more.output)")
        #expect(more.output == "the public API has all that it had in 0.10.0\n")

        try package.write(
            """
            public struct Player {
                public var name = ""
                public init() {}
                public func play(times: Int) async {}
                public func play(times: String) {}
            }
            """)
        let less = try await package.run()
        #expect(!less.succeeded)
        #expect(
            less.output.split(separator: "\n").map(String.init) == [
                "Player.play(times:)",
                "the public API has lost something since 0.10.0: bring it back, or allow it in .ci/api.allowed and name it in "
                    + "the changelog",
            ])

        try package.allow("Player.play(times:)")
        let allowed = try await package.run()
        #expect(allowed.succeeded, "\(allowed.output)")

        try package.write("public struct Player { let name = nothing }")
        let broken = try await package.run()
        #expect(!broken.succeeded)
        #expect(broken.output.contains("cannot find 'nothing' in scope"))
        #expect(broken.output.hasSuffix("the public API could not be listed\n"))
    }

    @Test("the present version is recorded")
    func recorded() throws {
        let list = try String(
            contentsOf: Repository.root.appending(path: "Tests/Files/\(Help.version).api"), encoding: .utf8)
        #expect(list.contains("\nRecord.columns(_:)\t"))
    }
}

/// A package of one file, with the script.
private struct Package {
    let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        for name in [".ci", "Sources/Shellac", "Sources/CSQLite"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
        }
        let script = try Data(contentsOf: Repository.root.appending(path: ".ci/api"))
        _ = try folder.write(script, to: ".ci/api")
        _ = try folder.write(
            """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(name: "Shellac", targets: [.target(name: "Shellac")])
            """.utf8, to: "Package.swift")
    }

    /// Writes the source of the library.
    func write(_ source: String) throws {
        _ = try folder.write(source.utf8, to: "Sources/Shellac/Player.swift")
    }

    /// Allows a loss.
    func allow(_ line: String) throws { _ = try folder.write("\(line)\n".utf8, to: ".ci/api.allowed") }

    /// Runs the script.
    func run(_ words: String...) async throws -> Command {
        try await Command.run(["python3", ".ci/api"] + words, in: folder.url)
    }
}
