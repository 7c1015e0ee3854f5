/// A change of one row, as a table-wide callback gets it.
///
/// See ``DatabaseWriter/after(_:on:perform:)-(_,TableRecord.Type,_)``.
public struct TableChange {
    /// The kind of a row's change.
    public enum Kind: Hashable, Sendable {
        /// An inserted row.
        case insert
        /// An updated row.
        case update
        /// A deleted row.
        case delete
    }

    /// The kind of the change.
    public let kind: Kind
    /// The row before the change. Nil for an insertion.
    public let old: Row?
    /// The row after the change. Nil for a deletion. It does not have the stamps yet that a trigger
    /// writes.
    public let new: Row?
}

@available(*, unavailable, message: "a change belongs to the callback that receives it")
extension TableChange: Sendable {}

/// A token of a table-wide callback, which removes it.
public final class TableCallback: Sendable {
    fileprivate init() {}
}

/// A callback, with the table and the events that it is for.
final class CallbackRegistration {
    typealias Perform = @Sendable (Database, TableChange) throws -> Void

    let table: CaseInsensitiveName
    let events: [TriggerEvent]
    let perform: Perform
    let token = TableCallback()
    /// The number that identifies it in the triggers.
    let number: Int

    init(_ table: String, _ events: [TriggerEvent], number: Int, _ perform: @escaping Perform) {
        self.table = CaseInsensitiveName(table)
        self.events = events
        self.number = number
        self.perform = perform
    }

    var hearsUpdates: Bool {
        events.contains { if case .update = $0.kind { true } else { false } }
    }

    func check(on database: Database) throws {
        func refuse(_ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the table \(table.name) cannot have a callback: \(reason)")
        }
        let schema = try database.tableForTriggers(table.name, refuse)
        if events.isEmpty { throw refuse("no event was named") }
        for name in events.flatMap(\.columns) where schema.column(named: name) == nil {
            throw refuse("it has no column \(name)")
        }
    }

    /// Returns the names and the SQL of the triggers.
    ///
    /// - Parameters:
    ///   - isFilled: Whether there are triggers that fill in its rows.
    ///   - notes: The first statements of a trigger that runs after an insertion: see
    ///     ``UndoTables/noteOfInsertion(function:)``.
    func triggers(
        _ schema: TableSchema, _ running: RunningCallbacks, isFilled: Bool, notes: String
    ) -> [(name: String, sql: String)] {
        guard schema.kind == .table else { return [] }
        let names = schema.columns.map(\.name)
        let layout = running.number(ofLayout: names)
        return events.enumerated().compactMap { index, event in
            guard event.columns.allSatisfy({ schema.column(named: $0) != nil }) else { return nil }
            let kind: Int
            var values: [String] = []
            var (condition, body) = ("", "")
            func list(_ row: String) -> [String] { names.map { "\(row).\($0.quotedDatabaseIdentifier)" } }
            switch event.kind {
            case .insert: (kind, values, body) = (0, list("NEW"), notes)
            case .update:
                (kind, values) = (1, list("OLD") + list("NEW"))
                // The updates of such a trigger are not reported as changes.
                guard isFilled, let key = schema.keyOfRow("OLD") else { break }
                // A function takes at most 127 arguments.
                let row = key.prefix(100).joined(separator: ", ")
                let table = schema.name.quotedDatabaseLiteral
                condition = "WHEN NOT shellac_is_filling(\(table), \(number), \(index), \(row)) "
            case .delete: (kind, values) = (2, list("OLD"))
            }
            for start in stride(from: 0, to: values.count, by: 100) {
                let some = values[start..<min(start + 100, values.count)].joined(separator: ", ")
                body += "SELECT shellac_values(\(some)); "
            }
            body += "SELECT shellac_change(\(number), \(kind), \(layout));"
            let name = "\(TriggerInstaller.prefix)callback \(number) \(index)"
            return (
                name,
                "CREATE TRIGGER \(name.quotedDatabaseIdentifier) AFTER \(event.sql) "
                    + "ON main.\(schema.name.quotedDatabaseIdentifier) FOR EACH ROW \(condition)BEGIN \(body) END"
            )
        }
    }
}

