// Keeps a pool's write-ahead log small by checkpoints, mostly in the background.

import CSQLite
import Dispatch
import Synchronization

/// The background copying of a pool's write-ahead log to the database file, off the path of writes.
///
/// ## The life of a log
///
/// 1. Commits add frames to it. SQLite's WAL hook reports each commit. If a user's `PRAGMA
///    wal_autocheckpoint` has removed the hook, the checkpointer uses the size of the file.
/// 2. From ``WALSize/passive`` on, the checkpointer copies what can be copied, on a connection of
///    its own. The checkpoint is PASSIVE: it waits for no other connection, and none waits for it.
///    If all frames are copied and no connection reads from the log, the next writer restarts it,
///    as SQLite always does.
/// 3. The log has grown to ``WALSize/restart``, as some connection is always reading. Right after a
///    PASSIVE checkpoint that copied everything, the writer's own connection tries a RESTART. It
///    does so in the writer's line, where no write of this process comes between. It does not wait
///    either: a checkpoint that waits holds the write lock meanwhile.
/// 4. The log has grown to ``WALSize/hard``, as the background falls behind, or as reads follow
///    each other without a gap. The commit then copies the rest on its own connection, and gives
///    the present reads a moment to end. New ones read from the file alone. It does not wait if a
///    read has lasted longer than that moment, or is a snapshot, or if another process reads. The
///    log must then be twice as large before the next commit tries. A commit does not copy what a
///    reader that has ended left behind either: the background catches up with that, beside the
///    writer. If the background fails, each commit copies at once.
/// 5. There was no write for a second: the background copies the rest, and then the writer's own
///    connection truncates the log. (If another connection did, it would look like a write by
///    another connection: see `PRAGMA data_version`.) It does so only while no access uses the
///    writer, or waits for it. Closing the pool truncates the log, too.
///
/// A reader that stays keeps the log from being restarted, whatever else happens:
/// ``DatabasePool/walStatus`` names it.
final class Checkpointer: Sendable {
    private let queue: DispatchQueue
    private static let isOwnQueue = DispatchSpecificKey<ObjectIdentifier>()
    private let opening: ReaderOpening
    private let sizes: WALSize
    /// The writer, in whose line a log is restarted. It comes without its attendant, which owns
    /// this object.
    private let writer: SerialConnection

    private struct State {
        var database: Database?
        var isRunning = false
        var isClosed = false
        /// Whether a check for idleness is scheduled.
        var isWatchingRest = false
        /// Whether a reader has kept the last run from copying all.
        var isHeldUp = false
        /// The error of the last run in the background.
        var failure: (any Error)?
        /// The size at which a commit waits for reads to end.
        var sizeToWaitAt = 0
        /// The number of frames that the log had after the last commit.
        var frames = 0
    }
    private let state = Lock(State())

    init(_ writer: SerialConnection, _ opening: ReaderOpening, _ sizes: WALSize) {
        (self.writer, self.opening, self.sizes) = (writer.unattended, opening, sizes)
        queue = DispatchQueue(label: "Shellac.\(opening.description).checkpoints", qos: .utility)
        queue.setSpecific(key: Self.isOwnQueue, value: ObjectIdentifier(self))
    }

    /// Whether the running thread is in the middle of a checkpoint. A handler that is called for it
    /// may release the pool.
    var isRunningHere: Bool { DispatchQueue.getSpecific(key: Self.isOwnQueue) == ObjectIdentifier(self) }

    /// The error of the last run in the background, if it has failed.
    var failure: (any Error)? { state.withLock { $0.failure } }

    // MARK: - Reports of the writer

    /// Handles the growth of the log to some number of frames, in the writer's access.
    func logDidGrow(to frames: Int, _ db: Database) {
        copyInAccess(db, frames)
        let (begins, watches) = state.withLock { state in
            state.frames = frames
            if state.isClosed { return (false, false) }
            let begins = frames >= sizes.passive && !state.isRunning
            let watches = !state.isWatchingRest
            if begins { state.isRunning = true }
            state.isWatchingRest = true
            return (begins, watches)
        }
        if begins { queue.async { self.run() } }
        if watches { watchRest(after: Self.rest, since: writer.database.group.commits.present) }
    }

