/// Packed columns in memory that their reader keeps alive.
///
/// Packed columns make up a row that outlives its statement. They also make up a record's
/// remembered row, and the values that a record is saved from:
///
///     0          count                                              byteCount
///     ┌──────────┬─────────┬────────────────┬──────────┬───────────────┐
///     │ tags     │ integer │ length, text   │ real     │ integer …     │
///     │ 1 2 11 9 │ 2 bytes │ 1 or 4, n      │ 8 bytes  │ 1, 2, 4 or 8  │
///     └──────────┴─────────┴────────────────┴──────────┴───────────────┘
///
/// The tags of all columns come first, one byte each: see ``PackedTag``. The payloads follow
/// without padding, and NULL has none. Integers take as few bytes as possible, and the length
/// precedes each text or blob. So two equal rows are two equal pieces of memory. A row of small
/// numbers is hardly larger than its tags.
struct PackedBytes {
    let start: UnsafeRawPointer
    /// The number of columns.
    let count: Int
    let byteCount: Int

    /// All the bytes.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: byteCount) }

    /// A cursor in front of the first column.
    var cursor: PackedCursor { PackedCursor(reading: start, count: count) }

    func tag(at column: Int) -> PackedTag { start.load(fromByteOffset: column, as: PackedTag.self) }

    /// The value in a column.
    func value(at column: Int) -> PackedValue { value(at: column, from: 0, start + count) }

    /// Returns the value in a column, found from an earlier column with a known payload.
    @inline(__always)
    func value(at column: Int, from first: Int, _ payload: UnsafeRawPointer) -> PackedValue {
        var payload = payload
        for index in first..<column { payload += PackedValue(tag(at: index), payload).byteCount }
        return PackedValue(tag(at: column), payload)
    }

    /// Copies the columns, and replaces the NULL in one of them by an integer.
    func copy(to place: UnsafeMutableRawPointer, with integer: Int64, in column: Int) {
        // NULL takes no bytes, so the bytes before and after the integer are copied unchanged.
        let payload = value(at: column).payload
        let before = payload - start
        place.copyMemory(from: start, byteCount: before)
        var cursor = PackedCursor(tag: place + column, payload: place + before)
        cursor.writeExactly(integer)
        cursor.payload.copyMemory(from: payload, byteCount: byteCount - before)
    }

    /// Calls a function with each column's value, from left to right.
    func eachColumn(_ body: (_ column: Int, _ value: PackedValue) throws -> Void) rethrows {
        var cursor = cursor
        for column in 0..<count {
            let value = cursor.value
            try body(column, value)
            cursor.advance(past: value)
        }
    }
}
