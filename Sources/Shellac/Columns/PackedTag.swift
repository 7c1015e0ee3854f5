/// How one value stands in packed bytes: in a row that outlives its statement, in what a record remembers of its row,
/// and in what it is saved from.
///
/// The tags of all columns stand in front, one byte each; then the payloads, without padding. Integers take as
/// many bytes as they need, texts and blobs are behind their length. So two equal rows are two equal pieces of
/// memory, and a row of small numbers is hardly larger than its tags.
///
/// The tags of NULL and of integers are the lengths of their payloads: those of integers 1, 2, 4 and 8.
@usableFromInline
enum PackedTag {
    static let null: UInt8 = 0
    private static let int64: UInt8 = 8
    @usableFromInline static var real: UInt8 { @inlinable @inline(__always) get { 9 } }
    /// A number that an encoder made of a date.
    static let dateReal: UInt8 = 10
    /// A text behind a length of one byte.
    static let shortText: UInt8 = 11
    /// A text behind a length of four bytes.
    static let longText: UInt8 = 12
    /// A text that an encoder made of a date, behind a length of one byte.
    static let dateText: UInt8 = 13
    static let shortBlob: UInt8 = 14
    static let longBlob: UInt8 = 15

    /// The length of a payload.
    @inline(__always)
    static func length(_ tag: UInt8, _ payload: UnsafeRawPointer) -> Int {
        if tag <= int64 { return Int(tag) }
        switch tag {
        case real, dateReal: return 8
        case shortText, shortBlob, dateText: return 1 + Int(payload.load(as: UInt8.self))
        default: return 4 + Int(payload.loadUnaligned(as: UInt32.self))
        }
    }

    @inlinable @inline(__always)
    static func isInteger(_ tag: UInt8) -> Bool { tag &- 1 < 8 }

    @inline(__always)
    static func isReal(_ tag: UInt8) -> Bool { tag == real || tag == dateReal }

    @inline(__always)
    static func isText(_ tag: UInt8) -> Bool { tag == shortText || tag == longText || tag == dateText }

    @inline(__always)
    static func isBlob(_ tag: UInt8) -> Bool { tag == shortBlob || tag == longBlob }

    @inline(__always)
    static func isDate(_ tag: UInt8) -> Bool { tag == dateText || tag == dateReal }

    /// How SQLite stores the value.
    static func storageClass(_ tag: UInt8) -> StorageClass {
        if isInteger(tag) { return .integer }
        if isText(tag) { return .text }
        if isReal(tag) { return .real }
        return isBlob(tag) ? .blob : .null
    }
}

// MARK: - Writing

extension PackedTag {
    /// The tag of an integer, and how many bytes it takes: each size that it exceeds doubles it. There is no branch,
    /// since integers of all sizes follow each other.
    @inline(__always)
    static func integer(_ value: Int64) -> UInt8 {
        var exceeded: UInt8 = 0
        exceeded &+= Int64(Int8(truncatingIfNeeded: value)) == value ? 0 : 1
        exceeded &+= Int64(Int16(truncatingIfNeeded: value)) == value ? 0 : 1
        exceeded &+= Int64(Int32(truncatingIfNeeded: value)) == value ? 0 : 1
        return 1 &<< exceeded
    }

    /// How many bytes an integer takes.
    static func byteCount(_ value: Int64) -> Int { Int(integer(value)) }

    /// How many bytes a text or a blob takes.
    @inline(__always)
    static func byteCount(ofBytes count: Int) -> Int { count + (count < 256 ? 1 : 4) }

    /// Writes an integer, and returns its tag. There must be room for 8 bytes: all are written, and those that count
    /// are kept.
    @inline(__always)
    static func write(_ value: Int64, to payload: inout UnsafeMutableRawPointer) -> UInt8 {
        payload.storeBytes(of: value.littleEndian, as: Int64.self)
        let tag = integer(value)
        payload += Int(tag)
        return tag
    }

    /// Writes an integer where there is no room behind it.
    static func writeExactly(_ value: Int64, to payload: inout UnsafeMutableRawPointer) -> UInt8 {
        let tag = integer(value)
        withUnsafeBytes(of: value.littleEndian) { bytes in
            if let start = bytes.baseAddress { payload.copyMemory(from: start, byteCount: Int(tag)) }
        }
        payload += Int(tag)
        return tag
    }

