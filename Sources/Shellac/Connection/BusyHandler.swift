import CSQLite

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decides whether SQLite tries again when another connection holds a lock.
///
/// SQLite has a handler that waits for some time, and does not see that the waiting task is cancelled. This one does.
final class BusyHandler {
    private let mode: BusyMode
    private unowned let database: Database
    private var waited = 0
    /// Whether a lock is not waited for now.
    var isImpatient = false

    init(_ mode: BusyMode, database: Database) {
        self.mode = mode
        self.database = database
    }

    /// Returns whether to try again. The number of tries begins anew for each lock.
    func tryAgain(after count: Int) -> Bool {
        if isImpatient || database.access.isCancelled { return false }
        switch mode {
        case .immediateError: return false
        case .callback(let callback): return callback(count)
        case .timeout(let seconds):
            if count == 0 { waited = 0 }
            let milliseconds = seconds * 1000
            // Short at first, since most locks are held for a short time.
            let delays = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50]
            let delay = min(Double(count < delays.count ? delays[count] : 100), milliseconds - Double(waited))
            guard delay > 0 else { return false }
            waited += Int(delay.rounded(.up))
            usleep(UInt32(delay * 1000))
            return !database.access.isCancelled
        }
    }
}

extension Database {
    /// Runs a function that waits for no lock, whatever waits otherwise: our handler, or SQLite's own, which
    /// `PRAGMA busy_timeout` has put in its place. Afterwards, all is as it was.
    func withoutWaiting<Result>(_ body: () throws -> Result) throws -> Result {
        let outer = hooks.busyHandler?.isImpatient ?? false
        hooks.busyHandler?.isImpatient = true
        defer { hooks.busyHandler?.isImpatient = outer }
        // It is 0 where another handler than SQLite's is installed.
        let timeout = try Int32.fetchOne(cachedStatement(sql: "PRAGMA busy_timeout")) ?? 0
        guard timeout > 0 else { return try body() }
        sqlite3_busy_timeout(pointer, 0)
        defer { if !isClosed { sqlite3_busy_timeout(pointer, timeout) } }
        return try body()
    }

    /// Sets whether a lock is waited for. It is called once, when the connection is opened.
    func setBusyMode(_ mode: BusyMode) {
        let handler = BusyHandler(mode, database: self)
        hooks.busyHandler = handler
        if case .immediateError = mode { return }
        sqlite3_busy_handler(
            pointer,
            { context, count in
                let handler = Unretained<BusyHandler>(context: context.unsafelyUnwrapped)
                    .object
                return handler.tryAgain(after: Int(count)) ? 1 : 0
            }, Unretained(handler).context)
    }
}
