import Foundation

/// Another process, which holds a lock on a database.
public final class SecondProcess: @unchecked Sendable {  // the process and the pipes are used under `lock`
    /// The lock that the process holds.
    public enum Lock: String, Sendable, CaseIterable, Codable {
        /// Of a transaction that reads.
        case read
        /// Of a transaction that will write: others may read.
        case immediate
        /// Of a transaction that others may not read beside, but in WAL mode.
        case exclusive
    }

    private let process = ChildProcess()
    private let input = Pipe()
    private let lock = NSLock()

    /// Starts the process. Returns when it holds the lock.
    public init(path: String, lock: Lock) throws {
        process.executableURL = try Self.executable()
        process.arguments = [path, lock.rawValue]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        var told = Data()
        while told.count < 7 {
            let data = nextBytes(of: output.fileHandleForReading, most: 7 - told.count)
            if data.isEmpty { break }
            told += data
        }
        guard told == Data("locked\n".utf8) else { throw NoLock(lock: lock) }
    }

    deinit { release() }

    static func executable() throws -> URL {
        try Repository.modules().deletingLastPathComponent().appending(path: "SecondProcess")
    }

    /// Lets a process execute SQL in a transaction. Returns when it has committed.
    public static func execute(_ sql: String, path: String) async throws {
        let command = try await Command.run([executable().path, path, "execute", sql])
        guard command.succeeded else { throw Failure(output: command.output) }
    }

    /// Lets very many tasks of a process access a new database at once.
    ///
    /// - Parameters:
    ///   - way: `pool` or `queue`.
    ///   - work: The work of each task: `read`, `write`, `both`, or `later`, which calls a function
    ///     back.
    ///   - count: The number of tasks.
    /// - Returns: the number of threads before, and the highest one meanwhile.
    public static func threads(
        of way: String, _ work: String, count: Int, path: String
    ) async throws -> (before: Int, most: Int) {
        let command = try await Command.run([executable().path, path, way, work, "\(count)"])
        let numbers = command.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard command.succeeded, numbers.count == 2 else { throw Failure(output: command.output) }
        return (numbers[0], numbers[1])
    }

    /// Lets a process open a file, which may be new, with a log, and insert a row into the table
    /// `opening`.
    public static func open(_ way: WritingProcess.Way, path: String) async throws {
        let command = try await Command.run([executable().path, path, "open", way.rawValue])
        guard command.succeeded else { throw Failure(output: command.output) }
    }

    /// Lets a process with few file descriptors use more databases of a folder by a keeper than it
    /// can open. Returns the lines that it prints.
    public static func keep(_ count: Int, in folder: String, descriptors: Int) async throws -> [String] {
        let command = try await Command.run([
            "sh", "-c", "ulimit -n \(descriptors); exec \"$0\" \"$1\" keeper \(count)", executable().path,
            folder,
        ])
        guard command.succeeded else { throw Failure(output: command.output) }
        return command.output.split(separator: "\n").map(String.init)
    }

    /// The process could not do what it was asked for.
    public struct Failure: Error {
        public let output: String
    }

    /// Lets the process release its lock. Returns when it has ended.
    public func release() {
        lock.lock()
        defer { lock.unlock() }
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The process could not get the lock.
    public struct NoLock: Error {
        public let lock: Lock
    }
}
