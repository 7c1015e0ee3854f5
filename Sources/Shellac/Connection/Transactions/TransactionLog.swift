// Tracks the open transaction and its savepoints, also when SQLite itself rolls it back.

import CSQLite

/// The log of a connection's transaction.
///
/// Transactions begin and end by Shellac's methods and by raw SQL alike. The log learns of each
/// statement that opens or closes a transaction or a savepoint from the statement's effects. It
/// trusts `sqlite3_get_autocommit()` more than the statement.
///
/// SQLite ends a transaction by itself on some errors: a full disk, an I/O error, an interrupted
/// write, a conflict resolved by ROLLBACK. See "Response To Errors Within A Transaction" in its
/// documentation. The program still assumes that its transaction is open, and what it executes next
/// would be committed statement by statement. So the transaction is *lost*: its first error is
/// thrown again by each statement, until the scope that opened the transaction ends.
final class TransactionLog: TransactionFollower {
    unowned(unsafe) let database: Database  // which owns this

    /// Whether a transaction was open after the last statement.
    private(set) var isOpen = false { didSet { database.knownSchema.release() } }
    @exclusivity(unchecked) private(set) var savepoints = SavepointStack()
    /// Whether a savepoint has opened the transaction, so that its release commits.
    private(set) var isOpenedBySavepoint = false
    /// The number of times that this connection may have changed the schema, by a statement or by
    /// undoing one. While it stays the same inside one transaction, so does the schema.
    private(set) var schemaChangeCount: UInt = 0 {
        didSet {
            database.knownSchema.forget()
            database.object(in: .changes)?.object.schemaDidChange()
        }
    }
    /// Whether a schema change can still be undone.
    private var hasUncommittedSchemaChange = false
    /// The notes of the states that objects had before they were saved.
    @exclusivity(unchecked) var journal = Journal()
    /// Whether ended notes are being released.
    private var isLettingGo = false
    /// The statements that SQLite has undone outside of a transaction but lets run to their ends,
    /// with the first error.
    private var undoneStatements: [ObjectIdentifier: any Error] = [:]
    var hasUndoneStatements: Bool { !undoneStatements.isEmpty }
    /// Whether the lost transaction belongs to such a statement, inside of which a function runs.
    private var isLostWithStatement = false
    /// Whether the transaction was opened in a read-only access. The second variable is the same
    /// for the last lost one.
    private var isOpenedReadOnly = false
    private(set) var wasReadOnly = false
    /// The measurement of the open transaction, if transactions are reported.
    private var measure: TransactionMeasure?
    /// The number of open scopes of Shellac.
    var openScopes = 0
    /// Whether the running COMMIT belongs to Shellac, and is rolled back when it is refused.
    var closesScope = false

    /// Whether the program has not asked for the transaction, so that its end needs no handlers.
    var isReadingOneState = false

    /// The error message for a statement that begins or ends a transaction, while an outer scope
    /// must end this one.
    var refusal: String?

    @exclusivity(unchecked) private var statements = TransactionStatements()

    init(_ database: Database) { self.database = database }

    /// Executes a statement that opens or closes a transaction.
    func execute(_ statement: TransactionStatement) throws {
        try statements.prepared(statement, on: database).execute()
    }

    /// Refuses further statements in the transaction, and its commit: a part of it that failed
    /// could not be rolled back alone.
    func refuseToGoOn(_ error: any Error) { if isOpen { database.lostTransaction = error } }

    // MARK: - Notifications of statements

