// Works around SQLite's WAL-reset bug, which loses commits, by wrapping xShmLock of the file.

import CSQLite

/// A guard against SQLite's WAL-reset bug, which loses commits that have already returned.
///
/// SQLite 3.7.0 to 3.51.2 have the bug (3.44.6 and 3.50.7 do not). With any other version of
/// SQLite, no guard is installed. The names below are those of SQLite's `wal.c`, of 3.40.1. See
/// "The WAL-Index File Format" in its documentation for the locks.
///
/// ## The bug
///
/// 1. All frames of the log are copied: `nBackfill` equals `mxFrame`.
/// 2. `sqlite3WalCheckpoint` takes `WAL_CKPT_LOCK`, and reads the header of the index: `mxFrame`
///    frames.
/// 3. A writer commits. `walRestartLog` finds that everything is copied and that there are no
///    readers of the log. It *resets* the log: `walRestartHdr` sets `mxFrame` and `nBackfill` to 0.
///    The writer then overwrites the first frames.
/// 4. `walCheckpoint` compares the new `nBackfill` with the old `mxFrame`, and concludes that it
///    has frames to copy. It takes `WAL_READ_LOCK(0)`, and copies frames, some of which belong to
///    the old log. It then sets `nBackfill` to the old `mxFrame`.
/// 5. The next commits fill the frames up to that number. Every checkpoint treats them as copied,
///    and the next reset overwrites them.
///
/// So the bug requires a reset by a writer between two moments of one checkpoint. At the first, it
/// reads the header; at the second, it gets `WAL_READ_LOCK(0)`. After that, no writer can reset the
/// log. A writer only does so while it holds that lock as a reader, since everything was copied
/// when its transaction began. Neither a checkpoint that resets the log (TRUNCATE) nor a recovery
/// can come between: both hold `WAL_CKPT_LOCK`.
///
/// ## The guard
///
/// SQLite takes all these locks with the file's `xShmLock`. The guard wraps this function, for this
/// connection only:
///
/// - *The connection writes.* For the duration of the reset, `walRestartLog` takes all of
///   `WAL_READ_LOCK(1)` to `(4)`, exclusively, without holding `WAL_CKPT_LOCK`. The guard takes
///   `WAL_CKPT_LOCK` first, and releases it last. While the guard holds it, no checkpoint of any
///   process is between steps 2 and 4. If another connection holds it, the guard returns
///   `SQLITE_BUSY`. `walRestartLog` takes this for a reader, so the writer appends its frames to
///   the log, without waiting.
/// - *The connection copies.* The guard notes the salts of the log before the checkpoint reads the
///   header. It compares them when the checkpoint gets `WAL_READ_LOCK(0)`. Each reset changes the
///   salts. If they differ, the guard releases the lock and returns `SQLITE_BUSY`. The checkpoint
///   then copies nothing, and leaves `nBackfill` unchanged. SQLite's own fix makes the same
///   comparison.
///
/// While this connection holds `WAL_CKPT_LOCK`, the guard notes the salts at each lock that comes
/// before reading the header. These are that lock itself, `WAL_WRITE_LOCK` in the modes that wait
/// for writers, and the lock for reading a torn header. A recovery rewrites the header, so the
/// salts are noted at its end, too. Salts noted in the middle of a reset are old or mixed, and will
/// differ later.
///
/// ## The guarantee, and its limits
///
/// No reset by a guarded connection overlaps a checkpoint of any process. No checkpoint on a
/// guarded connection trusts a log that any process has reset. All connections of Shellac that can
/// write are guarded, including those of a queue.
///
/// Other programs can still trigger the bug among themselves, if one writes while another copies.
/// The file then loses commits, whichever program has made them.
///
/// A permanent read transaction would keep other programs from triggering it, too. It is not used,
/// for two reasons. It cannot last, as it would keep the log from being copied. If one read
/// transaction hands over to the next in the middle of a checkpoint, there is a gap. The first
/// holds `WAL_READ_LOCK(0)` while a writer resets the log, and the second holds another lock when
/// the checkpoint continues. Besides, the read transactions of two pools in two processes, one of
/// which is idle, would keep the log from ever being reset.
///
/// In exclusive locking mode, SQLite takes none of these locks, and no other process can use the
/// file. Without shared memory there is nothing to guard. When a process dies, its locks are
/// released. Attached databases are not guarded.
struct LogResetGuard {
    /// The file's methods, including the replaced ones. They come first, because SQLite reads them
    /// from the beginning.
    private var methods: sqlite3_io_methods
    /// The original methods of the file.
    private let original: UnsafePointer<sqlite3_io_methods>
    /// Whether the connection holds the checkpoint lock, because it copies the log or recovers the
    /// index.
    private var isCopying = false
    /// Whether the guard has taken that lock for a reset.
    private var isResetting = false
    /// The salts of the log that belong to the header the connection may have read.
    private var salts: UInt64?

