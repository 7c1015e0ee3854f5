/// The columns that a record has encoded, as packed bytes: see ``PackedBytes``.
///
/// The bytes stay in memory that is used again for other records, and stand still while a statement runs: so
/// texts and blobs are bound without a copy.
final class PackedColumns {
    /// What is packed, and the memory for it.
    private struct Packed {
        var layout = RowLayout(names: [], sql: nil)
        var buffer = PackedBuffer(capacity: 512)
        var byteCount = 0
        var firstChange: (column: Int, offset: Int)?
    }
    @exclusivity(unchecked) private var packed = Packed()

    deinit { packed.buffer.deallocate() }

    var layout: RowLayout { packed.layout }

    private var layoutReference: Unretained<RowLayout> { Unretained(packed.layout) }

    /// The number of columns.
    var count: Int { layoutReference.use { $0.count } }

    /// The first column that differs from the row that the columns were compared with when they were packed. All bytes
    /// before it are the row's, and the offset is that of its payload.
    var firstChange: (column: Int, offset: Int)? { packed.firstChange }

    /// The columns, where they stand.
    var bytes: PackedBytes {
        packed.buffer.bytes(count: count, byteCount: packed.byteCount)
    }

    /// Gives memory back that a large record needed.
    func shrink() { if packed.buffer.capacity > 1 << 16 { makeRoom(512) } }

    /// Takes other memory, in the place of what is there.
    private func makeRoom(_ capacity: Int) {
        packed.buffer.replace(capacity: capacity)
        packed.byteCount = 0
    }

    /// Runs a function with the layout, without counting a reference.
    func useLayout<Result>(_ body: (RowLayout) throws -> Result) rethrows -> Result {
        try layoutReference.use(body)
    }

    // MARK: - Encoding

    typealias Encode = (inout PersistenceContainer) throws -> Void

    /// Packs what a record encodes.
    ///
    /// - Parameter makeLayout: Gives the layout for the columns, which may have them in another order.
    @inline(never)
    func pack(makeLayout: ([String]) -> RowLayout, _ encode: Encode) throws {
        let gathering = ColumnEncoding.Gathering()
        try withExtendedLifetime(gathering) {
            var encoding = ColumnEncoding(gatheringInto: gathering)
            try PersistenceContainer.fill(&encoding, encode)
        }
        let columns = gathering.columns
        let layout = makeLayout(columns.map(\.name))
        _ = try pack(exactly: layout) { container in
            for (position, name) in layout.names.enumerated() {
                let isThere = columns[position].name.hasSameBytes(as: name)
                let place = isThere ? position : columns.firstIndex { $0.name.hasSameBytes(as: name) }
                if let place { container.encoding.pointee.store(columns[place]) }
            }
        }
    }

    /// Packs what a record encodes, if these are the columns: those that a record of the same type has encoded last.
    @inline(__always)
    func pack(exactly layout: RowLayout, _ encode: Encode) throws -> Bool {
        packed.firstChange = nil
        let least = ColumnEncoding.leastCapacity(for: layout.count)
        if least > packed.buffer.capacity { makeRoom(least) }
        var encoding = ColumnEncoding(packing: layout, into: packed.buffer)
        defer { takeBuffer(of: encoding) }
        do {
            try PersistenceContainer.fill(&encoding, encode)
        } catch {
            // What comes of an unexpected column is no error of the record's: it is encoded once more.
            guard encoding.hasUnexpectedColumn else { throw error }
        }
        guard !encoding.hasUnexpectedColumn, encoding.next == layout.count else { return false }
        if !isLaid(out: layout) { packed.layout = layout }
        return true
    }

    /// Compares what a record encodes with a row of the same columns, and packs it if there is a difference.
    ///
    /// - Returns: Whether the record has changed. Nil where a single pass could not tell.
    @inline(__always)
    func packChanged(
        from row: RememberedRow.View, as layout: RowLayout, _ encode: Encode
    ) throws -> Bool? {
        var encoding = ColumnEncoding(
            comparingWith: row.bytes, layout: row.layout, thenPackingInto: packed.buffer)
        defer { if encoding.mode != .comparing { takeBuffer(of: encoding) } }
        do {
            try PersistenceContainer.fill(&encoding, encode)
        } catch {
            // Nor is what comes of a column that was read: it is not there where columns are compared.
            guard encoding.hasUnexpectedColumn || encoding.wasRead else { throw error }
        }
        if encoding.mode == .comparing { return encoding.isDoubtful || encoding.isDifferent ? nil : false }
        guard !encoding.hasUnexpectedColumn, encoding.next == layout.count else { return nil }
        if !isLaid(out: layout) { packed.layout = layout }
        packed.firstChange = encoding.firstPacked
        return true
    }

