import CSQLite

// What becomes of a run's events when it ends.

extension Broker {
    /// A run has ended that was not alone.
    func endRun(of statement: Statement, _ error: (any Error)?) -> (any Error)? {
        let identifier = ObjectIdentifier(statement)
        var index = runs.count - 1
        while index >= 0, runs[index].statement != identifier { index -= 1 }
        guard index >= 0 else { return error }
        let changesCount = sqlite3_changes(database.pointer)
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        let run = index == runs.count - 1 ? runs.removeLast() : runs.remove(at: index)
        let failure = run.veto ?? error
        let isSilent = run.isSilent
        defer { recycle(run) }
        if isInside, isEnding { setEnding(false) }
        guard isInside else {
            if run.wasInsideTransaction {
                complete(
                    isCommitted: failure == nil && statement.effects.transaction?.commits == true, isSilent)
            } else if run.isCommitting {
                let isCommitted = run.veto == nil && isCommitted(error, changesCount)
                // What was found out after the commit.
                if isCommitted { tell(run.events) }
                complete(isCommitted: isCommitted, isSilent)
            } else if runs.isEmpty {
                // It has written nothing, or SQLite has undone all.
                held.removeAll()
            } else {
                // Another statement that writes is still running: it will commit for both.
                pass(run, at: index, failed: error != nil && changesCount == 0)
            }
            return failure
        }
        if failure == nil, statement.concerns.contains(.transactions),
            let effect = statement.effects.transaction
        {
            follow(effect)
        }
        if !run.events.isEmpty { pass(run, at: index, failed: error != nil && changesCount == 0) }
        return failure
    }

    private func recycle(_ run: Run) {
        if run.events.count == 1 {
            run.events.removeLast()  // which is the fast way
        } else if !run.events.isEmpty {
            run.events.removeAll(keepingCapacity: run.events.capacity <= 256)
        }
        run.audience = nil
        run.isCommitting = false
        run.veto = nil
        spareRun = run
        tidyUp()
    }

    /// Whether a lone statement whose commit had begun was committed.
    private func isCommitted(_ error: (any Error)?, _ changesCount: Int32) -> Bool {
        // One that fails with OR FAIL commits what it has done before. A commit that fails is no constraint.
        guard let error else { return true }
        return changesCount > 0 || (error as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT
    }

    /// Passes the events of a run that has ended on.
    private func pass(_ run: Run, at index: Int, failed: Bool) {
        if failed { run.events = survivors(of: run.events) }
        guard !run.events.isEmpty else { return }
        if index > 0 {
            for event in run.events {
                var event = event
                event.isNested = true
                runs[index - 1].events.append(event)
            }
        } else if database.transactionLog.savepoints.depth > 0 || !run.wasInsideTransaction {
            held += run.events
        } else {
            tell(run.events)
        }
    }

    /// Follows the savepoints, of which the layer of transactions has heard before.
    private func follow(_ effect: StatementEffects.Transaction) {
        let savepoints = database.transactionLog.savepoints
        switch effect {
        case .savepoint:
            if let savepoint = savepoints.innermost { marks.append((savepoint, held.count)) }
        case .release:
            marks.removeAll { !savepoints.contains($0.savepoint) }
            for index in hooks.indices { hooks[index].moveOut(of: savepoints) }
            guard savepoints.depth == 0, !held.isEmpty else { return }
            let events = held
            held = []
            tell(events)
        case .rollbackTo:
            guard let savepoint = savepoints.innermost else { return }
            // Without a mark, it was opened before anybody observed.
            let start = marks.first { $0.savepoint >= savepoint }?.start ?? 0
            if start < held.count { held.removeSubrange(start...) }
            marks.removeAll { $0.savepoint > savepoint }
            rollBackHooks(since: savepoint)
        case .begin, .commit, .rollback: break
        }
    }

    /// A transaction has ended: nothing is held any more. Statements that still run belong to no other one.
    func forgetTransaction() {
        held.removeAll()
        marks.removeAll()
        runs.removeAll()
        loneRun = nil
        forgetLoneEvents()
        loneAudience = nil
    }
}
