// A file that SQLite has opened through a faulty storage.

import CSQLite
import Foundation

/// An open file: SQLite's `sqlite3_file`, our fields, and the `sqlite3_file` of the system.
struct OpenFile {
    static let size = 32
    let memory: UnsafeMutableRawPointer

    init(_ file: UnsafeMutablePointer<sqlite3_file>) { memory = UnsafeMutableRawPointer(file) }
    init(_ file: UnsafeMutablePointer<sqlite3_file>?) { memory = UnsafeMutableRawPointer(file!) }

    var real: UnsafeMutablePointer<sqlite3_file> {
        (memory + Self.size).assumingMemoryBound(to: sqlite3_file.self)
    }
    private var owner: Unmanaged<FaultyStorage> {
        .fromOpaque((memory + 8).load(as: UnsafeMutableRawPointer.self))
    }
    var storage: FaultyStorage { owner.takeUnretainedValue() }
    var kind: FaultyStorage.File { FaultyStorage.File(rawValue: (memory + 16).load(as: Int.self)) ?? .other }
    var base: sqlite3_io_methods { real.pointee.pMethods.pointee }

    func initialize(_ kind: FaultyStorage.File, _ owner: Unmanaged<FaultyStorage>) {
        (memory + 8).storeBytes(of: owner.toOpaque(), as: UnsafeMutableRawPointer.self)
        (memory + 16).storeBytes(of: kind.rawValue, as: Int.self)
    }

    /// Whether a change is made, and not only acknowledged.
    var isChanged: Bool { storage.willWrite(kind) }

    static func methods(version: Int32) -> sqlite3_io_methods {
        var methods = sqlite3_io_methods()
        methods.iVersion = version
        methods.xClose = { file in
            let opened = OpenFile(file)
            opened.storage.forget(opened)
            let code = opened.base.xClose(opened.real)
            opened.owner.release()
            return code
        }
        methods.xRead = { file, bytes, count, offset in
            let opened = OpenFile(file)
            if let code = opened.storage.failure(of: .read) { return code }
            guard opened.storage.willRead(opened.kind, count, offset) else { return SQLITE_IOERR | 1 << 8 }
            let code = opened.base.xRead(opened.real, bytes, count, offset)
            // Each commit increments the number in bytes 24 to 27 of the header.
            if opened.kind == .main, offset <= 24, offset + Int64(count) >= 28,
                let version = opened.storage.versionByte()
            {
                bytes?.storeBytes(of: version, toByteOffset: Int(24 - offset), as: UInt8.self)
            }
            return code
        }
        methods.xWrite = { file, bytes, count, offset in
            let opened = OpenFile(file)
            if let code = opened.storage.failure(of: .write) {
                // A write that fails may have written a part.
                if opened.storage.tearsWrites {
                    _ = opened.base.xWrite(opened.real, bytes, count / 2, offset)
                }
                return code
            }
            guard opened.isChanged else { return SQLITE_OK }
            let code = opened.base.xWrite(opened.real, bytes, count, offset)
            return opened.storage.note(code, opened) { name in
                .write(name, Int(offset), [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count))))
            }
        }
        methods.xTruncate = { file, size in
            let opened = OpenFile(file)
            if let code = opened.storage.failure(of: .truncate) { return code }
            if opened.storage.isFenced { return SQLITE_OK }
            let code = opened.base.xTruncate(opened.real, size)
            return opened.storage.note(code, opened) { .truncate($0, Int(size)) }
        }
        methods.xSync = { file, flags in
            let opened = OpenFile(file)
            if let code = opened.storage.failure(of: .sync) { return code }
            if opened.storage.isFenced { return SQLITE_OK }
            return opened.storage.note(opened.base.xSync(opened.real, flags), opened) { .sync($0) }
        }
        methods.xFileSize = {
            OpenFile($0).storage.failure(of: .size) ?? OpenFile($0).base.xFileSize(OpenFile($0).real, $1)
        }
        methods.xLock = {
            OpenFile($0).storage.failure(of: .lock) ?? OpenFile($0).base.xLock(OpenFile($0).real, $1)
        }
        methods.xUnlock = { OpenFile($0).base.xUnlock(OpenFile($0).real, $1) }
        methods.xCheckReservedLock = { OpenFile($0).base.xCheckReservedLock(OpenFile($0).real, $1) }
        methods.xFileControl = { OpenFile($0).base.xFileControl(OpenFile($0).real, $1, $2) }
        methods.xSectorSize = { OpenFile($0).base.xSectorSize(OpenFile($0).real) }
        methods.xDeviceCharacteristics = { OpenFile($0).base.xDeviceCharacteristics(OpenFile($0).real) }
        methods.xShmMap = {
            OpenFile($0).storage.failure(of: .map)
                ?? OpenFile($0).base.xShmMap(OpenFile($0).real, $1, $2, $3, $4)
        }
        methods.xShmLock = { file, first, count, flags in
            let opened = OpenFile(file)
            // No system refuses to release a lock.
            if flags & SQLITE_SHM_LOCK != 0, let code = opened.storage.failure(of: .lockMap) { return code }
            return opened.base.xShmLock(opened.real, first, count, flags)
        }
        methods.xShmBarrier = { OpenFile($0).base.xShmBarrier(OpenFile($0).real) }
        methods.xShmUnmap = { OpenFile($0).base.xShmUnmap(OpenFile($0).real, $1) }
        methods.xFetch = { OpenFile($0).base.xFetch(OpenFile($0).real, $1, $2, $3) }
        methods.xUnfetch = { file, offset, memory in
            let opened = OpenFile(file)
            if opened.kind == .main, memory == nil { opened.storage.willUnmap() }
            return opened.base.xUnfetch(opened.real, offset, memory)
        }
        return methods
    }
}
