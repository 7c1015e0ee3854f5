// A growing buffer for the bytes of changesets, in SQLite's format.

import CSQLite

/// The bytes of SQLite's changeset format that are no values.
///
/// See "Changeset Format" in the source of SQLite's session extension, sqlite3session.c:
///
/// ```
/// table    'T', the number of columns, a byte for each column, the name, a zero byte
/// change   the operation, whether it is indirect, the old values (not of an insertion),
///          the new values (not of a deletion)
/// value    0: undefined   1: eight bytes of an integer   2: eight bytes of a real number
///          3: a length and a text   4: a length and a blob   5: NULL
/// ```
///
/// The byte of a column is 0 outside of the primary key, and otherwise its place in the key,
/// counted from 1. Numbers are big-endian. Lengths are variable-length integers of one to nine
/// bytes.
enum ChangesetFormat {
    static let table: UInt8 = 0x54
    /// The beginning of a table in a patchset, which lacks old values.
    static let patchsetTable: UInt8 = 0x50

    static let undefined: UInt8 = 0
    static let integer: UInt8 = 1
    static let real: UInt8 = 2
    static let text: UInt8 = 3
    static let blob: UInt8 = 4
    static let null: UInt8 = 5

    static let insert: UInt8 = 18
    static let delete: UInt8 = 9
    static let update: UInt8 = 23

    /// The greatest number of columns, as in SQLite.
    static let mostColumns = 65536
    /// The greatest number of bytes that SQLite stores in a value.
    static let mostBytes = 1_000_000_000
}

/// A growing buffer, which can be cut back.
struct ChangesetBytes: ~Copyable {
    private(set) var count = 0
    private var capacity = 0
    private(set) var base: UnsafeMutablePointer<UInt8>?

    init() {}

    /// Copies some bytes.
    init(_ bytes: UnsafeRawBufferPointer) { append(bytes) }

    deinit { free(base) }

    var isEmpty: Bool { count == 0 }

    /// The bytes. The buffer is valid until some are added.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if count &+ more > capacity { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        capacity = max(256, capacity * 2, count + more)
        // (The C library moves a large block by its pages. A copy would need both at once.)
        guard let larger = realloc(base, capacity) else { Misuse.trap("there is no memory left") }
        base = larger.assumingMemoryBound(to: UInt8.self)
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        base.unsafelyUnwrapped[count] = byte
        count &+= 1
    }

    /// Adds a type and the eight bytes of a number.
    @inline(__always)
    mutating func append(_ type: UInt8, _ bits: UInt64) {
        reserve(9)
        let place = base.unsafelyUnwrapped + count
        place[0] = type
        UnsafeMutableRawPointer(place + 1).storeBytes(of: bits.bigEndian, as: UInt64.self)
        count &+= 9
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        UnsafeMutableRawPointer(base.unsafelyUnwrapped + count).copyMemory(
            from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// Adds a variable-length integer: see "Varint Format" in the SQLite documentation.
    mutating func append(varint value: Int) {
        if value < 0x80 { return append(UInt8(truncatingIfNeeded: value)) }
        // (Lengths need at most five bytes, and no ninth one of eight bits.)
        var groups = 1
        while value >> (7 * groups) != 0 { groups += 1 }
        for group in (0..<groups).reversed() {
            let bits = UInt8(truncatingIfNeeded: value >> (7 * group)) & 0x7F
            append(group == 0 ? bits : bits | 0x80)
        }
    }

    /// Adds a text or a blob.
    mutating func append(_ type: UInt8, _ bytes: UnsafeRawBufferPointer) {
        append(type)
        append(varint: bytes.count)
        append(bytes)
    }

    /// Removes the bytes from an offset on.
    mutating func cut(to offset: Int) { count = min(count, offset) }

    /// Removes all bytes. A large buffer is freed.
    mutating func removeAll() {
        count = 0
        guard capacity > 1 << 16 else { return }
        free(base)
        (base, capacity) = (nil, 0)
    }
}
