import CSQLite

extension Database {
    /// Runs the function of an access, and ends the access: no transaction is left open.
    @inline(__always)
    func wholeAccess<T>(_ body: (Database) throws -> T) throws -> T {
        if !deferredCleanups.isEmpty { deferredCleanups.finish() }
        if access.isObstructed, isClosed { throw closedError() }
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

    /// Runs a function in a transaction that only reads.
    @inline(__always)
    func readTransaction<T>(_ value: (Database) throws -> T) throws -> T {
        try readOnly { try transaction(.deferred) { (try value(self), .commit) } }
    }

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
        guard !isClosed else { return }
        sqlite3_progress_handler(
            pointer, 1000,
            { context in
                let database = Unretained<Database>(context: context.unsafelyUnwrapped).object
                return database.access.isCancelled ? 1 : 0
            }, Unretained(self).context)
    }

    /// Ends the access that could be cancelled.
    func endCancellation() {
        if !isClosed { sqlite3_progress_handler(pointer, 0, nil, nil) }
        guard access.isCancelled else { return }
        access.endCancellation()
        updateObstruction()
    }

    /// Interrupts the running statements, from any thread.
    func interruptFromOutside() {
        access.whileOpen { sqlite3_interrupt(pointer) }
    }
}
