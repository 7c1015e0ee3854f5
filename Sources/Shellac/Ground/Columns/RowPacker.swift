/// Packs the columns of a row from left to right while they are read: see LiveRow+Packing.swift.
@usableFromInline
struct RowPacker {
    /// The next column to pack as the row is read, or a number beyond all columns.
    @usableFromInline private(set) var next = Int.max
    /// The number of columns.
    private var count = 0
    /// The packed columns, and their end.
    private var start: UnsafeMutableRawPointer?
    private var end: UnsafeMutableRawPointer?

    /// The maximum number of packed bytes. Longer rows are measured first, and written once.
    private static var capacity: Int { 4096 }

    init() {}

    /// Frees the memory, together with the row's storage.
    func deallocate() { start?.deallocate() }

    /// Begins a row, if there is room for a number in each column.
    mutating func begin(count: Int) {
        guard count &* 9 < Self.capacity else { return }
        let start = start ?? .allocate(byteCount: Self.capacity, alignment: 8)
        self.start = start
        end = start + count
        (self.count, next) = (count, 0)
    }

    /// Stops packing, because another row has come or this one is too long.
    mutating func stop() { next = .max }

    /// The packed bytes, if packing has begun.
    var bytes: PackedBytes? {
        guard let start, let end else { return nil }
        return PackedBytes(start: start, count: count, byteCount: end - start)
    }

    /// Packs the next column with a function that writes it. There must be room.
    @inline(__always)
    mutating func write(_ body: (inout PackedCursor) -> Void) {
        // Values read before the call need not be read again after it.
        let column = next
        var cursor = PackedCursor(tag: start.unsafelyUnwrapped + column, payload: end.unsafelyUnwrapped)
        body(&cursor)
        (end, next) = (cursor.payload, column &+ 1)
    }

    /// Packs a value in the next column. If there is no room for it, stops packing and returns
    /// false.
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

    /// Whether there is room for a text or a blob, and for numbers in all columns behind it. If
    /// not, stops packing.
    mutating func reserve(_ length: Int) -> Bool {
        let used = end.unsafelyUnwrapped - start.unsafelyUnwrapped
        if used &+ length &+ 8 &* (count &+ 1) <= Self.capacity { return true }
        stop()
        return false
    }
}
