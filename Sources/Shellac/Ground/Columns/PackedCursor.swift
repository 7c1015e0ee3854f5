// A cursor over packed columns that reads, compares or writes one column after the other.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A place among packed columns: the next one is read there, compared with, or written. See ``PackedBytes``.
///
/// What is written there must have room. Nobody writes to the place that was made of bytes to read.
@usableFromInline
struct PackedCursor {
    /// Where the tag of the next column stands, and its payload.
    @usableFromInline private(set) var tagPlace: UnsafeMutableRawPointer
    @usableFromInline private(set) var payload: UnsafeMutableRawPointer

    @inlinable @inline(__always)
    init(tag: UnsafeMutableRawPointer, payload: UnsafeMutableRawPointer) {
        (tagPlace, self.payload) = (tag, payload)
    }

    /// The first of a number of columns, which are read.
    init(reading bytes: UnsafeRawPointer, count: Int) {
        self.init(writing: UnsafeMutableRawPointer(mutating: bytes), count: count)
    }

    /// The first of a number of columns, which are written.
    init(writing bytes: UnsafeMutableRawPointer, count: Int) {
        self.init(tag: bytes, payload: bytes + count)
    }

    // MARK: - Reading

    @inlinable
    var tag: PackedTag { tagPlace.load(as: PackedTag.self) }

    var value: PackedValue { PackedValue(tag, UnsafeRawPointer(payload)) }

    /// Goes to the next column.
    @inline(__always)
    mutating func advance(past value: PackedValue) {
        tagPlace += 1
        payload += value.byteCount
    }

    @inline(__always)
    mutating func advance() { advance(past: value) }

    /// Goes to the next column, and returns the value that it has passed.
    mutating func next() -> PackedValue {
        let value = value
        advance(past: value)
        return value
    }

    /// The place behind an integer, or nil if the next value is another one. An integer of any size is read in the same way: the 8 bytes in
    /// front of its end may be read, as they may in a row. The tag is looked at first, since that of another value says nothing of its end.
    @inlinable @inline(__always)
    func passing(_ integer: Int64) -> PackedCursor? {
        let tag = tag
        guard tag.isInteger else { return nil }
        let end = payload + Int(tag.rawValue)
        let found = Int64(littleEndian: (end - 8).loadUnaligned(as: Int64.self))
        guard found &>> (64 &- 8 &* Int64(tag.rawValue)) == integer else { return nil }
        return PackedCursor(tag: tagPlace + 1, payload: end)
    }

    /// The place behind a real number. Nil where it is another value.
    @inlinable @inline(__always)
    func passing(_ real: Double) -> PackedCursor? {
        guard tag == .real, payload.loadUnaligned(as: Double.self) == real else { return nil }
        return PackedCursor(tag: tagPlace + 1, payload: payload + 8)
    }

    /// The place behind a text of less than 256 bytes. Nil where it is another value.
    func passing(shortText utf8: UnsafeBufferPointer<UInt8>) -> PackedCursor? {
        guard tag == .shortText, payload.load(as: UInt8.self) == utf8.count,
            let start = utf8.baseAddress, memcmp(payload + 1, start, utf8.count) == 0
        else { return nil }
        return PackedCursor(tag: tagPlace + 1, payload: payload + 1 + utf8.count)
    }

    // MARK: - Moving

    /// How many columns lie between two places, and how many bytes of payloads.
    func distance(to later: PackedCursor) -> (columns: Int, payloads: Int) {
        (later.tagPlace - tagPlace, later.payload - payload)
    }

    func moved(by distance: (columns: Int, payloads: Int)) -> PackedCursor {
        PackedCursor(tag: tagPlace + distance.columns, payload: payload + distance.payloads)
    }

    // MARK: - Writing

    /// Finishes a column, whose payload was written up to an end.
    private mutating func finish(_ tag: PackedTag, _ end: UnsafeMutableRawPointer) {
        tagPlace.storeBytes(of: tag, as: PackedTag.self)
        tagPlace += 1
        payload = end
    }

    mutating func writeNull() { finish(.null, payload) }

    /// Writes an integer. There must be room for 8 bytes: all are written, and those that count are kept.
    @inline(__always)
    mutating func write(_ integer: Int64) {
        payload.storeBytes(of: integer.littleEndian, as: Int64.self)
        let tag = PackedTag(of: integer)
        finish(tag, payload + Int(tag.rawValue))
    }

