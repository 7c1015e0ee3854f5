import CSQLite

/// A prepared statement that nobody uses any more, on its way to be finalized by the access that comes next.
struct ParkedStatement: @unchecked Sendable {  // has one owner at a time, which finalizes it
    let pointer: OpaquePointer

    func finalize() { sqlite3_finalize(pointer) }
}

extension DatabaseValue {
    /// Whether SQLite's copy of the value is worth being freed before it is replaced.
    @inline(__always)
    var isLarge: Bool {
        switch storage {
        case .string(let text): text.utf8.count > 4096
        case .blob(let data): data.count > 4096
        default: false
        }
    }

    /// Binds the value to a parameter, counted from 1. SQLite copies texts and blobs.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch storage {
        case .null: return sqlite3_bind_null(statement, index)
        case .int64(let integer): return sqlite3_bind_int64(statement, index, integer)
        case .double(let double): return sqlite3_bind_double(statement, index, double)
        case .string(var text):
            return text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) { bytes in
                    sqlite3_bind_text64(
                        statement, index, bytes.baseAddress ?? Self.empty, sqlite3_uint64(bytes.count),
                        shellac_transient(), UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let data):
            // A null pointer would bind NULL.
            guard !data.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return data.withUnsafeBytes { bytes in
                sqlite3_bind_blob64(
                    statement, index, bytes.baseAddress, sqlite3_uint64(bytes.count), shellac_transient())
            }
        }
    }

    /// Where an empty text is: a null pointer would bind NULL.
    /// It is never written, and never freed.
    private nonisolated(unsafe) static let empty: UnsafePointer<CChar> = {
        let empty = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        empty.initialize(to: 0)
        return UnsafePointer(empty)
    }()
}
