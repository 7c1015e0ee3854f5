// Confirms each commit by reading it back from storage, in case another machine took over.

import CSQLite

/// Asks the storage, after each commit, whether it still has what was committed.
///
/// A connection may believe that it holds the lock of a database which another machine has taken over: its process was stopped
/// for longer than the lock lasts, and goes on. Its storage refuses what it writes from then on. Where the client of that storage
/// does not tell SQLite, SQLite says that it has committed what is lost. A read is refused, too, and that is told.
///
/// ## The life of a commit
///
/// 1. SQLite's commit hook is called inside of a statement. The databases that have a transaction which writes are noted: they are
///    *due*. What follows changes has heard of the commit to come, and did not veto.
/// 2. SQLite commits, and calls the hook of the write-ahead log with the number of frames: the last one ends the commit.
/// 3. The statement ends: a step has said that there are no more rows, or the statement was reset. Before anybody hears of
///    the end, the files are read that hold the commit: in WAL mode the header of the last frame, in others the journal, if it
///    is there, and the main file. Nothing of this comes out of SQLite's cache.
/// 4. Where a read fails, the statement fails with an error that leaves the outcome unknown. To those who follow transactions and
///    changes it is one whose transaction SQLite has ended by itself: what was told as about to be committed is told as
///    rolled back.
/// 5. The connection is refused for good, and so are the others of its group: see ``ConnectionGroup/refuse(_:)``. Closing it leaves
///    the log as it is, which may belong to somebody else by now.
///
/// Where SQLite itself tells that the storage has failed a commit, the outcome is unknown, too: the log may have it for whoever takes it
/// over. The storage is asked in the same way, and the connection goes on where it answers.
///
/// VACUUM, and some pragmas, commit without that hook, and so do backups: after those, all databases are due. Nor does SQLite call the hook of
/// the log when a statement commits as it is reset: it does so at the next end of any statement, which is then run here.
///
/// A connection that confirms nothing has none of this: neither the hooks, nor a question at the end of a statement.
final class CommitConfirmation {
    /// The databases that a commit is due to be confirmed for, with the number of frames that their logs have, as far as it was told.
    private var due: [String: Int32?] = [:]
    /// The error of a commit that the storage has refused. Every statement throws it until the connection is closed.
    var refusal: DatabaseError?
    /// Whether it is not known which databases are due.
    private var isUnknown = false
    /// Whether another hook was in the place of ours, and knows what it was told.
    private var isDeaf = false
    /// The size of pages, by database, as their logs say.
    private var pageSizes: [String: Int64] = [:]
    /// The number of frames at which SQLite would copy the log by itself. Its own hook, which this one replaces, would do it.
    fileprivate var frameCountToCopyAt: Int32 = 0

    /// SQLite is about to commit.
    func commitWillBegin(_ database: Database) {
        guard let names = database.namesOfDatabases else {
            isUnknown = true
            return
        }
        for name in names where sqlite3_txn_state(database.pointer, name) == SQLITE_TXN_WRITE {
            due[name] = .some(nil)
        }
    }

    /// SQLite commits without its hook.
    func commitDidEnd(_ database: Database) {
        let names = database.namesOfDatabases ?? database.namesByStatement
        for name in names where due[name] == nil { due[name] = .some(nil) }
    }

    /// Whether SQLite has begun a commit that nobody has confirmed.
    var isDue: Bool { !due.isEmpty || isUnknown }

    /// Forgets a commit: it is confirmed, or SQLite has told that it failed.
    func forget() {
        if isDue { due.removeAll(keepingCapacity: true) }
        isUnknown = false
    }

    /// A log has so many frames.
    func hear(_ frames: Int32, of name: UnsafePointer<CChar>) {
        due[String(cString: name)] = .some(frames)
    }

    /// Reads what the commits have written. Returns the code of the read that has failed, if any.
    func confirm(_ database: Database) -> Int32? {
        if isUnknown { commitDidEnd(database) }
        if due.isEmpty { return nil }
        defer { forget() }
        isDeaf = due.contains { $0.value == nil } && hasOpenLog(database) && !database.hearOfLogs()
        for (name, frames) in due {
            // A file without a name answers, too.
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
                // A journal, or a log that got no frames: it was locked, and is not written. Where nobody has told the frames, the last one is
                // taken for that at the end of the file.
                let (code, header) = log.read(32, at: 0)
                guard code == SQLITE_OK || code == DatabaseFile.shortRead else { return code }
                if Self.isLog(header) {
                    guard isDeaf else { return nil }
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

    /// Reads the header of a frame that ends a commit. Returns nil where the log has become shorter since: the main file then has
    /// the commit. See "The WAL File Format" in the SQLite documentation.
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
            // A frame that ends a commit says how many pages the database has then.
            if header.bigEndianNumber(at: 4) != 0 { return (nil, ()) }
        }
        return (ResultCode.SQLITE_IOERR_READ.rawValue, ())
    }

    private static func isLog(_ header: [UInt8]) -> Bool {
        header.count == 32 && header.bigEndianNumber(at: 0) & ~1 == 0x377f_0682
    }
}

extension StatementEffects {
    /// Whether a statement that writes may do so without SQLite's commit hook: it is VACUUM, or a pragma.
    var commitsWithoutHook: Bool { transaction == nil && writes.isEmpty && !changesSchema }
}

extension Database {
    /// The error of a commit that the storage has refused afterwards.
    var refusedCommit: DatabaseError? { hooks.confirmation?.refusal }