    @inline(__always)
    static func write(_ value: Double, to payload: inout UnsafeMutableRawPointer) -> UInt8 {
        payload.storeBytes(of: value, as: Double.self)
        payload += 8
        return real
    }

    @inline(__always)
    static func write(text: UnsafeRawBufferPointer, to payload: inout UnsafeMutableRawPointer) -> UInt8 {
        write(bytes: text, to: &payload) ? shortText : longText
    }

    @inline(__always)
    static func write(blob: UnsafeRawBufferPointer, to payload: inout UnsafeMutableRawPointer) -> UInt8 {
        write(bytes: blob, to: &payload) ? shortBlob : longBlob
    }

    /// Writes bytes behind their length, and returns whether they are few.
    @inline(__always)
    static func write(bytes: UnsafeRawBufferPointer, to payload: inout UnsafeMutableRawPointer) -> Bool {
        let length = bytes.count
        if length < 256 {
            payload.storeBytes(of: UInt8(truncatingIfNeeded: length), as: UInt8.self)
            payload += 1
        } else {
            payload.storeBytes(of: UInt32(truncatingIfNeeded: length), as: UInt32.self)
            payload += 4
        }
        if let start = bytes.baseAddress { payload.copyMemory(from: start, byteCount: length) }
        payload += length
        return length < 256
    }
}

// MARK: - Reading

extension PackedTag {
    /// Reads an integer.
    @inline(__always)
    static func readInteger(_ tag: UInt8, _ payload: UnsafeRawPointer) -> Int64 {
        switch tag {
        case 1: Int64(payload.load(as: Int8.self))
        case 2: Int64(Int16(littleEndian: payload.loadUnaligned(as: Int16.self)))
        case 4: Int64(Int32(littleEndian: payload.loadUnaligned(as: Int32.self)))
        default: Int64(littleEndian: payload.loadUnaligned(as: Int64.self))
        }
    }

    /// Reads an integer without a branch, where 8 bytes may be read.
    @inline(__always)
    static func readInteger(_ tag: UInt8, inFrontOfRoom payload: UnsafeRawPointer) -> Int64 {
        let unused = 64 &- 8 &* Int64(tag)
        return (Int64(littleEndian: payload.loadUnaligned(as: Int64.self)) &<< unused) &>> unused
    }

    /// Reads an integer without a branch, where the 8 bytes in front of its end may be read, as they may in a row.
    @inlinable @inline(__always)
    static func readInteger(_ tag: UInt8, endingAt end: UnsafeRawPointer) -> Int64 {
        Int64(littleEndian: (end - 8).loadUnaligned(as: Int64.self)) &>> (64 &- 8 &* Int64(tag))
    }

    /// The bytes of a text or a blob.
    @inline(__always)
    static func bytes(_ tag: UInt8, _ payload: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        tag == longText || tag == longBlob
            ? UnsafeRawBufferPointer(start: payload + 4, count: Int(payload.loadUnaligned(as: UInt32.self)))
            : UnsafeRawBufferPointer(start: payload + 1, count: Int(payload.load(as: UInt8.self)))
    }

    /// Calls a function with each packed column's tag and payload, from left to right.
    @inline(__always)
    static func eachColumn(
        _ bytes: UnsafeRawPointer, count: Int,
        _ body: (_ column: Int, _ tag: UInt8, _ payload: UnsafeRawPointer) throws -> Void
    ) rethrows {
        var payload = bytes + count
        for column in 0..<count {
            let tag = bytes.load(fromByteOffset: column, as: UInt8.self)
            try body(column, tag, payload)
            payload += length(tag, payload)
        }
    }

    /// The tag and the payload of one of a number of packed columns.
    @inline(__always)
    static func column(
        _ column: Int, in bytes: UnsafeRawPointer, count: Int
    ) -> (tag: UInt8, payload: UnsafeRawPointer) {
        Self.column(column, in: bytes, from: 0, bytes + count)
    }

    /// The tag and the payload of a column, found from one in front of it whose payload is known.
    @inline(__always)
    static func column(
        _ column: Int, in bytes: UnsafeRawPointer, from first: Int, _ start: UnsafeRawPointer
    ) -> (tag: UInt8, payload: UnsafeRawPointer) {
        let tags = bytes.assumingMemoryBound(to: UInt8.self)
        var payload = start
        for index in first..<column { payload += length(tags[index], payload) }
        return (tags[column], payload)
    }
}
