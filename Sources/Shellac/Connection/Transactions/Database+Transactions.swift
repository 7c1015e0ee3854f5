// Transactions, savepoints and read-only scopes, and the checks at the end of an access.

import CSQLite

extension Database {
    // MARK: - Transactions

    /// Runs operations inside a transaction.
    ///
    /// ```swift
    /// try dbQueue.inDatabase { db in
    ///     try db.inTransaction {
    ///         try db.execute(sql: "UPDATE account SET balance = balance - 100 WHERE id = 1")
    ///         try db.execute(sql: "UPDATE account SET balance = balance + 100 WHERE id = 2")
    ///         return .commit
    ///     }
    /// }
    /// ```
    ///
    /// If the operations throw, the transaction is rolled back, and the error is thrown. If the
    /// commit fails, the transaction is rolled back, too, and the commit's error is thrown. SQLite
    /// has no nested transactions: inside of one, use ``inSavepoint(_:)``.
    ///
    /// - Parameters:
    ///   - kind: The kind of the transaction, which determines when it takes its locks;
    ///     ``Configuration/defaultTransactionKind`` if nil.
    ///   - operations: The function that runs in the transaction. It returns whether to commit or
    ///     to roll back.
    /// - Throws: Errors of the operations, and the error of a commit that fails. Inside of a
    ///   transaction, a ``DatabaseError``.
    public func inTransaction(
        _ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion
    ) throws {
        try transaction(kind) { ((), try operations()) }
    }

    /// Runs operations inside a transaction, and returns their result.
    func transaction<Result>(
        _ kind: TransactionKind?, _ operations: () throws -> (Result, TransactionCompletion)
    ) throws -> Result {
        try beginTransaction(kind)
        let log = transactionLog
        log.openScopes += 1
        defer {
            log.openScopes -= 1
            log.endLostTransaction()
        }
        do {
            let (result, completion) = try operations()
            if let lostTransaction { throw lostTransaction }
            guard log.isOpen else { return result }  // raw SQL has ended it
            switch completion {
            case .commit:
                log.closesScope = true
                defer { log.closesScope = false }
                try commit()
            case .rollback: try rollback()
            }
            return result
        } catch {
            // The first error is the one to throw. A refused commit has left the transaction open.
            if log.isOpen { try? rollback() }
            throw error
        }
    }

    /// Runs statements that read, so that all of them see one state of the database.
    func readingOneState<Result>(_ read: () throws -> Result) throws -> Result {
        // First runs pending end-of-transaction handlers: they may write.
        if owed.contains(.statementWillBegin), !isClosed { object(in: .changes)?.object.statementWillBegin() }
        // A running statement that writes has a transaction of its own.
        if isInsideTransaction || !isClosed && sqlite3_txn_state(pointer, nil) == SQLITE_TXN_WRITE {
            return try read()
        }
        // Its end is not reported to handlers. A handler that reads at the end of a transaction
        // would otherwise cause the next call, without an end.
        return try readOnly {
            let log = transactionLog
            log.isReadingOneState = true
            defer { log.isReadingOneState = false }
            return try transaction(.deferred) { (try read(), .commit) }
        }
    }

    /// Runs operations of an open transaction that they must not end. They may use savepoints.
    ///
    /// - Parameter refusal: The message of the error for a statement that begins, commits or rolls
    ///   back.
    func keepingTransactionOpen<Result>(
        refusal: String, _ operations: () throws -> Result
    ) rethrows -> Result {
        let log = transactionLog
        let outer = log.refusal
        log.refusal = refusal
        defer { log.refusal = outer }
        return try operations()
    }

    /// Runs operations inside a savepoint: a part of a transaction that can be rolled back alone.
    ///
    /// Outside of a transaction, this opens one, as ``inTransaction(_:_:)`` does.
    ///
    /// ```swift
    /// try db.inSavepoint {
    ///     try db.execute(sql: "DELETE FROM player")
    ///     return .rollback
    /// }
    /// ```
    ///
    /// - Parameter operations: The function that runs in the savepoint. It returns whether to keep
    ///   the savepoint or to roll it back.
    /// - Throws: Errors of the operations, once the savepoint is rolled back.
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {
        guard isInsideTransaction || lostTransaction != nil else { return try inTransaction(nil, operations) }
        let log = transactionLog
        try log.execute(.savepoint)
        guard let savepoint = log.savepoints.innermost else { return }
        do {
            let completion = try operations()
            if let lostTransaction { throw lostTransaction }
            try endSavepoint(savepoint, completion)
        } catch {
            do { try endSavepoint(savepoint, .rollback) } catch let failure {
                // (A cancelled access cannot go on anyway.)
                if !access.isStopped, log.savepoints.contains(savepoint) { log.refuseToGoOn(failure) }
            }
            throw error
        }
    }

    /// Ends a savepoint of Shellac, unless raw SQL has ended it.
    private func endSavepoint(_ savepoint: Int, _ completion: TransactionCompletion) throws {
        let log = transactionLog
        guard log.savepoints.contains(savepoint) else { return }
        // Raw SQL may have left savepoints open that have the same name.
        while log.savepoints.number(of: TransactionStatement.savepointName) != savepoint {
            try executeDespiteInterrupt(.release)
        }
        if completion == .rollback { try executeDespiteInterrupt(.rollbackTo) }
        try executeDespiteInterrupt(.release)
    }

