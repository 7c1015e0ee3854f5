/// The work that is running on a connection: statements, functions that SQLite has called inside of them, and backups.
struct RunningStatements {
    /// The statement whose run began last, of those that run. Each knows the one before it, so that they can be stopped
    /// together. Whoever runs a statement holds it.
    private(set) var last: Unretained<Statement>?
    /// How many functions called by SQLite are running.
    private(set) var functionDepth = 0
    /// The number of backups that read or write the database.
    private(set) var backupCount = 0
    /// Whether a statement runs once more, to be undone: what it calls is not to be told.
    var isRehearsal = false
    /// The error thrown by a Swift function inside the running statement.
    var functionError: FunctionError?

    // MARK: Statements

    /// Puts a statement among those that run. Mostly, it is alone.
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

    /// Takes a statement out.
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

    /// Takes all statements out: they have been stopped.
    mutating func removeAll() { last = nil }

    // MARK: Functions and backups

    /// Counts a function that SQLite calls.
    mutating func enterFunction() { functionDepth += 1 }

    mutating func leaveFunction() { functionDepth -= 1 }

    /// Leaves the error of a function for the statement that fails of it. An aggregate that cleans up after an error may
    /// throw a second one: the first one is to be thrown.
    mutating func fail(_ error: FunctionError) { if functionError == nil { functionError = error } }

    /// Takes the error of a function.
    mutating func takeFunctionError() -> FunctionError? {
        defer { functionError = nil }
        return functionError
    }

    mutating func beginBackup() { backupCount += 1 }
    mutating func endBackup() { backupCount -= 1 }
}

extension Database {
    /// The statement whose run began last, of those that run.
    var lastBegun: Unretained<Statement>? { running.last }

    /// The number of functions called by SQLite that are running.
    var callbackDepth: Int { running.functionDepth }

    /// The error thrown by a Swift function inside the running statement.
    var functionError: FunctionError? {
        get { running.functionError }
        set { running.functionError = newValue }
    }
}
