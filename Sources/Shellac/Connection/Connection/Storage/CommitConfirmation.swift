// Confirms each commit by reading it back from storage, in case another machine took over.

import CSQLite

/// Asks the storage after each commit whether it still has the commit.
///
/// A connection may wrongly believe that it holds the lock of a database. This happens if its
/// process was stopped for longer than the lock lasts, and another machine has taken over. From
/// then on, the storage refuses the connection's writes. If the storage's client does not report
/// this to SQLite, SQLite reports a lost commit as successful. The storage refuses reads, too, and
/// these failures are reported.
///
/// ## The life of a commit
///
/// 1. SQLite calls the commit hook inside of a statement. The databases with a write transaction
///    are noted: they are *due*. The transaction handlers have received the coming commit, and did
///    not veto it.
/// 2. SQLite commits, and calls the hook of the write-ahead log with the number of frames. The last
///    frame ends the commit.
/// 3. The statement ends: a step has returned no more rows, or the statement was reset. Before
///    anything reports this end, the files that contain the commit are read. In WAL mode, this is
///    the header of the last frame. In other modes, it is the journal, if there is one, and the
///    main file. None of this comes from SQLite's cache.
/// 4. If a read fails, the statement fails with an error that leaves the outcome unknown.
///    Transaction and change handlers treat it like a transaction that SQLite has ended itself. The
///    coming commit that they received becomes a rollback.
/// 5. The connection is refused for good, and so are the others of its group: see
///    ``ConnectionGroup/refuse(_:)``. Closing it leaves the log unchanged, which may belong to
///    another machine by now.
///
/// If SQLite itself reports that the storage has failed a commit, the outcome is unknown, too. The
/// log may contain it for a machine that takes over. The storage is asked in the same way, and if
/// it answers, the connection remains usable.
///
/// VACUUM and some pragmas commit without calling that hook, and so do backups. After these, all
/// databases are due. SQLite also delays its call of the log hook if a statement commits while it
/// is reset. It makes the call at the end of the next statement, so this class then runs one.
///
/// A connection that does not confirm commits has none of this: neither the hooks, nor a check at
/// the end of a statement.
final class CommitConfirmation {
    /// The databases with a commit to confirm, with the number of frames in their logs, if it was
    /// reported.
    private var due: [String: Int32?] = [:]
    /// The error of a commit that the storage has refused. Every statement throws it until the
    /// connection is closed.
    var refusal: DatabaseError?
    /// Whether the due databases are unknown.
    private var isUnknown = false
    /// Whether another hook has replaced the log hook, and got its calls.
    private var isSilent = false
    /// The page sizes of the databases, from the headers of their logs.
    private var pageSizes: [String: Int64] = [:]
    /// The number of frames at which to copy the log. SQLite's own log hook, which this one
    /// replaces, would do so.
    fileprivate var frameCountToCopyAt: Int32 = 0

    /// Handles the commit hook: SQLite is about to commit.
    func commitWillBegin(_ database: Database) {
        guard let names = database.namesOfDatabases else {
            isUnknown = true
            return
        }
        for name in names where sqlite3_txn_state(database.pointer, name) == SQLITE_TXN_WRITE {
            due[name] = .some(nil)
        }
    }

    /// Handles a commit that SQLite has made without calling its hook.
    func commitDidEnd(_ database: Database) {
        let names = database.namesOfDatabases ?? database.namesByStatement
        for name in names where due[name] == nil { due[name] = .some(nil) }
    }

    /// Whether SQLite has begun a commit that is not yet confirmed.
    var isDue: Bool { !due.isEmpty || isUnknown }

    /// Forgets a commit, because it is confirmed, or because SQLite has reported its failure.
    func forget() {
        if isDue { due.removeAll(keepingCapacity: true) }
        isUnknown = false
    }

    /// Handles the log hook: a log has the given number of frames.
    func hear(_ frames: Int32, of name: UnsafePointer<CChar>) {
        due[String(cString: name)] = .some(frames)
    }