    /// Copies the log on the writer's connection if the background has failed, or has not kept
    /// pace.
    private func copyInAccess(_ db: Database, _ frames: Int) {
        let (failure, sizeToWaitAt) = state.withLock { state in
            if frames < sizes.hard { state.sizeToWaitAt = sizes.hard }
            return (state.failure, state.sizeToWaitAt)
        }
        if frames >= sizeToWaitAt {
            let isEmpty = mayEmptyLog(db) && emptyLog(db, patience: sizes.patience)
            state.withLock { $0.sizeToWaitAt = isEmpty ? sizes.hard : frames * 2 }
        } else if failure != nil, frames >= sizes.passive {
            _ = emptyLog(db, patience: .zero)
        }
    }

    /// The connections of this process that may be reading from the log.
    private var reads: [ConnectionActivity] { opening.group.activities.filter { $0.age != nil } }

    /// Whether a commit may empty the log in a moment. That is so if no reader is known to stay,
    /// and none has left more behind than a commit copies.
    private func mayEmptyLog(_ db: Database) -> Bool {
        if reads.contains(where: { $0.lasts(longerThan: sizes.patience) }) { return false }
        var (present, copied): (UInt32, UInt32) = (0, 0)
        guard state.withLock({ $0.isHeldUp }), shellac_wal_index(db.pointer, &present, &copied) == SQLITE_OK
        else { return true }
        return Int(present) - Int(copied) < sizes.hard * 2
    }

    /// Waits until the log is copied, and no connection reads from it: the next writer restarts it
    /// then. Returns whether that state was reached.
    ///
    /// Once all frames are copied, and no write happens, new reads use the file alone. So this
    /// takes as long as the present reads last, and no longer than the patience. No lock is held
    /// meanwhile.
    private func emptyLog(_ db: Database, patience: Duration) -> Bool {
        let start = shellac_time()
        var (isEmpty, frames, copied) = tryEmptyingLog(db)
        var mayEnd = true
        // The time that copying takes here does not count.
        for _ in 0..<Int(patience / BusyHandler.interval) where !isEmpty && mayEnd {
            // If this process neither reads nor copies, another process does, and it may stay.
            let reads = reads
            mayEnd = !reads.isEmpty || state.withLock { $0.isRunning }
            if reads.contains(where: { $0.lasts(longerThan: patience) }) { mayEnd = false }
            if mayEnd { usleep(UInt32(BusyHandler.interval / .microseconds(1))) }
            (isEmpty, frames, copied) = tryEmptyingLog(db)
        }
        db.report(.restart, since: start, frames, copied, isEmpty ? nil : .SQLITE_BUSY)
        return isEmpty
    }

    /// Tries once, without a report.
    private func tryEmptyingLog(_ db: Database) -> (isEmpty: Bool, frames: Int, copied: Int) {
        guard let (frames, copied) = try? db.checkpointWithoutWaiting(.passive, isTold: false) else {
            return (false, -1, -1)
        }
        let isEmpty =
            frames == copied && (try? db.checkpointWithoutWaiting(.restart, isTold: false)) != nil
        return (isEmpty, frames, copied)
    }

    // MARK: - In the background

    private func run() {
        do {
            let (frames, copied) = try copy()
            state.withLock { ($0.failure, $0.isHeldUp) = (nil, frames != copied) }
            if frames == copied, frames >= sizes.restart {
                writer.inside { db in _ = try? db.checkpointWithoutWaiting(.restart) }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // Another connection is copying the log: the writer, or another process.
            state.withLock { $0.failure = nil }
        } catch {
            state.withLock { $0.failure = error }
        }
        state.withLock { $0.isRunning = false }
    }

    /// Copies what can be copied, on the checkpointer's own connection.
    private func copy() throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        try connection().withAccess { try $0.checkpointWithoutWaiting(.passive) }
    }

