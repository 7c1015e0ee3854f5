import CSQLite

// What SQLite tells in its hooks.

extension Broker: PreUpdateListener {
    func setUpdateHook(_ isOn: Bool) {
        guard isOn != hasUpdateHook else { return }
        hasUpdateHook = isOn
        if isOn { installUpdateHook() } else { sqlite3_update_hook(database.pointer, nil, nil) }
    }

    /// Has SQLite call the update hook. Returns for whom it did before.
    @discardableResult
    func installUpdateHook() -> UnsafeMutableRawPointer? {
        sqlite3_update_hook(
            database.pointer,
            { context, kind, schema, table, rowID in
                guard let context, let schema, let table else { return }
                Unmanaged<Broker>.fromOpaque(context).use { $0.note(kind, schema, table, rowID) }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func setPreUpdateHook(_ isOn: Bool) {
        guard isOn != hasPreUpdateHook else { return }
        hasPreUpdateHook = isOn
        // It is there: whoever needs it has asked for it.
        guard let hook = database.hooks.preUpdate else { return }
        if isOn { hook.add(self) } else { hook.remove(self) }
    }

    private func note(
        _ kind: Int32, _ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>, _ rowID: Int64
    ) {
        let kind = DatabaseEvent.Kind(operation: kind)
        if let loneRun {
            guard loneRun.hasAudience, loneRun.depth <= database.callbackDepth else { return }
            loneEvents.append(LoneEvent(rowID: rowID, table: tables.number(schema, table), kind: kind))
            return
        }
        guard let run = currentRun, let audience = run.audience else { return }
        let table = tables.number(schema, table)
        if audience.needsPreUpdateHook {
            // The pre-update hook has told it just before.
            let told = run.events.lastIndex {
                $0.isHidden && $0.rowID == rowID && $0.table == table && $0.kind == kind
            }
            if let told {
                run.events[told].isHidden = false
                return
            }
        }
        run.events.append(HeldEvent(audience: audience, rowID: rowID, table: table, kind: kind))
    }

    func rowWillChange(_ row: ChangingRow) {
        guard let run = currentRun, let audience = run.audience, audience.needsPreUpdateHook else { return }
        let kind = DatabaseEvent.Kind(operation: row.operation)
        let table = tables.number(row.schema, row.table)
        // (Nobody wants to hear of what is no table of the statement.)
        guard let columns = columns[table],
            !audience.route(kind, table, tables).wanted.isEmpty
        else { return }
        // Nothing else tells which row of a WITHOUT ROWID table it was.
        let values =
            audience.wantsValues || !columns.hasRowID ? RowValues(row, columns) : nil
        let rowID = kind == .delete ? row.initialRowID : row.finalRowID
        run.events.append(
            HeldEvent(
                audience: audience, rowID: columns.hasRowID ? rowID : 0, table: table, kind: kind,
                isHidden: true, values: values))
    }

    /// The run that takes a step: the last one that was not begun inside of a function that has returned.
    private var currentRun: Run? {
        let depth = database.callbackDepth
        if let last = runs.last, last.depth <= depth { return last }
        return runs.last { $0.depth <= depth }
    }

    /// Has SQLite call the commit hook. Returns for whom it did before.
    @discardableResult
    func installCommitHook() -> UnsafeMutableRawPointer? {
        hasCommitHook = true
        return sqlite3_commit_hook(
            database.pointer,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Broker>.fromOpaque(context).takeUnretainedValue().loneStatementWillCommit()
                    ? 0 : 1
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// A statement outside of a transaction commits. Returns whether it may.
    private func loneStatementWillCommit() -> Bool {
        guard let run = currentRun, !run.wasInsideTransaction else { return true }
        run.isCommitting = true
        do {
            var events: [HeldEvent] = []
            swap(&events, &held)
            for run in runs {
                events += run.events
                run.events.removeAll()
            }
            tell(events)
            try askForVeto()
            return true
        } catch {
            run.veto = error
            return false
        }
    }
}

extension DatabaseEvent.Kind {
    init(operation: Int32) {
        switch operation {
        case SQLITE_INSERT: self = .insert
        case SQLITE_UPDATE: self = .update
        default: self = .delete
        }
    }
}
