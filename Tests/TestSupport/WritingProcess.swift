import Foundation

/// Another process, which writes to a database without a pause, and reports each transaction that
/// SQLite reported to it as committed.
public final class WritingProcess: @unchecked Sendable {  // the process and the pipes are used under `lock`
    /// The kind of writer that the process uses.
    public enum Way: String, Sendable, CaseIterable, Codable {
        case pool, queue
    }

    private let process = ChildProcess()
    private let input = Pipe()
    private let output = Pipe()
    private let lock = NSLock()
    private let lines = Shared(Data())
    private let ended = Gate()

    /// Starts the process, which numbers its rows by `number`.
    public convenience init(path: String, _ way: Way = .pool, number: Int) throws {
        try self.init(arguments: [path, way.rawValue, String(number)])
    }

    /// Starts a process that does one kind of work in steps without an end.
    ///
    /// - Parameter work: `save`, `migrate`, `rebuild`, `vacuum`, `backup`, or `import`.
    public convenience init(path: String, steps work: String) throws {
        try self.init(arguments: [path, "steps", work])
    }

    /// Starts a process that does the jobs of the table `job`. It reports its beginning alone.
    public convenience init(path: String, jobsOf number: Int) throws {
        try self.init(arguments: [path, "jobs", String(number)])
    }

    private init(arguments: [String]) throws {
        process.executableURL = try SecondProcess.executable()
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        let (lines, ended, handle) = (lines, ended, output.fileHandleForReading)
        Thread {
            while case let data = nextBytes(of: handle), !data.isEmpty { lines.withLock { $0 += data } }
            ended.open()
        }.start()
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    /// The number of the last transaction that the process has reported. The numbers begin with 1.
    public var acknowledgedCount: Int { lines.withLock { data in data.count { $0 == UInt8(ascii: "\n") } } }

    public var isRunning: Bool { process.isRunning }

    /// Ends the process in the midst of what it does. Returns when all its reports have arrived.
    public func kill() throws {
        lock.lock()
        defer { lock.unlock() }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try ended.wait()
    }

    /// Lets the process finish its work, and close the database. Returns whether it could.
    public func finish() throws -> Bool {
        lock.lock()
        defer { lock.unlock() }
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        try ended.wait()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}

/// Waits for some bytes of a file, and returns none at its end. (Foundation's own functions stop
/// the program when a signal comes meanwhile, as that of the end of another process.)
func nextBytes(of handle: FileHandle, most: Int = 4096) -> Data {
    var bytes = [UInt8](repeating: 0, count: most)
    while true {
        let count = read(handle.fileDescriptor, &bytes, most)
        if count >= 0 { return Data(bytes[..<count]) }
        if errno != EINTR { return Data() }
    }
}
