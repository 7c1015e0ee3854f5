/// How a value stands in packed bytes: its storage class, and how long its payload is.
///
/// The tags of NULL and of integers are the lengths of their payloads: those of integers 1, 2, 4 and 8. See
/// ``PackedBytes`` for what stands where.
@usableFromInline
struct PackedTag: Equatable, BitwiseCopyable {
    @usableFromInline let rawValue: UInt8

    @inlinable
    init(_ rawValue: UInt8) { self.rawValue = rawValue }

    static var null: PackedTag { PackedTag(0) }
    @usableFromInline static var real: PackedTag { @inlinable @inline(__always) get { PackedTag(9) } }
    /// A number that an encoder made of a date.
    static var dateReal: PackedTag { PackedTag(10) }
    /// A text behind a length of one byte.
    static var shortText: PackedTag { PackedTag(11) }
    /// A text behind a length of four bytes.
    static var longText: PackedTag { PackedTag(12) }
    /// A text that an encoder made of a date, behind a length of one byte.
    static var dateText: PackedTag { PackedTag(13) }
    static var shortBlob: PackedTag { PackedTag(14) }
    static var longBlob: PackedTag { PackedTag(15) }

    /// The tag of an integer, which says how many bytes it takes: each size that it exceeds doubles it. There is no
    /// branch, since integers of all sizes follow each other.
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

    /// How SQLite stores the value.
    var storageClass: StorageClass {
        if isInteger { return .integer }
        if isText { return .text }
        if isReal { return .real }
        return isBlob ? .blob : .null
    }

    /// How many bytes stand in front of those of a text or a blob, to tell their number. 0 for any other value.
    var lengthSize: Int {
        if self == .longText || self == .longBlob { return 4 }
        return isText || isBlob ? 1 : 0
    }
}
