import Foundation

/// Another process, which copies the write-ahead log of a database without a pause, and has nothing
/// of Shellac.
public final class CopyingProcess: @unchecked Sendable {  // the process and the pipes are used by one thread
    private let process = ChildProcess()
    private let (input, output) = (Pipe(), Pipe())

    /// Starts the process. Returns when it has begun.
    public init(path: String) throws {
        process.executableURL = try SecondProcess.executable()
        process.arguments = [path, "checkpoints"]
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        var told = Data()
        while told.last != UInt8(ascii: "\n") {
            let data = nextBytes(of: output.fileHandleForReading, most: 1)
            if data.isEmpty { throw NotBegun() }
            told += data
        }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Ends the process, and returns how often it has copied.
    public func finish() -> Int {
        try? input.fileHandleForWriting.close()
        var told = Data()
        while case let data = nextBytes(of: output.fileHandleForReading), !data.isEmpty { told += data }
        process.waitUntilExit()
        return Int(String(decoding: told, as: UTF8.self).dropLast()) ?? 0
    }

    /// The process could not open the database.
    public struct NotBegun: Error {}
}
