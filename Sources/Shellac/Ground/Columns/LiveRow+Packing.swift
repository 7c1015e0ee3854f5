// Packing of the current row, for a copy or for a record's remembered row: see ``PackedBytes``.
//
// A class record remembers the row that its properties are read from. Asking SQLite for each value
// twice would cost as much as everything else. So each value is packed as it is read, as long as
// the columns are read from left to right. A skipped column is packed when a later column is
// packed, or at the end.

extension LiveRow {
    /// Starts packing the values that are read from the current row.
    @usableFromInline
    func beginPacking() { storage.pointee.packer.begin(count: count) }

    /// Returns the current row, packed. Nil if it is too long.
    func packed() -> PackedBytes? {
        if storage.pointee.packer.next == .max { beginPacking() }
        return packAll(before: count) ? storage.pointee.packer.bytes : nil
    }

    /// Packs the columns before the given one, if there is room. Otherwise, packing stops for this
    /// row.
    private func packAll(before end: Int) -> Bool {
        let next = storage.pointee.packer.next
        return next >= end ? next < .max : packMore(before: end)
    }

    @inline(never)
    private func packMore(before end: Int) -> Bool {
        while storage.pointee.packer.next < end {
            if !storage.pointee.packer.write(value(at: storage.pointee.packer.next).view) { return false }
        }
        return true
    }

    // MARK: - Values that were read

    /// Whether the value read from a column must be packed.
    @inlinable
    func packs(_ column: Int) -> Bool { storage.pointee.packer.next <= column }

    // Usually, it is the next column. Skipped columns are packed first by a separate function, so
    // that these functions need not save registers.

    @usableFromInline
    func pack(_ integer: Int64, in column: Int) {
        if storage.pointee.packer.next != column { return pack(.integer(integer), in: column) }
        storage.pointee.packer.write { $0.write(integer) }
    }

    @usableFromInline
    func pack(_ real: Double, in column: Int) {
        if storage.pointee.packer.next != column { return pack(.real(real), in: column) }
        storage.pointee.packer.write { $0.write(real) }
    }

    @usableFromInline
    func pack(_ utf8: UnsafeBufferPointer<UInt8>, in column: Int) {
        guard packAll(before: column), storage.pointee.packer.reserve(utf8.count) else { return }
        storage.pointee.packer.write { $0.write(text: utf8) }
    }

    func pack(_ value: ValueView, in column: Int) {
        if packAll(before: column) { _ = storage.pointee.packer.write(value) }
    }
}
