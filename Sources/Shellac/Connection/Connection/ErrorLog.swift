// SQLite's process-wide error log, and the handler that a program can set for it.

import CSQLite
import Synchronization

/// SQLite's error log: SQLite's warnings and errors on all connections of the process.
enum ErrorLog {
    static let handler = Lock<(@Sendable (ResultCode, String) -> Void)?>(nil)

    /// Installs Shellac as SQLite's error log, once. SQLite accepts it only before its first use in
    /// the process: see "The Error And Warning Log" in its documentation.
    static func install() { _ = isInstalled }

    /// Warns the developer: through the handler or, in debug builds without one, on the standard
    /// error output.
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

    /// Whether the handler has received the version of SQLite.
    private static let hasToldVersion = Atomic(false)

    /// Reports the running version of SQLite to the handler, once in the process.
    static func tellVersion() {
        guard let handler = handler.withLock({ $0 }), !hasToldVersion.exchange(true, ordering: .relaxed)
        else {
            return
        }
        handler(.SQLITE_NOTICE, Features.sentence)
    }

    /// The threads that are trying something which may fail.
    private static let trying = Lock<[UInt]>([])

    /// Calls a function that tries something which may fail. Meanwhile, the log ignores its errors.
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
    /// A function that is called for the messages in SQLite's error log. Examples are a statement
    /// that does not compile, a failed constraint, a corrupt page, or a recovered journal.
    ///
    /// ```swift
    /// Database.logError = { code, message in print("SQLite: \(code) \(message)") }
    /// ```
    ///
    /// When the process opens its first pool, the function also gets the version of the running
    /// SQLite.
    ///
    /// The function is called on the thread of the error, and must not use a database. If another
    /// library used SQLite before Shellac did, it does not get SQLite's own errors.
    public static var logError: (@Sendable (_ resultCode: ResultCode, _ message: String) -> Void)? {
        get { ErrorLog.handler.withLock { $0 } }
        set {
            // Objects that the old handler holds may log errors, or read this property, when they
            // are freed.
            let old = ErrorLog.handler.withLock { handler in
                defer { handler = newValue }
                return handler
            }
            withExtendedLifetime(old) {}
        }
    }
}
