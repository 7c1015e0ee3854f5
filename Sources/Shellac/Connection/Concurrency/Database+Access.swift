// Accesses to a connection: their scope, read transactions, cancellation and interrupts.

import CSQLite

extension Database {
    /// Runs a function with the access, which nobody else can have meanwhile.
    @inline(__always)
    func withAccess<T>(_ body: (Database) throws -> T) rethrows -> T {
        takeAccess()
        defer { releaseAccess() }
        return try body(self)
    }

    /// Closes the connection whatever is in use. Nobody else has it any more, so nobody else has the access.
    func giveUp() { withAccess { $0.abandon() } }

    /// Runs the function of an access, and ends the access: no transaction is left open.
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
        // It has stood in line for too long.
        if access.isEnded { throw stopError }
    }

    /// Runs a function in a transaction that only reads.
    @inline(__always)
    func readTransaction<T>(_ value: (Database) throws -> T) throws -> T {
        // A transaction that an earlier access has left open stays so.
        if configuration.allowsUnsafeTransactions, isInsideTransaction {
            return try readOnly { try value(self) }
        }
        return try readOnly { try transaction(.deferred) { (try value(self), .commit) } }
    }

    /// Takes the state of the database that a transaction sees from now on: it is that of the first statement that reads.
    func takeState() throws {
        _ = try asking { try cachedStatement(sql: "PRAGMA schema_version").readInteger() }
    }

    /// Begins a transaction that only reads, and sees one state.
    func beginState() throws {
        try readOnly {
            try beginTransaction(.deferred)
            try takeState()
        }
    }

    /// Runs a function in a transaction that only reads, and tells it the number of the last commit that it sees: see
    /// ``CommitNumber``.
    ///
    /// Beside commits without a pause, it may see a few more than it is told. Who compares the numbers takes them for commits to
    /// come, and looks once more.
    func readNumberedState<T>(_ value: (Database, UInt64) throws -> T) throws -> T {
        for attempt in 1...Self.mostAttemptsAtNumber {
            let before = group.commits.present
            let isLast = attempt == Self.mostAttemptsAtNumber
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

    private static var mostAttemptsAtNumber: Int { 20 }

    // MARK: - Cancellation

    /// Cancels the access that holds the connection: its statements throw `CancellationError`.
    ///
    /// Called by any thread, at a moment when the cancelled access is sure to hold the connection. The interrupt
    /// hits the statement that runs; the flag, those that are about to.
    func cancel() {
        access.cancel()
        interruptFromOutside()
    }

    /// Begins an access that can be cancelled.
    ///
    /// An interrupt that comes right before a statement's first step is lost: SQLite forgets it. So SQLite asks,
    /// now and then, whether to go on.
    func beginCancellation() {
        if !isClosed { watchForCancellation() }
    }

    /// Ends the access that could be cancelled.
    func endCancellation() {
        if !isClosed { endWatchForCancellation() }
        guard access.isStopped else { return }
        access.endCancellation()
        updateObstruction()
    }

    /// Forgets an interruption that came while no statement was running, and would be met by a copying of the log: SQLite
    /// forgets it where it reads the next statement.
    func forgetInterruption() { _ = try? makeStatement(sql: "SELECT 1") }

    /// Interrupts the running statements, from any thread.
    func interruptFromOutside() {
        access.whileOpen { sqlite3_interrupt(pointer) }
    }
}
