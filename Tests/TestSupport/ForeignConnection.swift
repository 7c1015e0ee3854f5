import CSQLite
import Shellac

enum SQLite {
    /// Lets Shellac be the first in the process to use SQLite: only then does SQLite report errors
    /// to its log.
    static func beginWithShellac() { _ = first }
    private static let first = try? DatabaseQueue()
}

/// A connection of a program without Shellac. It copies no log by itself, and waits for no other
/// connection.
public final class ForeignConnection: @unchecked Sendable {  // SQLite's own mutexes guard it
    private let pointer: OpaquePointer

    /// An error of SQLite.
    public struct Failure: Error {
        public let code: Int32
        public let message: String
    }

    /// Opens a file that is there.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - vfs: The name of the VFS, or nil for that of the system.
    public init(path: String, vfs: String? = nil) throws {
        SQLite.beginWithShellac()
        var pointer: OpaquePointer?
        let code = sqlite3_open_v2(path, &pointer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, vfs)
        guard code == SQLITE_OK, let pointer else { throw Failure(code: code, message: "cannot open") }
        self.pointer = pointer
        try execute("PRAGMA wal_autocheckpoint = 0")
        _ = try integer("SELECT COUNT(*) FROM sqlite_master")
    }

    deinit { sqlite3_close_v2(pointer) }

    public func execute(_ sql: String) throws {
        let code = sqlite3_exec(pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs a statement that returns one integer.
    public func integer(_ sql: String) throws -> Int {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_prepare_v2(pointer, sql, -1, &statement, nil)
        if code == SQLITE_OK { code = sqlite3_step(statement) }
        guard code == SQLITE_ROW else { throw failure(code) }
        return Int(sqlite3_column_int64(statement, 0))
    }

    /// Copies what can be copied of the log. Returns the frames that it has, and how many of them
    /// are copied.
    @discardableResult
    public func checkpoint() throws -> (frames: Int, copied: Int) {
        var (frames, copied): (Int32, Int32) = (-1, -1)
        let code = sqlite3_wal_checkpoint_v2(pointer, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &copied)
        guard code == SQLITE_OK else { throw failure(code) }
        return (Int(frames), Int(copied))
    }

    private func failure(_ code: Int32) -> Failure {
        Failure(code: code, message: String(cString: sqlite3_errmsg(pointer)))
    }
}
