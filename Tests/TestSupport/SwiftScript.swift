public import Foundation

/// A Swift file that imports Shellac, and is compiled by itself.
///
/// It is built and not type-checked alone, since data races are errors of a later pass.
public enum SwiftScript {
    /// Compiles a file, and returns the compiler's messages. These have no warnings, unless
    /// warnings are errors.
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

    /// Returns the objects of Shellac beside the running tests.
    static func objects() throws -> [String] {
        let folder = try Repository.modules().deletingLastPathComponent().appending(path: "Shellac.build")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".o") }
            .sorted().map { folder.appending(path: $0).path }
    }

    /// Compiles a file without a warning, and links it as a program.
    static func build(_ url: URL, as program: URL, linking objects: [String]) async throws -> Command {
        try await Command.run(
            [
                "swiftc", "-o", program.path, "-swift-version", "6", "-warnings-as-errors",
                "-enable-upcoming-feature", "ExistentialAny", "-module-name", "Script",
                "-I", try Repository.modules().path, "-I",
                Repository.root.appending(path: "Sources/CSQLite").path,
                url.path, "-lsqlite3",
            ] + objects + sanitizers)
    }

    /// The sanitizers that the running tests were built with.
    private static let sanitizers = [("__asan_init", "address"), ("__tsan_init", "thread")].compactMap {
        dlsym(dlopen(nil, RTLD_NOW), $0.0) == nil ? nil : "-sanitize=\($0.1)"
    }

    /// Compiles a text, and returns the compiler's messages.
    public static func compile(source: String, options: [String] = []) async throws -> Command {
        let url = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString).swift")
        try Data(source.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await compile(url, options: options)
    }
}
