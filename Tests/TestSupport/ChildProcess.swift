public import Foundation

#if canImport(Glibc)
/// A process that tests start, as Foundation's `Process` does.
///
/// Foundation's lists the open files, and copies more of each name than there is. Tests that run
/// side by side have some thousand files open. With these, it has read behind the end of its
/// memory, in three runs of four.
public final class ChildProcess: @unchecked Sendable {  // one thread sets it up; the rest is under `ended`
    public var executableURL: URL?
    public var arguments: [String] = []
    public var currentDirectoryURL: URL?
    /// A `FileHandle`, or a `Pipe`. Nil for what this process has.
    public var standardInput: Any?
    public var standardOutput: Any?
    public var standardError: Any?
    /// Called when the process has ended.
    public var terminationHandler: (@Sendable (ChildProcess) -> Void)?

    public enum TerminationReason: Sendable { case exit, uncaughtSignal }

    private let ended = NSCondition()
    private var status: Int32?
    public private(set) var processIdentifier: pid_t = 0

    public init() {}

    public var isRunning: Bool { ended.withLock { processIdentifier != 0 && status == nil } }

    /// The exit code, or the signal's number when a signal ended it.
    public var terminationStatus: Int32 {
        ended.withLock {
            let status = status ?? 0
            return status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f
        }
    }

    public var terminationReason: TerminationReason {
        ended.withLock { (status ?? 0) & 0x7f == 0 ? .exit : .uncaughtSignal }
    }

    public func terminate() { if isRunning { kill(processIdentifier, SIGTERM) } }

    /// Waits on this thread until the process has ended.
    public func waitUntilExit() {
        ended.withLock { while processIdentifier != 0, status == nil { ended.wait() } }
    }

    /// Starts the process.
    public func start() throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var endsOfPipes: [FileHandle] = []
        for (number, stream) in [standardInput, standardOutput, standardError].enumerated() {
            guard let stream else { continue }
            let handle: FileHandle
            if let pipe = stream as? Pipe {
                handle = number == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting
                // A process of an exit test would keep the pipe open.
                for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                    _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
                }
                endsOfPipes.append(handle)
            } else if let file = stream as? FileHandle, file !== FileHandle.nullDevice {
                handle = file
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
                continue
            }
            posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, Int32(number))
        }
        // Glibc's headers hide these two from Swift.
        typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>
        if let folder = currentDirectoryURL {
            let call = dlsym(nil, "posix_spawn_file_actions_addchdir_np")
            typealias Call = @convention(c) (Actions, UnsafePointer<CChar>) -> Int32
            guard let call, unsafeBitCast(call, to: Call.self)(&actions, folder.path) == 0 else {
                throw POSIXError(.ENOSYS)
            }
        }
        if let call = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") {
            typealias Call = @convention(c) (Actions, Int32) -> Int32
            _ = unsafeBitCast(call, to: Call.self)(&actions, 3)
        }
        // Threads that tests run on block signals, and a started program must receive them.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

        let path = executableURL?.path ?? ""
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, path, &actions, &attributes, &words, environ)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        ended.withLock { processIdentifier = identifier }
        for end in endsOfPipes { try? end.close() }
        Thread { [self] in waitForEnd() }.start()
    }

    private func waitForEnd() {
        let identifier = ended.withLock { processIdentifier }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        ended.withLock {
            self.status = status
            ended.broadcast()
        }
        terminationHandler?(self)
        terminationHandler = nil
    }
}
#else
public typealias ChildProcess = Process

extension Process {
    /// Starts the process.
    public func start() throws { try run() }
}
#endif