    /// Takes the memory back that an encoding has packed into, or replaced.
    private func takeBuffer(of encoding: borrowing ColumnEncoding) {
        packed.buffer = encoding.buffer.unsafelyUnwrapped
        packed.byteCount = encoding.byteCount
    }

    /// The row that the columns were compared with is not the one that they differ from.
    func forgetFirstChange() { packed.firstChange = nil }

    /// Whether the columns are those of a layout.
    func isLaid(out layout: RowLayout) -> Bool { layoutReference.isSame(as: layout) }

    /// Takes bytes that were packed in other memory.
    func take(_ bytes: PackedBytes, _ layout: RowLayout) {
        let needed = bytes.byteCount + 8
        if needed > packed.buffer.capacity { makeRoom(needed) }
        packed.buffer.copy(bytes)
        packed.byteCount = bytes.byteCount
        packed.firstChange = nil
        if !isLaid(out: layout) { packed.layout = layout }
    }

    /// Takes columns of a row that hold the same instants, in another format.
    func takeDates(from row: PackedRow, _ places: [(column: Int, place: Int)]) {
        let same = places.filter { column, place in
            self.column(column).isStored(as: row.column(place), in: nil)
        }
        if same.isEmpty { return }
        let own = self.row()
        // What is stored again has the layout's columns, and throws nothing.
        _ = try? pack(exactly: layout) { container in
            let encoding = container.encoding
            own.bytes.eachColumn { column, value in
                let place = same.first { $0.column == column }?.place
                encoding.pointee.store(place.map(row.column) ?? value)
            }
        }
        withExtendedLifetime(row) {}
    }

    /// Whether the columns are those of a row, in the same order.
    @inline(__always)
    func isLaid(outAs row: PackedRow) -> Bool {
        row.layoutReference == layoutReference || layout.hasSameNames(as: row.layout)
    }

    // MARK: - Reading

    /// The names of some of the columns.
    func names(of mask: ColumnMask) -> [String] {
        layout.names.indices.filter(mask.contains).map { layout.names[$0] }
    }

    /// Calls a function with each column's value, from left to right.
    @inline(__always)
    func eachColumn(_ body: (_ column: Int, _ value: PackedValue) throws -> Void) rethrows {
        try bytes.eachColumn(body)
    }

    /// Calls a function with the values of some of the columns, from left to right.
    @inline(__always)
    func eachColumn(in mask: ColumnMask, _ body: (_ value: PackedValue) -> Void) {
        bytes.eachColumn(in: mask, body)
    }

    /// The value in a column, where it stands.
    func column(_ column: Int) -> PackedValue { bytes.value(at: column) }

    /// The value in a column.
    subscript(_ column: Int) -> DatabaseValue { self.column(column).view.databaseValue }

    /// Whether the value in a column is NULL.
    func isNull(_ column: Int) -> Bool { bytes.tag(at: column) == .null }

    /// A row of all columns.
    @inline(__always)
    func row(previous: consuming PackedRow.PreviousState? = nil) -> PackedRow {
        PackedRow.make(layout, copying: bytes, previous: previous)
    }

    /// A row of all columns, in the place of one that is no longer wanted.
    @inline(__always)
    func row(previous: consuming PackedRow.PreviousState, replacing unwanted: inout PackedRow?) -> PackedRow {
        PackedRow.make(layoutReference, copying: bytes, previous: previous, replacing: &unwanted)
    }

    /// A row of all columns, in which one that is NULL holds a number.
    func row(with number: Int64, in column: Int, previous: consuming PackedRow.PreviousState? = nil)
        -> PackedRow
    {
        PackedRow.make(layout, byteCount: byteCount(with: number), previous: previous) {
            bytes.copy(to: $0, with: number, in: column)
        }
    }

    private func byteCount(with number: Int64) -> Int {
        packed.byteCount + ValueView.integer(number).packedByteCount
    }

    /// A row of all columns among others. Nil where it is to stand alone.
    func row(among others: inout SnapshotPool) -> ChunkedRow? { others.add(bytes, layoutReference) }

    /// Makes a row of the columns, in which one that is NULL holds a number.
    @inline(__always)
    func row(
        with number: Int64, in column: Int, among others: inout SnapshotPool
    ) -> ChunkedRow? {
        others.add(byteCount: byteCount(with: number), layoutReference) {
            bytes.copy(to: $0, with: number, in: column)
        }
    }
}