    /// Reads the commits back. Returns the code of the read that failed, if any.
    func confirm(_ database: Database) -> Int32? {
        if isUnknown { commitDidEnd(database) }
        if due.isEmpty { return nil }
        defer { forget() }
        isSilent = due.contains { $0.value == nil } && hasOpenLog(database) && !database.hearOfLogs()
        for (name, frames) in due {
            // A file that has lost its name can still be read.
            if database.hasMoved(name) { return ResultCode.SQLITE_READONLY_DBMOVED.rawValue }
            if let code = confirm(name, frames, on: database.pointer) { return code }
        }
        return nil
    }

    private func hasOpenLog(_ database: Database) -> Bool {
        due.keys.contains { DatabaseFile(.journal, of: $0, on: database.pointer) != nil }
    }

    private func confirm(_ name: String, _ frames: Int32?, on connection: OpaquePointer) -> Int32? {
        if let log = DatabaseFile(.journal, of: name, on: connection) {
            switch frames {
            case .some(let last): if let isThere = confirm(last, of: name, in: log) { return isThere.failure }
            case nil:
                // This is a journal, or a log that got no frames because it was locked and not
                // written. If the number of frames was not reported, the last frame is assumed to
                // be at the end of the file.
                let (code, header) = log.read(32, at: 0)
                guard code == SQLITE_OK || code == DatabaseFile.shortRead else { return code }
                if Self.isLog(header) {
                    guard isSilent else { return nil }
                    let size = log.size ?? 0
                    let (code, _) = log.read(24, at: max(0, size - 24))
                    guard code == SQLITE_OK || code == DatabaseFile.shortRead else { return code }
                }
            }
        } else {
            pageSizes[name] = nil
        }
        guard let file = DatabaseFile(.main, of: name, on: connection) else { return nil }
        let (code, _) = file.read(16, at: 0)
        return code == SQLITE_OK || code == DatabaseFile.shortRead ? nil : code
    }

    /// Reads the header of a frame that ends a commit. Returns nil if the log was shortened since:
    /// the main file then contains the commit. See "The WAL File Format" in the SQLite
    /// documentation.
    private func confirm(_ frame: Int32, of name: String, in log: DatabaseFile) -> (failure: Int32?, Void)? {
        for isSecondLook in [false, true] {
            if isSecondLook || pageSizes[name] == nil {
                let (code, header) = log.read(32, at: 0)
                if code == DatabaseFile.shortRead { return nil }
                guard code == SQLITE_OK else { return (code, ()) }
                guard Self.isLog(header) else { return nil }
                pageSizes[name] = Int64(header.bigEndianNumber(at: 8))
            }
            let offset = 32 + Int64(frame - 1) * (24 + (pageSizes[name] ?? 0))
            let (code, header) = log.read(24, at: offset)
            if code == DatabaseFile.shortRead, (log.size ?? 0) < offset + 24 { return nil }
            guard code == SQLITE_OK else { return (code, ()) }
            // A frame that ends a commit contains the number of pages in the database at that
            // point.
            if header.bigEndianNumber(at: 4) != 0 { return (nil, ()) }
        }
        return (ResultCode.SQLITE_IOERR_READ.rawValue, ())
    }

    private static func isLog(_ header: [UInt8]) -> Bool {
        header.count == 32 && header.bigEndianNumber(at: 0) & ~1 == 0x377f_0682
    }
}

extension StatementEffects {
    /// Whether a writing statement may commit without calling SQLite's commit hook. It is then
    /// VACUUM, or a pragma.
    var commitsWithoutHook: Bool { transaction == nil && writes.isEmpty && !changesSchema }
}

extension Database {
    /// The error of a commit that the storage has refused afterwards.
    var refusedCommit: DatabaseError? { hooks.confirmation?.refusal }

    /// Starts confirming commits.
    func confirmCommits() {
        hooks.confirmation = CommitConfirmation()
        setCommitHook(for: .confirmation, true)
        takeLogHook()
        owed.insert(.confirmation)
    }

