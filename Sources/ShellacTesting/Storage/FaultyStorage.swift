// A VFS of SQLite that forwards to the VFS of the system, and fails on request.

import CSQLite
import Foundation
import Shellac

/// A VFS of SQLite that forwards to the VFS of the system, and fails on request.
///
/// It can also behave like the storage of a machine that has lost it to another machine. Then it
/// refuses reads, and acknowledges writes without writing. Its files are ordinary files, so a
/// database can be read without it.
package final class FaultyStorage: @unchecked Sendable {  // `lock` guards `state`
    /// The registered name, for `Configuration/vfs`.
    package let name: String

    package enum File: Int, Sendable {
        case main = 1
        case journal, log, other
    }

    /// A requested read.
    package struct Read: Hashable, Sendable {
        package let file: File
        package let count: Int
        package let offset: Int

        package init(file: File, count: Int, offset: Int) {
            (self.file, self.count, self.offset) = (file, count, offset)
        }
    }

    private struct State {
        var fault: Fault?
        var faults = 0
        var log: WriteLog?
        /// The names of the open files, by their addresses.
        var names: [UnsafeMutableRawPointer: String] = [:]
        var isFenced = false
        var tearsWrites = false
        var writesUntilFence: Int?
        var isImmune = false
        var refused: Set<File> = []
        var sparedCount: Int?
        var reads: [Read] = []
        var keepsReads = false
        var movesVersion = false
        var version: UInt8 = 0
        var checkpointBody: (() -> Void)?
    }

    private let lock = NSLock()
    private var state = State()
    private let vfs: UnsafeMutablePointer<sqlite3_vfs>
    private let cName: UnsafeMutablePointer<CChar>
    let base: UnsafeMutablePointer<sqlite3_vfs>
    let methods: UnsafeMutablePointer<sqlite3_io_methods>

    /// Registers the VFS until the object is freed.
    ///
    /// - Parameter sharesMemory: Whether connections can share the index of a write-ahead log.
    package init(sharesMemory: Bool = true) {
        _ = try? DatabaseQueue()  // to set SQLite up
        name = "faulty-\(UUID().uuidString)"
        cName = strdup(name)
        base = sqlite3_vfs_find(nil)
        vfs = .allocate(capacity: 1)
        vfs.initialize(to: base.pointee)
        methods = .allocate(capacity: 1)
        methods.initialize(to: OpenFile.methods(version: sharesMemory ? 3 : 1))
        vfs.pointee.szOsFile = Int32(OpenFile.size) + base.pointee.szOsFile
        vfs.pointee.zName = UnsafePointer(cName)
        vfs.pointee.pNext = nil
        vfs.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
        vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
            guard let vfs, let file else { return SQLITE_MISUSE }
            if let code = storage(vfs).failure(of: .open) {
                file.pointee.pMethods = nil
                return code
            }
            return storage(vfs).open(name, file, flags, outFlags)
        }
        vfs.pointee.xDelete = { vfs, name, isSynced in
            guard let vfs else { return SQLITE_MISUSE }
            let storage = storage(vfs)
            if let code = storage.failure(of: .delete) { return code }
            if storage.isFenced { return SQLITE_OK }
            let code = storage.base.pointee.xDelete(storage.base, name, isSynced)
            if code == SQLITE_OK, let name { storage.log?.append(.delete(String(cString: name))) }
            return code
        }
        sqlite3_vfs_register(vfs, 0)
    }

    deinit {
        sqlite3_vfs_unregister(vfs)
        vfs.deallocate()
        methods.deallocate()
        free(cName)
    }

    private func with<Result>(_ body: (inout State) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }

    // MARK: - Behavior

    /// Whether another machine has taken the storage over.
    package var isFenced: Bool {
        get { with { $0.isFenced } }
        set { with { ($0.isFenced, $0.writesUntilFence) = (newValue, nil) } }
    }

    /// Lets another machine take the storage over before a write to a main file or a log.
    ///
    /// - Parameter count: The number of earlier writes.
    package func fenceAtNextWrite(after count: Int = 0) {
        with { if !$0.isImmune { $0.writesUntilFence = count } }
    }

    /// Whether the storage ignores requests to be taken over.
    package var isImmune: Bool {
        get { with { $0.isImmune } }
        set { with { $0.isImmune = newValue } }
    }

    /// The kinds of files that cannot be read.
    package var refused: Set<File> {
        get { with { $0.refused } }
        set { with { $0.refused = newValue } }
    }

    /// The length of the reads that succeed in spite of ``refused``.
    package var sparedCount: Int? {
        get { with { $0.sparedCount } }
        set { with { $0.sparedCount = newValue } }
    }

    /// Whether each read of the header finds another version of the database.
    package var movesVersion: Bool {
        get { with { $0.movesVersion } }
        set { with { $0.movesVersion = newValue } }
    }

    /// The record of all writes from now on.
    package var log: WriteLog? {
        get { with { $0.log } }
        set { with { $0.log = newValue } }
    }

    /// The next fault, or the lasting one.
    package var fault: Fault? {
        get { with { $0.fault } }
        set { with { ($0.fault, $0.faults) = (newValue, 0) } }
    }

    /// Whether the writes that fail write the first half of their bytes.
    package var tearsWrites: Bool {
        get { with { $0.tearsWrites } }
        set { with { $0.tearsWrites = newValue } }
    }

    /// The number of operations that have failed since the fault was set.
    package var faultsCount: Int { with { $0.faults } }

    /// Runs a function, and returns the reads that it has caused.
    package func reads(during body: () throws -> Void) rethrows -> [Read] {
        with { ($0.reads, $0.keepsReads) = ([], true) }
        defer { with { $0.keepsReads = false } }
        try body()
        return with { $0.reads }
    }

    /// Runs a function in the middle of the next checkpoint of a connection that has not seen the
    /// last commit. The connection has read the length of the log, and has copied nothing yet.
    package func inNextCheckpoint(_ body: @escaping () -> Void) { with { $0.checkpointBody = body } }

    // MARK: - Operations

    /// Returns the error of an operation that fails, or nil.
    func failure(of operation: Operation) -> Int32? {
        with { state in
            guard let fault = state.fault, fault.operations.contains(operation) else { return nil }
            if fault.count > 0 {
                state.fault?.count -= 1
                return nil
            }
            state.faults += 1
            if !fault.lasts { state.fault = nil }
            return fault.code ?? operation.failure
        }
    }

    /// Handles that SQLite releases mapped memory. Without any, only checkpoints do so.
    func willUnmap() {
        let body = with { state in
            defer { state.checkpointBody = nil }
            return state.checkpointBody
        }
        body?()
    }

    private func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let opened = OpenFile(file)
        file.pointee.pMethods = nil
        opened.real.pointee.pMethods = nil
        let code = base.pointee.xOpen(base, name, opened.real, flags, outFlags)
        guard code == SQLITE_OK else { return code }
        let kind: File =
            flags & SQLITE_OPEN_MAIN_DB != 0
            ? .main
            : flags & SQLITE_OPEN_WAL != 0 ? .log : flags & SQLITE_OPEN_MAIN_JOURNAL != 0 ? .journal : .other
        opened.initialize(kind, Unmanaged.passRetained(self))
        if let name { with { $0.names[opened.memory] = String(cString: name) } }
        file.pointee.pMethods = UnsafePointer(methods)
        return SQLITE_OK
    }

    /// Records a successful operation.
    func note(_ code: Int32, _ file: OpenFile, _ event: (String) -> WriteLog.Event) -> Int32 {
        let (log, name) = with { ($0.log, $0.names[file.memory]) }
        if code == SQLITE_OK, let log, let name { log.append(event(name)) }
        return code
    }

    func forget(_ file: OpenFile) { with { $0.names[file.memory] = nil } }

    /// Returns whether the bytes may be read.
    func willRead(_ file: File, _ count: Int32, _ offset: Int64) -> Bool {
        with { state in
            if state.keepsReads {
                state.reads.append(Read(file: file, count: Int(count), offset: Int(offset)))
            }
            if state.isFenced, file != .other { return false }
            return !state.refused.contains(file) || state.sparedCount == Int(count)
        }
    }

    /// Returns whether the bytes are written.
    func willWrite(_ file: File) -> Bool {
        with { state in
            if file == .main || file == .log, let left = state.writesUntilFence {
                if left == 0 { state.isFenced = true }
                state.writesUntilFence = left == 0 ? nil : left - 1
            }
            return !(state.isFenced && file != .other)
        }
    }

    /// The version to return instead of the one in the file.
    func versionByte() -> UInt8? {
        with { state in
            guard state.movesVersion else { return nil }
            state.version &+= 1
            return state.version
        }
    }
}

private func storage(_ vfs: UnsafeMutablePointer<sqlite3_vfs>) -> FaultyStorage {
    Unmanaged<FaultyStorage>.fromOpaque(vfs.pointee.pAppData).takeUnretainedValue()
}
