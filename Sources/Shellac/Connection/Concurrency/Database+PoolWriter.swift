// Sets up the writer connection of a pool: WAL mode, checkpoint policy, checks for locks.

import CSQLite

extension Database {
    /// Prepares the writer connection of a pool.
    func setUpAsWriterOfPool(path: String) throws {
        try checkThatOthersMayRead(path)
        try setUp(path: path) {
            try useLog()
            setCommitHook(for: .number, true)
            try seeToLog()
        }
        let mode = try asking { try String.fetchOne(makeStatement(sql: "PRAGMA main.locking_mode")) }
        guard mode != "exclusive" else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message:
                    "could not open the pool \(description): its writer locks the file for itself (PRAGMA "
                    + "locking_mode = EXCLUSIVE), and so no other connection could read. Leave that out, "
                    + "or use a DatabaseQueue")
        }
    }

    /// Throws if no other connection can be opened. It does so before a lock is requested, for
    /// which some VFS wait without an end.
    private func checkThatOthersMayRead(_ path: String) throws {
        if configuration.lockingMode == .exclusive {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message:
                    "could not open the pool \(description): with the lockingMode of its configuration, "
                    + "exclusive, the writer keeps the lock of the file, and so no other connection could "
                    + "read. Leave that out, or use a DatabaseQueue")
        }
        guard let file = DatabaseFile(.main, of: "main", on: pointer), !file.hasSharedMemory else { return }
        throw DatabaseError(
            resultCode: .SQLITE_CANTOPEN,
            message:
                "could not open the pool \(description): its connections cannot have a write-ahead log, as "
                + "the VFS of \(path) has no shared memory. Use a DatabaseQueue")
    }

    /// Switches the file to a write-ahead log that stays when the file is closed: a connection that
    /// opens it read-only needs the log.
    private func useLog() throws {
        let mode = configuration.journalMode
        guard mode == .default || mode == .wal else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message:
                    "a pool needs the journal mode WAL, and its configuration says \(mode.rawValue): use a DatabaseQueue"
            )
        }
        let statement = configuration.readonly ? "PRAGMA main.journal_mode" : "PRAGMA main.journal_mode = wal"
        let found = try String.fetchOne(makeStatement(sql: statement)) ?? ""
        guard found == "wal" else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: configuration.readonly
                    ? "a pool needs a write-ahead log, and the database has none (its journal mode is "
                        + "\(found)). A read-only connection cannot create one: open the database for writing "
                        + "once, or use a DatabaseQueue"
                    : "the database cannot have a write-ahead log, which a pool needs (its journal mode is \(found)): use a "
                        + "DatabaseQueue")
        }
        if configuration.readonly { return }
        _ = shellac_persist_wal(pointer, 1)
        hooks.keepsLog = true
    }

    /// Sets up checkpoints. The user's preparation of the connection may override this, with
    /// `PRAGMA wal_autocheckpoint` and `PRAGMA journal_size_limit`.
    private func seeToLog() throws {
        if configuration.readonly { return }
        switch configuration.checkpoints {
        case .background:
            let limit = WALSize().limit(pageSize: try hearOfLog().pageSize)
            try makeStatement(sql: "PRAGMA main.journal_size_limit = \(limit)").execute()
        case .atCommit: break
        case .none:
            sqlite3_wal_autocheckpoint(pointer, 0)
            try check(shellac_db_config(pointer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1))
        }
    }
}
