// The busy handler of a connection: timeouts, callbacks and retries that end on cancellation.

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
    /// When the lock was met that is being waited for.
    private var start: ContinuousClock.Instant
    private let now: () -> ContinuousClock.Instant
    private let sleep: (Duration) -> Void
    /// How long the last lock was waited for in vain.
    fileprivate var vainWait: Duration?
    /// Whether it has said of the last lock that nobody waits any longer.
    private var hasGivenUp = false
    /// The tries so far of a statement that is tried again as a whole: see ``tryAgain(_:_:)``.
    private var wholeTries: Int?
    /// Whether a lock is not waited for now.
    var isImpatient = false

    /// The time between two tries. It does not grow: whoever waits long would hardly ever try, and those who have just come
    /// would always be ahead.
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

    /// Returns whether to try again. The number of tries begins anew for each lock.
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
    /// Takes how long the last lock was waited for in vain.
    func takeVainWait() -> Duration? {
        defer { (vainWait, hasGivenUp) = (nil, false) }
        return vainWait
    }

    /// Tries a statement again that has found a lock, for as long as the mode says.
    ///
    /// SQLite asks nobody where it raises the lock that a statement has already: of two that do so, each would wait for the other
    /// one (see "sqlite3_busy_handler" in its documentation). A statement that begins anew has given its lock back.
    ///
    /// - Parameters:
    ///   - code: What SQLite has said of the first try.
    ///   - step: Begins the statement anew, and returns SQLite's code.
    func tryAgain(_ code: Int32, _ step: () -> Int32) -> Int32 {
        // SQLite has asked, and waited, already.
        if hasGivenUp { return code }
        wholeTries = 0
        defer { wholeTries = nil }
        var code = code
        while code & 0xFF == SQLITE_BUSY, !hasGivenUp, tryAgain(after: 0) { code = step() }
        return code
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
        let timeout = try asking { try Int32.fetchOne(cachedStatement(sql: "PRAGMA busy_timeout")) ?? 0 }
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
