// The pre-update hook of a connection: each changing row with its old and new values.

import CSQLite

/// The only pre-update hook of a connection, which reports rows to its listeners before they
/// change.
///
/// SQLite calls the hook for each row that is inserted, updated or deleted in a table, except in
/// virtual tables. Unlike the update hook, it also reports the rows that REPLACE deletes, and those
/// of WITHOUT ROWID tables. As always, SQLite may undo a reported change. A session of SQLite's
/// session extension needs the same hook.
final class PreUpdateHook {
    private unowned(unsafe) let database: Database  // which owns this
    private let functions: PreUpdateFunctions
    @exclusivity(unchecked) private var listeners: [any PreUpdateListener] = []

    init(_ database: Database, _ functions: PreUpdateFunctions) {
        self.database = database
        self.functions = functions
    }

    /// Adds a listener, which gets all changes from now on. It is retained until it is removed.
    func add(_ listener: any PreUpdateListener) {
        listeners.append(listener)
        guard listeners.count == 1 else { return }
        _ = functions.hook(
            database.pointer,
            { context, _, operation, schema, table, initialRowID, finalRowID in
                guard let context, let schema, let table else { return }
                let hook = Unretained<PreUpdateHook>(context: context).object
                let row = ChangingRow(
                    operation: operation, schema: schema, table: table, initialRowID: initialRowID,
                    finalRowID: finalRowID, functions: hook.functions, connection: hook.database.pointer)
                for listener in hook.listeners { listener.rowWillChange(row) }
            }, Unretained(self).context)
    }

    #if DEBUG
    func isTelling(_ listener: any PreUpdateListener) -> Bool { listeners.contains { $0 === listener } }
    #endif

    /// Removes the hook for good, because the connection closes.
    func takeOff() {
        listeners = []
        _ = functions.hook(database.pointer, nil, nil)
    }

    /// Removes a listener. The hook is removed with the last one.
    func remove(_ listener: any PreUpdateListener) {
        guard !listeners.isEmpty else { return }
        listeners.removeAll { $0 === listener }
        if listeners.isEmpty, !database.isClosed { _ = functions.hook(database.pointer, nil, nil) }
    }
}

/// A listener that is called for rows before they change.
protocol PreUpdateListener: AnyObject {
    /// Handles a row that is about to change. The implementation must not use the connection.
    func rowWillChange(_ row: ChangingRow)
}

/// A row that is about to change. It is only valid while the listener is called.
struct ChangingRow {
    /// `SQLITE_INSERT`, `SQLITE_UPDATE` or `SQLITE_DELETE`.
    let operation: Int32
    let schema: UnsafePointer<CChar>
    let table: UnsafePointer<CChar>
    /// The row ID before the change. It is meaningless for an insertion, and in a WITHOUT ROWID
    /// table.
    let initialRowID: Int64
    /// The row ID after the change. It is meaningless for a deletion, and in a WITHOUT ROWID table.
    let finalRowID: Int64
    fileprivate let functions: PreUpdateFunctions
    fileprivate let connection: OpaquePointer

    /// Returns the values before the change, or nil for an insertion.
    func initialValues(_ columns: StoredColumns) -> [DatabaseValue]? {
        operation == SQLITE_INSERT ? nil : columns.columns.indices.map { old(at: $0, columns) }
    }

    /// Returns the values after the change, or nil for a deletion.
    func finalValues(_ columns: StoredColumns) -> [DatabaseValue]? {
        operation == SQLITE_DELETE ? nil : columns.columns.indices.map { new(at: $0, columns) }
    }

    /// Returns the value of a stored column before the change, or nil for an insertion.
    func initialValue(at place: Int, _ columns: StoredColumns) -> DatabaseValue? {
        operation == SQLITE_INSERT ? nil : old(at: place, columns)
    }

    /// Returns the value of a stored column after the change, or nil for a deletion.
    func finalValue(at place: Int, _ columns: StoredColumns) -> DatabaseValue? {
        operation == SQLITE_DELETE ? nil : new(at: place, columns)
    }

    private func old(at place: Int, _ columns: StoredColumns) -> DatabaseValue {
        columns.value(at: place, rowID: initialRowID, countsVirtual: !columns.hasRowID, isOld: true) {
            value(functions.old, $0, nullOfOlderRows: PreUpdateFunctions.nullOfOlderRows)
        }
    }

    private func new(at place: Int, _ columns: StoredColumns) -> DatabaseValue {
        let countsVirtual = !columns.hasRowID && operation == SQLITE_INSERT
        return columns.value(at: place, rowID: finalRowID, countsVirtual: countsVirtual, isOld: false) {
            value(functions.new, $0)
        }
    }

