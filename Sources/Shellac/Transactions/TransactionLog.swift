import CSQLite

/// What a connection knows of its transaction.
///
/// Transactions begin and end by our methods and by raw SQL alike: the log hears of each statement that opens
/// or closes a transaction or a savepoint, from the statement's effects, and believes `sqlite3_get_autocommit()`
/// rather than the statement.
///
/// SQLite ends a transaction by itself on some errors: a full disk, an I/O error, an interrupted write, a
/// conflict resolved by ROLLBACK ("Response To Errors Within A Transaction" in its documentation). What the
/// program then executes, in the belief that its transaction is open, would be committed statement by statement.
/// So the transaction is *lost*: its first error is thrown again by each statement, until the scope that opened
/// the transaction ends.
final class TransactionLog: StatementListener {
    private unowned let database: Database

    /// Whether a transaction was open after the last statement.
    private(set) var isOpen = false
    private(set) var savepoints = SavepointStack()
    /// Whether a COMMIT that runs now is ours, and rolled back when it is refused.
    var closesScope = false

    /// The statements that open and close transactions, prepared once.
    private var statements: [String: Statement] = [:]

    init(_ database: Database) { self.database = database }

    /// A statement that opens or closes a transaction.
    func statement(_ sql: String) throws -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try database.prepare(sql: sql, persistent: true)
        statements[sql] = statement
        return statement
    }

    // MARK: - Hearing of statements

    func statementWillRun(_ statement: Statement) throws -> Bool {
        guard database.lostTransaction != nil, statement.effects.transaction == .rollback else { return true }
        // SQLite has done it already, and would say that there is nothing to roll back.
        endLostTransaction()
        return false
    }

    func statementDidEnd(_ statement: Statement, error: (any Error)?) -> (any Error)? {
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        if let error {
            if isOpen, !isInside { lose(error) }
            guard isInside, !closesScope, let refusal = error as? DatabaseError else { return error }
            switch statement.effects.transaction {
            case .commit: return refusal.sayingThatTransactionIsOpen
            // The RELEASE of an outermost savepoint is a commit.
            case .release where refusal.resultCode != .SQLITE_ERROR:
                return refusal.sayingThatTransactionIsOpen
            default: return error
            }
        }
        switch statement.effects.transaction {
        case .begin: open()
        case .commit, .rollback: if !isInside { close() }
        case .savepoint(let name):
            if !isOpen { open() }
            savepoints.open(name)
        case .release(let name):
            savepoints.release(name)
            if !isInside { close() }
        case .rollbackTo(let name): savepoints.rollBack(to: name)
        case nil: break
        }
        return nil
    }

    func connectionWillClose() { statements.removeAll() }

    // MARK: - The life of a transaction

    private func open() {
        isOpen = true
        database.currentDate = nil
    }

    private func close() {
        isOpen = false
        savepoints.removeAll()
        database.currentDate = nil
    }

    /// SQLite has ended the transaction by itself.
    private func lose(_ error: any Error) {
        close()
        database.lostTransaction = error
        database.updateObstruction()
    }

    /// The scope of a lost transaction has ended.
    func endLostTransaction() {
        guard database.lostTransaction != nil else { return }
        database.lostTransaction = nil
        database.updateObstruction()
    }
}

extension Database {
    /// What this connection knows of its transaction. It is there from the opening on: see `installTransactionLog()`.
    @inline(__always)
    var transactionLog: TransactionLog {
        guard let statementListener else { return installTransactionLog() }
        return unsafeDowncast(statementListener, to: TransactionLog.self)  // nobody else fills the slot
    }

    @discardableResult
    func installTransactionLog() -> TransactionLog {
        let log = TransactionLog(self)
        statementListener = log
        return log
    }
}

extension DatabaseError {
    /// The error of a commit that leaves its transaction open.
    fileprivate var sayingThatTransactionIsOpen: DatabaseError {
        DatabaseError(
            resultCode: extendedResultCode,
            message: "\(message ?? "\(extendedResultCode)") (the transaction is still open)", sql: sql,
            arguments: arguments, publicStatementArguments: publicArguments, offset: offset)
    }
}