    override func statementWillRun(_ statement: Statement) throws {
        guard let refusal else { return }
        switch statement.effects.transaction {
        case .begin, .commit, .rollback:
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: refusal, sql: statement.sql)
        case .savepoint, .release, .rollbackTo, nil: break
        }
    }

    override func answers(for statement: Statement) -> Bool {
        guard database.lostTransaction != nil, statement.effects.transaction == .rollback,
            sqlite3_get_autocommit(database.pointer) != 0
        else { return false }
        // SQLite has rolled back already, and would report that there is nothing to roll back. In a
        // scope of Shellac, the statements that follow must not run outside of a transaction. So
        // only the end of the scope ends the lost transaction.
        if openScopes == 0 { endLostTransaction() }
        return true
    }

    override func statementDidEnd(_ statement: Statement, error failure: (any Error)?) -> (any Error)? {
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        noteSchemaChange(by: statement, failed: failure != nil, isInside: isInside)
        let isLost = failure != nil && isOpen && !isInside
        var error = failure
        if database.owed.contains(.nestedStatementDidEnd) {
            let loss = takeLoss(of: statement)
            if error == nil { error = loss }
            if !isLost { endNotes(mayBeUndone: error != nil && !statement.isReadonly) }
        }
        if let error {
            if isLost { tellOfEnd(.rollback, by: statement, error: error) }
            if isLost { lose(error) } else if failure != nil, !isInside { loseOthers(error) }
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
        case .begin: open(by: statement)
        case .commit: if !isInside { close(by: statement) }
        case .rollback:
            guard !isInside else { break }
            tellOfEnd(.rollback, by: statement)
            rollBackAndClose()
            if openScopes == 0 { endLostTransaction() }
        case .savepoint(let name):
            if !isOpen {
                open(by: statement)
                isOpenedBySavepoint = true
            }
            savepoints.open(name)
            journal.beginMoment()
        case .release(let name):
            savepoints.release(name)
            if !isInside { close(by: statement) }
        case .rollbackTo(let name):
            // (The log has no savepoint that the C interface opened.)
            guard let number = savepoints.number(of: name) else { break }
            savepoints.rollBack(to: name)
            playBack(since: number)
        case nil: break
        }
        return nil
    }

    /// Whether one savepoint is open, and has opened the transaction.
    var hasBegunBySavepoint: Bool { isOpenedBySavepoint && savepoints.outermost == savepoints.innermost }

    /// Whether a statement that is about to run commits the transaction.
    func isCommit(_ statement: Statement) -> Bool {
        switch statement.effects.transaction {
        case .commit: true
        case .release(let name): isCommit(releasing: name)
        case .begin, .rollback, .savepoint, .rollbackTo, nil: false
        }
    }

    /// Whether the release of a savepoint commits the transaction.
    func isCommit(releasing name: String) -> Bool {
        isOpenedBySavepoint && savepoints.number(of: name) == savepoints.outermost
    }

    /// Handles the end of a statement, which may have been stopped. Returns the error that has
    /// undone it before, if any.
    override func takeLoss(of statement: Statement) -> (any Error)? {
        let undone =
            undoneStatements.isEmpty ? nil : undoneStatements.removeValue(forKey: ObjectIdentifier(statement))
        // (A statement that begins or ends a transaction or a savepoint gets no such error.)
        let loss = statement.effects.transaction == nil ? undone ?? database.lostTransaction : nil
        // Statements that ran in a function have ended with it.
        if isLostWithStatement, database.callbackDepth == 0 { endLostTransaction() }
        return loss
    }

    override func autocommitStatementDidEnd() { if !journal.isEmpty { journal.removeAll() } }

    /// Counts a statement that changes the schema, even if it failed: functions called inside it
    /// may have seen its work. A change is counted again when it may have been undone, by a
    /// rollback, or by the failure of a statement around it.
    private func noteSchemaChange(by statement: Statement, failed: Bool, isInside: Bool) {
        if statement.effects.changesSchema {
            schemaChangeCount &+= 1
            hasUncommittedSchemaChange = true
            database.resolveNamesAgain()
        } else if statement.effects.changesRules {
            schemaChangeCount &+= 1
        } else if hasUncommittedSchemaChange, failed || statement.effects.transaction?.undoes == true {
            schemaChangeCount &+= 1
        }
        if !isInside, database.lastBegun == nil { hasUncommittedSchemaChange = false }
    }

    override func connectionWillClose() {
        statements = TransactionStatements()
        journal.removeAll()
        releaseDeferred()
    }

    override func rollBackLate() { try? database.rollback() }

    override func releaseDeferred() {
        if journal.hasDepartures { letGoOfDepartures() }
    }

    /// Releases ended notes. The `deinit` of their objects may end other notes, released here, too.
    /// So objects that refer to each other only by their notes are freed one after the other.
    @inline(never)
    private func letGoOfDepartures() {
        guard !isLettingGo else { return }
        isLettingGo = true
        defer { isLettingGo = false }
        while journal.hasDepartures {
            var notes = journal.takeDepartures()
            notes.removeAll(keepingCapacity: true)
            journal.keepMemory(notes)
        }
    }

    // MARK: - The life of a transaction

    private func open(by statement: Statement) {
        isOpen = true
        isOpenedBySavepoint = false
        isOpenedReadOnly = database.isReadOnlyScope
        if database.reporter != nil { measure = TransactionMeasure(begunBy: statement) }
        database.currentDate = nil
        // Earlier saves are committed, unless a statement still writes, which this could undo.
        if !journal.isEmpty, database.callbackDepth == 0 || !isWriting { journal.removeAll() }
    }

    /// Whether a statement is running that writes.
    private var isWriting: Bool {
        var running = database.lastBegun
        while let statement = running {
            let writes = statement.use { statement in
                running = statement.previousRunning
                return !statement.isReadonly && statement.effects.transaction == nil
            }
            if writes { return true }
        }
        return false
    }

    private func close(by statement: Statement) {
        tellOfEnd(.commit, by: statement)
        isOpen = false
        savepoints.removeAll()
        database.currentDate = nil
        if !journal.isEmpty { journal.removeAll() }
    }

    /// Reports the end of the transaction, if transactions are reported.
    private func tellOfEnd(
        _ completion: TransactionCompletion, by statement: Statement, error: (any Error)? = nil
    ) {
        guard let measure else { return }
        self.measure = nil
        database.report(
            .transaction(
                measure.end(completion, by: statement, error: error, isReadOnly: isOpenedReadOnly)))
    }

    private func rollBackAndClose() {
        let hasNotes = !journal.isEmpty
        isOpen = false
        savepoints.removeAll()
        database.currentDate = nil
        if hasNotes { playBack(since: nil) }
    }

    /// Notes that SQLite has ended the transaction by itself.
    private func lose(_ error: any Error) {
        wasReadOnly = isOpenedReadOnly && database.isReadOnlyScope
        // First: restored objects may run code, whose writes must not be committed.
        database.lostTransaction = error
        // The statements around this one may run to their ends, as if they had written something.
        if database.callbackDepth > 0 { database.owed.insert(.nestedStatementDidEnd) }
        database.object(in: .changes)?.object.changesWereLost(isTransaction: true)
        rollBackAndClose()
    }

    /// Ends the scope of a lost transaction.
    func endLostTransaction() {
        guard database.lostTransaction != nil else { return }
        isLostWithStatement = false
        database.lostTransaction = nil
        database.object(in: .schema)?.object.lostTransactionDidEnd()
    }
}

