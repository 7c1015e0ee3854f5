// Converts between real numbers and text exactly as the running SQLite does.

import CSQLite
import Synchronization

/// Conversions between real numbers and texts by the SQLite library that the program runs with.
///
/// Versions of SQLite differ here. One prints a real number with 15 significant digits, another
/// with 17, and some read the same digits as a neighbouring number. So nothing is assumed, and
/// SQLite itself converts. It does so through a connection in memory that belongs to no database of
/// the user.
enum RunningSQLite {
    /// Returns the text that a TEXT column stores for a real number.
    static func text(of real: Double) -> String {
        let converter = takeConverter()
        defer { giveBack(converter) }
        return converter?.text(of: real) ?? "\(real)"
    }

    /// Returns the real number that a column stores for a text, which must be a number as a whole.
    static func real(of text: Substring.UTF8View) -> Double? {
        let converter = takeConverter()
        defer { giveBack(converter) }
        return converter?.real(of: text) ?? Double(Substring(text))
    }

    /// Whether a column of numbers stores a text with a NUL after a number as that number, as
    /// SQLite does from 3.53 on.
    ///
    /// The value is determined by a test, once.
    static let endsNumbersAtNUL: Bool = {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open(":memory:", &database) == SQLITE_OK else { return false }
        let sql = "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (CAST(x'3100' AS TEXT))"
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, "SELECT a FROM t", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { return false }
        return sqlite3_column_type(statement, 0) == SQLITE_INTEGER
    }()

    /// An idle converter. It is taken out of this property while in use, so that SQLite runs
    /// outside of the lock.
    private static let idle = Mutex<Converter?>(nil)

    private static func takeConverter() -> Converter? {
        let known = idle.withLock { place in
            let known = place
            place = nil
            return known
        }
        return known ?? Converter()
    }

    private static func giveBack(_ converter: Converter?) {
        guard let converter else { return }
        let isKept = idle.withLock { place in
            if place != nil { return false }
            place = converter
            return true
        }
        if !isKept { converter.close() }
    }
}

/// A statement that converts its argument.
///
/// Only one thread at a time uses it, so its pointers may be sent: see `RunningSQLite.idle`.
private struct Converter: @unchecked Sendable {
    private let connection: OpaquePointer
    private let statement: OpaquePointer

    /// Opens the connection. Fails if there is no memory for it.
    init?() {
        var (connection, statement): (OpaquePointer?, OpaquePointer?)
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(":memory:", &connection, flags, nil) == SQLITE_OK, let connection,
            sqlite3_prepare_v2(connection, "SELECT CAST(?1 AS TEXT), CAST(?1 AS REAL)", -1, &statement, nil)
                == SQLITE_OK, let statement
        else {
            sqlite3_close_v2(connection)
            return nil
        }
        (self.connection, self.statement) = (connection, statement)
    }

    func close() {
        sqlite3_finalize(statement)
        sqlite3_close_v2(connection)
    }

    func text(of real: Double) -> String? {
        sqlite3_bind_double(statement, 1, real)
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
        return sqlite3_column_text(statement, 0).map { String(cString: $0) }
    }

    func real(of text: Substring.UTF8View) -> Double? {
        var text = Substring(text)
        return text.withUTF8 { utf8 in
            _ = utf8.withMemoryRebound(to: CChar.self) { bytes in
                sqlite3_bind_text(
                    statement, 1, bytes.baseAddress, Int32(clamping: bytes.count), shellac_static())
            }
            defer {
                sqlite3_reset(statement)
                // The bytes are only valid in this function.
                sqlite3_clear_bindings(statement)
            }
            return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_double(statement, 1) : nil
        }
    }
}
