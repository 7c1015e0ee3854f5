// SQLite tells of rows, inside of its hooks.

extension Broker {
    /// The run that takes a step: the last one that was not begun inside of a function that has returned.
    @inline(__always)
    var currentRun: Unretained<Run>? {
        let depth = database.callbackDepth
        return runs.last { $0.depth <= depth }
    }

    /// A row was changed. It is told by the update hook.
    func rowDidChange(
        _ kind: Int32, _ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>, _ rowID: Int64
    ) {
        currentRun?.use { run in
            guard let audience = run.audience else { return }
            let kind = DatabaseEvent.Kind(operation: kind)
            let table = number(schema, table)
            // The pre-update hook has told it just before.
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

    /// A row is about to be changed. It is told by the pre-update hook.
    func rowWillChange(_ row: ChangingRow) {
        unwantedRow = nil
        guard let run = currentRun, let audience = run.use({ $0.audience }) else { return }
        let kind = DatabaseEvent.Kind(operation: row.operation)
        let table = number(row.schema, row.table)
        let columns = observers.columns[table]
        let rowID = kind == .delete ? row.initialRowID : row.finalRowID
        let (wantsRow, wantsValues, wish) = audience.use { audience in
            audience.withRoute(kind, table, tables) { route -> (Bool, Bool, RowWish) in
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
        // (Nobody wants to hear of what is no table of the statement.)
        guard let columns else { return }
        guard wantsRow else {
            unwantedRow = (columns.hasRowID ? rowID : 0, table, kind)
            return
        }
        // Nothing else tells which row of a WITHOUT ROWID table it was.
        let values = wantsValues || !columns.hasRowID ? RowValues(row, columns) : nil
        let event = RowEvent(
            audience: audience, rowID: columns.hasRowID ? rowID : 0, table: table, kind: kind, marks: .hidden,
            values: values, wish: wish)
        run.use { $0.events.append(event) }
    }
}
