/// The bytes of rows, packed one behind the other, to be kept and compared.
struct RowBytes: Sendable {
    private(set) var bytes: [UInt8] = []
    /// Where each row ends.
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

    /// Whether others are the same, in the same order.
    func isSame(as other: RowBytes) -> Bool { ends == other.ends && bytes.hasSameBytes(as: other.bytes) }
}
