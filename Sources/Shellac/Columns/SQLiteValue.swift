public import CSQLite

/// A value where SQLite holds it: a column of the current row, or an argument of a function. Or else one that stands
/// packed in a row that was kept.
///
/// Types that read themselves straight from SQLite get one in
/// ``DatabaseValueConvertible/fromSQLiteValue(_:)``. It is good for the duration of that call alone.
public struct SQLiteValue: ~Copyable {
    @usableFromInline let pointer: OpaquePointer
    /// The row that it is read from: nil for an argument of a function.
    @usableFromInline let row: LiveRow?
    @usableFromInline let column: Int
    /// The tag of a value that is packed at the pointer.
    @usableFromInline let tag: UInt8?

    @inlinable @inline(__always)
    init(_ pointer: OpaquePointer, row: LiveRow? = nil, column: Int = 0) {
        self.pointer = pointer
        self.row = row
        self.column = column
        tag = nil
    }

    /// A packed value.
    init(tag: UInt8, payload: UnsafeRawPointer) {
        pointer = OpaquePointer(payload)
        row = nil
        column = 0
        self.tag = tag
    }

    /// How SQLite stores the value.
    @inlinable @inline(__always)
    public var storageClass: StorageClass {
        // SQLite knows no other class.
        tag == nil
            ? StorageClass(rawValue: sqlite3_value_type(pointer)).unsafelyUnwrapped : packedStorageClass
    }

    /// Whether this is NULL.
    @inlinable @inline(__always)
    public var isNull: Bool { storageClass == .null }

    /// The integer, where the ``storageClass`` is `integer`.
    @inlinable @inline(__always)
    public var int64: Int64 { tag == nil ? sqlite3_value_int64(pointer) : packedInteger }

    /// The real number, where the ``storageClass`` is `real`.
    @inlinable @inline(__always)
    public var double: Double { tag == nil ? sqlite3_value_double(pointer) : packedReal }

    /// The text, where the ``storageClass`` is `text`. Invalid UTF-8 is repaired.
    @inlinable @inline(__always)
    public var string: String { String(decoding: utf8, as: UTF8.self) }

    /// The bytes of the text, where the ``storageClass`` is `text`.
    @inlinable @inline(__always)
    var utf8: UnsafeBufferPointer<UInt8> {
        if tag != nil { return packedBytes.assumingMemoryBound(to: UInt8.self) }
        // The order matters: sqlite3_value_text() may convert, and sqlite3_value_bytes() tells the length
        // of the result. See "Obtaining SQL Values" in the SQLite documentation.
        guard let text = sqlite3_value_text(pointer) else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(pointer)))
    }

    /// The bytes of the blob, where the ``storageClass`` is `blob`, without a copy.
    @inlinable
    var blob: UnsafeRawBufferPointer {
        if tag != nil { return packedBytes }
        let bytes = sqlite3_value_blob(pointer)
        return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(pointer)))
    }
}

// MARK: - Packed values

extension SQLiteValue {
    @usableFromInline
    var packedStorageClass: StorageClass { PackedTag.storageClass(tag ?? PackedTag.null) }

    // Where the class is another one, SQLite would convert: who asks has not asked for the class.

    @usableFromInline
    var packedInteger: Int64 {
        guard let tag else { return 0 }
        if PackedTag.isInteger(tag) { return PackedTag.readInteger(tag, UnsafeRawPointer(pointer)) }
        return PackedTag.isReal(tag) ? Int64(exactly: packedReal.rounded(.towardZero)) ?? 0 : 0
    }

    @usableFromInline
    var packedReal: Double {
        guard let tag else { return 0 }
        if PackedTag.isReal(tag) { return UnsafeRawPointer(pointer).loadUnaligned(as: Double.self) }
        return PackedTag.isInteger(tag) ? Double(packedInteger) : 0
    }

    @usableFromInline
    var packedBytes: UnsafeRawBufferPointer {
        guard let tag, PackedTag.isText(tag) || PackedTag.isBlob(tag) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return PackedTag.bytes(tag, UnsafeRawPointer(pointer))
    }
}

@available(*, unavailable, message: "a value inside SQLite belongs to the access that reads it")
extension SQLiteValue: Sendable {}
