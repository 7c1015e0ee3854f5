// Turns SQLite result codes into the errors that a connection throws.

import CSQLite

// The errors that a connection throws.

extension Database {
    func error(_ code: Int32, sql: String? = nil, arguments: StatementArguments? = nil) -> DatabaseError {
        if isClosed { return closedError() }
        let error = ConnectionHandle.error(
            code, on: pointer, sql: sql, arguments: arguments,
            publicArguments: configuration.publicStatementArguments)
        guard code & 0xFF == SQLITE_BUSY, let wait = hooks.busyHandler?.takeVainWait() else { return error }
        return error.saying("another connection has kept its lock for \(wait.formattedSeconds)")
    }

    /// Returns the error to throw. A cancelled task gets its cancellation error, and not the
    /// resulting error of its statement.
    func failure(_ code: Int32, sql: String? = nil, arguments: StatementArguments? = nil) -> any Error {
        if [SQLITE_INTERRUPT, SQLITE_BUSY].contains(code & 0xFF), access.isStopped {
            return stopError
        }
        if let error = placeError(code) { return error.with(sql: sql) }
        return error(code, sql: sql, arguments: arguments)
    }

    /// Returns the error of a write that was rejected because the file has lost its name. Either
    /// Shellac has rejected it, or SQLite has.
    private func placeError(_ code: Int32) -> DatabaseError? {
        switch ResultCode(rawValue: code) {
        case .SQLITE_CONSTRAINT_COMMITHOOK: hooks.place?.refusal
        case .SQLITE_READONLY_DBMOVED:
            FilePlace.path(of: self).map { .lost(.file, of: description, at: $0) }
        default: nil
        }
    }

    /// Throws an error unless the code is `SQLITE_OK`.
    func check(_ code: Int32, sql: String? = nil) throws {
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
    }
}

extension Duration {
    /// The duration in seconds or milliseconds, formatted for error messages.
    var formattedSeconds: String {
        let milliseconds = Int64((self / .milliseconds(1)).rounded())
        let tenths = (milliseconds + 50) / 100
        return milliseconds < 1000 ? "\(milliseconds) ms" : "\(tenths / 10).\(tenths % 10) s"
    }
}
