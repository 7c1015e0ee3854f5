extension Statement {
    /// The error of a statement that is run twice at the same time.
    func busyError() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "the statement is running: make another for a second use at the same time", sql: sql)
    }

    /// The error of a statement that writes where nothing may be written.
    func readOnlyError() -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_READONLY, message: "attempt to write in a read-only access", sql: sql,
            arguments: boundArguments,
            publicStatementArguments: database.configuration.publicStatementArguments)
    }
}
