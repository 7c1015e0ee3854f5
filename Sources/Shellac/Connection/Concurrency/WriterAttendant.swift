// Work around a pool's write accesses: pauses for other processes, checks of the log size.

import CSQLite
import Synchronization

/// The extra work around the accesses of a pool's writer: pauses now and then, and care of the log.
final class WriterAttendant: @unchecked Sendable {  // guarded by the writer's access
    let activity: ConnectionActivity
    private let commits: CommitNumber

    /// The last commit that was handled.
    @exclusivity(unchecked) private var seenCommit: UInt64 = 0
    @exclusivity(unchecked) private var log: LogKeeping?
    /// The end of the last access, and the time of the writer's last pause, by the coarse clock.
    @exclusivity(unchecked) private var lastEnd: UInt64 = 0
    @exclusivity(unchecked) private var lastRest: UInt64 = 0
    @exclusivity(unchecked) private var commitAtRest: UInt64 = 0

    /// The objects that are needed to look after the log.
    private struct LogKeeping {
        let checkpointer: Checkpointer
        let hook: WALHook
    }

    init(_ activity: ConnectionActivity, _ commits: CommitNumber) {
        (self.activity, self.commits) = (activity, commits)
    }

    /// Looks after the log from now on. Called in an access.
    func seeToLog(by checkpointer: Checkpointer, _ hook: WALHook) {
        log = LogKeeping(checkpointer: checkpointer, hook: hook)
    }

    func accessWillBegin() {
        activity.begin()
        rest()
    }

    func accessDidEnd(_ db: Database) {
        activity.end()
        lastEnd = shellac_coarse_time()
        let commit = commits.present
        guard commit != seenCommit else { return }
        seenCommit = commit
        if let log, !db.isClosed { look(at: log, db) }
    }

    // MARK: - Rest

    /// The time after which a busy writer pauses, and the length of its pause. The third value is a
    /// gap that is surely a pause, for a clock that moves every four milliseconds.
    ///
    /// Other processes try the lock every millisecond: see ``BusyHandler/interval``. Without a
    /// pause, they would get it only by chance.
    private static let (maximumWork, rest, surePause): (UInt64, UInt32, UInt64) =
        (100_000_000, 3_000, 8_000_000)

    @inline(__always)
    private func rest() {
        let now = shellac_coarse_time()
        if now &- lastEnd >= Self.surePause {
            (lastRest, commitAtRest) = (now, commits.present)
        } else if now &- lastRest > Self.maximumWork {
            restNow()
        }
    }

    @inline(never)
    private func restNow() {
        // Reads alone have blocked no other process.
        if commits.present != commitAtRest { usleep(Self.rest) }
        (lastRest, commitAtRest) = (shellac_coarse_time(), commits.present)
    }

    // MARK: - The log

    private func look(at log: LogKeeping, _ db: Database) {
        let frames: Int
        if log.hook.takeHeard() {
            frames = log.hook.frameCount
        } else {
            // `PRAGMA wal_autocheckpoint` has removed the hook. (Or only `temp` was written.)
            frames = (db.logFileSize ?? 0) / log.hook.pageSize
        }
        log.checkpointer.logDidGrow(to: frames, db)
    }
}

/// The receiver of SQLite's WAL hook, which keeps the number of frames that commits leave in the
/// log of `main`.
final class WALHook {
    @exclusivity(unchecked) private(set) var frameCount = 0
    @exclusivity(unchecked) private var hasHeard = false
    /// The size of a page. A frame is a few bytes larger.
    let pageSize: Int

    /// A further receiver of the frames.
    fileprivate let confirmation: CommitConfirmation?

    fileprivate init(pageSize: Int, _ confirmation: CommitConfirmation?) {
        (self.pageSize, self.confirmation) = (pageSize, confirmation)
    }

    /// Returns whether the hook was called since the last call of this function.
    func takeHeard() -> Bool {
        defer { hasHeard = false }
        return hasHeard
    }

    fileprivate func hear(_ frames: Int32) {
        frameCount = Int(frames)
        hasHeard = true
    }
}

extension Database {
    /// Installs the hook for the frames of the log. SQLite copies no log by itself any more; the
    /// hook copies those of attached databases.
    func hearOfLog() throws -> WALHook {
        let hook = WALHook(
            pageSize: try Int.fetchOne(makeStatement(sql: "PRAGMA main.page_size")) ?? 4096,
            hooks.confirmation)
        hooks.wal = hook
        sqlite3_wal_hook(
            pointer,
            { context, connection, name, frames in
                guard let context, let name else { return SQLITE_OK }
                Unretained<WALHook>(context: context).use { $0.confirmation?.hear(frames, of: name) }
                if strcmp(name, "main") == 0 {
                    Unretained<WALHook>(context: context).use { $0.hear(frames) }
                } else if frames >= 1_000 {
                    sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                }
                return SQLITE_OK
            }, Unretained(hook).context)
        return hook
    }

    /// The size of the log of `main`, in bytes. The file is not opened for this.
    var logFileSize: Int? {
        guard let path = sqlite3_db_filename(pointer, "main") else { return nil }
        return FileIdentity.size(String(cString: path) + "-wal")
    }
}
