#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The columns that a record has encoded, as packed bytes: see ``PackedTag``.
///
/// The bytes stay in memory that is used again for other records, and stand still while a statement runs: so
/// texts and blobs are bound without a copy.
final class PackedColumns {
    @exclusivity(unchecked) private(set) var layout: RowLayout {
        didSet {
            layoutReference = .passUnretained(layout)
            count = layout.count
        }
    }
    /// The same, without counting a reference.
    @exclusivity(unchecked) private var layoutReference: Unmanaged<RowLayout>
    @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var end: UnsafeMutableRawPointer

    init() {
        layout = RowLayout(names: [], sql: nil)
        layoutReference = .passUnretained(layout)
        capacity = 512
        guard let memory = malloc(capacity) else { Misuse.trap("there is no memory left") }
        base = memory
        end = memory
    }

    deinit { free(base) }

    /// The number of columns.
    @exclusivity(unchecked) private(set) var count = 0

    /// The first column that differs from the row that the columns were compared with when they were packed. All bytes
    /// before it are the row's, and the offset is that of its payload.
    @exclusivity(unchecked) private(set) var firstChange: (column: Int, offset: Int)?

    /// The bytes: tags, then payloads.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: end - base) }

    /// Gives memory back that a large record needed.
    @inline(__always)
    func shrink() { if capacity > 1 << 16 { makeRoom(512) } }

    /// Takes other memory, in the place of what is there.
    @inline(never)
    private func makeRoom(_ capacity: Int) {
        guard let memory = malloc(capacity) else { Misuse.trap("there is no memory left") }
        free(base)
        (base, end, self.capacity) = (memory, memory, capacity)
    }

