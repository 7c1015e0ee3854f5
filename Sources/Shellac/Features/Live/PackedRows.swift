/// The rows of a result, packed one behind the other, to be kept and compared.
///
///     ┌────────┬────────┬─────┬────────┐
///     │ row 0  │ row 1  │  …  │ row n  │   bytes: see ``PackedBytes``
///     └────────┴────────┴─────┴────────┘
///              ↑ ends[0]               ↑ ends[n]
///
/// It is immutable, so all threads may read it. New objects are made from it for each reader, and
/// never examined again.
struct PackedRows: Sendable {
    let layout: RowLayout
    private let rows: RowBytes

    /// Takes the rows of a statement that has begun to run, until its end.
    init(_ statement: Statement) throws {
        let row = statement.row
        var rows = RowBytes()
        while try statement.step() { rows.append(row) }
        (layout, self.rows) = (row.layout, rows)
    }

    private init(_ layout: RowLayout) { (self.layout, rows) = (layout, RowBytes()) }

    /// An empty result with the same columns.
    var emptied: PackedRows { PackedRows(layout) }

    var count: Int { rows.ends.count }

    /// Whether another result has the same columns, and the same rows in the same order.
    func hasSameRows(as other: PackedRows) -> Bool {
        hasSameColumns(as: other) && rows.isSame(as: other.rows)
    }

    /// Whether another result has columns with the same names, in the same order.
    func hasSameColumns(as other: PackedRows) -> Bool {
        layout.hasExactNames(of: other.layout)
    }

    // MARK: - One row

    private func range(of index: Int) -> Range<Int> {
        (index == 0 ? 0 : rows.ends[index - 1])..<rows.ends[index]
    }

    /// Runs a function with the columns of a row.
    private func withRow<Result>(_ index: Int, _ body: (PackedBytes) throws -> Result) rethrows -> Result {
        let range = range(of: index)
        return try rows.bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else {
                Misuse.trap("row \(index) of an empty result was read")
            }
            return try body(
                PackedBytes(start: base + range.lowerBound, count: layout.count, byteCount: range.count))
        }
    }

    /// Returns a row that owns its values.
    func row(at index: Int) -> Row { withRow(index) { Row(PackedRow.make(layout, copying: $0)) } }

    /// Returns the integer in a column of a row, if it is one.
    func integer(at index: Int, in column: Int) -> Int64? {
        withRow(index) { row in
            let value = row.value(at: column)
            return value.isInteger ? value.integer : nil
        }
    }

    /// Returns the values in some columns of a row.
    func values(at index: Int, in columns: [Int]) -> [DatabaseValue] {
        withRow(index) { row in columns.map { row.value(at: $0).view.databaseValue } }
    }

    /// Whether a row has the same values as one of another result with the same columns.
    func isRow(_ index: Int, sameAs otherIndex: Int, of other: PackedRows) -> Bool {
        let (range, otherRange) = (range(of: index), other.range(of: otherIndex))
        return range.count == otherRange.count
            && withRow(index) { row in
                other.withRow(otherIndex) { $0.isSame(as: row) }
            }
    }

    // MARK: - Elements

    /// Makes elements from the rows, as a fetch does.
    ///
    /// - Parameter db: The connection that fetched them, which knows the schema.
    func makeElements<Element: DatabaseFetchable>(_ type: Element.Type, on db: Database) throws -> [Element] {
        let row = LiveRow.make(fetchedBy: db, layout: layout)
        defer { row.recycle() }
        return try makeElements(type, of: 0..<count, standing: row)
    }

    /// Makes elements from some rows.
    ///
    /// - Parameter row: A row of the same layout, which is positioned on each of them.
    func makeElements<Element: DatabaseFetchable>(
        _ type: Element.Type, of indices: some Collection<Int>, standing row: LiveRow
    ) throws -> [Element] {
        var elements: [Element] = []
        elements.reserveCapacity(indices.count)
        for index in indices {
            try withRow(index) { packed in
                try row.standing(on: packed) { elements.append(try Element.keptElement(of: row)) }
            }
        }
        return elements
    }
}
