import Foundation

/// A program at a terminal of its own: what it writes is read, and what is entered is echoed, as a
/// user sees it.
public final class Terminal: @unchecked Sendable {
    private let process = ChildProcess()
    private let master: Int32
    private let lock = NSLock()
    // The output of the terminal, and whether that is all: under the lock.
    private var bytes = Data()
    private var isAtEnd = false

    /// There is no terminal to be had.
    public struct NoTerminal: Error {}

    /// A text has not come in time.
    public struct Missing: Error, CustomStringConvertible {
        public let description: String
    }

    /// Starts a program from the folder of the tests.
    public convenience init(_ program: String, _ arguments: [String], in folder: URL? = nil) throws {
        try self.init(executable: Self.executable(program), arguments, in: folder)
    }

    /// Starts a program.
    public init(executable: URL, _ arguments: [String], in folder: URL? = nil) throws {
        // Glibc's headers hide these four from Swift.
        typealias Call = @convention(c) (Int32) -> Int32
        typealias NameCall = @convention(c) (Int32) -> UnsafePointer<CChar>?
        guard let openMaster = dlsym(nil, "posix_openpt"), let grant = dlsym(nil, "grantpt"),
            let unlock = dlsym(nil, "unlockpt"), let nameOfEnd = dlsym(nil, "ptsname")
        else { throw NoTerminal() }
        master = unsafeBitCast(openMaster, to: Call.self)(O_RDWR | O_NOCTTY)
        guard master >= 0, unsafeBitCast(grant, to: Call.self)(master) == 0,
            unsafeBitCast(unlock, to: Call.self)(master) == 0,
            let name = unsafeBitCast(nameOfEnd, to: NameCall.self)(master)
        else { throw NoTerminal() }
        let end = open(name, O_RDWR | O_NOCTTY)
        guard end >= 0 else { throw NoTerminal() }
        let handle = FileHandle(fileDescriptor: end, closeOnDealloc: true)
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        try process.start()
        try handle.close()
        Thread { [self] in read() }.start()
    }

    /// Returns the path of a program in the folder of the tests.
    public static func executable(_ program: String) throws -> URL {
        try Repository.modules().deletingLastPathComponent().appending(path: program)
    }

    deinit {
        if process.isRunning { process.terminate() }
        close(master)
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            // Zero, or an error, when the other end is closed.
            let count = Foundation.read(master, &buffer, buffer.count)
            lock.withLock {
                if count > 0 { bytes.append(contentsOf: buffer[..<count]) } else { isAtEnd = true }
            }
            if count <= 0 { break }
        }
    }

    /// All that the terminal has shown.
    public var shown: String {
        lock.withLock { String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n") }
    }

    /// Enters a line.
    public func enter(_ line: String) { press("\(line)\n") }

    /// Sends the bytes of keys.
    public func press(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = bytes.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
    }

    /// Changes the size of the window.
    public func resize(columns: Int, lines: Int) {
        var size = winsize(ws_row: UInt16(lines), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Waits for a text behind what was waited for before, without blocking a thread.
    ///
    /// - Returns: The output since then, up to the text.
    @discardableResult
    public func wait(for text: String, after offset: inout Int) async throws -> String {
        for _ in 0..<1_000 {
            let isLast = lock.withLock { isAtEnd }
            let rest = shown.dropFirst(offset)
            if let range = rest.range(of: text) {
                offset += rest.distance(from: rest.startIndex, to: range.upperBound)
                return String(rest[..<range.lowerBound])
            }
            if isLast { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Missing(description: "\(text.debugDescription) is not shown in:\n\(shown)")
    }

    /// Waits until the program has ended, without blocking a thread.
    ///
    /// - Returns: Its exit code.
    public func end() async throws -> Int32 {
        for _ in 0..<1_000 {
            if !process.isRunning { return process.terminationStatus }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Missing(description: "the program does not end, which has shown:\n\(shown)")
    }
}