    /// Runs a function with the layout, without counting a reference.
    @inline(__always)
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
        firstChange = nil
        let least = ColumnEncoding.leastCapacity(for: layout.count)
        if least > capacity { makeRoom(least) }
        var encoding = ColumnEncoding(packing: layout, into: base, capacity: capacity)
        defer { (base, capacity, end) = (encoding.base, encoding.capacity, encoding.payload) }
        do {
            try PersistenceContainer.fill(&encoding, encode)
        } catch {
            // What comes of an unexpected column is no error of the record's: it is encoded once more.
            guard encoding.hasUnexpectedColumn else { throw error }
        }
        guard !encoding.hasUnexpectedColumn, encoding.next == layout.count else { return false }
        if !isLaid(out: layout) { self.layout = layout }
        return true
    }

    /// Compares what a record encodes with a row of the same columns, and packs it if there is a difference.
    ///
    /// - Returns: Whether the record has changed. Nil where the road was too short to tell.
    @inline(__always)
    func packChanged(
        from row: RememberedRow.Look, as layout: RowLayout, _ encode: Encode
    ) throws -> Bool? {
        var encoding = ColumnEncoding(
            comparingWith: row.bytes, layout: row.layout, thenPackingInto: base, capacity: capacity)
        defer {
            if encoding.mode != .comparing {
                (base, capacity, end) = (encoding.base, encoding.capacity, encoding.payload)
            }
        }
        do {
            try PersistenceContainer.fill(&encoding, encode)
        } catch {
            // Nor is what comes of a column that was read: it is not there where columns are compared.
            guard encoding.hasUnexpectedColumn || encoding.wasRead else { throw error }
        }
        if encoding.mode == .comparing { return encoding.isDoubtful || encoding.isDifferent ? nil : false }
        guard !encoding.hasUnexpectedColumn, encoding.next == layout.count else { return nil }
        if !isLaid(out: layout) { self.layout = layout }
        firstChange = encoding.firstPacked
        return true
    }

    /// The row that the columns were compared with is not the one that they differ from.
    func forgetFirstChange() { firstChange = nil }

    /// Whether the columns are those of a layout.
    @inline(__always)
    func isLaid(out layout: RowLayout) -> Bool {
        layoutReference.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
    }

    /// Takes bytes that were packed in other memory.
    func take(_ packed: UnsafeRawBufferPointer, _ layout: RowLayout) {
        let needed = packed.count + 8
        if needed > capacity { makeRoom(needed) }
        if let start = packed.baseAddress { base.copyMemory(from: start, byteCount: packed.count) }
        end = base + packed.count
        firstChange = nil
        if !isLaid(out: layout) { self.layout = layout }
    }

    /// Takes columns of a row that hold the same instants, in another format.
    func takeDates(from row: PackedRow, _ places: [(column: Int, place: Int)]) {
        let same = places.filter { column, place in
            let (new, old) = (self.column(column), row.column(place))
            return PackedTag.isStored(new.tag, new.payload, as: old.tag, old.payload, in: nil)
        }
        if same.isEmpty { return }
        let own = self.row()
        // What is stored again has the layout's columns, and throws nothing.
        _ = try? pack(exactly: layout) { container in
            let encoding = container.encoding
            PackedTag.eachColumn(own.bytes, count: own.count) { column, tag, payload in
                guard let place = same.first(where: { $0.column == column })?.place else {
                    return encoding.pointee.store(tag, payload)
                }
                let old = row.column(place)
                encoding.pointee.store(old.tag, old.payload)
            }
        }
        withExtendedLifetime(row) {}
    }

    /// Whether the columns are those of a row, in the same order.
    @inline(__always)
    func isLaid(outAs row: PackedRow) -> Bool {
        row.layoutReference.toOpaque() == layoutReference.toOpaque() || layout.hasSameNames(as: row.layout)
    }

    // MARK: - Reading

    /// The names of some of the columns.
    func names(of mask: ColumnMask) -> [String] {
        layout.names.indices.filter(mask.contains).map { layout.names[$0] }
    }

    /// Calls a function with each column's tag and payload, from left to right.
    @inline(__always)
    func eachColumn(_ body: (_ column: Int, _ tag: UInt8, _ payload: UnsafeRawPointer) throws -> Void)
        rethrows
    {
        try PackedTag.eachColumn(UnsafeRawPointer(base), count: count, body)
    }

    /// Calls a function with the tag and the payload of some of the columns, from left to right.
    @inline(__always)
    func eachColumn(in mask: ColumnMask, _ body: (_ tag: UInt8, _ payload: UnsafeRawPointer) -> Void) {
        let tags = UnsafeRawPointer(base)
        var (column, payload) = (0, tags + count)
        while column < count, mask.reaches(column) {
            let tag = tags.load(fromByteOffset: column, as: UInt8.self)
            if mask.contains(column) { body(tag, payload) }
            payload += PackedTag.length(tag, payload)
            column &+= 1
        }
    }

    /// The tag and the payload of a column.
    @inline(__always)
    func column(_ column: Int) -> (tag: UInt8, payload: UnsafeRawPointer) {
        PackedTag.column(column, in: UnsafeRawPointer(base), count: count)
    }

    /// The value in a column.
    subscript(_ column: Int) -> DatabaseValue {
        let (tag, payload) = self.column(column)
        return PackedTag.databaseValue(tag, payload)
    }

    /// Whether the value in a column is NULL.
    @inline(__always)
    func isNull(_ column: Int) -> Bool { base.load(fromByteOffset: column, as: UInt8.self) == PackedTag.null }

    /// A row of all columns.
    @inline(__always)
    func row(past: consuming PackedRow.Past? = nil) -> PackedRow {
        PackedRow.make(layout, copying: bytes, past: past)
    }

    /// A row of all columns, in the place of one that is no longer wanted.
    @inline(__always)
    func row(past: consuming PackedRow.Past, replacing unwanted: inout PackedRow?) -> PackedRow {
        PackedRow.make(layoutReference, copying: bytes, past: past, replacing: &unwanted)
    }

    /// A row of all columns, in which one that is NULL holds a number.
    func row(with number: Int64, in column: Int, past: consuming PackedRow.Past? = nil) -> PackedRow {
        PackedRow.make(layout, byteCount: byteCount(with: number), past: past) {
            write(to: $0, with: number, in: column)
        }
    }

    private func byteCount(with number: Int64) -> Int { bytes.count + PackedTag.byteCount(number) }

    private func write(to tags: UnsafeMutableRawPointer, with number: Int64, in column: Int) {
        // NULL takes no bytes: what stands before the number and behind it is copied as it is.
        let place = self.column(column).payload
        let before = place - UnsafeRawPointer(base)
        tags.copyMemory(from: base, byteCount: before)
        var payload = tags + before
        let tag = PackedTag.writeExactly(number, to: &payload)
        payload.copyMemory(from: place, byteCount: bytes.count - before)
        tags.storeBytes(of: tag, toByteOffset: column, as: UInt8.self)
    }

    /// A row of all columns among others. Nil where it is to stand alone.
    @inline(__always)
    func row(among others: inout ChunkedRow.Filling) -> ChunkedRow? { others.add(bytes, layoutReference) }

    /// The same, in which a column that is NULL holds a number.
    @inline(__always)
    func row(
        with number: Int64, in column: Int, among others: inout ChunkedRow.Filling
    ) -> ChunkedRow? {
        others.add(byteCount: byteCount(with: number), layoutReference) {
            write(to: $0, with: number, in: column)
        }
    }
}