    // MARK: - Step by step

    /// Begins a transaction. Prefer ``inTransaction(_:_:)``, which cannot be left open.
    ///
    /// - Parameter kind: The kind of the transaction, which determines when it takes its locks. If
    ///   nil, it is ``Configuration/defaultTransactionKind``, or `.deferred` in a read-only scope.
    /// - Throws: A ``DatabaseError`` if a transaction is open already, or if another connection
    ///   holds a lock that this one takes.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        checkAccess()
        // A read-only access cannot take the locks of a writer.
        let kind = kind ?? (isReadOnlyScope ? .deferred : configuration.defaultTransactionKind)
        try withTransactionLog { try $0.execute(TransactionStatement(beginning: kind)) }
    }

    /// Commits the transaction.
    ///
    /// - Throws: A ``DatabaseError`` if SQLite refuses: the transaction is then still open.
    public func commit() throws {
        checkAccess()
        try withTransactionLog { try $0.execute(.commit) }
    }

    /// Rolls the transaction back.
    ///
    /// It is no error to roll back a transaction that SQLite has already rolled back by itself.
    ///
    /// - Throws: A ``DatabaseError`` outside of a transaction.
    public func rollback() throws {
        checkAccess()
        try executeDespiteInterrupt(.rollback)
    }

    /// Executes a statement that rolls something back, or closes a savepoint.
    private func executeDespiteInterrupt(_ statement: TransactionStatement) throws {
        do {
            try transactionLog.execute(statement)
        } catch {
            // An interrupt lasts as long as a statement runs. It stops this statement, too, even
            // its preparation. So stop the other statements.
            guard isInsideTransaction, isInterrupt(error) else { throw error }
            Statement.stopAll(on: self, atEndOfAccess: false)
            try transactionLog.execute(statement)
        }
    }

    /// Whether an error means that the running work was cancelled or interrupted.
    func isInterrupt(_ error: any Error) -> Bool {
        error is CancellationError || (error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT
    }

    // MARK: - Scopes

    /// Runs operations in a read-only scope: every statement that writes throws `SQLITE_READONLY`.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     let report = try db.readOnly { try makeReport(db) }
    ///     try db.execute(sql: "INSERT INTO report (text) VALUES (?)", arguments: [report])
    /// }
    /// ```
    ///
    /// - Parameter operations: The function that runs in the scope, immediately. It may nest such
    ///   scopes.
    public func readOnly<Result>(_ operations: () throws -> Result) rethrows -> Result {
        checkAccess()
        let outer = isReadOnlyScope
        isReadOnlyScope = true
        defer { isReadOnlyScope = outer }
        return try operations()
    }

    /// Ends an access, at which no transaction may be open. An open one is rolled back. The error
    /// of a lost one is thrown, not ignored.
    @inline(__always)
    func endAccess() throws {
        let log = transactionLog
        // A cursor that outlives its access must not hold SQLite's locks.
        if lastBegun != nil { Statement.stopAll(on: self, atEndOfAccess: true) }
        // A commit was refused inside of a scope that held the log.
        defer { if let place = hooks.place, place.owesEmptyLog, !isClosed { place.emptyLogs(self) } }
        // The failure belongs to this access: the next one must not get it, whatever is thrown
        // here.
        defer { _ = transactionState.takeCommitFailure() }
        defer {
            if owed.contains(.accessWillEnd), !isClosed, !log.isOpen {
                object(in: .schema)?.object.accessWillEnd()
            }
        }
        if isKeptForAccess { releaseKept() }
        if let lostTransaction {
            log.endLostTransaction()
            if log.isOpen { try? closeForgottenTransaction() }
            throw lostTransaction
        }
        // The C interface opens transactions without the log's knowledge.
        endUnheardCommit()
        if log.isOpen || !isClosed && sqlite3_get_autocommit(pointer) == 0 {
            if configuration.allowsUnsafeTransactions { return }
            try closeForgottenTransaction()
        }
        // These notes belong to changes that the C interface has committed.
        if !log.journal.isEmpty { try dropNotes(log) }
        if statementCache.mayHoldLargeValues { releaseLargeArguments() }
        indexAdvisor?.accessWillEnd(self)
        if let failure = transactionState.takeCommitFailure() { throw failure }
    }

    @inline(never)
    private func dropNotes(_ log: TransactionLog) throws {
        log.journal.removeAll()
        log.releaseDeferred()
        if log.isOpen { try closeForgottenTransaction() }
    }

    @inline(never)
    private func closeForgottenTransaction() throws {
        // Objects that are freed by a rollback may leave another transaction open.
        var attempts = 0
        var failure: (any Error)?
        repeat {
            do { try rollback() } catch { failure = error }
            attempts += 1
        } while transactionLog.isOpen && attempts < 100
        if transactionLog.isOpen, let failure {
            deferredCleanups.add(.rollBack(transactionLog))
            throw failure
        }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "a transaction was still open at the end of an access to \(description), and was "
                + "rolled back: commit it inside the access, or use write or inTransaction, which commit it")
    }
}
