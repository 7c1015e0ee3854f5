// A row is packed, to be kept or to be remembered by a record: see ``PackedTag`` for the bytes.
//
// A class record remembers the row that its properties are read from. Asking SQLite for each value twice would cost as
// much as all the rest, so a value that is read is packed at once, as long as the columns are read from left to right.
// What was not read, or was read by a type that goes by `DatabaseValue`, is packed when a later column is, or at the
// end.

extension LiveRow {
    /// How many bytes are packed here. Longer rows are measured first, and written once.
    private static var capacity: Int { 4096 }

    /// From now on, what is read of the current row is packed.
    @usableFromInline
    func beginPacking() {
        let count = place.pointee.count
        // There is room for a number in each column.
        guard count &* 9 < Self.capacity else { return }
        let packed =
            place.pointee.packed ?? UnsafeMutableRawPointer.allocate(byteCount: Self.capacity, alignment: 8)
        place.pointee.packed = packed
        place.pointee.packedEnd = packed + count
        place.pointee.nextPacked = 0
    }

    /// The current row, packed. Nil if it is too long.
    func packed() -> UnsafeRawBufferPointer? {
        if place.pointee.nextPacked == .max { beginPacking() }
        guard packAll(before: count), let packed = place.pointee.packed, let end = place.pointee.packedEnd
        else { return nil }
        return UnsafeRawBufferPointer(start: packed, count: end - packed)
    }

    /// Packs the columns before one, if there is room. Otherwise, nothing is packed any more.
    @inline(__always)
    private func packAll(before end: Int) -> Bool {
        place.pointee.nextPacked >= end ? place.pointee.nextPacked < .max : packMore(before: end)
    }

    @inline(never)
    private func packMore(before end: Int) -> Bool {
        guard let packed = place.pointee.packed, var payload = place.pointee.packedEnd else { return false }
        var column = place.pointee.nextPacked
        while column < end {
            let value = value(at: column)
            let tag: UInt8
            switch value.storageClass {
            case .integer: tag = PackedTag.write(value.int64, to: &payload)
            case .real: tag = PackedTag.write(value.double, to: &payload)
            case .text:
                let text = UnsafeRawBufferPointer(value.utf8)
                guard hasRoom(for: text, at: payload) else { return giveUp() }
                tag = PackedTag.write(text: text, to: &payload)
            case .blob:
                let blob = value.blob
                guard hasRoom(for: blob, at: payload) else { return giveUp() }
                tag = PackedTag.write(blob: blob, to: &payload)
            default: tag = PackedTag.null
            }
            packed.storeBytes(of: tag, toByteOffset: column, as: UInt8.self)
            column &+= 1
        }
        place.pointee.nextPacked = column
        place.pointee.packedEnd = payload
        return true
    }

    /// Whether there is room for a text or a blob, and for numbers in all columns behind it.
    @inline(__always)
    private func hasRoom(for bytes: UnsafeRawBufferPointer, at payload: UnsafeMutableRawPointer) -> Bool {
        let used = payload - place.pointee.packed.unsafelyUnwrapped
        return used &+ bytes.count &+ 8 &* (place.pointee.count &+ 1) <= Self.capacity
    }

    @discardableResult
    private func giveUp() -> Bool {
        place.pointee.nextPacked = .max
        return false
    }

    // MARK: - What was read

    // Mostly, it is the next column. Those before it that were not read are packed first, by another function: so that
    // these two need to save no registers.

    @usableFromInline
    func pack(_ integer: Int64, in column: Int) {
        if place.pointee.nextPacked != column { return packAll(before: column, and: integer) }
        var payload = place.pointee.packedEnd.unsafelyUnwrapped
        finish(PackedTag.write(integer, to: &payload), in: column, payload)
    }

    @inline(never)
    private func packAll(before column: Int, and integer: Int64) {
        if packAll(before: column) { pack(integer, in: column) }
    }

    @usableFromInline
    func pack(_ double: Double, in column: Int) {
        if place.pointee.nextPacked != column { return packAll(before: column, and: double) }
        var payload = place.pointee.packedEnd.unsafelyUnwrapped
        finish(PackedTag.write(double, to: &payload), in: column, payload)
    }

    @inline(never)
    private func packAll(before column: Int, and double: Double) {
        if packAll(before: column) { pack(double, in: column) }
    }

    @usableFromInline
    func pack(_ utf8: UnsafeBufferPointer<UInt8>, in column: Int) {
        guard packAll(before: column) else { return }
        let text = UnsafeRawBufferPointer(utf8)
        var payload = place.pointee.packedEnd.unsafelyUnwrapped
        guard hasRoom(for: text, at: payload) else {
            giveUp()
            return
        }
        finish(PackedTag.write(text: text, to: &payload), in: column, payload)
    }

    /// A column was packed.
    @inline(__always)
    private func finish(_ tag: UInt8, in column: Int, _ end: UnsafeMutableRawPointer) {
        place.pointee.packed.unsafelyUnwrapped.storeBytes(of: tag, toByteOffset: column, as: UInt8.self)
        place.pointee.packedEnd = end
        place.pointee.nextPacked = column &+ 1
    }
}

extension SQLiteValue {
    /// The row, if the value is to be packed.
    @inlinable @inline(__always)
    var rowToPack: LiveRow? {
        if let row, row.place.pointee.nextPacked <= column { row } else { nil }
    }

    /// Packs the value, an integer.
    @inlinable @inline(__always)
    func pack(_ integer: Int64) { rowToPack?.pack(integer, in: column) }

    /// Packs the value, a real number.
    @inlinable @inline(__always)
    func pack(_ double: Double) { rowToPack?.pack(double, in: column) }

    /// Packs the value, a text.
    @inlinable @inline(__always)
    func pack(_ utf8: UnsafeBufferPointer<UInt8>) { rowToPack?.pack(utf8, in: column) }
}
