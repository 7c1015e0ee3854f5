// A cursor over packed columns that reads, compares or writes one column after the other.

import CSQLite

/// A place among packed columns, where the next column is read, compared or written. See
/// ``PackedBytes``.
///
/// A writer must ensure that there is room. A cursor that was created for reading is never written
/// to.
@usableFromInline
struct PackedCursor {
    /// The address of the next column's tag, and that of its payload.
    @usableFromInline private(set) var tagPlace: UnsafeMutableRawPointer
    @usableFromInline private(set) var payload: UnsafeMutableRawPointer

    @inlinable @inline(__always)
    init(tag: UnsafeMutableRawPointer, payload: UnsafeMutableRawPointer) {
        (tagPlace, self.payload) = (tag, payload)
    }

    /// Creates a cursor before the first of several columns, for reading.
    init(reading bytes: UnsafeRawPointer, count: Int) {
        self.init(writing: UnsafeMutableRawPointer(mutating: bytes), count: count)
    }

    /// Creates a cursor before the first of several columns, for writing.
    init(writing bytes: UnsafeMutableRawPointer, count: Int) {
        self.init(tag: bytes, payload: bytes + count)
    }

    // MARK: - Reading

    @inlinable
    var tag: PackedTag { tagPlace.load(as: PackedTag.self) }

    var value: PackedValue { PackedValue(tag, UnsafeRawPointer(payload)) }

    /// Moves to the next column.
    @inline(__always)
    mutating func advance(past value: PackedValue) {
        tagPlace += 1
        payload += value.byteCount
    }

    @inline(__always)
    mutating func advance() { advance(past: value) }

    /// Moves to the next column, and returns the value it has passed.
    mutating func next() -> PackedValue {
        let value = value
        advance(past: value)
        return value
    }

    /// Returns the place behind an integer, or nil if the next value is another one.
    ///
    /// Integers of all sizes are read in the same way. As in any packed row, the 8 bytes before the
    /// integer's end are readable. The tag is checked first, because any other value's tag does not
    /// give its end.
    @inlinable @inline(__always)
    func passing(_ integer: Int64) -> PackedCursor? {
        let tag = tag
        guard tag.isInteger else { return nil }
        let end = payload + Int(tag.rawValue)
        let found = Int64(littleEndian: (end - 8).loadUnaligned(as: Int64.self))
        guard found &>> (64 &- 8 &* Int64(tag.rawValue)) == integer else { return nil }
        return PackedCursor(tag: tagPlace + 1, payload: end)
    }

    /// Returns the place behind a real number, or nil if the next value is another one.
    @inlinable @inline(__always)
    func passing(_ real: Double) -> PackedCursor? {
        guard tag == .real, payload.loadUnaligned(as: Double.self) == real else { return nil }
        return PackedCursor(tag: tagPlace + 1, payload: payload + 8)
    }

    /// Returns the place behind a text of less than 256 bytes, or nil if the next value is another
    /// one.
    func passing(shortText utf8: UnsafeBufferPointer<UInt8>) -> PackedCursor? {
        guard tag == .shortText, payload.load(as: UInt8.self) == utf8.count,
            let start = utf8.baseAddress, memcmp(payload + 1, start, utf8.count) == 0
        else { return nil }
        return PackedCursor(tag: tagPlace + 1, payload: payload + 1 + utf8.count)
    }

    // MARK: - Moving

    /// Returns the number of columns between two places, and the number of payload bytes.
    func distance(to later: PackedCursor) -> (columns: Int, payloads: Int) {
        (later.tagPlace - tagPlace, later.payload - payload)
    }

    func moved(by distance: (columns: Int, payloads: Int)) -> PackedCursor {
        PackedCursor(tag: tagPlace + distance.columns, payload: payload + distance.payloads)
    }

    // MARK: - Writing

    /// Finishes a column whose payload was written up to the given end.
    private mutating func finish(_ tag: PackedTag, _ end: UnsafeMutableRawPointer) {
        tagPlace.storeBytes(of: tag, as: PackedTag.self)
        tagPlace += 1
        payload = end
    }

    mutating func writeNull() { finish(.null, payload) }

    /// Writes an integer. There must be room for 8 bytes: all of them are written, and the
    /// significant ones are kept.
    @inline(__always)
    mutating func write(_ integer: Int64) {
        payload.storeBytes(of: integer.littleEndian, as: Int64.self)
        let tag = PackedTag(of: integer)
        finish(tag, payload + Int(tag.rawValue))
    }

    /// Writes an integer if there is no room behind it.
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

    /// Writes a text. The text of a date is shorter than 256 bytes.
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

    /// Writes bytes behind their length. Returns whether the length is short, and the end of the
    /// bytes.
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
    ///   - isDate: Whether the value is a text or a real number that was created from a date.
    ///   - isExact: Whether there is no room behind the value.
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

    /// Copies the tags of columns that are packed elsewhere, without moving.
    func copyTags(of bytes: PackedBytes) { tagPlace.copyMemory(from: bytes.start, byteCount: bytes.count) }

    /// Copies the payloads between two places elsewhere. Their tags are already here.
    mutating func copyPayloads(from first: PackedCursor, to end: PackedCursor) {
        let distance = first.distance(to: end)
        payload.copyMemory(from: first.payload, byteCount: distance.payloads)
        self = moved(by: distance)
    }

    /// Copies a value that was packed elsewhere.
    mutating func copy(_ value: PackedValue) {
        let length = value.byteCount
        payload.copyMemory(from: value.payload, byteCount: length)
        finish(value.tag, payload + length)
    }
}

extension ValueView {
    /// The number of bytes of the payload.
    var packedByteCount: Int {
        switch self {
        case .null: 0
        case .integer(let integer): Int(PackedTag(of: integer).rawValue)
        case .real: 8
        case .text(let utf8): Self.packedByteCount(ofBytes: utf8.count)
        case .blob(let bytes): Self.packedByteCount(ofBytes: bytes.count)
        }
    }

    /// Returns the number of bytes that a text or a blob takes, including its length prefix.
    static func packedByteCount(ofBytes count: Int) -> Int { count + (count < 256 ? 1 : 4) }
}

extension PackedValue {
    /// Calls a function with a packed integer.
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
