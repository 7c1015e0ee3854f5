import Foundation

/// Runs work on a thread of its own, which ends with it.
public enum OwnThread {
    /// Runs a function on a thread of its own, and waits for its end.
    ///
    /// - Parameter unprivileged: Whether the thread gives up the rights of the superuser, if it has
    ///   them.
    public static func run<Result>(
        unprivileged: Bool = false, _ body: @escaping () throws -> Result
    ) throws -> Result {
        // The caller waits: nothing is used by two threads at a time.
        nonisolated(unsafe) let body = body
        nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
        let end = DispatchSemaphore(value: 0)
        let thread = Thread {
            result = Swift.Result {
                if unprivileged { try dropPrivileges() }
                return try body()
            }
            end.signal()
        }
        thread.start()
        end.wait()
        guard let outcome = result else { throw POSIXError(.ESRCH) }
        // The thread holds the variable for a moment longer, and must not hold the result.
        result = nil
        return try outcome.get()
    }

    /// Makes this thread, and no other, one of a user without rights.
    ///
    /// The function of the C library would change all threads: the system call changes the calling
    /// one.
    private static func dropPrivileges() throws {
        guard getuid() == 0 else { return }
        guard let symbol = dlsym(nil, "syscall") else { throw POSIXError(.ENOSYS) }
        typealias Call = @convention(c) (Int, UInt32, UInt32, UInt32) -> Int
        let call = unsafeBitCast(symbol, to: Call.self)
        #if arch(arm64)
        let setresuid = 147
        #else
        let setresuid = 117
        #endif
        let nobody: UInt32 = 65534
        guard call(setresuid, nobody, nobody, nobody) == 0 else { throw POSIXError(.EPERM) }
    }
}

/// A thread that runs a body beside the one that waits for it.
public final class RunningThread<Result: Sendable>: Sendable {
    private let ended = Gate()
    private let result = Shared<Swift.Result<Result, any Error>?>(nil)

    public init(_ body: @escaping @Sendable () throws -> Result) {
        let thread = Thread { [ended, result] in
            let outcome = Swift.Result { try body() }
            result.withLock { $0 = outcome }
            ended.open()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Waits for the end of the body.
    public func join() throws -> Result {
        try ended.wait()
        guard let outcome = result.value else { throw WaitedTooLong() }
        return try outcome.get()
    }
}
