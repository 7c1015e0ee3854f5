// Receives changed rows from SQLite's hooks.

extension Broker {
    /// The run that is being stepped: the last one that was not begun inside of a function that has
    /// returned.
    @inline(__always)
    var currentRun: Unretained<Run>? {
        let depth = database.callbackDepth
        return runs.last { $0.depth <= depth }
    }

    /// Called by the update hook after a row was changed.
    func rowDidChange(
        _ kind: Int32, _ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>, _ rowID: Int64
    ) {
        currentRun?.use { run in
            guard let audience = run.audience else { return }
            let kind = DatabaseEvent.Kind(operation: kind)
            let table = number(schema, table)
            // The pre-update hook has just reported this row.
            if audience.use({ $0.needsPreUpdateHook }) {
                if let unwantedRow, unwantedRow == (rowID, table, kind) {
                    self.unwantedRow = nil
                    return
                }
                if run.events.show(rowID: rowID, table: table, kind: kind) { return }
            }
            run.events.append(RowEvent(audience: audience, rowID: rowID, table: table, kind: kind))
        }
    }

    /// Called by the pre-update hook when a row is about to change.
    func rowWillChange(_ row: ChangingRow) {
        unwantedRow = nil
        guard let run = currentRun, let audience = run.use({ $0.audience }) else { return }
        let kind = DatabaseEvent.Kind(operation: row.operation)
        let table = number(row.schema, row.table)
        let columns = observers.columns[table]
        let rowID = kind == .delete ? row.initialRowID : row.finalRowID
        let (wantsRow, wantsValues, wish) = audience.use { audience in
            audience.withRoute(kind, table, tables) { route -> (Bool, Bool, RowInterest) in
                guard audience.needsPreUpdateHook, !route.wanted.isEmpty else {
                    return (false, false, .nothing)
                }
                let wish =
                    route.discerning?.wish(
                        for: row, route, columns, generation: observers.columns.schemaGeneration) ?? .nothing
                return (
                    route.hasOthers || wish != .nothing,
                    wish == .values || route.hasOthers && audience.wantsValues,
                    wish
                )
            }
        }
        // (No observer is interested in a table that the statement does not list.)
        guard let columns else { return }
        guard wantsRow else {
            unwantedRow = (columns.hasRowID ? rowID : 0, table, kind)
            return
        }
        // Only the values identify a row of a WITHOUT ROWID table.
        let values = wantsValues || !columns.hasRowID ? RowValues(row, columns) : nil
        let event = RowEvent(
            audience: audience, rowID: columns.hasRowID ? rowID : 0, table: table, kind: kind, marks: .hidden,
            values: values, wish: wish)
        run.use { $0.events.append(event) }
    }
}
