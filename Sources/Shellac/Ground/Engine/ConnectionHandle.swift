// Owns an sqlite3 pointer: opens and closes it, and explains why opening failed.

import CSQLite

/// The owner of one `sqlite3 *`.
///
/// The handle is opened without SQLite's own mutexes, since only one access at a time uses it (see
/// "Using SQLite In Multi-Threaded Applications": multi-thread mode).
struct ConnectionHandle: ~Copyable {
    let pointer: OpaquePointer

    /// Opens a connection.
    ///
    /// - Parameter vfs: The name of the VFS that opens the file, or nil for the system's VFS.
    /// - Throws: a ``DatabaseError`` that names the path and the reason.
    init(path: String, flags: Int32, vfs: String? = nil) throws {
        guard !path.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "there is a NUL character in the path of the database")
        }
        if let vfs, vfs.utf8.contains(0) || sqlite3_vfs_find(vfs) == nil {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: OpeningFailure.message(
                    path: path, vfs: vfs, code: SQLITE_CANTOPEN, reason: OpeningFailure.noVFS(vfs)))
        }
        var pointer: OpaquePointer?
        let code = sqlite3_open_v2(path, &pointer, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, vfs)
        guard code == SQLITE_OK, let pointer else {
            let extendedCode = pointer.map { sqlite3_extended_errcode($0) } ?? code
            let systemError = pointer.map { sqlite3_system_errno($0) } ?? 0
            let message = pointer.flatMap { sqlite3_errmsg($0) }.map(String.init(cString:))
            sqlite3_close_v2(pointer)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: extendedCode),
                message: OpeningFailure.message(
                    path: path, vfs: vfs, code: extendedCode, reason: message ?? "out of memory",
                    systemError: systemError))
        }
        self.pointer = pointer
        sqlite3_extended_result_codes(pointer, 1)
        if flags & SQLITE_OPEN_READWRITE != 0, Features.hasLogResetFault {
            LogResetGuard.install(on: pointer)
        }
    }

    /// Returns the last error of a connection as a Swift error.
    static func error(
        _ code: Int32, on pointer: OpaquePointer, sql: String?, arguments: StatementArguments?,
        publicArguments: Bool
    ) -> DatabaseError {
        // The message belongs to the connection's last error, so only use it if the codes agree.
        let isLast = sqlite3_extended_errcode(pointer) == code || sqlite3_errcode(pointer) == code
        let message = isLast ? sqlite3_errmsg(pointer).map { SQLiteMessage.plain(String(cString: $0)) } : nil
        // SQLite keeps the offset of an earlier syntax error.
        let offset = isLast && code == SQLITE_ERROR ? Features.errorOffset.map { Int($0(pointer)) } : nil
        return DatabaseError(
            resultCode: ResultCode(rawValue: code), message: message, sql: sql, arguments: arguments,
            publicStatementArguments: publicArguments, offset: offset.flatMap { $0 < 0 ? nil : $0 })
    }

    /// Clears an interruption that came while no statement was running. SQLite clears it when it
    /// prepares the next statement. Otherwise, it would stop SQLite from copying the log when the
    /// connection is closed, and the log would remain.
    private func forgetInterruption() {
        sqlite3_set_authorizer(pointer, nil, nil)
        var statement: OpaquePointer?
        sqlite3_prepare_v2(pointer, "SELECT 1", -1, &statement, nil)
        sqlite3_finalize(statement)
    }

    deinit {
        forgetInterruption()
        // If a statement outlives the connection, SQLite closes the file once the statement is
        // finalized.
        sqlite3_close_v2(pointer)
    }
}

/// The reason why a database could not be opened, in a form that helps to fix it.
enum OpeningFailure {
    static func message(
        path: String, vfs: String?, code: Int32, reason: String, systemError: Int32 = 0
    ) -> String {
        let place = path.isEmpty ? "a temporary database" : "the database at \(path)"
        // Other codes are more precise than the file system's reason, and a custom VFS has its
        // files elsewhere.
        let asksFileSystem =
            vfs == nil && [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY].contains(code & 0xFF)
        let explanation = asksFileSystem ? explanation(path: path, systemError: systemError) : nil
        return "could not open \(place): \(explanation ?? reason)"
    }

    /// Returns the reason why an unknown VFS cannot open anything.
    static func noVFS(_ name: String) -> String {
        "no VFS is registered with the name \(name): first load the extension that provides it, with "
            + "Database.loadExtension"
    }

    private static func explanation(path: String, systemError: Int32) -> String? {
        guard !path.isEmpty, path != ":memory:" else { return nil }
        guard !path.hasPrefix("file:") else { return systemError == 0 ? nil : text(systemError) }
        var status = stat()
        if stat(path, &status) == 0 {
            if shellac_is_folder(status.st_mode) { return "it is a folder" }
            if access(path, R_OK) != 0 { return "no permission to read it (\(text(shellac_errno())))" }
            if access(path, W_OK) != 0 { return "no permission to write it (\(text(shellac_errno())))" }
        } else {
            let folder =
                path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            if stat(folder, &status) != 0 { return "the folder \(folder) does not exist" }
            if !shellac_is_folder(status.st_mode) { return "\(folder) is not a folder" }
            if access(folder, W_OK) != 0 {
                return "there is no such file, and it cannot be created in \(folder) "
                    + "(\(text(shellac_errno())))"
            }
        }
        return systemError == 0 ? nil : text(systemError)
    }

    private static func text(_ error: Int32) -> String { String(cString: strerror(error)) }
}
