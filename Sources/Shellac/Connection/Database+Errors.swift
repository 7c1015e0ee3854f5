import CSQLite

// The errors that a connection throws.

extension Database {
    func error(_ code: Int32, sql: String? = nil, arguments: StatementArguments? = nil) -> DatabaseError {
        if isClosed { return closedError() }
        return ConnectionHandle.error(
            code, on: pointer, sql: sql, arguments: arguments,
            publicArguments: configuration.publicStatementArguments)
    }

    /// Returns the error to throw: a cancelled task hears that it was cancelled, and not what its statement made of it.
    func failure(_ code: Int32, sql: String? = nil, arguments: StatementArguments? = nil) -> any Error {
        if [SQLITE_INTERRUPT, SQLITE_BUSY].contains(code & 0xFF), access.isCancelled {
            return CancellationError()
        }
        return error(code, sql: sql, arguments: arguments)
    }

    /// Throws unless the code says that all is well.
    func check(_ code: Int32, sql: String? = nil) throws {
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
    }
}
