// The end of statement runs, alone or all at once, and a fast path that reads one integer.

import CSQLite

// Statements that run at the same time are linked, so that they can be stopped together.

extension Statement {
    /// Runs a frequent internal statement without arguments that returns an integer, such as one
    /// per transaction. It skips the support of a normal run for rows, followers and functions.
    /// It also neither checks for obstructions nor ends the state of a single statement outside of
    /// a transaction.
    func readInteger() throws -> Int64? {
        database.checkAccess()
        guard !isInUse else { throw busyError() }
        phase = .begun
        let code = sqlite3_step(sqliteStatement)
        let value = code == SQLITE_ROW ? sqlite3_column_int64(sqliteStatement, 0) : nil
        var error = code == SQLITE_ROW || code == SQLITE_DONE ? nil : failure(code)
        sqlite3_reset(sqliteStatement)
        phase = .idle
        if error != nil {
            error = database.endRun(of: self, error: error)
            database.object(in: .transactions)?.object.releaseDeferred()
        }
        if let error {
            database.object(in: .changes)?.object.statementDidFail()
            throw error
        }
        return value
    }

    /// Handles the end of a run for all followers. Usually, only change handlers are affected,
    /// if any.
    @inline(never)
    func tellOfEnd(error: (any Error)?, hasRun: Bool, isFollowed: Bool) throws {
        var error = error
        if error != nil, let place = database.hooks.place, place.owesEmptyLog { place.emptyLogs(database) }
        if database.owed.contains(.confirmation), hasRun { error = database.confirmCommit(of: self, error) }
        database.endNumberedCommit()
        if let measure { database.report(measure, of: self, hasRun: hasRun, error: error) }
        if concerns.contains(.schema), hasRun, database.hooks.place == nil, database.hasAttachments {
            database.watchPlace()
        }
        if concerns.contains(.schema) && hasRun || error != nil
            || database.owed.contains(.nestedStatementDidEnd)
        {
            error = database.endRun(of: self, error: error)
        }
        if let violation = error { error = database.explained(violation, of: self) }
        if database.owesAutocommitEnd, database.lastBegun == nil { database.endAutocommitStatement() }
        if isFollowed, let changes = database.object(in: .changes) {
            error = changes.use { $0.statementDidEnd(self, error: error) }
        } else if error != nil {
            database.object(in: .changes)?.object.statementDidFail()
        }
        if let transactions = database.object(in: .transactions) { transactions.use { $0.releaseDeferred() } }
        if let error { throw error }
    }

    /// Stops the runs of all statements. Their next step throws `SQLITE_ABORT`, or stops the
    /// program if the access that began them has ended. Their rows can no longer be read.
    static func stopAll(on database: Database, atEndOfAccess isEndOfAccess: Bool) {
        // A statement that has called a function is in the middle of a step.
        guard database.callbackDepth == 0 else { return }
        var running = database.lastBegun?.object
        var followed: [(statement: Statement, error: (any Error)?)] = []
        while let statement = running {
            let code = sqlite3_reset(statement.sqliteStatement)
            var error =
                code == SQLITE_OK
                ? database.object(in: .transactions)?.object.takeLoss(of: statement)
                : database.failure(code, sql: statement.sql)
            if database.owed.contains(.confirmation), statement.phase == .running {
                error = database.confirmCommit(of: statement, error)
            }
            if let error, !statement.isReadonly { database.transactionState.keepCommitFailure(error) }
            if statement.concerns.contains(.changes), statement.phase == .running {
                followed.append((statement, error))
            }
            let hasRun = statement.phase == .running
            statement.row.invalidate()
            statement.phase = isEndOfAccess ? .orphaned : .stopped
            running = statement.previousRunning?.object
            statement.previousRunning = nil
            statement.nextRunning = nil
            if let measure = statement.measure {
                database.report(measure, of: statement, hasRun: hasRun, error: error)
            }
        }
        database.running.removeAll()
        database.endNumberedCommit()
        if database.owesAutocommitEnd { database.endAutocommitStatement() }
        if let changes = database.object(in: .changes)?.object {
            for (statement, failure) in followed {
                guard let error = changes.statementDidEnd(statement, error: failure) else { continue }
                // A veto takes precedence over the failed commit that it has caused.
                if failure == nil {
                    database.transactionState.replaceCommitFailure(error)
                } else {
                    database.transactionState.keepCommitFailure(error)
                }
            }
        }
        database.object(in: .transactions)?.object.releaseDeferred()
    }
}

extension Statement: CustomStringConvertible {
    public var description: String { "Statement(`\(sql)`)" }
}
