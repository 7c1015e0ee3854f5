// The errors of a statement: used while it runs, a write in a read-only access, a failed step.

import CSQLite

extension Statement {
    /// Returns the error of a statement that is run while it is already running.
    func busyError() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "the statement is running: make another for a second use at the same time", sql: sql)
    }

    /// Returns the error of a statement that writes in a read-only scope.
    func readOnlyError() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_READONLY, message: "attempt to write in a read-only access", sql: sql,
            arguments: boundArguments,
            publicStatementArguments: database.configuration.publicStatementArguments)
    }
}

extension Statement {
    /// Returns the error of a step, or of a reset.
    func failure(_ code: Int32) -> any Error {
        if let lostTransaction = database.lostTransaction { return lostTransaction }
        if let failed = database.running.takeFunctionError() {
            // SQLite may have failed itself, and the function only when it had to clean up.
            let message = sqlite3_errmsg(database.pointer).map { String(cString: $0) } ?? ""
            if message == String(decoding: failed.message.utf8.prefix { $0 != 0 }, as: UTF8.self) {
                guard let error = failed.error as? DatabaseError else { return failed.error }
                return error.with(
                    sql: sql, arguments: boundArguments,
                    publicStatementArguments: database.configuration.publicStatementArguments)
            }
        }
        return database.failure(code, sql: sql, arguments: boundArguments)
    }
}
