public import Foundation

/// A command that was run to its end, in a process of its own.
public struct Command: Sendable {
    /// The exit code, or the signal's number when a signal ended it.
    public let status: Int32

    /// The output of the command, on its standard output and error alike, in the order of writing.
    public let output: String

    public var succeeded: Bool { status == 0 }

    /// Runs a command, looked for in `PATH`, without standard input. No thread is blocked
    /// meanwhile.
    public static func run(_ words: [String], in folder: URL? = nil) async throws -> Command {
        // A file and not a pipe, which a thread would have to empty while the command runs.
        let file = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString).log")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        let process = ChildProcess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.start()
            } catch {
                continuation.resume(throwing: error)
            }
        }
        try handle.close()
        return try Command(
            status: process.terminationStatus,
            output: String(decoding: Data(contentsOf: file), as: UTF8.self))
    }
}
