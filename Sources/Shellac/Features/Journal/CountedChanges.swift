// Keeps SQLite's counters of changed rows while the journal writes its own.

import CSQLite

/// The counters of changed rows of a connection.
///
/// The program reads them after its statement, whose transaction has already written an entry by
/// then. SQLite has a function that sets the last inserted row ID, but none for the number of
/// changes. So a statement that changes as many rows of a virtual table follows. That table
/// forgets them.
final class CountedChanges {
    private unowned(unsafe) let database: Database
    private var isInstalled = false

    /// The virtual table that rows are inserted into, and the one that provides them. (SQLite
    /// would first copy rows of the same table.)
    private static let target = "shellac_change_count"
    private static let source = "shellac_change_numbers"

    init(_ database: Database) { self.database = database }

    /// Calls a function whose statements are not counted.
    func keeping<Result>(_ body: () throws -> Result) throws -> Result {
        let pointer = database.pointer
        let (count, total) = (sqlite3_changes(pointer), sqlite3_total_changes(pointer))
        let rowID = sqlite3_last_insert_rowid(pointer)
        defer {
            restore(count)
            sqlite3_set_last_insert_rowid(pointer, rowID)
            database.unheardChangeCount += Int(sqlite3_total_changes(pointer) - total)
        }
        return try body()
    }

    /// The counters after the statement that a transaction was opened for.
    private var pinned: (count: Int32, rowID: Int64)?

    /// Calls a function that commits. When ``restorePinned()`` is called inside of it, the
    /// counters become what they are now.
    func pinning<Result>(_ commit: () throws -> Result) rethrows -> Result {
        pinned = (sqlite3_changes(database.pointer), sqlite3_last_insert_rowid(database.pointer))
        defer { pinned = nil }
        return try commit()
    }

    /// Restores the counters right before the commit. Undo may have changed them.
    func restorePinned() {
        guard let pinned else { return }
        let total = sqlite3_total_changes(database.pointer)
        restore(pinned.count)
        database.unheardChangeCount += Int(sqlite3_total_changes(database.pointer) - total)
        sqlite3_set_last_insert_rowid(database.pointer, pinned.rowID)
    }

    private func restore(_ count: Int32) {
        guard sqlite3_changes(database.pointer) != count, install() else { return }
        let sql = "INSERT INTO \(Self.target) SELECT 0 FROM \(Self.source) LIMIT ?"
        guard
            let statement = try? database.asking({ try database.cachedStatement(sql: sql).sqliteStatement })
        else { return }
        sqlite3_bind_int64(statement, 1, Int64(count))
        _ = database.asking { sqlite3_step(statement) }
        sqlite3_reset(statement)
    }

    private func install() -> Bool {
        if isInstalled { return true }
        for name in [Self.target, Self.source] {
            guard sqlite3_create_module_v2(database.pointer, name, Self.module, nil, nil) == SQLITE_OK else {
                return false
            }
        }
        isInstalled = true
        return true
    }

    /// The functions of the virtual tables, which exist without having been created. (SQLite
    /// keeps the pointer, and nothing changes the memory after its initialization.)
    private nonisolated(unsafe) static let module: UnsafeMutablePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        var functions = sqlite3_module()
        functions.xConnect = { connection, _, _, _, table, _ in
            let code = sqlite3_declare_vtab(connection, "CREATE TABLE x (value)")
            guard code == SQLITE_OK else { return code }
            let new = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
            new.initialize(to: sqlite3_vtab())
            table?.pointee = new
            return SQLITE_OK
        }
        functions.xDisconnect = { table in
            table?.deallocate()
            return SQLITE_OK
        }
        functions.xBestIndex = { _, _ in SQLITE_OK }
        functions.xOpen = { _, cursor in
            let new = UnsafeMutablePointer<sqlite3_vtab_cursor>.allocate(capacity: 1)
            new.initialize(to: sqlite3_vtab_cursor())
            cursor?.pointee = new
            return SQLITE_OK
        }
        functions.xClose = { cursor in
            cursor?.deallocate()
            return SQLITE_OK
        }
        functions.xFilter = { _, _, _, _, _ in SQLITE_OK }
        functions.xNext = { _ in SQLITE_OK }
        // It has no end: the statement says how many rows it reads.
        functions.xEof = { _ in 0 }
        functions.xColumn = { _, context, _ in
            sqlite3_result_int(context, 0)
            return SQLITE_OK
        }
        functions.xRowid = { _, rowID in
            rowID?.pointee = 0
            return SQLITE_OK
        }
        functions.xUpdate = { _, _, _, _ in SQLITE_OK }
        module.initialize(to: functions)
        return module
    }()
}
