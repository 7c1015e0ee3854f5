// Reads an open database file or journal through its VFS, bypassing SQLite's page cache.

import CSQLite

/// A file of a database, opened by its VFS. Reading it bypasses SQLite's page cache.
///
/// See "sqlite3_io_methods" and "Standard File Control Opcodes" in the SQLite documentation. The
/// value is valid until the connection runs its next statement.
struct DatabaseFile {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: UnsafePointer<sqlite3_io_methods>

    enum Kind {
        /// The main database file.
        case main
        /// The write-ahead log in WAL mode, and the rollback journal in other modes.
        case journal

        fileprivate var code: Int32 {
            switch self {
            case .main: SQLITE_FCNTL_FILE_POINTER
            case .journal: SQLITE_FCNTL_JOURNAL_POINTER
            }
        }
    }

    /// Finds a file of a database. Fails if it is not open: a database in memory has no files, and
    /// a journal is not always there.
    init?(_ kind: Kind, of name: String, on connection: OpaquePointer) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, name, kind.code, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods
        else { return nil }
        (self.file, self.methods) = (file, methods)
    }

    /// Whether several connections can share the index of a write-ahead log.
    var hasSharedMemory: Bool { methods.pointee.iVersion >= 2 && methods.pointee.xShmMap != nil }

    /// The number of bytes in the file, or nil if it cannot be determined.
    var size: Int64? {
        var size: Int64 = 0
        return methods.pointee.xFileSize?(file, &size) == SQLITE_OK ? size : nil
    }

    /// Reads bytes. Bytes beyond the end of the file are 0, and the code is then
    /// `SQLITE_IOERR_SHORT_READ`.
    func read(_ count: Int, at offset: Int64) -> (code: Int32, bytes: [UInt8]) {
        guard let read = methods.pointee.xRead else { return (ResultCode.SQLITE_IOERR_READ.rawValue, []) }
        var code = SQLITE_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            buffer.initialize(repeating: 0)
            code = read(file, buffer.baseAddress, Int32(count), offset)
            initialized = count
        }
        return (code, bytes)
    }

    /// The code for a read beyond the end of the file.
    static let shortRead = ResultCode.SQLITE_IOERR_SHORT_READ.rawValue
}

extension [UInt8] {
    /// Returns the big-endian number in four bytes.
    func bigEndianNumber(at index: Int) -> UInt32 {
        self[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