    private func connection() throws -> Database {
        let (known, isClosed) = state.withLock { ($0.database, $0.isClosed) }
        if let known { return known }
        // The file may belong to another program by now. (`close()` waits for running work.)
        if isClosed { throw opening.closedError }
        let database = try opening.openForCheckpoints()
        let isLate = state.withLock { state in
            if !state.isClosed { state.database = database }
            return state.isClosed
        }
        if isLate {
            database.giveUp()
            throw opening.closedError
        }
        return database
    }

    /// The time without writes after which a writer is idle.
    static var rest: Duration { .seconds(1) }

    /// Truncates the log when nothing was written for some time.
    private func watchRest(after pause: Duration, since number: UInt64) {
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(pause / .milliseconds(1)))) { [weak self] in
            guard let self else { return }
            let isClosed = state.withLock { state in
                // If the pool could not be closed, it may be used again.
                if state.isClosed { state.isWatchingRest = false }
                return state.isClosed
            }
            if isClosed { return }
            let present = writer.database.group.commits.present
            if present != number { return watchRest(after: Self.rest, since: present) }
            var isCut = false
            if isAlmostCopied() {
                // A writer that comes meanwhile waits only for the truncation. If the writer is in
                // use already, the log is truncated later.
                writer.insideIfFree { db in
                    guard db.group.commits.present == number else { return }
                    isCut = (try? db.checkpointWithoutWaiting(.truncate)) != nil
                    if isCut { state.withLock { $0.isWatchingRest = false } }
                }
            }
            // A reader is in the way, and may take its time.
            if !isCut { watchRest(after: min(pause * 2, .seconds(60)), since: present) }
        }
    }

    /// Copies the log if it is large, and returns whether few frames are left to copy.
    private func isAlmostCopied() -> Bool {
        if state.withLock({ $0.frames }) < sizes.passive { return true }
        do {
            let (frames, copied) = try copy()
            return frames - copied < sizes.passive
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return false
        } catch {
            // The background fails: the writer has to copy.
            return true
        }
    }

    // MARK: - The end

    /// Ends the checkpointer, and waits for what is running. The caller must not have the writer's
    /// access, as the running work may wait for it.
    func close() {
        let database = state.withLock { state in
            state.isClosed = true
            defer { state.database = nil }
            return state.database
        }
        database?.interruptFromOutside()
        if isRunningHere {
            Misuse.trap(
                "the pool \(opening.description) was closed inside of the report of one of its "
                    + "checkpoints, and closing waits for that checkpoint. Close it elsewhere.")
        }
        queue.sync {}
        database?.giveUp()
    }

    /// Reverts `close()`, as the writer could not be closed.
    func reopen() { state.withLock { $0.isClosed = false } }
}

/// Sizes of a write-ahead log, in frames. A frame is a page and a few bytes.
struct WALSize {
    /// The size from which the log is copied in the background.
    var passive = 1_000
    /// The size from which the log is restarted in the writer's line.
    var restart = 4_000
    /// The size from which a commit copies the log, and gives the present reads a moment to end.
    var hard = 16_000
    /// The longest such moment. Reads that begin meanwhile read from the file alone, so a longer
    /// one would gain nothing.
    let patience = Duration.milliseconds(100)
    /// Returns the most bytes that the file keeps when the log is restarted, for a page size.
    func limit(pageSize: Int) -> Int { restart * pageSize }
}

extension Database {
    /// Copies the write-ahead log, without waiting for other connections.
    func checkpointWithoutWaiting(
        _ kind: CheckpointMode, isTold: Bool = true
    ) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        guard !isClosed, sqlite3_get_autocommit(pointer) != 0, lastBegun == nil else {
            throw DatabaseError(resultCode: .SQLITE_LOCKED)
        }
        return try withoutWaiting { try isTold ? checkpoint(kind) : checkpointUntold(kind) }
    }
}
