import Foundation
import TestSupport
import Testing

/// `.ci/api` compares the public API with that of the last tag. A small package of the library's
/// name shows that it does.
@Suite(.serialized) struct APITests {
    @Test("without a tag, no public API is compared, and that is said")
    func withoutTag() async throws {
        let package = try await Package()
        let result = try await package.compare()
        #expect(result.succeeded)
        #expect(result.output == "there is no tag yet: no public API is promised, and none was compared\n")
    }

    @Test(
        "what the public API has lost since the last tag is named, unless it is allowed, and what it has won is no fault"
    )
    func comparison() async throws {
        let package = try await Package()
        try package.write(
            """
            public struct Player {
                public var name = ""
                public init() {}
                public func play(times: Int) {}
            }
            """)
        try await package.git("add", ".")
        try await package.git("commit", "-q", "-m", "Play")
        try await package.git("tag", "0.1.0")

        try package.write(
            """
            public struct Player {
                public var name = ""
                public var score = 0
                @_documentation(visibility: internal) public init() {}
                public func play(times: Int) {}
                public func stop() {}
            }
            """)
        let more = try await package.compare()
        // Some toolchains come without the tool.
        if more.output.hasPrefix("this toolchain has no swift-api-digester") { return }
        #expect(more.succeeded, "\(more.output)")
        #expect(more.output == "the public API has all that it had in 0.1.0\n")

        try package.write(
            """
            public struct Player {
                public var name = ""
                public init() {}
                public func play(count: Int) {}
            }
            """)
        let less = try await package.compare()
        #expect(!less.succeeded)
        let lines = less.output.split(separator: "\n")
        let loss = "API breakage: func Player.play(times:) has been renamed to func play(count:)"
        #expect(lines.first.map(String.init) == loss)
        #expect(
            lines.dropFirst().map(String.init) == [
                "the public API has lost something since 0.1.0: bring it back, or allow it in .ci/api.allowed and name it in the "
                    + "changelog"
            ])

        try package.allow(loss)
        let allowed = try await package.compare()
        #expect(allowed.succeeded, "\(allowed.output)")
        #expect(allowed.output == "the public API has all that it had in 0.1.0\n")

        try package.write("public struct Player { let name = nothing }")
        let broken = try await package.compare()
        #expect(!broken.succeeded)
        #expect(broken.output.contains("cannot find 'nothing' in scope"))
        #expect(broken.output.hasSuffix("the public API could not be compared with 0.1.0\n"))
    }
}

/// A package of one file, in a repository of its own, with the script.
private struct Package {
    let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        for name in [".ci", "Sources/Shellac"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
        }
        let script = try Data(contentsOf: Repository.root.appending(path: ".ci/api"))
        _ = try folder.write(script, to: ".ci/api")
        _ = try folder.write(
            """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "Shellac", products: [.library(name: "Shellac", targets: ["Shellac"])],
                targets: [.target(name: "Shellac")])
            """.utf8, to: "Package.swift")
        try await git("init", "-q")
    }

    /// Writes the source of the library.
    func write(_ source: String) throws {
        _ = try folder.write(source.utf8, to: "Sources/Shellac/Player.swift")
    }

    /// Allows a breakage.
    func allow(_ line: String) throws { _ = try folder.write("\(line)\n".utf8, to: ".ci/api.allowed") }

    /// Runs the script.
    func compare() async throws -> Command { try await Command.run(["bash", ".ci/api"], in: folder.url) }

    func git(_ words: String...) async throws {
        let identity = ["-c", "user.name=Arthur", "-c", "user.email=arthur@example.com"]
        let result = try await Command.run(["git"] + identity + words, in: folder.url)
        try #require(result.succeeded, "\(result.output)")
    }
}
