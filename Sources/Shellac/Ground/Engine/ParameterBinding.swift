// Binds values and packed columns to statement parameters, and sets SQL function results.

import CSQLite

/// A prepared statement that is no longer used. The next access finalizes it.
struct ParkedStatement: @unchecked Sendable {  // has one owner at a time, which finalizes it
    let pointer: OpaquePointer

    func finalize() { sqlite3_finalize(pointer) }
}

extension DatabaseValue {
    /// Whether SQLite's copy of the value is large enough to free it early, before it is replaced.
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
        withView { $0.bind(to: statement, at: index, shellac_transient()) }
    }
}

extension ValueView {
    /// Binds the value to a parameter, counted from 1.
    ///
    /// - Parameter lifetime: Whether SQLite copies texts and blobs (`shellac_transient()`), or may
    ///   rely on them until the statement has run (`shellac_static()`).
    @inline(__always)
    func bind(
        to statement: OpaquePointer, at index: Int32, _ lifetime: sqlite3_destructor_type?
    ) -> Int32 {
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let integer): return sqlite3_bind_int64(statement, index, integer)
        case .real(let real): return sqlite3_bind_double(statement, index, real)
        case .text(let utf8):
            return sqlite3_bind_text64(
                statement, index, Self.start(of: utf8), sqlite3_uint64(utf8.count), lifetime,
                UInt8(SQLITE_UTF8))
        case .blob(let bytes):
            // A null pointer would bind NULL.
            if bytes.isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
            return sqlite3_bind_blob64(
                statement, index, bytes.baseAddress, sqlite3_uint64(bytes.count), lifetime)
        }
    }

    /// Sets the value as the result of a function. SQLite copies texts and blobs.
    func setResult(of context: OpaquePointer?) {
        switch self {
        case .null: sqlite3_result_null(context)
        case .integer(let integer): sqlite3_result_int64(context, integer)
        case .real(let real): sqlite3_result_double(context, real)
        case .text(let utf8):
            sqlite3_result_text64(
                context, Self.start(of: utf8), sqlite3_uint64(utf8.count), shellac_transient(),
                UInt8(SQLITE_UTF8))
        case .blob(let bytes):
            if bytes.isEmpty { return sqlite3_result_zeroblob(context, 0) }
            sqlite3_result_blob64(
                context, bytes.baseAddress, sqlite3_uint64(bytes.count), shellac_transient())
        }
    }

    private static func start(of utf8: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar> {
        UnsafeRawPointer(utf8.baseAddress)?.assumingMemoryBound(to: CChar.self) ?? empty
    }

    /// The address of an empty text: a null pointer would bind NULL. It is never written, and never
    /// freed.
    private nonisolated(unsafe) static let empty: UnsafePointer<CChar> = {
        let empty = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        empty.initialize(to: 0)
        return UnsafePointer(empty)
    }()
}

// Packed values are bound in place.

extension PackedValue {
    /// Binds the value to a parameter, counted from 1. Texts and blobs are not copied.
    @inline(__always)
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        view.bind(to: statement, at: index, shellac_static())
    }
}

extension PackedBytes {
    /// Binds the columns to parameters, starting at the given number. Returns an error code if one
    /// of them failed.
    ///
    /// There must be 8 bytes behind the last column.
    @inline(never)
    func bind(to statement: OpaquePointer, from first: Int32) -> Int32 {
        var code = SQLITE_OK
        eachColumn { column, value in
            let parameter = first &+ Int32(truncatingIfNeeded: column)
            let bound =
                value.isInteger
                ? sqlite3_bind_int64(statement, parameter, value.integerInFrontOfRoom)
                : value.bind(to: statement, at: parameter)
            if bound != SQLITE_OK { code = bound }
        }
        return code
    }
}
