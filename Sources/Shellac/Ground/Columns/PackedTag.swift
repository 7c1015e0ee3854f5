/// The format of a value in packed bytes: its storage class, and the length of its payload.
///
/// The tags of NULL and of integers are the lengths of their payloads. An integer takes 1, 2, 4 or
/// 8 bytes. See ``PackedBytes`` for the whole layout.
@usableFromInline
struct PackedTag: Equatable, BitwiseCopyable {
    @usableFromInline let rawValue: UInt8

    @inlinable
    init(_ rawValue: UInt8) { self.rawValue = rawValue }

    static var null: PackedTag { PackedTag(0) }
    @usableFromInline static var real: PackedTag { @inlinable @inline(__always) get { PackedTag(9) } }
    /// A number that an encoder created from a date.
    static var dateReal: PackedTag { PackedTag(10) }
    /// A text behind a length of one byte.
    static var shortText: PackedTag { PackedTag(11) }
    /// A text behind a length of four bytes.
    static var longText: PackedTag { PackedTag(12) }
    /// A text that an encoder created from a date, behind a length of one byte.
    static var dateText: PackedTag { PackedTag(13) }
    static var shortBlob: PackedTag { PackedTag(14) }
    static var longBlob: PackedTag { PackedTag(15) }

    /// Creates the tag of an integer, which is its number of bytes: each exceeded size doubles it.
    /// The code has no branch, since integers of different sizes may follow each other.
    @inline(__always)
    init(of value: Int64) {
        var exceeded: UInt8 = 0
        exceeded &+= Int64(Int8(truncatingIfNeeded: value)) == value ? 0 : 1
        exceeded &+= Int64(Int16(truncatingIfNeeded: value)) == value ? 0 : 1
        exceeded &+= Int64(Int32(truncatingIfNeeded: value)) == value ? 0 : 1
        self.init(1 &<< exceeded)
    }

    @inlinable
    static func == (a: PackedTag, b: PackedTag) -> Bool { a.rawValue == b.rawValue }

    @inlinable
    var isInteger: Bool { rawValue &- 1 < 8 }

    var isReal: Bool { self == .real || self == .dateReal }

    var isText: Bool { self == .shortText || self == .longText || self == .dateText }

    var isBlob: Bool { self == .shortBlob || self == .longBlob }

    var isDate: Bool { self == .dateText || self == .dateReal }

    /// The value's storage class in SQLite.
    var storageClass: StorageClass {
        if isInteger { return .integer }
        if isText { return .text }
        if isReal { return .real }
        return isBlob ? .blob : .null
    }

    /// The number of bytes of a text's or blob's length prefix. 0 for any other value.
    var lengthSize: Int {
        if self == .longText || self == .longBlob { return 4 }
        return isText || isBlob ? 1 : 0
    }
}
