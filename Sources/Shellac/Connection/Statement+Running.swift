import CSQLite

// The statements that run at the same time are linked, so that they can be stopped together.

extension Statement {
    /// Has the bypass advisor never look at the statement: it is one of ours.
    func bypassAdvice() {
        #if DEBUG
        adviceVersion = -1
        #endif
    }

    /// Runs a statement of ours that reads an integer, takes no arguments, and is run all the time, such as once in each
    /// transaction: without what is around a run for the sake of rows, observers and functions. Nor does it look for
    /// obstructions, or end what outside of a transaction belongs to one statement.
    func readInteger() throws -> Int64? {
        database.checkAccess()
        guard !isInUse else { throw busyError() }
        phase = .begun
        let code = sqlite3_step(sqliteStatement)
        let value = code == SQLITE_ROW ? sqlite3_column_int64(sqliteStatement, 0) : nil
        var error = code == SQLITE_ROW || code == SQLITE_DONE ? nil : failure(code)
        sqlite3_reset(sqliteStatement)
        phase = .idle
        if error != nil, let listener = database.statementListener {
            error = listener.statementDidEnd(self, error: error)
            listener.letGo()
        }
        if let error {
            database.statementObserver?.statementDidFail()
            throw error
        }
        return value
    }

    /// Puts the statement among those that run. Mostly, it is alone.
    @inline(__always)
    func link() {
        if database.lastBegun != nil { linkToOthers() }
        database.lastBegun = Unmanaged.passUnretained(self)
    }

    @inline(never)
    private func linkToOthers() {
        previousRunning = database.lastBegun
        previousRunning?.use { $0.nextRunning = Unmanaged.passUnretained(self) }
    }

    @inline(__always)
    func unlink() {
        if isAlone {
            database.lastBegun = nil
        } else {
            unlinkFromOthers()
        }
    }

    @inline(__always)
    private var isAlone: Bool { previousRunning == nil && nextRunning == nil }

    @inline(never)
    private func unlinkFromOthers() {
        previousRunning?.use { $0.nextRunning = nextRunning }
        if let nextRunning {
            nextRunning.use { $0.previousRunning = previousRunning }
        } else {
            database.lastBegun = previousRunning
        }
        previousRunning = nil
        nextRunning = nil
    }

    /// Tells everybody that a run has ended. Most ends concern an observer at most.
    @inline(never)
    func tellOfEnd(error: (any Error)?, hasRun: Bool, isObserved: Bool) throws {
        var error = error
        if concernsListener && hasRun || error != nil || database.hasNestedState,
            let listener = database.listenerReference
        {
            error = listener.use { $0.statementDidEnd(self, error: error) }
        }
        if database.hasLoneState, database.lastBegun == nil { database.endLoneState() }
        if isObserved, let observer = database.observerReference {
            error = observer.use { $0.statementDidEnd(self, error: error) }
        } else if error != nil {
            database.statementObserver?.statementDidFail()
        }
        if let listener = database.listenerReference { listener.use { $0.letGo() } }
        if let error { throw error }
    }

    /// Stops the runs of all statements. Their next step throws `SQLITE_ABORT`, or stops the program if the access
    /// that began them has ended. Their rows cannot be read any more.
    static func stopAll(on database: Database, atEndOfAccess isEndOfAccess: Bool) {
        // A statement that has called a function is in the middle of a step.
        guard database.callbackDepth == 0 else { return }
        var running = database.lastBegun?.takeUnretainedValue()
        var observed: [(statement: Statement, error: (any Error)?)] = []
        while let statement = running {
            let code = sqlite3_reset(statement.sqliteStatement)
            let error =
                code == SQLITE_OK
                ? database.statementListener?.takeLoss(of: statement)
                : database.failure(code, sql: statement.sql)
            if let error, !statement.isReadonly, database.forgottenError == nil {
                database.forgottenError = error
            }
            if statement.concernsObserver, statement.phase == .running { observed.append((statement, error)) }
            statement.row.moveOut()
            statement.phase = isEndOfAccess ? .orphaned : .stopped
            running = statement.previousRunning?.takeUnretainedValue()
            statement.previousRunning = nil
            statement.nextRunning = nil
        }
        database.lastBegun = nil
        if database.hasLoneState { database.endLoneState() }
        if let observer = database.statementObserver {
            for (statement, failure) in observed {
                let error = observer.statementDidEnd(statement, error: failure)
                if let error, failure == nil || database.forgottenError == nil {
                    database.forgottenError = error
                }
            }
        }
        database.statementListener?.letGo()
    }
}

#if DEBUG
extension Database {
    /// Tells of a statement that is about to run.
    @inline(never)
    func advise(on statement: Statement) {
        guard statement.adviceVersion >= 0 else { return }
        statement.adviceVersion = adviceVersion
        advisor?(statement)
    }
}
#endif

extension Statement: CustomStringConvertible {
    public var description: String { "Statement(`\(sql)`)" }
}
