public import Foundation

/// A Swift file that imports Shellac, and is compiled by itself.
///
/// It is built and not type-checked alone, since data races are errors of a later pass.
public enum SwiftScript {
    /// Compiles a file, and tells what the compiler said. It says nothing of warnings, unless they are errors.
    public static func compile(
        _ url: URL, options: [String] = [], warningsAreErrors: Bool = false
    ) async throws -> Command {
        try await Command.run(
            [
                "swiftc", "-emit-sil", "-o", "/dev/null", "-swift-version", "6",
                warningsAreErrors ? "-warnings-as-errors" : "-suppress-warnings",
                "-enable-upcoming-feature", "ExistentialAny", "-module-name", "Script",
                "-I", try Repository.modules().path, "-I",
                Repository.root.appending(path: "Sources/CSQLite").path,
                url.path,
            ] + options)
    }

    /// Compiles a text, and tells what the compiler said.
    public static func compile(source: String, options: [String] = []) async throws -> Command {
        let url = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString).swift")
        try Data(source.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await compile(url, options: options)
    }
}
