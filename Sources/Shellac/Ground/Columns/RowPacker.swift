/// Packs the columns of a row, from left to right, while it is read: see LiveRow+Packing.swift.
@usableFromInline
struct RowPacker {
    /// The next column that is packed as the row is read, or a number beyond all columns.
    @usableFromInline private(set) var next = Int.max
    /// The number of columns.
    private var count = 0
    /// The packed columns, and their end.
    private var start: UnsafeMutableRawPointer?
    private var end: UnsafeMutableRawPointer?

    /// How many bytes are packed here. Longer rows are measured first, and written once.
    private static var capacity: Int { 4096 }

    init() {}

    /// Gives the memory back, at the end of the place of the row.
    func deallocate() { start?.deallocate() }

    /// Begins a row, if it has room for a number in each column.
    mutating func begin(count: Int) {
        guard count &* 9 < Self.capacity else { return }
        let start = start ?? .allocate(byteCount: Self.capacity, alignment: 8)
        self.start = start
        end = start + count
        (self.count, next) = (count, 0)
    }

    /// Packs no more: another row has come, or this one is too long.
    mutating func stop() { next = .max }

    /// What was packed, if it was begun.
    var bytes: PackedBytes? {
        guard let start, let end else { return nil }
        return PackedBytes(start: start, count: count, byteCount: end - start)
    }

    /// Packs the next column by a function, for which there is room.
    @inline(__always)
    mutating func write(_ body: (inout PackedCursor) -> Void) {
        // What is read before the function writes need not be read again.
        let column = next
        var cursor = PackedCursor(tag: start.unsafelyUnwrapped + column, payload: end.unsafelyUnwrapped)
        body(&cursor)
        (end, next) = (cursor.payload, column &+ 1)
    }

    /// Packs a value in the next column. Returns false, and stops, where there is no room for it.
    @inline(__always)
    mutating func write(_ value: ValueView) -> Bool {
        switch value {
        case .text(let utf8): guard reserve(utf8.count) else { return false }
        case .blob(let bytes): guard reserve(bytes.count) else { return false }
        case .null, .integer, .real: break
        }
        write { $0.write(value) }
        return true
    }

    /// Whether there is room for a text or a blob, and for numbers in all columns behind it. Otherwise, stops.
    mutating func reserve(_ length: Int) -> Bool {
        let used = end.unsafelyUnwrapped - start.unsafelyUnwrapped
        if used &+ length &+ 8 &* (count &+ 1) <= Self.capacity { return true }
        stop()
        return false
    }
}