    private init(_ original: UnsafePointer<sqlite3_io_methods>) {
        (methods, self.original) = (original.pointee, original)
    }

    /// Guards a connection that has just been opened, until its file is closed.
    static func install(on connection: OpaquePointer) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file,
            let original = file.pointee.pMethods, original.pointee.iVersion >= 2,
            original.pointee.xShmMap != nil,
            original.pointee.xShmLock != nil
        else { return }
        let memory = UnsafeMutablePointer<LogResetGuard>.allocate(capacity: 1)
        memory.initialize(to: LogResetGuard(original))
        memory.pointee.methods.xShmLock = guardedLock
        memory.pointee.methods.xClose = guardedClose
        file.pointee.pMethods = UnsafeRawPointer(memory).assumingMemoryBound(to: sqlite3_io_methods.self)
    }

    /// Returns the guard of a file.
    fileprivate static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Self> {
        UnsafeMutableRawPointer(mutating: file.pointee.pMethods.unsafelyUnwrapped).assumingMemoryBound(
            to: Self.self)
    }

    fileprivate mutating func lock(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ locks: Range<Int32>, _ flags: Int32
    ) -> Int32 {
        if flags & SQLITE_SHM_EXCLUSIVE == 0 { return ask(file, locks, flags) }
        let code =
            flags & SQLITE_SHM_LOCK != 0
            ? take(file, locks, flags)
            : giveBack(file, locks, flags)
        if code == SQLITE_OK, isCopying, locks.lowerBound <= IndexLock.recovery { noteSalts(of: file) }
        return code
    }

    private mutating func take(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ locks: Range<Int32>, _ flags: Int32
    ) -> Int32 {
        let isReset = locks == IndexLock.readersOfLog && !isCopying
        if isReset {
            let code = ask(file, IndexLock.copying, flags)
            guard code == SQLITE_OK else { return code }
        }
        let code = ask(file, locks, flags)
        if isReset {
            isResetting = code == SQLITE_OK
            if !isResetting { _ = ask(file, IndexLock.copying, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE) }
        }
        guard code == SQLITE_OK else { return code }
        if locks.contains(IndexLock.copying.lowerBound) { isCopying = true }
        if isCopying, locks == IndexLock.readersOfFile, !hasSameLog(file) {
            _ = ask(file, locks, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
            return SQLITE_BUSY
        }
        return code
    }

    private mutating func giveBack(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ locks: Range<Int32>, _ flags: Int32
    ) -> Int32 {
        let code = ask(file, locks, flags)
        if isResetting, locks == IndexLock.readersOfLog {
            isResetting = false
            _ = ask(file, IndexLock.copying, flags)
        }
        if locks.contains(IndexLock.copying.lowerBound) { isCopying = false }
        return code
    }

    /// Calls the original function, which takes or releases locks.
    private func ask(_ file: UnsafeMutablePointer<sqlite3_file>, _ locks: Range<Int32>, _ flags: Int32)
        -> Int32
    {
        original.pointee.xShmLock(file, locks.lowerBound, Int32(locks.count), flags)
    }

    private mutating func noteSalts(of file: UnsafeMutablePointer<sqlite3_file>) {
        salts = presentSalts(of: file)
    }

    /// Whether the log was not reset since the salts were noted.
    private func hasSameLog(_ file: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        guard let salts else { return false }
        return presentSalts(of: file) == salts
    }

    private func presentSalts(of file: UnsafeMutablePointer<sqlite3_file>) -> UInt64? {
        var salts: UInt64 = 0
        return shellac_wal_salts(file, original, &salts) == SQLITE_OK ? salts : nil
    }

    fileprivate static func close(_ file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
        let memory = of(file)
        let original = memory.pointee.original
        file.pointee.pMethods = original
        memory.deinitialize(count: 1)
        memory.deallocate()
        return original.pointee.xClose(file)
    }
}

/// The numbers of the locks in the index of a log.
private enum IndexLock {
    /// `WAL_CKPT_LOCK`
    static let copying: Range<Int32> = 1..<2
    /// `WAL_RECOVER_LOCK`. The first lock, 0, is `WAL_WRITE_LOCK`.
    static let recovery: Int32 = 2
    /// `WAL_READ_LOCK(0)`
    static let readersOfFile: Range<Int32> = 3..<4
    /// `WAL_READ_LOCK(1)` to `WAL_READ_LOCK(4)`
    static let readersOfLog: Range<Int32> = 4..<8
}

private let guardedLock: @convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32, Int32, Int32) -> Int32 =
    {
        file, first, count, flags in
        guard let file else { return SQLITE_MISUSE }
        return LogResetGuard.of(file).pointee.lock(file, first..<first + count, flags)
    }

private let guardedClose: @convention(c) (UnsafeMutablePointer<sqlite3_file>?) -> Int32 = { file in
    guard let file else { return SQLITE_MISUSE }
    return LogResetGuard.close(file)
}
