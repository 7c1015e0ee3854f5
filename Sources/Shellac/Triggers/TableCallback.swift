/// A change of one row, as a table-wide callback hears of it: see ``DatabaseWriter/after(_:on:perform:)``.
public struct TableChange {
    public enum Kind: Hashable, Sendable { case insert, update, delete }

    public let kind: Kind
    /// The row before. Nil for an insertion.
    public let old: Row?
    /// The row after. Nil for a deletion. The stamps that a trigger writes are not in it yet.
    public let new: Row?
}

@available(*, unavailable, message: "a change belongs to the callback that hears of it")
extension TableChange: Sendable {}

/// What stands for a table-wide callback, to remove it.
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
    /// What the triggers call it by.
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

    /// Name and SQL of the triggers.
    func triggers(_ schema: TableSchema, _ running: RunningCallbacks) -> [(name: String, sql: String)] {
        guard schema.kind == .table else { return [] }
        let names = schema.columns.map(\.name)
        let layout = running.number(ofLayout: names)
        return events.enumerated().compactMap { index, event in
            guard event.columns.allSatisfy({ schema.column(named: $0) != nil }) else { return nil }
            let kind: Int
            var values: [String] = []
            var condition = ""
            func list(_ row: String) -> [String] { names.map { "\(row).\($0.quotedDatabaseIdentifier)" } }
            switch event.kind {
            case .insert: (kind, values) = (0, list("NEW"))
            case .update:
                (kind, values) = (1, list("OLD") + list("NEW"))
                // What a stamp trigger updates is no callback.
                condition = "WHEN NOT shellac_stamping(\(schema.name.quotedDatabaseLiteral)) "
            case .delete: (kind, values) = (2, list("OLD"))
            }
            // A function takes 127 arguments at most.
            var body = ""
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

/// The callbacks that are running on a connection, and what their triggers have handed over.
final class RunningCallbacks {
    /// How many are running, each inside of the one before.
    private(set) var depth = 0
    /// How many scopes suspend callbacks.
    fileprivate var suspensions = 0
    /// The values of the row that is about to be told.
    private var values: [DatabaseValue] = []
    /// The tables whose stamps are being written, and how often.
    private var stamping: [String: Int] = [:]
    private var layouts: [RowLayout] = []
    fileprivate var lastNumber = 0

    /// Nesting deeper than this would overflow the stack of the thread.
    static let greatestDepth = 32

    /// The number of a layout: that of an earlier state of the schema may come back by a rollback.
    fileprivate func number(ofLayout names: [String]) -> Int {
        if let index = layouts.firstIndex(where: { $0.names == names }) { return index }
        layouts.append(RowLayout(names: names, sql: nil))
        return layouts.count - 1
    }

    /// A statement has failed: what it was about to do will not be done.
    func forget() {
        values.removeAll()
        stamping.removeAll()
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

    // MARK: - What the triggers call

    func addFunctions(to database: Database, _ triggers: TriggerConnection) throws {
        nonisolated(unsafe) unowned let running = self  // called while the access to the connection is held
        nonisolated(unsafe) unowned let connection = triggers  // the same
        unowned let database = database
        try database.add(
            function: DatabaseFunction("shellac_values") { values in
                if running.suspensions == 0 { running.values += values }
                return nil
            })
        try database.add(
            function: DatabaseFunction("shellac_change", argumentCount: 3) { arguments in
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
        try database.add(
            function: DatabaseFunction("shellac_stamping", argumentCount: 1) { arguments in
                String.fromDatabaseValue(arguments[0]).map { running.stamping[$0, default: 0] > 0 } ?? false
            })
        try database.add(
            function: DatabaseFunction("shellac_stamping", argumentCount: 2) { arguments in
                guard let table = String.fromDatabaseValue(arguments[0]) else { return nil }
                let step = Bool.fromDatabaseValue(arguments[1]) == true ? 1 : -1
                running.stamping[table, default: 0] += step
                return nil
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
        // What a callback writes is its own, also inside of a table whose stamps are being written.
        let outer = stamping
        stamping = [:]
        depth += 1
        defer {
            depth -= 1
            stamping = outer
            self.values.removeAll()
        }
        try callback.perform(database, change)
    }
}

extension Database {
    /// Calls a function for each row that is inserted, updated or deleted in a table: see
    /// ``DatabaseWriter/after(_:on:perform:)``.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on type: any TableRecord.Type,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try addCallback(events, on: type.databaseTableName, perform)
    }

    /// The same, for a table by its name.
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

    /// Calls a table-wide callback no more.
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
    /// The callback follows the schema, as stamps do: see ``Database/register(_:)``.
    ///
    /// - Returns: What ``remove(_:)`` takes. The callback stays until then, or until the connection closes.
    /// - Throws: a ``DatabaseError`` when there is no such table or column, and for views and virtual tables.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on type: any TableRecord.Type,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try writeWithoutTransaction { db in try db.addCallback(events, on: type.databaseTableName, perform) }
    }

    /// The same, for a table by its name.
    @discardableResult
    public func after(
        _ events: TriggerEvent..., on tableName: String,
        perform: @escaping @Sendable (Database, TableChange) throws -> Void
    ) throws -> TableCallback {
        try writeWithoutTransaction { db in try db.addCallback(events, on: tableName, perform) }
    }

    /// Calls a table-wide callback no more.
    public func remove(_ callback: TableCallback) throws {
        try writeWithoutTransaction { db in try db.remove(callback) }
    }
}
