/// The current work of a connection.
///
/// It consists of statements, functions that SQLite calls inside of them, and backups.
struct RunningStatements {
    /// The running statement whose run began last. Each one refers to the previous one, so that
    /// they can be stopped together. The caller that runs a statement retains it.
    private(set) var last: Unretained<Statement>?
    /// The number of running functions that SQLite has called.
    private(set) var functionDepth = 0
    /// The number of backups that read or write the database.
    private(set) var backupCount = 0
    /// Whether a statement runs once more, to be undone. Its effects must not be reported.
    var isRehearsal = false
    /// The error thrown by a Swift function inside the running statement.
    var functionError: FunctionError?

    // MARK: Statements

    /// Adds a running statement. Usually, it is the only one.
    mutating func add(_ statement: Statement) {
        if let last {
            linkToOthers(statement, last)
        } else {
            functionError = nil
        }
        last = Unretained(statement)
    }

    @inline(never)
    private func linkToOthers(_ statement: Statement, _ last: Unretained<Statement>) {
        statement.previousRunning = last
        last.use { $0.nextRunning = Unretained(statement) }
    }

    /// Removes a statement.
    mutating func remove(_ statement: Statement) {
        if statement.previousRunning == nil, statement.nextRunning == nil {
            last = nil
        } else {
            unlinkFromOthers(statement)
        }
    }

    @inline(never)
    private mutating func unlinkFromOthers(_ statement: Statement) {
        statement.previousRunning?.use { $0.nextRunning = statement.nextRunning }
        if let next = statement.nextRunning {
            next.use { $0.previousRunning = statement.previousRunning }
        } else {
            last = statement.previousRunning
        }
        statement.previousRunning = nil
        statement.nextRunning = nil
    }

    /// Removes all statements, because they have been stopped.
    mutating func removeAll() { last = nil }

    // MARK: Functions and backups

    /// Counts a function that SQLite calls.
    mutating func enterFunction() { functionDepth += 1 }

    mutating func leaveFunction() { functionDepth -= 1 }

    /// Stores the error of a function for the statement that fails because of it. An aggregate that
    /// cleans up after an error may throw a second one, so the first one is kept.
    mutating func fail(_ error: FunctionError) { if functionError == nil { functionError = error } }

    /// Returns the error of a function, and forgets it.
    mutating func takeFunctionError() -> FunctionError? {
        defer { functionError = nil }
        return functionError
    }

    mutating func beginBackup() { backupCount += 1 }
    mutating func endBackup() { backupCount -= 1 }
}

extension Database {
    /// The running statement whose run began last.
    var lastBegun: Unretained<Statement>? { running.last }

    /// The number of running functions that SQLite has called.
    var callbackDepth: Int { running.functionDepth }

    /// The error thrown by a Swift function inside the running statement.
    var functionError: FunctionError? {
        get { running.functionError }
        set { running.functionError = newValue }
    }
}