extension Database {
    /// Calls a function for each row that is inserted, updated or deleted in a table.
    ///
    /// See ``DatabaseWriter/after(_:on:perform:)-(_,TableRecord.Type,_)``.
    ///
    /// - Parameters:
    ///   - events: The changes to report: one event, or several.
    ///   - type: The type whose table it is.
    ///   - perform: Called for each row, inside of the statement.
    /// - Throws: A ``DatabaseError`` if there is no such table or column, for views and virtual
    ///   tables, and inside of a table-wide callback.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on type: any TableRecord.Type,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try addCallback(events, on: type.databaseTableName, perform)
    }

    /// Calls a function for each row that is inserted, updated or deleted in the table with a name.
    ///
    /// - Parameters:
    ///   - events: The changes to report: one event, or several.
    ///   - tableName: The name of the table.
    ///   - perform: Called for each row, inside of the statement.
    /// - Throws: A ``DatabaseError`` if there is no such table or column, for views and virtual
    ///   tables, and inside of a table-wide callback.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on tableName: String,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try addCallback(events, on: tableName, perform)
    }

    fileprivate func addCallback(
        _ events: [TriggerEvent], on tableName: String, _ perform: @escaping CallbackRegistration.Perform
    ) throws -> TableCallback {
        checkAccess()
        let triggers = try triggerInstaller
        if triggers.running.depth > 0 { throw lateError }
        triggers.running.lastNumber += 1
        let callback = CallbackRegistration(tableName, events, number: triggers.running.lastNumber, perform)
        try triggers.add(callback)
        return callback.token
    }

    /// Removes a table-wide callback.
    ///
    /// - Parameter callback: The return value of the call that added the callback. If it is removed
    ///   already, nothing happens.
    /// - Throws: A ``DatabaseError`` inside of a table-wide callback.
    public func remove(_ callback: TableCallback) throws {
        checkAccess()
        let triggers = try triggerInstaller
        if triggers.running.depth > 0 { throw lateError }
        try triggers.remove { $0.token === callback }
    }

    private var lateError: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "a table-wide callback cannot add or remove callbacks: the statement that has called it is running"
        )
    }

    /// Runs a function whose changes call no table-wide callback, on this connection.
    ///
    /// - Parameter body: The function, which runs immediately. It may nest such calls.
    /// - Throws: Errors of the function.
    public func withoutTableCallbacks<Result>(_ body: () throws -> Result) throws -> Result {
        checkAccess()
        let running = try triggerInstaller.running
        running.suspensions += 1
        defer { running.suspensions -= 1 }
        return try body()
    }

    @available(*, unavailable, renamed: "withoutTableCallbacks(_:)")
    public func withoutCallbacks<Result>(_ body: () throws -> Result) throws -> Result {
        try withoutTableCallbacks(body)
    }
}

extension DatabaseWriter {
    /// Calls a function for each row that is inserted, updated or deleted in a table, by any kind
    /// of write.
    ///
    /// Records, bulk updates, raw SQL and cascades all call it.
    ///
    /// ```swift
    /// // The table is never empty.
    /// try dbQueue.after(.delete, on: Player.self) { db, change in
    ///     if try Player.fetchCount(db) == 0 {
    ///         try db.execute(sql: "INSERT INTO player (name) VALUES ('Nobody')")
    ///     }
    /// }
    /// ```
    ///
    /// The function runs inside of the statement, for the writing connection. It may read and write
    /// with its `db`. An error that it throws fails the statement, which is undone and throws that
    /// very error. Transactions, savepoints and schema changes throw inside the function, and so do
    /// callbacks that are nested more than 32 deep. Writes of stamps call no callback.
    /// ``Database/withoutTableCallbacks(_:)`` suspends callbacks.
    ///
    /// Rows that `REPLACE` deletes, to make room for others, call no callback: SQLite runs triggers
    /// for these only after `PRAGMA recursive_triggers = ON`. With that pragma, callbacks are
    /// called for them, too. An upsert (``MutablePersistableRecord/upsert(_:)``) deletes nothing:
    /// its update calls the callback.
    ///
    /// The callback follows the schema, as stamps do: see ``Database/register(_:)``. It does not
    /// follow transactions: a callback that is added in a transaction stays when that is rolled
    /// back.
    ///
    /// - Parameters:
    ///   - events: The changes to report: one event, or several.
    ///   - type: The type whose table it is.
    ///   - perform: Called for each row, inside of the statement.
    /// - Returns: A token for ``remove(_:)``. The callback stays until it is removed, or until the
    ///   connection closes.
    /// - Throws: A ``DatabaseError`` if there is no such table or column, and for views and virtual
    ///   tables.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on type: any TableRecord.Type,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try writeWithoutTransaction { db in try db.addCallback(events, on: type.databaseTableName, perform) }
    }

    /// Calls a function for each row that is inserted, updated or deleted in the table with a name.
    ///
    /// - Parameters:
    ///   - events: The changes to report: one event, or several.
    ///   - tableName: The name of the table.
    ///   - perform: Called for each row, inside of the statement.
    /// - Throws: A ``DatabaseError`` if there is no such table or column, and for views and virtual
    ///   tables.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on tableName: String,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try writeWithoutTransaction { db in try db.addCallback(events, on: tableName, perform) }
    }

    /// Removes a table-wide callback.
    ///
    /// - Parameter callback: The return value of the call that added the callback. If it is removed
    ///   already, nothing happens.
    /// - Throws: A ``DatabaseError`` if the database is closed.
    public func remove(_ callback: TableCallback) throws {
        try writeWithoutTransaction { db in try db.remove(callback) }
    }
}
