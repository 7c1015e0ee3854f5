// A row is packed, to be kept or to be remembered by a record: see ``PackedBytes``.
//
// A class record remembers the row that its properties are read from. Asking SQLite for each value twice would cost as
// much as all the rest, so a value that is read is packed at once, as long as the columns are read from left to right.
// What was not read, or was read by a type that goes by `DatabaseValue`, is packed when a later column is, or at the
// end.

extension LiveRow {
    /// From now on, what is read of the current row is packed.
    @usableFromInline
    func beginPacking() { place.pointee.packer.begin(count: count) }

    /// The current row, packed. Nil if it is too long.
    func packed() -> PackedBytes? {
        if place.pointee.packer.next == .max { beginPacking() }
        return packAll(before: count) ? place.pointee.packer.bytes : nil
    }

    /// Packs the columns before one, if there is room. Otherwise, nothing is packed any more.
    @inline(__always)
    private func packAll(before end: Int) -> Bool {
        let next = place.pointee.packer.next
        return next >= end ? next < .max : packMore(before: end)
    }

    @inline(never)
    private func packMore(before end: Int) -> Bool {
        while place.pointee.packer.next < end {
            if !place.pointee.packer.write(value(at: place.pointee.packer.next).view) { return false }
        }
        return true
    }

    // MARK: - What was read

    // Mostly, it is the next column. Those before it that were not read are packed first, by another function: so that
    // these need to save no registers.

    @usableFromInline
    func pack(_ integer: Int64, in column: Int) {
        if place.pointee.packer.next != column { return packAll(before: column, and: .integer(integer)) }
        place.pointee.packer.write { $0.write(integer) }
    }

    @usableFromInline
    func pack(_ real: Double, in column: Int) {
        if place.pointee.packer.next != column { return packAll(before: column, and: .real(real)) }
        place.pointee.packer.write { $0.write(real) }
    }

    @usableFromInline
    func pack(_ utf8: UnsafeBufferPointer<UInt8>, in column: Int) {
        packAll(before: column, and: .text(UnsafeRawBufferPointer(utf8)))
    }

    private func packAll(before column: Int, and value: ValueView) {
        if packAll(before: column) { _ = place.pointee.packer.write(value) }
    }
}

extension SQLiteValue {
    /// The row and the column, if the value is to be packed.
    @inlinable @inline(__always)
    var placeToPack: (row: LiveRow, column: Int)? {
        if case .sqlite(_, let row?, let column) = place, row.place.pointee.packer.next <= column {
            (row, column)
        } else {
            nil
        }
    }

    /// Packs the value, an integer.
    @inlinable @inline(__always)
    func pack(_ integer: Int64) { if let (row, column) = placeToPack { row.pack(integer, in: column) } }

    /// Packs the value, a real number.
    @inlinable @inline(__always)
    func pack(_ real: Double) { if let (row, column) = placeToPack { row.pack(real, in: column) } }

    /// Packs the value, a text.
    @inlinable @inline(__always)
    func pack(_ utf8: UnsafeBufferPointer<UInt8>) {
        if let (row, column) = placeToPack { row.pack(utf8, in: column) }
    }
}