// MARK: - Statements undone by other ones

extension TransactionLog {
    /// Gives up the statements that still run when one outside of a transaction has failed and
    /// rolled back (OR ROLLBACK, a full disk). To SQLite, all of them are one transaction, but it
    /// lets them run to their ends.
    ///
    /// Further writes of their functions are refused, as in a lost transaction.
    private func loseOthers(_ error: any Error) {
        guard !isOpen, sqlite3_txn_state(database.pointer, nil) != SQLITE_TXN_WRITE else { return }
        var isAlone = true
        var running = database.lastBegun
        while let statement = running {
            statement.use { statement in
                let identifier = ObjectIdentifier(statement)
                if statement.phase == .running, !statement.effects.writes.isEmpty,
                    undoneStatements[identifier] == nil
                {
                    undoneStatements[identifier] = error
                    isAlone = false
                }
                running = statement.previousRunning
            }
        }
        guard !isAlone else { return }
        database.owed.insert(.nestedStatementDidEnd)
        if database.callbackDepth > 0, database.lostTransaction == nil {
            isLostWithStatement = true
            database.lostTransaction = error
        }
        database.object(in: .changes)?.object.changesWereLost(isTransaction: false)
        rollBackAndClose()
    }
}

extension StatementEffects.Transaction {
    /// Whether the transaction was committed, if the statement has ended it.
    var commits: Bool {
        switch self {
        case .commit, .release: true
        case .begin, .rollback, .savepoint, .rollbackTo: false
        }
    }

    /// Whether the statement undoes changes.
    var undoes: Bool {
        switch self {
        case .rollback, .rollbackTo: true
        case .begin, .commit, .savepoint, .release: false
        }
    }
}

extension DatabaseError {
    /// The error of a commit that leaves its transaction open.
    fileprivate var sayingThatTransactionIsOpen: DatabaseError { saying("the transaction is still open") }
}