    /// Returns SQLite's own value at one of its indices, before the change or after it. It is valid
    /// until the next call.
    @inline(__always)
    func sqliteValue(before: Bool, at index: Int32) -> OpaquePointer? {
        var value: OpaquePointer?
        let code = (before ? functions.old : functions.new)(connection, index, &value)
        return code == SQLITE_OK ? value : nil
    }

    /// Returns the number of bytes in the texts and blobs, before and after the change.
    func byteCount(_ columns: StoredColumns) -> Int {
        var count = 0
        for column in columns.columns.indices {
            for (function, isThere) in [
                (functions.old, operation != SQLITE_INSERT), (functions.new, operation != SQLITE_DELETE),
            ] where isThere {
                var value: OpaquePointer?
                let countsVirtual = PreUpdateFunctions.countsVirtualColumns
                let place = countsVirtual ? columns.columns[column].index : Int32(column)
                guard function(connection, place, &value) == SQLITE_OK, let value else { continue }
                if [SQLITE_TEXT, SQLITE_BLOB].contains(sqlite3_value_type(value)) {
                    count += Int(sqlite3_value_bytes(value))
                }
            }
        }
        return count
    }

    /// Returns the value in a column, or nil if the row is older than the column.
    private func value(
        _ function: shellac_preupdate_value_function, _ index: Int32, nullOfOlderRows: OpaquePointer? = nil
    ) -> DatabaseValue? {
        var value: OpaquePointer?
        guard function(connection, index, &value) == SQLITE_OK, let value else { return .null }
        return value == nullOfOlderRows ? nil : SQLiteValue(value).databaseValue
    }
}

/// The columns of a table that SQLite stores, which are all but the virtual ones. The type also
/// describes how the pre-update hook reports them.
struct StoredColumns: Sendable {
    struct Column: Sendable {
        let name: String
        /// The index among all columns of the table.
        let index: Int32
        let affinity: ColumnAffinity
        /// The value for rows that are older than the column, if it is not NULL. SQLite 3.40
        /// reports NULL for them.
        let valueOfOlderRows: DatabaseValue?
        /// Whether a row that is reported with NULL must be older than the column.
        let isNotNull: Bool
        let isRowID: Bool
    }
    let columns: [Column]
    let names: [String]
    /// The indices in ``columns`` of the primary key's columns.
    let primaryKey: [Int]
    let hasRowID: Bool
    /// The name of a column whose value SQLite cannot report: see
    /// ``init(columns:primaryKey:hasRowID:)``.
    let lostColumn: String?

    /// Creates the stored columns of a table.
    ///
    /// Some versions of SQLite only count the stored columns. They mistake one column for the key:
    /// the one whose index among the stored columns is the INTEGER PRIMARY KEY's index among all
    /// columns.
    init(columns: [Column], primaryKey: [Int], hasRowID: Bool) {
        self.columns = columns
        names = columns.map(\.name)
        self.primaryKey = primaryKey
        self.hasRowID = hasRowID
        let key = PreUpdateFunctions.countsVirtualColumns ? nil : columns.first(where: \.isRowID)
        let taken = key.flatMap { key in columns.indices.first { $0 == Int(key.index) } }
        lostColumn = taken.flatMap { columns[$0].isRowID ? nil : columns[$0].name }
    }

    @inline(__always)
    fileprivate func value(
        at place: Int, rowID: Int64, countsVirtual: Bool, isOld: Bool, _ value: (Int32) -> DatabaseValue?
    ) -> DatabaseValue {
        let column = columns[place]
        if column.isRowID { return rowID.databaseValue }
        let countsVirtual = countsVirtual || PreUpdateFunctions.countsVirtualColumns
        guard let told = value(countsVirtual ? column.index : Int32(place)) else {
            return column.valueOfOlderRows ?? .null
        }
        switch (told.storage, column.affinity) {
        case (.null, _): return isOld && column.isNotNull ? column.valueOfOlderRows ?? told : told
        // SQLite stores whole numbers in a REAL column as integers, and reports some in this form.
        // In WITHOUT ROWID tables it confuses some columns.
        case (.int64(let integer), .real): return Double(integer).databaseValue
        case (.double(let double), .integer), (.double(let double), .numeric):
            return Int64(exactly: double)?.databaseValue ?? told
        default: return told
        }
    }
}

extension Database {
    /// Returns the pre-update hook of this connection.
    ///
    /// - Parameter feature: The feature that needs the hook, worded for the error.
    /// - Throws: a ``DatabaseError`` that names the compile option which the running SQLite lacks.
    func preUpdateHook(for feature: String) throws -> PreUpdateHook {
        guard let functions = PreUpdateFunctions.found else {
            throw Features.missing(PreUpdateFunctions.option, for: feature)
        }
        if let hook = hooks.preUpdate { return hook }
        let hook = PreUpdateHook(self, functions)
        hooks.preUpdate = hook
        return hook
    }
}
