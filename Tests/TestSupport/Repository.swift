public import Foundation

/// This repository, as it was when the tests were built.
public enum Repository {
    /// The folder of Package.swift.
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the built modules, which stands beside the running tests.
    public static func modules() throws -> URL {
        guard let executable = Bundle.main.executableURL else { throw CocoaError(.fileNoSuchFile) }
        return executable.deletingLastPathComponent().appending(path: "Modules")
    }
}
