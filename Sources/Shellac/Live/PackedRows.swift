/// The rows of a result, packed one behind the other: what is kept of it, and compared.
///
///     ┌────────┬────────┬─────┬────────┐
///     │ row 0  │ row 1  │  …  │ row n  │   bytes: see ``PackedBytes``
///     └────────┴────────┴─────┴────────┘
///              ↑ ends[0]               ↑ ends[n]
///
/// Nobody changes it, so that all may read it. Objects are made of it anew for each reader, and never looked at again.
struct PackedRows: Sendable {
    let layout: RowLayout
    private let bytes: [UInt8]
    private let ends: [Int]

    /// Takes the rows of a statement that has begun to run, until its end.
    init(_ statement: Statement) throws {
        let row = statement.row
        var (bytes, ends): ([UInt8], [Int]) = ([], [])
        while try statement.step() {
            row.beginPacking()
            if let packed = row.packed() {
                bytes.append(contentsOf: packed.buffer)
            } else {
                let packed = PackedRow.make(row)
                withExtendedLifetime(packed) { bytes.append(contentsOf: packed.bytes.buffer) }
            }
            ends.append(bytes.count)
        }
        layout = row.layout
        (self.bytes, self.ends) = (bytes, ends)
    }

    var count: Int { ends.count }

    /// Whether another result has the same columns, and the same rows in the same order.
    func hasSameRows(as other: PackedRows) -> Bool {
        guard ends == other.ends else { return false }
        guard layout === other.layout || ExactNames(layout.names) == ExactNames(other.layout.names) else {
            return false
        }
        return bytes.hasSameBytes(as: other.bytes)
    }

    /// Makes elements of the rows, as a fetch does.
    ///
    /// - Parameter db: The connection that they came from, which knows the schema.
    func makeElements<Element: DatabaseFetchable>(_ type: Element.Type, on db: Database) throws -> [Element] {
        let row = LiveRow.make(fetchedBy: db, layout: layout)
        defer { row.recycle() }
        var elements: [Element] = []
        elements.reserveCapacity(count)
        try bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            for end in ends {
                let packed = PackedBytes(
                    start: base + start, count: layout.count, byteCount: end - start)
                try row.standing(on: packed) { elements.append(try Element.keptElement(of: row)) }
                start = end
            }
        }
        return elements
    }
}