    /// Writes an integer where there is no room behind it.
    mutating func writeExactly(_ integer: Int64) {
        let tag = PackedTag(of: integer)
        withUnsafeBytes(of: integer.littleEndian) { bytes in
            if let start = bytes.baseAddress { payload.copyMemory(from: start, byteCount: Int(tag.rawValue)) }
        }
        finish(tag, payload + Int(tag.rawValue))
    }

    @inline(__always)
    mutating func write(_ real: Double, isDate: Bool = false) {
        payload.storeBytes(of: real, as: Double.self)
        finish(isDate ? .dateReal : .real, payload + 8)
    }

    /// Writes a text. That of a date is shorter than 256 bytes.
    @inline(__always)
    mutating func write(text: UnsafeBufferPointer<UInt8>, isDate: Bool = false) {
        let (isShort, end) = write(UnsafeRawBufferPointer(text))
        finish(isDate ? .dateText : isShort ? .shortText : .longText, end)
    }

    @inline(__always)
    mutating func write(blob: UnsafeRawBufferPointer) {
        let (isShort, end) = write(blob)
        finish(isShort ? .shortBlob : .longBlob, end)
    }

    /// Writes bytes behind their length. Returns whether they are few, and where they end.
    @inline(__always)
    private func write(_ bytes: UnsafeRawBufferPointer) -> (isShort: Bool, end: UnsafeMutableRawPointer) {
        let length = bytes.count
        var place = payload
        if length < 256 {
            place.storeBytes(of: UInt8(truncatingIfNeeded: length), as: UInt8.self)
            place += 1
        } else {
            place.storeBytes(of: UInt32(truncatingIfNeeded: length), as: UInt32.self)
            place += 4
        }
        if let start = bytes.baseAddress { place.copyMemory(from: start, byteCount: length) }
        return (length < 256, place + length)
    }

    /// Writes any value.
    ///
    /// - Parameters:
    ///   - isDate: Whether the value is a text or a real number that was made of a date.
    ///   - isExact: Whether there is no room behind it.
    @inline(__always)
    mutating func write(_ value: ValueView, isDate: Bool = false, isExact: Bool = false) {
        switch value {
        case .null: writeNull()
        case .integer(let integer): if isExact { writeExactly(integer) } else { write(integer) }
        case .real(let real): write(real, isDate: isDate)
        case .text(let text): write(text: text, isDate: isDate)
        case .blob(let blob): write(blob: blob)
        }
    }

    /// Copies columns that are packed elsewhere.
    mutating func copy(_ distance: (columns: Int, payloads: Int), from first: PackedCursor) {
        tagPlace.copyMemory(from: first.tagPlace, byteCount: distance.columns)
        payload.copyMemory(from: first.payload, byteCount: distance.payloads)
        self = moved(by: distance)
    }

    /// Copies the tags of columns that are packed elsewhere, and goes nowhere.
    func copyTags(of bytes: PackedBytes) { tagPlace.copyMemory(from: bytes.start, byteCount: bytes.count) }

    /// Copies the payloads that stand between two places elsewhere. Their tags are there.
    mutating func copyPayloads(from first: PackedCursor, to end: PackedCursor) {
        let distance = first.distance(to: end)
        payload.copyMemory(from: first.payload, byteCount: distance.payloads)
        self = moved(by: distance)
    }

    /// Copies what was packed elsewhere.
    mutating func copy(_ value: PackedValue) {
        let length = value.byteCount
        payload.copyMemory(from: value.payload, byteCount: length)
        finish(value.tag, payload + length)
    }
}

extension ValueView {
    /// How many bytes the payload takes.
    var packedByteCount: Int {
        switch self {
        case .null: 0
        case .integer(let integer): Int(PackedTag(of: integer).rawValue)
        case .real: 8
        case .text(let utf8): Self.packedByteCount(ofBytes: utf8.count)
        case .blob(let bytes): Self.packedByteCount(ofBytes: bytes.count)
        }
    }

    /// How many bytes a text or a blob takes, behind its length.
    static func packedByteCount(ofBytes count: Int) -> Int { count + (count < 256 ? 1 : 4) }
}

extension PackedValue {
    /// Runs a function with a packed integer.
    @inline(__always)
    static func with<Result>(
        _ integer: Int64, _ body: (PackedValue) throws -> Result
    ) rethrows -> Result {
        var bytes: (tag: UInt64, payload: UInt64) = (0, 0)
        return try withUnsafeMutableBytes(of: &bytes) { bytes in
            let start = bytes.baseAddress.unsafelyUnwrapped
            let cursor = PackedCursor(tag: start, payload: start + 8)
            var end = cursor
            end.write(integer)
            return try body(cursor.value)
        }
    }
}
