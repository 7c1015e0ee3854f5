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
    @exclusivity(unchecked) private(set) var layout: RowLayout
    @exclusivity(unchecked) private var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var end: UnsafeMutableRawPointer

    init() {
        layout = RowLayout(names: [], sql: nil)
        capacity = 512
        guard let memory = malloc(capacity) else { Misuse.trap("there is no memory left") }
        base = memory
        end = memory
    }

    deinit { free(base) }

    /// The number of columns.
    var count: Int { layout.count }

    /// The bytes: tags, then payloads.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: end - base) }

    /// Gives memory back that a large record needed.
    func shrink() {
        guard capacity > 1 << 16, let memory = malloc(512) else { return }
        free(base)
        (base, end, capacity) = (memory, memory, 512)
    }

    // MARK: - Encoding

    typealias Encode = (inout PersistenceContainer) throws -> Void

    /// Packs what a record encodes.
    ///
    /// - Parameter makeLayout: Gives the layout for the columns.
    @inline(never)
    func pack(makeLayout: ([String]) -> RowLayout, _ encode: Encode) throws {
        var gathering = ColumnEncoding()
        try PersistenceContainer.fill(&gathering, encode)
        let columns = gathering.gathered
        _ = try pack(exactly: makeLayout(columns.map(\.name))) { container in
            for column in columns {
                container.encoding.pointee.store(column)
            }
        }
    }

    /// Packs what a record encodes, if these are the columns: those that a record of the same type has encoded last.
    @inline(__always)
    func pack(exactly layout: RowLayout, _ encode: Encode) throws -> Bool {
        var encoding = ColumnEncoding(packing: layout, into: base, capacity: capacity)
        defer { (base, capacity, end) = (encoding.base, encoding.capacity, encoding.payload) }
        do {
            try PersistenceContainer.fill(&encoding, encode)
        } catch {
            // What comes of an unexpected column is no error of the record's.
            guard encoding.hasUnexpectedColumn else { throw error }
        }
        guard !encoding.hasUnexpectedColumn, encoding.next == layout.count else { return false }
        if self.layout !== layout { self.layout = layout }
        return true
    }

    // MARK: - Reading

    /// Calls a function with each column's tag and payload, from left to right.
    @inline(__always)
    func eachColumn(_ body: (_ column: Int, _ tag: UInt8, _ payload: UnsafeRawPointer) throws -> Void)
        rethrows
    {
        try PackedTag.eachColumn(UnsafeRawPointer(base), count: count, body)
    }

    /// The value in a column.
    subscript(_ column: Int) -> DatabaseValue {
        var value = DatabaseValue.null
        eachColumn { index, tag, payload in
            if index == column { value = PackedTag.databaseValue(tag, payload) }
        }
        return value
    }

    /// Whether the value in a column is NULL.
    @inline(__always)
    func isNull(_ column: Int) -> Bool { base.load(fromByteOffset: column, as: UInt8.self) == PackedTag.null }

    /// A row of all columns.
    @inline(__always)
    func row(past: PackedRow.Past? = nil) -> PackedRow { PackedRow.make(layout, copying: bytes, past: past) }

    /// A row of all columns, in which one that is NULL holds a number.
    func row(with number: Int64, in column: Int, past: PackedRow.Past? = nil) -> PackedRow {
        PackedRow.make(layout, byteCount: bytes.count + PackedTag.byteCount(number), past: past) { tags in
            var payload = tags + count
            eachColumn { index, tag, old in
                var copied = tag
                if index == column {
                    copied = PackedTag.writeExactly(number, to: &payload)
                } else {
                    let length = PackedTag.length(tag, old)
                    payload.copyMemory(from: old, byteCount: length)
                    payload += length
                }
                tags.storeBytes(of: copied, toByteOffset: index, as: UInt8.self)
            }
        }
    }
}
