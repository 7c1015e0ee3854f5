/// The running callbacks of a connection, and the values that their triggers have passed.
final class RunningCallbacks {
    /// The number of running callbacks, each inside of the previous one.
    private(set) var depth = 0
    /// The number of scopes that suspend callbacks.
    var suspensions = 0
    /// The values of the row that is about to be reported.
    private var values: [DatabaseValue] = []
    /// The rows that are being filled in, each inside of the previous one.
    private var filling: [FilledRow] = []
    private var layouts: [RowLayout] = []
    var lastNumber = 0

    /// The deepest nesting. Deeper nesting would overflow the stack of the thread.
    static let greatestDepth = 32

    /// A row that a trigger of a ``TriggerSource`` is updating.
    private struct FilledRow {
        let table: DatabaseValue
        let key: ArraySlice<DatabaseValue>
        /// The number of functions that were running around the updating statement.
        let depth: Int
        /// The callback triggers that have skipped this update. If they see the row again, it is an
        /// update by something else, such as a trigger of the program.
        var passed: [[DatabaseValue]] = []
    }

    /// Returns the number of a layout. The layout of an earlier schema may come back by a rollback,
    /// so numbers are kept.
    func number(ofLayout names: [String]) -> Int {
        if let index = layouts.firstIndex(where: { $0.names == names }) { return index }
        layouts.append(RowLayout(names: names, sql: nil))
        return layouts.count - 1
    }

    /// Handles the failure of a statement, inside of a number of functions: its pending work is
    /// dropped.
    func forget(depth: Int) {
        values.removeAll()
        filling.removeAll { $0.depth >= depth }
    }

    func refusal(of statement: Statement) -> DatabaseError {
        let what = statement.effects.changesSchema ? "change the schema" : "use transactions and savepoints"
        return DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "a table-wide callback cannot \(what): the statement that has called it is still running. "
                + "Throw an error to undo the statement, or do this when it has ended",
            sql: statement.sql)
    }

    // MARK: - SQL functions of the triggers

    func addFunctions(to database: Database, _ triggers: TriggerInstaller) throws {
        nonisolated(unsafe) unowned let running = self  // called inside of accesses
        nonisolated(unsafe) unowned let connection = triggers  // the same
        unowned let database = database
        try database.add(
            function: DatabaseFunction("shellac_values") { values in
                if running.suspensions == 0, !database.running.isRehearsal { running.values += values }
                return nil
            })
        try database.add(
            function: DatabaseFunction("shellac_change", argumentCount: 3) { arguments in
                if database.running.isRehearsal { return nil }
                let values = running.values
                running.values.removeAll()
                guard running.suspensions == 0, let number = Int.fromDatabaseValue(arguments[0]),
                    let kind = Int.fromDatabaseValue(arguments[1]),
                    let layout = Int.fromDatabaseValue(arguments[2]),
                    let callback = connection.callbacks.first(where: { $0.number == number })
                else { return nil }
                try running.tell(callback, kind, values, running.layouts[layout], database)
                return nil
            })
        // (table, key…): the row is about to be filled in. (table): it has been.
        try database.add(
            function: DatabaseFunction("shellac_filling") { arguments in
                guard let table = arguments.first, !database.running.isRehearsal else { return nil }
                // This function counts, too, so subtract it from those around the statement.
                let depth = database.callbackDepth - 1
                if arguments.count > 1 {
                    running.filling.append(
                        FilledRow(table: table, key: arguments.dropFirst(), depth: depth))
                } else if let last = running.filling.last, last.depth == depth, last.table == table {
                    running.filling.removeLast()
                }
                return nil
            })
        // (table, number, index, key…): whether the update that a callback's trigger sees fills in
        // a row.
        try database.add(
            function: DatabaseFunction("shellac_is_filling") { arguments in
                guard let last = running.filling.last, last.depth == database.callbackDepth - 1,
                    last.table == arguments.first, last.key.elementsEqual(arguments.dropFirst(3))
                else { return false }
                let trigger = Array(arguments[1..<3])
                if last.passed.contains(trigger) { return false }
                running.filling[running.filling.count - 1].passed.append(trigger)
                return true
            })
    }

    private func tell(
        _ callback: CallbackRegistration, _ kind: Int, _ values: [DatabaseValue], _ layout: RowLayout,
        _ database: Database
    ) throws {
        guard depth < Self.greatestDepth else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "the callbacks of \(callback.table.name) are nested more than \(Self.greatestDepth) deep: "
                    + "a callback that writes must end by itself")
        }
        func row(_ values: some Sequence<DatabaseValue>) -> Row {
            Row(.make(layout, values: Array(values)))
        }
        let change =
            switch kind {
            case 0: TableChange(kind: .insert, old: nil, new: row(values))
            case 1:
                TableChange(
                    kind: .update, old: row(values.prefix(layout.count)),
                    new: row(values.dropFirst(layout.count)))
            default: TableChange(kind: .delete, old: row(values), new: nil)
            }
        depth += 1
        defer {
            depth -= 1
            self.values.removeAll()
        }
        try callback.perform(database, change)
    }
}
