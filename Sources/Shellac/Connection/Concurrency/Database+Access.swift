// Accesses to a connection: their scope, read transactions, cancellation and interrupts.

import CSQLite

extension Database {
    /// Runs a function with the access. No other thread can have it meanwhile.
    @inline(__always)
    func withAccess<T>(_ body: (Database) throws -> T) rethrows -> T {
        takeAccess()
        defer { releaseAccess() }
        return try body(self)
    }

    /// Closes the connection even if statements are in use. Nothing else refers to it any more, so
    /// nothing else has the access.
    func giveUp() { withAccess { $0.abandon() } }

    /// Runs the function of an access, and then ends the access: no transaction is left open.
    @inline(__always)
    func wholeAccess<T>(_ body: (Database) throws -> T) throws -> T {
        if !deferredCleanups.isEmpty { deferredCleanups.finish() }
        if access.isObstructed { try checkOpen() }
        do {
            let result = try body(self)
            try endAccess()
            return result
        } catch {
            // The first error is the one to throw.
            try? endAccess()
            throw error
        }
    }

    @inline(never)
    private func checkOpen() throws {
        if isClosed { throw closedError() }
        if let refusedCommit { throw refusedCommit }
        // The access has waited in line for too long.
        if access.isEnded { throw stopError }
    }

    /// Runs a function in a transaction that only reads.
    @inline(__always)
    func readTransaction<T>(_ value: (Database) throws -> T) throws -> T {
        // A transaction that an earlier access has left open stays open.
        if configuration.allowsUnsafeTransactions, isInsideTransaction {
            return try readOnly { try value(self) }
        }
        return try readOnly { try transaction(.deferred) { (try value(self), .commit) } }
    }

    /// Fixes the state that the open transaction sees: that of the first statement that reads.
    func takeState() throws {
        _ = try asking { try cachedStatement(sql: "PRAGMA schema_version").readInteger() }
    }

    /// Begins a read-only transaction, and fixes the state that it sees.
    func beginState() throws {
        try readOnly {
            try beginTransaction(.deferred)
            try takeState()
        }
    }

    /// Runs a function in a read-only transaction, and passes it the number of the last commit that
    /// it sees: see ``CommitNumber``.
    ///
    /// If others commit without a pause, the function may see a few commits more than the number
    /// says. A comparison of numbers takes these for commits to come, and reads once more.
    func readNumberedState<T>(_ value: (Database, UInt64) throws -> T) throws -> T {
        for attempt in 1...Self.maximumAttemptsAtNumber {
            let before = group.commits.present
            let isLast = attempt == Self.maximumAttemptsAtNumber
            if before & 1 == 1, !isLast { continue }
            let result: T? = try readTransaction { db in
                try takeState()
                guard isLast || group.commits.present == before else { return nil }
                return try value(db, before & ~1)
            }
            if let result { return result }
        }
        Misuse.trap("a state without a number")
    }

    private static var maximumAttemptsAtNumber: Int { 20 }

    // MARK: - Cancellation

    /// Cancels the access that holds the connection: its statements throw `CancellationError`.
    ///
    /// It may be called on any thread, but only while the cancelled access is sure to hold the
    /// connection. The interrupt stops the statement that runs, the flag those that are about to
    /// run.
    func cancel() {
        access.cancel()
        interruptFromOutside()
    }

    /// Begins an access that can be cancelled.
    ///
    /// SQLite forgets an interrupt that comes right before a statement's first step. So a progress
    /// handler checks now and then whether to go on.
    func beginCancellation() {
        if !isClosed { watchForCancellation() }
    }

    /// Ends the cancellable access.
    func endCancellation() {
        if !isClosed { endWatchForCancellation() }
        guard access.isStopped else { return }
        access.endCancellation()
        updateObstruction()
    }

    /// Clears an interrupt that came while no statement was running, and would stop a checkpoint.
    /// SQLite forgets it when it prepares the next statement.
    func forgetInterruption() { _ = try? makeStatement(sql: "SELECT 1") }

    /// Interrupts the running statements, from any thread.
    func interruptFromOutside() {
        access.whileOpen { sqlite3_interrupt(pointer) }
    }
}
