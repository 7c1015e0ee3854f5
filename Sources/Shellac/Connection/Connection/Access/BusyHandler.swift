// The busy handler of a connection: timeouts, callbacks and retries that end on cancellation.

import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The handler that decides whether SQLite tries again if another connection holds a lock.
///
/// SQLite's own handler waits for some time, but does not notice that the waiting task was
/// cancelled. This one does.
final class BusyHandler {
    private let mode: BusyMode
    private unowned let database: Database
    /// The time when the current wait for a lock began.
    private var start: ContinuousClock.Instant
    private let now: () -> ContinuousClock.Instant
    private let sleep: (Duration) -> Void
    /// The duration of the last unsuccessful wait for a lock.
    fileprivate var vainWait: Duration?
    /// Whether the handler has given up on the last lock.
    private var hasGivenUp = false
    /// The tries so far of a statement that is retried as a whole: see ``tryAgain(_:_:)``.
    private var wholeTries: Int?
    /// Whether the handler currently refuses to wait.
    var isImpatient = false

    /// The time between two tries. It is constant: otherwise, a connection that has waited long
    /// would hardly ever try, and newcomers would always win.
    static var interval: Duration { .milliseconds(1) }

    init(
        _ mode: BusyMode, database: Database, now: @escaping () -> ContinuousClock.Instant = { .now },
        sleep: @escaping (Duration) -> Void = { usleep(UInt32($0 / .microseconds(1))) }
    ) {
        self.mode = mode
        self.database = database
        (self.now, self.sleep) = (now, sleep)
        start = now()
    }

    /// Returns whether to try again. Counting starts over for each lock.
    func tryAgain(after count: Int) -> Bool {
        var count = count
        if let tries = wholeTries { (count, wholeTries) = (tries, tries + 1) }
        hasGivenUp = !waits(after: count)
        return !hasGivenUp
    }

    private func waits(after count: Int) -> Bool {
        if isImpatient || database.access.isStopped { return false }
        switch mode {
        case .immediateError: return false
        case .callback(let callback): return callback(count)
        case .timeout(let seconds):
            if count == 0 { (start, vainWait) = (now(), nil) }
            let waited = now() - start
            let left = seconds - waited / .seconds(1)
            guard left > 0 else {
                if count > 0 { vainWait = waited }
                return false
            }
            sleep(left < Self.interval / .seconds(1) ? .seconds(left) : Self.interval)
            return !database.access.isStopped
        }
    }
}

extension BusyHandler {
    /// Returns the duration of the last unsuccessful wait for a lock, and forgets it.
    func takeVainWait() -> Duration? {
        defer { (vainWait, hasGivenUp) = (nil, false) }
        return vainWait
    }

    /// Retries a statement that met a lock, for as long as the mode allows.
    ///
    /// SQLite does not call the busy handler when it raises a lock that a statement already holds.
    /// Of two statements that do so, each would wait for the other (see "sqlite3_busy_handler" in
    /// its documentation). A statement that starts over has released its lock.
    ///
    /// - Parameters:
    ///   - code: SQLite's code for the first try.
    ///   - step: A function that restarts the statement, and returns SQLite's code.
    func tryAgain(_ code: Int32, _ step: () -> Int32) -> Int32 {
        // SQLite has already called the handler, and waited.
        if hasGivenUp { return code }
        wholeTries = 0
        defer { wholeTries = nil }
        var code = code
        while code & 0xFF == SQLITE_BUSY, !hasGivenUp, tryAgain(after: 0) { code = step() }
        return code
    }
}

extension Database {
    /// Calls a function that waits for no lock. It disables Shellac's handler, or SQLite's own if
    /// `PRAGMA busy_timeout` has replaced it. Afterwards, the handler is restored.
    func withoutWaiting<Result>(_ body: () throws -> Result) throws -> Result {
        let outer = hooks.busyHandler?.isImpatient ?? false
        hooks.busyHandler?.isImpatient = true
        defer { hooks.busyHandler?.isImpatient = outer }
        // The timeout is 0 if a handler other than SQLite's is installed.
        let timeout = try asking { try Int32.fetchOne(cachedStatement(sql: "PRAGMA busy_timeout")) ?? 0 }
        guard timeout > 0 else { return try body() }
        sqlite3_busy_timeout(pointer, 0)
        defer { if !isClosed { sqlite3_busy_timeout(pointer, timeout) } }
        return try body()
    }

    /// Sets the busy mode. Shellac calls this once, when the connection is opened.
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
