/// A change of one row, as a table-wide callback hears of it: see
/// ``DatabaseWriter/after(_:on:perform:)-(_,TableRecord.Type,_)``.
public struct TableChange {
    /// What is done to a row.
    public enum Kind: Hashable, Sendable {
        /// The row is inserted.
        case insert
        /// The row is updated.
        case update
        /// The row is deleted.
        case delete
    }

    /// What is done to the row.
    public let kind: Kind
    /// The row before. Nil for an insertion.
    public let old: Row?
    /// The row after. Nil for a deletion. The stamps that a trigger writes are not in it yet.
    public let new: Row?
}

@available(*, unavailable, message: "a change belongs to the callback that hears of it")
extension TableChange: Sendable {}

/// A token of a table-wide callback, which removes it.
public final class TableCallback: Sendable {
    fileprivate init() {}
}

/// A callback, and where it is called.
final class CallbackRegistration {
    typealias Perform = @Sendable (Database, TableChange) throws -> Void

    let table: CaseInsensitiveName
    let events: [TriggerEvent]
    let perform: Perform
    let token = TableCallback()
    /// The number by which the triggers call it.
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
    ///   - notes: What a trigger does first that runs after an insertion: see ``UndoTables/noteOfInsertion(function:)``.
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
                // The updates of such a trigger are no changes to tell of.
                guard isFilled, let key = schema.keyOfRow("OLD") else { break }
                // A function takes 127 arguments at most.
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
            let name = "\(TriggerConnection.prefix)callback \(number) \(index)"
            return (
                name,
                "CREATE TRIGGER \(name.quotedDatabaseIdentifier) AFTER \(event.sql) "
                    + "ON main.\(schema.name.quotedDatabaseIdentifier) FOR EACH ROW \(condition)BEGIN \(body) END"
            )
        }
    }
}

extension Database {
    /// Calls a function for each row that is inserted, updated or deleted in a table: see
    /// ``DatabaseWriter/after(_:on:perform:)-(_,TableRecord.Type,_)``.
    ///
    /// - Parameters:
    ///   - events: What is done to a row: one thing, or several.
    ///   - type: The type whose table it is.
    ///   - perform: Called for each row, inside of the statement.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, for views and virtual tables, and inside of a
    ///   table-wide callback.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on type: any TableRecord.Type,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try addCallback(events, on: type.databaseTableName, perform)
    }

    /// Calls a function for each row that is inserted, updated or deleted in a table, which is given by its name.
    ///
    /// - Parameters:
    ///   - events: What is done to a row: one thing, or several.
    ///   - tableName: The name of the table.
    ///   - perform: Called for each row, inside of the statement.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, for views and virtual tables, and inside of a
    ///   table-wide callback.
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
        let triggers = try triggerConnection
        if triggers.running.depth > 0 { throw lateError }
        triggers.running.lastNumber += 1
        let callback = CallbackRegistration(tableName, events, number: triggers.running.lastNumber, perform)
        try triggers.add(callback)
        return callback.token
    }

    /// Removes a table-wide callback.
    ///
    /// - Parameter callback: What the call that added the callback has returned. Nothing is done where it is removed already.
    /// - Throws: a ``DatabaseError`` inside of a table-wide callback.
    public func remove(_ callback: TableCallback) throws {
        checkAccess()
        let triggers = try triggerConnection
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
    /// - Parameter body: What is done meanwhile, at once. It may call this anew.
    /// - Throws: what the function throws.
    public func withoutCallbacks<Result>(_ body: () throws -> Result) throws -> Result {
        checkAccess()
        let running = try triggerConnection.running
        running.suspensions += 1
        defer { running.suspensions -= 1 }
        return try body()
    }
}

extension DatabaseWriter {
    /// Calls a function for each row that is inserted, updated or deleted in a table, whoever does it: records, bulk
    /// updates, raw SQL, cascades.
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
    /// The function runs inside of the statement, for the writing connection. It may read and write by its `db`. An
    /// error that it throws fails the statement, which is undone and throws that very error. Transactions, savepoints and
    /// schema changes throw in it, and so do callbacks that are nested more than 32 deep. What a stamp writes calls no
    /// callback. ``Database/withoutCallbacks(_:)`` suspends callbacks.
    ///
    /// Of the rows that `REPLACE` deletes, to make room for others, no callback hears: SQLite runs triggers for these
    /// only after `PRAGMA recursive_triggers = ON`, and then callbacks hear of them, too. An upsert
    /// (``MutablePersistableRecord/upsert(_:)``) deletes nothing: its update is heard.
    ///
    /// The callback follows the schema, as stamps do: see ``Database/register(_:)``. It does not follow transactions: one
    /// that is added in a transaction stays when that is rolled back.
    ///
    /// - Parameters:
    ///   - events: What is done to a row: one thing, or several.
    ///   - type: The type whose table it is.
    ///   - perform: Called for each row, inside of the statement.
    /// - Returns: What ``remove(_:)`` takes. The callback stays until then, or until the connection closes.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, and for views and virtual tables.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on type: any TableRecord.Type,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try writeWithoutTransaction { db in try db.addCallback(events, on: type.databaseTableName, perform) }
    }

    /// Calls a function for each row that is inserted, updated or deleted in a table, which is given by its name.
    ///
    /// - Parameters:
    ///   - events: What is done to a row: one thing, or several.
    ///   - tableName: The name of the table.
    ///   - perform: Called for each row, inside of the statement.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, and for views and virtual tables.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on tableName: String,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try writeWithoutTransaction { db in try db.addCallback(events, on: tableName, perform) }
    }

    /// Removes a table-wide callback.
    ///
    /// - Parameter callback: What the call that added the callback has returned. Nothing is done where it is removed already.
    /// - Throws: a ``DatabaseError`` where the database is closed.
    public func remove(_ callback: TableCallback) throws {
        try writeWithoutTransaction { db in try db.remove(callback) }
    }
}
