/// The columns that a record has encoded, as packed bytes: see ``PackedBytes``.
///
/// The bytes are in memory that is reused for other records, and do not move while a statement
/// runs. So texts and blobs are bound without a copy.
final class PackedColumns {
    /// The packed columns, and the memory for them.
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

    /// The first column that differs from the row with which the columns were compared when they
    /// were packed. All bytes before it equal the row's. The offset is that of its payload.
    var firstChange: (column: Int, offset: Int)? { packed.firstChange }

    /// The bytes of the columns, in place.
    var bytes: PackedBytes {
        packed.buffer.bytes(count: count, byteCount: packed.byteCount)
    }

    /// Frees memory that a large record needed.
    func shrink() { if packed.buffer.capacity > 1 << 16 { makeRoom(512) } }

    /// Replaces the memory and its contents.
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

    /// Packs the columns that a record encodes.
    ///
    /// - Parameter makeLayout: A function that returns the layout for the columns. It may have them
    ///   in another order.
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

    /// Packs the columns that a record encodes, if they match the layout. The layout is that of the
    /// last record of the same type.
    @inline(__always)
    func pack(exactly layout: RowLayout, _ encode: Encode) throws -> Bool {
        packed.firstChange = nil
        let least = ColumnEncoding.minimumCapacity(for: layout.count)
        if least > packed.buffer.capacity { makeRoom(least) }
        var encoding = ColumnEncoding(packing: layout, into: packed.buffer)
        defer { takeBuffer(of: encoding) }
        do {
            try PersistenceContainer.fill(&encoding, encode)
        } catch {
            // An error after an unexpected column is not the record's fault. It is encoded once
            // more.
            guard encoding.hasUnexpectedColumn else { throw error }
        }
        guard !encoding.hasUnexpectedColumn, encoding.next == layout.count else { return false }
        if !isLaid(out: layout) { packed.layout = layout }
        return true
    }

    /// Compares the columns that a record encodes with a row of the same columns, and packs them if
    /// they differ.
    ///
    /// - Returns: Whether the record has changed. Nil if a single pass cannot decide.
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
            // An error after reading a column is not either: in a comparison, the container cannot
            // be read.
            guard encoding.hasUnexpectedColumn || encoding.wasRead else { throw error }
        }
        if encoding.mode == .comparing { return encoding.isDoubtful || encoding.isDifferent ? nil : false }
        guard !encoding.hasUnexpectedColumn, encoding.next == layout.count else { return nil }
        if !isLaid(out: layout) { packed.layout = layout }
        packed.firstChange = encoding.firstPacked
        return true
    }

    /// Takes back the memory that an encoding has packed into, or replaced.
    private func takeBuffer(of encoding: borrowing ColumnEncoding) {
        packed.buffer = encoding.buffer.unsafelyUnwrapped
        packed.byteCount = encoding.byteCount
    }

    /// Forgets the first change, because the columns now differ from another row than the compared
    /// one.
    func forgetFirstChange() { packed.firstChange = nil }

    /// Whether the columns match a layout.
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

    /// Replaces dates by the same instants from a row, which may have them in another format.
    func takeDates(from row: PackedRow, _ places: [(column: Int, place: Int)]) {
        let same = places.filter { column, place in
            self.column(column).isStored(as: row.column(place), in: nil)
        }
        if same.isEmpty { return }
        let own = self.row()
        // The columns that are stored again match the layout, and storing them throws nothing.
        _ = try? pack(exactly: layout) { container in
            let encoding = container.encoding
            own.bytes.eachColumn { column, value in
                let place = same.first { $0.column == column }?.place
                encoding.pointee.store(place.map(row.column) ?? value)
            }
        }
        withExtendedLifetime(row) {}
    }

    /// Whether the columns match a row, in the same order.
    @inline(__always)
    func isLaid(outAs row: PackedRow) -> Bool {
        row.layoutReference == layoutReference || layout.hasSameNames(as: row.layout)
    }

    // MARK: - Reading

    /// Returns the names of some of the columns.
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

    /// Returns the value in a column, in place.
    func column(_ column: Int) -> PackedValue { bytes.value(at: column) }

    /// Returns the value in a column.
    subscript(_ column: Int) -> DatabaseValue { self.column(column).view.databaseValue }

    /// Returns whether the value in a column is NULL.
    func isNull(_ column: Int) -> Bool { bytes.tag(at: column) == .null }

    /// Makes a row of all columns.
    @inline(__always)
    func row(previous: consuming PackedRow.PreviousState? = nil) -> PackedRow {
        PackedRow.make(layout, copying: bytes, previous: previous)
    }

    /// Makes a row of all columns, in place of a row that is no longer needed.
    @inline(__always)
    func row(previous: consuming PackedRow.PreviousState, replacing unwanted: inout PackedRow?) -> PackedRow {
        PackedRow.make(layoutReference, copying: bytes, previous: previous, replacing: &unwanted)
    }

    /// Makes a row of all columns, with a number in a column that is NULL.
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

    /// Makes a row of all columns among others. Nil if it needs memory of its own.
    func row(among others: inout SnapshotPool) -> ChunkedRow? { others.add(bytes, layoutReference) }

    /// Makes a row of all columns among others, with a number in a column that is NULL. Nil if it
    /// needs memory of its own.
    @inline(__always)
    func row(
        with number: Int64, in column: Int, among others: inout SnapshotPool
    ) -> ChunkedRow? {
        others.add(byteCount: byteCount(with: number), layoutReference) {
            bytes.copy(to: $0, with: number, in: column)
        }
    }
}