    /// Confirms commits from now on.
    func confirmCommits() {
        hooks.confirmation = CommitConfirmation()
        setCommitHook(for: .confirmation, true)
        takeLogHook()
        owed.insert(.confirmation)
    }

    /// Has SQLite call our hook of logs, in the place of its own, whose number it gives back. (Where a pool sees to the log, its hook
    /// tells us.) Returns whether it was there already.
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

    /// Has SQLite tell the frames that it has not told: it does so at the end of any statement. Returns whether it has told us all the
    /// time: `PRAGMA wal_autocheckpoint` puts SQLite's hook in the place of ours, and a statement can be interrupted.
    fileprivate func hearOfLogs() -> Bool {
        let wasThere = takeLogHook()
        return unheard(steps: nil) { (try? readUnheard("SELECT 1 LIMIT 0")) != nil } && wasThere
    }

    /// The names of the databases of the connection, without that of temporary tables; or nil where no function of SQLite tells them.
    fileprivate var namesOfDatabases: [String]? {
        guard let name = Features.databaseName else { return nil }
        return (0..<sqlite3_limit(pointer, SQLITE_LIMIT_ATTACHED, -1) + 2).lazy
            .prefix { $0 < 2 || name(self.pointer, $0) != nil }.filter { $0 != 1 }
            .compactMap { name(self.pointer, $0).map(String.init(cString:)) }
    }

    /// The same, for SQLite before 3.39, by a statement: not to be asked for in a hook.
    fileprivate var namesByStatement: [String] {
        let rows = unheard(steps: nil) {
            (try? readUnheard("SELECT name FROM pragma_database_list WHERE seq <> 1")) ?? []
        }
        return rows.compactMap { String.fromDatabaseValue($0[0]) }
    }

    /// Confirms what a statement has committed that has just ended. Returns the error to throw, if any.
    @inline(never)
    func confirmCommit(of statement: Statement, _ error: (any Error)?) -> (any Error)? {
        guard let confirmation = hooks.confirmation, !running.isRehearsal else { return error }
        if let error {
            let known = error as? DatabaseError
            // One that fails with OR FAIL commits what it has done before.
            guard known?.resultCode == .SQLITE_CONSTRAINT, isInAutocommit else {
                guard known?.resultCode == .SQLITE_IOERR, isInAutocommit, confirmation.isDue else {
                    confirmation.forget()
                    return error
                }
                // Whoever takes the database over may find a commit that SQLite could not bring to its end.
                return confirmCommit(sql: statement.sql) ?? known?.leavingOutcomeUnknown
            }
        } else if !isInAutocommit {
            return nil
        } else if !statement.isReadonly, statement.effects.commitsWithoutHook {
            confirmation.commitDidEnd(self)
        }
        return confirmCommit(sql: statement.sql) ?? error
    }

    /// Confirms what a backup to this database has committed.
    func confirmCommitOfBackup() -> (any Error)? {
        guard owed.contains(.confirmation) else { return nil }
        hooks.confirmation?.commitDidEnd(self)
        return confirmCommit(sql: nil)
    }

    /// Confirms what is due. Returns the error of a refusal.
    func confirmCommit(sql: String?) -> (any Error)? {
        guard let code = hooks.confirmation?.confirm(self) else { return nil }
        if let refusedCommit { return refusedCommit }
        let reason =
            ResultCode(rawValue: code) == .SQLITE_READONLY_DBMOVED
            ? "its file was moved, deleted or replaced" : "another machine may have taken the database over"
        let refusal = DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message:
                "a commit to \(description) could not be confirmed, and its outcome is unknown: \(reason). Close the database, and look "
                + "what it has before writing that once more",
            sql: sql
        ).leavingOutcomeUnknown
        hooks.confirmation?.refusal = refusal
        updateObstruction()
        group.refuse(refusal)
        // The log may belong to somebody else by now.
        _ = shellac_db_config(pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        return refusal
    }
}
