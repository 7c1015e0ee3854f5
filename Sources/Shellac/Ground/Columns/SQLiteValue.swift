// A value read in place from SQLite or from a packed row, with SQLite's type conversions.

public import CSQLite

/// A value in SQLite's own memory: a column of the current row, or an argument of a function.
/// Alternatively, a packed value in a row that was kept.
///
/// Types that read themselves directly from SQLite get one in
/// ``DatabaseValueConvertible/fromSQLiteValue(_:)``. It is only valid during that call.
public struct SQLiteValue: ~Copyable {
    @usableFromInline
    enum Source {
        /// SQLite's own object, and the row and the column it is read from. An argument of a
        /// function has no row.
        case sqlite(OpaquePointer, row: LiveRow?, column: Int)
        case packed(PackedValue)
    }
    @usableFromInline let source: Source

    @inlinable @inline(__always)
    init(_ pointer: OpaquePointer, row: LiveRow? = nil, column: Int = 0) {
        source = .sqlite(pointer, row: row, column: column)
    }

    init(_ packed: PackedValue) { source = .packed(packed) }

    /// The storage class of the value in SQLite.
    @inlinable @inline(__always)
    public var storageClass: StorageClass {
        switch source {
        // SQLite has no other class.
        case .sqlite(let pointer, _, _):
            StorageClass(rawValue: sqlite3_value_type(pointer)).unsafelyUnwrapped
        case .packed(let value): value.storageClass
        }
    }

    /// Whether this is NULL.
    @inlinable @inline(__always)
    public var isNull: Bool { storageClass == .null }

    /// The integer, if the ``storageClass`` is `integer`.
    @inlinable
    public var int64: Int64 { integer ?? convertedInteger }

    /// The real number, if the ``storageClass`` is `real`.
    @inlinable
    public var double: Double { real ?? convertedReal }

    /// The text, if the ``storageClass`` is `text`. Invalid UTF-8 is repaired.
    @inlinable
    public var string: String { String(decoding: text ?? convertedText, as: UTF8.self) }

    /// The bytes of the blob, without a copy, if the ``storageClass`` is `blob`.
    @usableFromInline
    var bytes: UnsafeRawBufferPointer { blob ?? convertedBlob }
}

// MARK: - Fetching
//
// All fetched values pass through these properties, whatever type reads them. So this is also the
// place that packs them for a record's remembered row: see LiveRow+Packing.swift.

extension SQLiteValue {
    /// The integer. Nil for a value of another class.
    @inlinable @inline(__always)
    var integer: Int64? {
        switch source {
        case .sqlite(let pointer, let row, let column):
            guard sqlite3_value_type(pointer) == SQLITE_INTEGER else { return nil }
            let integer = sqlite3_value_int64(pointer)
            if let row, row.packs(column) { row.pack(integer, in: column) }
            return integer
        case .packed: return packedInteger
        }
    }

    /// The real number. Nil for a value of another class.
    @inlinable @inline(__always)
    var real: Double? {
        switch source {
        case .sqlite(let pointer, let row, let column):
            guard sqlite3_value_type(pointer) == SQLITE_FLOAT else { return nil }
            let real = sqlite3_value_double(pointer)
            if let row, row.packs(column) { row.pack(real, in: column) }
            return real
        case .packed: return packedReal
        }
    }

    /// The bytes of the text. Nil for a value of another class.
    @inlinable @inline(__always)
    var text: UnsafeBufferPointer<UInt8>? {
        switch source {
        case .sqlite(let pointer, let row, let column):
            guard sqlite3_value_type(pointer) == SQLITE_TEXT else { return nil }
            let utf8 = Self.text(pointer)
            if let row, row.packs(column) { row.pack(utf8, in: column) }
            return utf8
        case .packed: return packedText
        }
    }

    /// The bytes of the blob. Nil for a value of another class.
    @usableFromInline
    var blob: UnsafeRawBufferPointer? {
        guard storageClass == .blob else { return nil }
        let bytes = convertedBlob
        if case .sqlite(_, let row?, let column) = source, row.packs(column) {
            row.pack(.blob(bytes), in: column)
        }
        return bytes
    }

    /// The value of any class, for a switch. It is not packed.
    var view: ValueView {
        switch source {
        case .packed(let value): value.view
        case .sqlite(let pointer, _, _):
            switch storageClass {
            case .null: .null
            case .integer: .integer(sqlite3_value_int64(pointer))
            case .real: .real(sqlite3_value_double(pointer))
            case .text: .text(convertedText)
            case .blob: .blob(convertedBlob)
            }
        }
    }

    /// The value of any class, for a switch. It is packed.
    var fetched: ValueView {
        let view = view
        if case .sqlite(_, let row?, let column) = source, row.packs(column) { row.pack(view, in: column) }
        return view
    }
}

// MARK: - Conversions by SQLite
//
// If the value is of another class, SQLite converts it: the caller has not checked the class.

extension SQLiteValue {
    @usableFromInline
    var convertedInteger: Int64 {
        switch source {
        case .sqlite(let pointer, _, _): sqlite3_value_int64(pointer)
        case .packed(let value): value.convertedInteger
        }
    }

    @usableFromInline
    var convertedReal: Double {
        switch source {
        case .sqlite(let pointer, _, _): sqlite3_value_double(pointer)
        case .packed(let value): value.convertedReal
        }
    }

    @usableFromInline
    var convertedText: UnsafeBufferPointer<UInt8> {
        switch source {
        case .sqlite(let pointer, _, _): Self.text(pointer)
        case .packed(let value): value.convertedBytes.assumingMemoryBound(to: UInt8.self)
        }
    }

    @inlinable @inline(__always)
    static func text(_ pointer: OpaquePointer) -> UnsafeBufferPointer<UInt8> {
        // The order matters: sqlite3_value_text() may convert, and sqlite3_value_bytes() returns
        // the length of the result. See "Obtaining SQL Values" in the SQLite documentation.
        guard let text = sqlite3_value_text(pointer) else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(pointer)))
    }

    @usableFromInline
    var convertedBlob: UnsafeRawBufferPointer {
        switch source {
        case .sqlite(let pointer, _, _):
            let bytes = sqlite3_value_blob(pointer)
            return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(pointer)))
        case .packed(let value): return value.convertedBytes
        }
    }
}

// MARK: - Packed values

extension SQLiteValue {
    private var packed: PackedValue? {
        if case .packed(let value) = source { return value }
        return nil
    }

    @usableFromInline
    var packedInteger: Int64? { packed.flatMap { $0.isInteger ? $0.integer : nil } }

    @usableFromInline
    var packedReal: Double? { packed.flatMap { $0.isReal ? $0.real : nil } }

    @usableFromInline
    var packedText: UnsafeBufferPointer<UInt8>? {
        packed.flatMap { $0.isText ? $0.utf8 : nil }
    }
}

extension PackedValue {
    @usableFromInline
    var storageClass: StorageClass { tag.storageClass }

    fileprivate var convertedInteger: Int64 {
        if isInteger { return integer }
        return isReal ? Int64(exactly: real.rounded(.towardZero)) ?? 0 : 0
    }

    fileprivate var convertedReal: Double {
        if isReal { return real }
        return isInteger ? Double(integer) : 0
    }

    fileprivate var convertedBytes: UnsafeRawBufferPointer {
        switch storageClass {
        case .text, .blob: bytes
        case .null, .integer, .real: UnsafeRawBufferPointer(start: nil, count: 0)
        }
    }
}

@available(*, unavailable, message: "a value inside SQLite belongs to the access that reads it")
extension SQLiteValue: Sendable {}
