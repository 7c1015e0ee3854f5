// Walks through the bytes of a changeset, and checks each of them.

import CSQLite

/// A walk through the changes of a changeset, as places in its bytes.
///
/// The bytes may come from anywhere. So each length is checked before it is used, and the walk
/// throws at the first byte that makes no sense.
struct ChangesetReader {
    typealias Format = ChangesetFormat

    /// The beginning of a table in a changeset.
    struct Heading: Hashable {
        /// The place of the heading.
        let range: Range<Int>
        let columnCount: Int
        /// The place of the columns' bytes.
        var columns: Range<Int> { nameRange.lowerBound - columnCount..<nameRange.lowerBound }
        /// The place of the name, without the zero byte.
        let nameRange: Range<Int>
    }

    /// A change, as places in the bytes.
    struct Place {
        let operation: UInt8
        let isIndirect: Bool
        /// The old values, which are empty for an insertion.
        let initial: Range<Int>
        /// The new values, which are empty for a deletion.
        let final: Range<Int>
    }

    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0
    private(set) var heading: Heading?

    /// Begins a walk, or continues one at an offset.
    init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0, _ heading: Heading? = nil) {
        self.bytes = bytes
        self.offset = offset
        self.heading = heading
    }

    private func malformed(_ reason: String, at offset: Int) -> ChangesetError {
        .malformed(offset: offset, reason: reason)
    }

    /// Moves to the next change. Returns nil at the end.
    mutating func next() throws(ChangesetError) -> Place? {
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case Format.table: heading = try readHeading()
            case Format.insert, Format.delete, Format.update:
                guard let heading else { throw malformed("a change comes before a table", at: offset) }
                return try readChange(byte, heading)
            case Format.patchsetTable:
                throw malformed("it is a patchset, which has no old values", at: offset)
            default: throw malformed("\(byte) begins neither a table nor a change", at: offset)
            }
        }
        return nil
    }

    private mutating func readHeading() throws(ChangesetError) -> Heading {
        let start = offset
        var place = offset + 1
        let columnCount = try readVarint(&place)
        guard (1...Format.mostColumns).contains(columnCount) else {
            throw malformed("a table has \(columnCount) columns", at: start)
        }
        guard columnCount < bytes.count - place else { throw malformed("a table is cut off", at: start) }
        let name = place + columnCount
        guard bytes[place..<name].contains(where: { $0 != 0 }) else {
            throw malformed("a table has no primary key", at: place)
        }
        guard let end = bytes[name...].firstIndex(of: 0) else {
            throw malformed("the name of a table has no end", at: name)
        }
        guard end > name, String(validating: bytes[name..<end], as: UTF8.self) != nil else {
            throw malformed("the name of a table is no text", at: name)
        }
        offset = end + 1
        return Heading(range: start..<offset, columnCount: columnCount, nameRange: name..<end)
    }

    private mutating func readChange(_ operation: UInt8, _ heading: Heading) throws(ChangesetError) -> Place {
        let start = offset
        guard start + 1 < bytes.count else { throw malformed("a change is cut off", at: start) }
        let isIndirect = bytes[start + 1]
        guard isIndirect <= 1 else {
            throw malformed("\(isIndirect) does not say whether a change is indirect", at: start + 1)
        }
        var place = start + 2
        let isUpdate = operation == Format.update
        if operation != Format.insert { try skipRow(&place, heading, isPartial: isUpdate, isKeyGiven: true) }
        let middle = place
        if operation != Format.delete {
            try skipRow(&place, heading, isPartial: isUpdate, isKeyGiven: !isUpdate)
        }
        offset = place
        return Place(
            operation: operation, isIndirect: isIndirect == 1, initial: start + 2..<middle,
            final: middle..<place)
    }

    /// Moves over the values of a row.
    ///
    /// - Parameters:
    ///   - place: The offset of the first value. It is moved behind the last one.
    ///   - heading: The table.
    ///   - isPartial: Whether values may be undefined.
    ///   - isKeyGiven: Whether the row has the values of the key. Otherwise it has none of them.
    @inline(__always)
    private func skipRow(
        _ place: inout Int, _ heading: Heading, isPartial: Bool, isKeyGiven: Bool
    ) throws(ChangesetError) {
        let columns = heading.columns.lowerBound
        for column in 0..<heading.columnCount {
            guard place < bytes.count else { throw malformed("a row is cut off", at: place) }
            let type = bytes[place]
            if bytes[columns + column] != 0 {
                if isKeyGiven, type == Format.undefined || type == Format.null {
                    throw malformed("a row has no key", at: place)
                }
                if !isKeyGiven, type != Format.undefined {
                    throw malformed("an update changes a key", at: place)
                }
            } else if type == Format.undefined, !isPartial {
                throw malformed("a value is missing", at: place)
            }
            try skipValue(&place, type)
        }
    }

    @inline(__always)
    private func skipValue(_ place: inout Int, _ type: UInt8) throws(ChangesetError) {
        let start = place
        place += 1
        switch type {
        case Format.undefined, Format.null: return
        case Format.integer, Format.real:
            guard bytes.count - place >= 8 else { throw malformed("a number is cut off", at: start) }
            place += 8
        case Format.text, Format.blob:
            let count = try readVarint(&place)
            guard count >= 0, count <= bytes.count - place else {
                throw malformed("a value of \(count) bytes is cut off", at: start)
            }
            place += count
        default: throw malformed("\(type) is no type of a value", at: start)
        }
    }

    /// Reads a variable-length integer. One of more than five bytes counts as too large a length.
    @inline(__always)
    private func readVarint(_ place: inout Int) throws(ChangesetError) -> Int {
        guard place < bytes.count else { throw malformed("a length is cut off", at: place) }
        let first = bytes[place]
        if first < 0x80 {
            place += 1
            return Int(first)
        }
        return try readLongVarint(&place)
    }

    @inline(never)
    private func readLongVarint(_ place: inout Int) throws(ChangesetError) -> Int {
        let start = place
        var value = 0
        for _ in 0..<5 {
            guard place < bytes.count else { throw malformed("a length is cut off", at: start) }
            let byte = bytes[place]
            place += 1
            value = value << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        throw malformed("a length is too large", at: start)
    }
}

