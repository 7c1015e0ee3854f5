/// The packed bytes of several rows, one after the other, for storage and comparison.
struct RowBytes: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The end of each row.
    private(set) var ends: [Int] = []

    /// Adds the current row of a statement.
    mutating func append(_ row: LiveRow) {
        row.beginPacking()
        if let packed = row.packed() {
            bytes.append(contentsOf: packed.buffer)
        } else {
            let packed = PackedRow.make(row)
            withExtendedLifetime(packed) { bytes.append(contentsOf: packed.bytes.buffer) }
        }
        ends.append(bytes.count)
    }

    /// Whether other rows are the same, in the same order.
    func isSame(as other: RowBytes) -> Bool { ends == other.ends && bytes.hasSameBytes(as: other.bytes) }
}
