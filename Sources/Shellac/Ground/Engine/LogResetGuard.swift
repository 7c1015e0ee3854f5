// Works around SQLite's WAL-reset bug, which loses commits, by wrapping xShmLock of the file.

import CSQLite

/// Keeps a connection out of SQLite's WAL-reset fault, by which commits that have returned are lost.
///
/// SQLite 3.7.0 to 3.51.2 have the fault (3.44.6 and 3.50.7 do not). Where another SQLite runs, nothing of this is installed. The names
/// below are those of SQLite's `wal.c`, of 3.40.1; see "The WAL-Index File Format" in its documentation for the locks.
///
/// ## The fault
///
/// 1. All frames of the log are copied: `nBackfill` is `mxFrame`.
/// 2. `sqlite3WalCheckpoint` takes `WAL_CKPT_LOCK`, and reads the header of the index: `mxFrame` frames.
/// 3. A writer commits. `walRestartLog` finds everything copied and nobody who reads from the log. It *resets* the log: `walRestartHdr`
///    sets `mxFrame` and `nBackfill` to 0. The writer then overwrites the first frames.
/// 4. `walCheckpoint` compares the new `nBackfill` with the old `mxFrame`, and believes that it has frames to copy. It takes
///    `WAL_READ_LOCK(0)`, copies frames, some of them of the old log, and sets `nBackfill` to the old `mxFrame`.
/// 5. The next commits fill the frames up to that number. Every checkpoint takes them for copied, and the next reset overwrites them.
///
/// So the fault needs a reset by a writer between two moments of one checkpoint: the one at which it reads the header, and the one at
/// which it has `WAL_READ_LOCK(0)`. From then on nobody resets the log: a writer does so only while it holds that lock as a reader,
/// since it has begun its transaction when everything was copied. Nor does a checkpoint that resets the log (TRUNCATE) come between,
/// nor a recovery: both hold `WAL_CKPT_LOCK`.
///
/// ## The guard
///
/// All these locks are taken by `xShmLock` of the file. The guard puts its own function before it, for this connection alone:
///
/// - *The connection writes.* `walRestartLog` takes all of `WAL_READ_LOCK(1)` to `(4)`, exclusively, for the time of the reset, without
///   having `WAL_CKPT_LOCK`. The guard takes that one first, and gives it back last. While it has it, no checkpoint of any process is
///   between steps 2 and 4. Where somebody else has it, the guard answers `SQLITE_BUSY`, which `walRestartLog` takes for a reader: the
///   writer appends its frames to the log. It waits for nobody.
/// - *The connection copies.* The guard notes the salts of the log before the checkpoint reads the header, and compares them when the
///   checkpoint has `WAL_READ_LOCK(0)`. Each reset changes them. Where they differ, the guard gives the lock back and answers
///   `SQLITE_BUSY`: the checkpoint copies nothing, and leaves `nBackfill` alone. SQLite's own cure is the same comparison.
///
/// The salts are noted whenever this connection, while it has `WAL_CKPT_LOCK`, gets a lock that comes before the header is read: that
/// lock itself, `WAL_WRITE_LOCK` of the modes that wait for writers, or the one that a torn header is read under. A recovery writes the
/// header anew: they are noted at its end, too. Salts that are noted in the middle of a reset are old or mixed, and differ later.
///
/// ## What follows, and what does not
///
/// No reset by a guarded connection meets a checkpoint of any process, and no checkpoint on a guarded connection believes in a log that
/// any process has reset. All connections of Shellac that can write are guarded, those of a queue, too. The fault is left to other
/// programs among themselves: one that writes at the moment at which another one copies. The file then loses commits, whoever has
/// made them.
///
/// A read transaction that is always held would keep those programs out of it, too. It is not used, for two reasons. It cannot last,
/// as it would keep the log from being copied, and where one hands over to the next in the middle of a checkpoint, there is a hole: the
/// first holds `WAL_READ_LOCK(0)` while a writer resets the log, and the second holds another lock when the checkpoint goes on. And
/// the read transactions of two pools in two processes, one of which is idle, would keep the log from ever being reset.
///
/// In exclusive locking mode SQLite asks for none of these locks, and no other process has the file. Without shared memory there is
/// nothing to guard. A process that dies gives all locks back. Databases that are attached are not guarded.
struct LogResetGuard {
    /// The methods of the file, with those in front that the guard replaces. SQLite finds them at the beginning.
    private var methods: sqlite3_io_methods
    /// The methods that the file was opened with.
    private let original: UnsafePointer<sqlite3_io_methods>
    /// Whether the connection has the lock of who copies: it copies, or recovers the index.
    private var isCopying = false
    /// Whether the guard has taken that lock, for a reset.
    private var isResetting = false
    /// The salts of the log that the header may be of which the connection has read.
    private var salts: UInt64?

    private init(_ original: UnsafePointer<sqlite3_io_methods>) {
        (methods, self.original) = (original.pointee, original)
    }

    /// Guards a connection that was opened right now. It is guarded until its file is closed.
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

    /// The guard of a file.
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

    /// Has the file take or give back locks.
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

/// The locks of the index of a log, by their numbers.
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
