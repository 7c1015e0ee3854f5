// SQLite's process-wide error log, and the handler that a program can set for it.

import CSQLite
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// SQLite's error log: what it finds strange, in all connections of the process.
enum ErrorLog {
    static let handler = Lock<(@Sendable (ResultCode, String) -> Void)?>(nil)

    /// Makes SQLite tell us of its errors, once. SQLite accepts it only before it is first used in the process: see
    /// "The Error And Warning Log" in its documentation.
    static func install() { _ = isInstalled }

    /// Says something to the developer: to the handler, or, while they debug without one, to the standard error.
    static func warn(_ message: String) {
        if let handler = handler.withLock({ $0 }) {
            handler(.SQLITE_WARNING, message)
        } else {
            #if DEBUG
            let line = Array("Shellac: \(message)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            #endif
        }
    }

    /// Whether the handler was told which SQLite is running.
    private static let hasToldVersion = Atomic(false)

    /// Tells the handler, once in the process, which SQLite is running.
    static func tellVersion() {
        guard let handler = handler.withLock({ $0 }), !hasToldVersion.exchange(true, ordering: .relaxed)
        else {
            return
        }
        handler(.SQLITE_NOTICE, Features.sentence)
    }

    /// The threads that try something which may fail.
    private static let trying = Lock<[UInt]>([])

    /// Runs a function that tries something which may fail: the log is not told.
    static func trying<Result>(_ body: () throws -> Result) rethrows -> Result {
        let thread = shellac_thread()
        trying.withLock { $0.append(thread) }
        defer { trying.withLock { trying in trying.removeAll { $0 == thread } } }
        return try body()
    }

    private static let isInstalled: Bool =
        shellac_config_log { _, code, message in
            guard let handler = ErrorLog.handler.withLock({ $0 }) else { return }
            let thread = shellac_thread()
            if ErrorLog.trying.withLock({ $0.contains(thread) }) { return }
            handler(ResultCode(rawValue: code), message.map { String(cString: $0) } ?? "")
        } == SQLITE_OK
}

extension Database {
    /// A function that is called for the messages in SQLite's error log: a statement that does not compile, a
    /// constraint that fails, a corrupt page, a recovered journal.
    ///
    /// ```swift
    /// Database.logError = { code, message in print("SQLite: \(code) \(message)") }
    /// ```
    ///
    /// When the first pool of the process is opened, it is told which version of SQLite is running.
    ///
    /// It is called on the thread where the error happens, and must not use a database. It hears nothing of SQLite's own errors where
    /// another library used SQLite before Shellac did.
    public static var logError: (@Sendable (_ resultCode: ResultCode, _ message: String) -> Void)? {
        get { ErrorLog.handler.withLock { $0 } }
        set {
            // What the old one holds may hear of errors, or ask for this, when it is freed.
            let old = ErrorLog.handler.withLock { handler in
                defer { handler = newValue }
                return handler
            }
            withExtendedLifetime(old) {}
        }
    }
}