/// A walk through the values of a row whose bytes were checked.
struct ChangesetValues {
    typealias Format = ChangesetFormat

    let base: UnsafeRawPointer
    private(set) var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, from offset: Int) {
        base = bytes.baseAddress.unsafelyUnwrapped
        self.offset = offset
    }

    /// Returns the bytes of the next value, with its type.
    @inline(__always)
    mutating func next() -> UnsafeRawBufferPointer {
        let start = offset
        switch base.load(fromByteOffset: start, as: UInt8.self) {
        case Format.undefined, Format.null: offset = start &+ 1
        case Format.integer, Format.real: offset = start &+ 9
        default:
            offset = start &+ 1
            let count = Self.readLength(base, &offset)
            offset &+= count
        }
        return UnsafeRawBufferPointer(start: base + start, count: offset &- start)
    }

    @inline(__always)
    private static func readLength(_ base: UnsafeRawPointer, _ offset: inout Int) -> Int {
        var count = 0
        while true {
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            offset &+= 1
            count = count << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return count }
        }
    }

    /// The type of a value.
    static func type(of value: UnsafeRawBufferPointer) -> UInt8 { value[0] }

    /// The number in a value.
    static func bits(of value: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(bigEndian: value.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
    }

    /// The bytes of a text or a blob.
    static func payload(of value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let base = value.baseAddress else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        var offset = 1
        let count = readLength(base, &offset)
        return UnsafeRawBufferPointer(start: base + offset, count: count)
    }

    /// Whether two values are the same, type included.
    @inline(__always)
    static func same(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        a.count == b.count
            && memcmp(a.baseAddress.unsafelyUnwrapped, b.baseAddress.unsafelyUnwrapped, a.count) == 0
    }
}
