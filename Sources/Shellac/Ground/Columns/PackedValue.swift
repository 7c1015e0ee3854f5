// One value in packed bytes: its type tag and a pointer to its payload.

import CSQLite

/// One value in packed bytes: its tag and the address of its payload. The reader must keep the
/// bytes alive.
///
/// The struct fits in two registers, and is passed by value.
@usableFromInline
struct PackedValue {
    let tag: PackedTag
    let payload: UnsafeRawPointer

    init(_ tag: PackedTag, _ payload: UnsafeRawPointer) { (self.tag, self.payload) = (tag, payload) }

    var isNull: Bool { tag == .null }
    var isInteger: Bool { tag.isInteger }
    var isReal: Bool { tag.isReal }
    var isText: Bool { tag.isText }
    /// Whether an encoder created the value from a date.
    var isDate: Bool { tag.isDate }

    /// The length of the payload.
    var byteCount: Int {
        // NULL and integers are the most frequent values.
        if tag.rawValue <= 8 { return Int(tag.rawValue) }
        switch tag {
        case .real, .dateReal: return 8
        case .shortText, .shortBlob, .dateText: return 1 + Int(payload.load(as: UInt8.self))
        default: return 4 + Int(payload.loadUnaligned(as: UInt32.self))
        }
    }

    /// The integer. The value must be one.
    var integer: Int64 {
        switch tag.rawValue {
        case 1: Int64(payload.load(as: Int8.self))
        case 2: Int64(Int16(littleEndian: payload.loadUnaligned(as: Int16.self)))
        case 4: Int64(Int32(littleEndian: payload.loadUnaligned(as: Int32.self)))
        default: Int64(littleEndian: payload.loadUnaligned(as: Int64.self))
        }
    }

    /// The integer, read without a branch. There must be 8 readable bytes.
    var integerInFrontOfRoom: Int64 {
        let unused = 64 &- 8 &* Int64(tag.rawValue)
        return (Int64(littleEndian: payload.loadUnaligned(as: Int64.self)) &<< unused) &>> unused
    }

    /// The real number. The value must be one.
    var real: Double { payload.loadUnaligned(as: Double.self) }

    /// The bytes. The value must be a text or a blob.
    var bytes: UnsafeRawBufferPointer {
        tag == .longText || tag == .longBlob
            ? UnsafeRawBufferPointer(start: payload + 4, count: Int(payload.loadUnaligned(as: UInt32.self)))
            : UnsafeRawBufferPointer(start: payload + 1, count: Int(payload.load(as: UInt8.self)))
    }

    /// The text. The value must be one.
    @inline(__always)
    var utf8: UnsafeBufferPointer<UInt8> { bytes.assumingMemoryBound(to: UInt8.self) }

    /// Whether a text or a blob has the given bytes.
    func holds(_ other: UnsafeRawBufferPointer) -> Bool {
        let bytes = bytes
        guard bytes.count == other.count, let start = other.baseAddress else {
            return bytes.count == other.count
        }
        return memcmp(bytes.baseAddress.unsafelyUnwrapped, start, other.count) == 0
    }

    /// Whether the packed bytes are those of the given value. (A date has the bytes of its text or
    /// number.)
    @inline(__always)
    func isSame(as value: ValueView) -> Bool {
        switch value {
        case .null: isNull
        case .integer(let integer): isInteger && self.integer == integer
        case .real(let real): isReal && self.real == real
        case .text(let utf8): isText && holds(UnsafeRawBufferPointer(utf8))
        case .blob(let bytes): tag.isBlob && holds(bytes)
        }
    }

    /// The value, for a switch over its storage class.
    @inline(__always)
    var view: ValueView {
        switch tag {
        case .null: .null
        case .real, .dateReal: .real(real)
        case .shortText, .longText, .dateText: .text(utf8)
        case .shortBlob, .longBlob: .blob(bytes)
        default: .integer(integer)
        }
    }
}
