// Internal statements hidden from traces and followers, and the polling for cancellation.

import CSQLite

// Shellac runs these statements in the middle of the end of another statement, and then undoes
// them.

extension Database {
    /// Runs a function without reporting its changes to followers or its statements to the trace.
    /// It fails on a lock instead of waiting for it. The caller must undo the function's writes
    /// before it returns.
    ///
    /// - Parameter steps: The number of thousands of virtual machine instructions after which
    ///   SQLite is interrupted. Pass nil for a function that writes: if SQLite interrupts a
    ///   statement that writes, it rolls back the whole transaction.
    func unheard<Result>(steps: Int?, _ body: () throws -> Result) rethrows -> Result {
        let wasImpatient = hooks.busyHandler?.isImpatient ?? false
        hooks.busyHandler?.isImpatient = true
        hooks.tracer?.isSilent = true
        running.isRehearsal = true
        let budget = steps.map { StepBudget($0, self) }
        if let budget {
            sqlite3_progress_handler(
                pointer, 1000,
                { Unretained<StepBudget>(context: $0.unsafelyUnwrapped).object.isSpent ? 1 : 0 },
                Unretained(budget).context)
        }
        defer {
            if let budget {
                withExtendedLifetime(budget) { sqlite3_progress_handler(pointer, 0, nil, nil) }
                if hooks.isCancellable { watchForCancellation() }
            }
            running.isRehearsal = false
            running.functionError = nil
            hooks.tracer?.isSilent = false
            hooks.busyHandler?.isImpatient = wasImpatient
            _ = hooks.busyHandler?.takeVainWait()
        }
        return try touchingNothing(body)
    }

    /// Executes a hidden statement that begins or ends a transaction, even if the access is
    /// cancelled. Returns SQLite's result code.
    func executeUninterrupted(_ sql: String) -> Int32 {
        hooks.isUninterruptible = true
        defer { hooks.isUninterruptible = false }
        let code = sqlite3_exec(pointer, sql, nil, nil, nil)
        // An interrupt from another thread has stopped it before it began.
        return code == SQLITE_INTERRUPT ? sqlite3_exec(pointer, sql, nil, nil, nil) : code
    }

    /// Whether a statement is running, including one prepared through the C interface.
    var hasBusyStatement: Bool {
        var statement = sqlite3_next_stmt(pointer, nil)
        while let running = statement {
            if sqlite3_stmt_busy(running) != 0 { return true }
            statement = sqlite3_next_stmt(pointer, running)
        }
        return false
    }

    /// Whether no transaction is open.
    var isInAutocommit: Bool { sqlite3_get_autocommit(pointer) != 0 }

    /// Reads rows through SQLite's C functions alone.
    func querySilently(_ sql: String, _ arguments: [DatabaseValue] = []) throws -> [[DatabaseValue]] {
        var statement: OpaquePointer?
        var code = sqlite3_prepare_v2(pointer, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code, sql: sql) }
        defer { sqlite3_finalize(statement) }
        for (index, argument) in arguments.enumerated() {
            code = argument.bind(to: statement, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw error(code, sql: sql) }
        }
        var rows: [[DatabaseValue]] = []
        while true {
            code = sqlite3_step(statement)
            guard code == SQLITE_ROW else { break }
            rows.append(
                (0..<sqlite3_column_count(statement)).map { index in
                    sqlite3_column_value(statement, index).map { SQLiteValue($0).databaseValue } ?? .null
                })
        }
        guard code == SQLITE_DONE else { throw error(code, sql: sql) }
        return rows
    }

    /// Makes SQLite check every thousand instructions whether the access was cancelled.
    func watchForCancellation() {
        hooks.isCancellable = true
        sqlite3_progress_handler(
            pointer, 1000,
            { context in
                let database = Unretained<Database>(context: context.unsafelyUnwrapped).object
                return database.access.isStopped && database.canBeInterrupted ? 1 : 0
            }, Unretained(self).context)
    }

    /// Whether SQLite can stop the running statement before it takes effect.
    ///
    /// SQLite also asks its progress handler when a statement is over. If the handler stopped a
    /// `COMMIT` then, it would report an interrupt, although the transaction is committed.
    package var canBeInterrupted: Bool {
        if hooks.isUninterruptible { return false }
        guard let statement = lastBegun?.object else { return true }
        // A statement that writes outside of a transaction ends its own when it takes effect.
        return statement.effects.transaction == nil
            && (statement.isReadonly || sqlite3_txn_state(pointer, nil) == SQLITE_TXN_WRITE)
    }

    /// Ends the check for cancellation.
    func endWatchForCancellation() {
        hooks.isCancellable = false
        sqlite3_progress_handler(pointer, 0, nil, nil)
    }
}

/// The number of instructions that a hidden statement may still run.
private final class StepBudget {
    private var left: Int
    private unowned let database: Database

    init(_ steps: Int, _ database: Database) {
        left = steps
        self.database = database
    }

    /// Whether the budget is used up, or the access was cancelled. Each read counts a thousand
    /// instructions.
    var isSpent: Bool {
        left -= 1
        return left < 0 || database.access.isStopped
    }
}
