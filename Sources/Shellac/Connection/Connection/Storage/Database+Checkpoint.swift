// Checkpoints of the write-ahead log on demand: passive, full, restart and truncate.

import CSQLite

extension Database {
    /// The mode of a checkpoint, which copies a write-ahead log: see "sqlite3_wal_checkpoint_v2" in
    /// the SQLite documentation.
    public enum CheckpointMode: Sendable, CaseIterable {
        /// Copies as much as possible without waiting.
        case passive
        /// Waits for writers, and for readers of older snapshots, and copies everything.
        case full
        /// Does the same, and waits for all readers of the log, so that the next writer restarts
        /// it.
        case restart
        /// Does the same, and truncates the log to zero length.
        case truncate

        var code: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .full: SQLITE_CHECKPOINT_FULL
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }

    /// Copies the write-ahead log to the database file.
    ///
    /// ```swift
    /// try dbPool.writeWithoutTransaction { db in
    ///     try db.checkpoint(.truncate)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - kind: The mode, which determines what the checkpoint waits for and what happens to the
    ///     log. It waits as long as ``Configuration/busyMode`` allows.
    ///   - dbName: The name of the database, such as `main`, or nil for all attached databases.
    /// - Returns: the number of frames in the log, and the number of copied frames. Both are -1 if
    ///   the database has no log, and 0 after the log was truncated.
    /// - Throws: a ``DatabaseError``. The code is `SQLITE_BUSY` if another connection stayed in the
    ///   way for too long. It also throws inside of a transaction, or of a read-only access.
    @discardableResult
    public func checkpoint(
        _ kind: CheckpointMode = .passive, on dbName: String? = "main"
    ) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        let start = shellac_time()
        var (frames, copied, code): (Int, Int, Int32) = (-1, -1, 0)
        defer { report(kind, since: start, frames, copied, ResultCode(failing: code)) }
        do {
            (frames, copied) = try checkpointUntold(kind, on: dbName)
        } catch let error as DatabaseError {
            code = error.extendedResultCode.rawValue
            throw error
        }
        return (frames, copied)
    }

    /// Reports a checkpoint.
    func report(
        _ kind: CheckpointMode, since start: UInt64, _ frames: Int, _ copied: Int, _ code: ResultCode?
    ) {
        report(
            .checkpoint(
                CheckpointReport(
                    mode: kind, duration: .since(start), walFrameCount: frames,
                    checkpointedFrameCount: copied, resultCode: code)))
    }

    /// Copies the write-ahead log to the database file, without a report.
    func checkpointUntold(
        _ kind: CheckpointMode, on dbName: String? = "main"
    ) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        checkAccess()
        try checkObstruction(for: nil)
        let what = "a checkpoint of \(dbName ?? "all databases") of \(description)"
        if isReadOnlyScope || sqlite3_db_readonly(pointer, dbName ?? "main") == 1 {
            throw DatabaseError(
                resultCode: .SQLITE_READONLY,
                message: "\(what) writes to the file: call it in writeWithoutTransaction")
        }
        if sqlite3_get_autocommit(pointer) == 0 {
            throw DatabaseError(
                resultCode: .SQLITE_LOCKED,
                message: "\(what) cannot run inside of a transaction: call it in writeWithoutTransaction")
        }
        try checkPlace()
        var (frames, copied): (Int32, Int32) = (-1, -1)
        let code = sqlite3_wal_checkpoint_v2(pointer, dbName, kind.code, &frames, &copied)
        guard code == SQLITE_OK else {
            if access.isStopped { throw stopError }
            let reason = error(code).message ?? "\(ResultCode(rawValue: code))"
            let progress =
                code == SQLITE_BUSY && frames >= 0 ? ": \(copied) of \(frames) frames are copied" : ""
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: "\(what) failed: \(reason)\(progress)")
        }
        return (Int(frames), Int(copied))
    }
}
