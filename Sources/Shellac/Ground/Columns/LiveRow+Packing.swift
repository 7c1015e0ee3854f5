// A row is packed, to be kept or to be remembered by a record: see ``PackedBytes``.
//
// A class record remembers the row that its properties are read from. Asking SQLite for each value twice would cost as
// much as all the rest, so a value that is read is packed at once, as long as the columns are read from left to right.
// What was not read is packed when a later column is, or at the end.

extension LiveRow {
    /// From now on, what is read of the current row is packed.
    @usableFromInline
    func beginPacking() { storage.pointee.packer.begin(count: count) }

    /// The current row, packed. Nil if it is too long.
    func packed() -> PackedBytes? {
        if storage.pointee.packer.next == .max { beginPacking() }
        return packAll(before: count) ? storage.pointee.packer.bytes : nil
    }

    /// Packs the columns before one, if there is room. Otherwise, nothing is packed any more.
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

    // MARK: - What was read

    /// Whether what is read of a column is to be packed.
    @inlinable
    func packs(_ column: Int) -> Bool { storage.pointee.packer.next <= column }

    // Mostly, it is the next column. Those before it that were not read are packed first, by another function: so that
    // these need to save no registers.

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