    /// Installs Shellac's log hook in place of SQLite's own, whose frame limit SQLite returns. (If
    /// a pool manages the log, its hook forwards the calls.) Returns whether Shellac's hook was
    /// already installed.
    @discardableResult
    private func takeLogHook() -> Bool {
        guard let confirmation = hooks.confirmation, hooks.wal == nil else { return false }
        let context = Unretained(confirmation).context
        let old = sqlite3_wal_hook(
            pointer,
            { context, connection, name, frames in
                guard let context, let name else { return SQLITE_OK }
                Unretained<CommitConfirmation>(context: context).use { confirmation in
                    confirmation.hear(frames, of: name)
                    let most = confirmation.frameCountToCopyAt
                    if most > 0, frames >= most {
                        sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                    }
                }
                return SQLITE_OK
            }, context)
        if old == context { return true }
        confirmation.frameCountToCopyAt = Int32(truncatingIfNeeded: Int(bitPattern: old))
        return false
    }

    /// Makes SQLite report the frames it has not yet reported, which it does at the end of any
    /// statement. Returns whether the hook was installed all the time. `PRAGMA wal_autocheckpoint`
    /// replaces it by SQLite's hook, and a statement can be interrupted.
    fileprivate func hearOfLogs() -> Bool {
        let wasThere = takeLogHook()
        return unheard(steps: nil) { (try? querySilently("SELECT 1 LIMIT 0")) != nil } && wasThere
    }

    /// The names of the connection's databases, except for temporary tables. Nil if SQLite has no
    /// function that returns them.
    fileprivate var namesOfDatabases: [String]? {
        guard let name = Features.databaseName else { return nil }
        return (0..<sqlite3_limit(pointer, SQLITE_LIMIT_ATTACHED, -1) + 2).lazy
            .prefix { $0 < 2 || name(self.pointer, $0) != nil }.filter { $0 != 1 }
            .compactMap { name(self.pointer, $0).map(String.init(cString:)) }
    }

    /// The same names, by a statement, for SQLite before 3.39. Do not use it in a hook.
    fileprivate var namesByStatement: [String] {
        let rows = unheard(steps: nil) {
            (try? querySilently("SELECT name FROM pragma_database_list WHERE seq <> 1")) ?? []
        }
        return rows.compactMap { String.fromDatabaseValue($0[0]) }
    }

    /// Confirms the commit of a statement that has just ended. Returns the error to throw, if any.
    @inline(never)
    func confirmCommit(of statement: Statement, _ error: (any Error)?) -> (any Error)? {
        guard let confirmation = hooks.confirmation, !running.isRehearsal else { return error }
        if let error {
            let known = error as? DatabaseError
            // A statement that fails with OR FAIL commits its changes up to the failure.
            guard known?.resultCode == .SQLITE_CONSTRAINT, isInAutocommit else {
                guard known?.resultCode == .SQLITE_IOERR, isInAutocommit, confirmation.isDue else {
                    confirmation.forget()
                    return error
                }
                // A machine that takes over the database may find a commit that SQLite could not
                // complete.
                return confirmCommit(sql: statement.sql) ?? known?.leavingOutcomeUnknown
            }
        } else if !isInAutocommit {
            return nil
        } else if !statement.isReadonly, statement.effects.commitsWithoutHook {
            confirmation.commitDidEnd(self)
        }
        return confirmCommit(sql: statement.sql) ?? error
    }

    /// Confirms the commit of a backup to this database.
    func confirmCommitOfBackup() -> (any Error)? {
        guard owed.contains(.confirmation) else { return nil }
        hooks.confirmation?.commitDidEnd(self)
        return confirmCommit(sql: nil)
    }

    /// Confirms the due commits. Returns an error if the storage refuses.
    func confirmCommit(sql: String?) -> (any Error)? {
        guard let code = hooks.confirmation?.confirm(self) else { return nil }
        if let refusedCommit { return refusedCommit }
        let reason =
            ResultCode(rawValue: code) == .SQLITE_READONLY_DBMOVED
            ? "its file was moved, deleted or replaced" : "another machine may have taken the database over"
        let refusal = DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message:
                "a commit to \(description) could not be confirmed, and its outcome is unknown: \(reason). "
                + "Close the database, and check what it contains before you write that again",
            sql: sql
        ).leavingOutcomeUnknown
        hooks.confirmation?.refusal = refusal
        updateObstruction()
        group.refuse(refusal)
        // The log may belong to another machine by now.
        _ = shellac_db_config(pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return refusal
    }
}
