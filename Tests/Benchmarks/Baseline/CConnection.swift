import CSQLite

/// A connection of the baseline: SQLite by its C API, without a mutex, as in Shellac's own
/// connections.
final class CConnection {
    let pointer: OpaquePointer

    /// Opens a file, or a database in memory.
    init(_ path: String = ":memory:") throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw CError(code: code, message: "cannot open \(path)")
        }
        pointer = opened
    }

    deinit { sqlite3_close_v2(pointer) }

    func execute(_ sql: String) throws {
        let code = sqlite3_exec(pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw CError(code: code, message: message) }
    }

    func prepare(_ sql: String) throws -> CStatement {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw CError(code: code, message: message) }
        return CStatement(prepared, of: self)
    }

    /// Returns the integer that a query returns, such as the checksum of a table.
    func integer(_ sql: String) throws -> UInt64 {
        let statement = try prepare(sql)
        defer { statement.reset() }
        guard try statement.step() else { return 0 }
        return UInt64(truncatingIfNeeded: statement.int(0))
    }

    /// The row id of the last insertion.
    @inline(__always)
    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(pointer) }

    private var message: String { String(cString: sqlite3_errmsg(pointer)) }
}

struct CError: Error, CustomStringConvertible {
    let code: Int32
    let message: String
    var description: String { "SQLite \(code): \(message)" }
}
