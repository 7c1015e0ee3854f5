// A packed row in a reference-counted chunk of memory that it shares with other rows.

import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A packed row in memory that it shares with the rows that came before and after it.
///
/// Most of what a fetched record costs beyond its object would be the allocation of what it remembers. So the rows of
/// one run of a statement stand in chunks, side by side, and so do those that were inserted one after the other. Memory
/// goes back when the last row of its chunk does: a record that outlives all others keeps one chunk, which is small for
/// that reason.
///
/// ## The memory
///
///     0             8        16       24          the row's offset
///     ┌─────────────┬────────┬────────┬───┬────────┬───────────┬───────────────┬─┬────────┬───
///     │ references  │ layout │ moment │ … │ offset │ byteCount │ packed bytes  │ │ offset │ …
///     └─────────────┴────────┴────────┴───┴────────┴───────────┴───────────────┴─┴────────┴───
///     └── Chunk ───────────────────────┘   └── Header ─────────┘  PackedBytes   └─ up to a multiple of 8
///
/// A row's address is that of its header, and the offset in it leads back to the beginning of the chunk.
///
/// ## The count
///
/// Whoever fills a chunk holds more references than there will ever be rows. Each row takes one of them, which nobody
/// has to count, and those that are left are given back together when the chunk is full, or no other row belongs to the
/// same run. So an atomic instruction is needed only where a row is let go of, by whatever thread that happens.
struct ChunkedRow {
    /// Where the row's ``Header`` stands, at a multiple of 8. The bytes follow.
    let address: UnsafeMutableRawPointer

    struct Header {
        /// How far the beginning of the chunk is away.
        let offset: UInt32
        let byteCount: UInt32
    }

    /// What stands at the beginning of a chunk.
    struct Chunk: ~Copyable {
        let references: Atomic<Int>
        /// The layout of the rows.
        let layout: RowLayout
        /// Which notes of a journal those of the rows are among, or 0 where the rows were fetched.
        let moment: UInt64
        /// The window of the fetch that the chunk belongs to. Nil where the rows were inserted.
        let window: FetchWindow?
        /// The place in the window and the number of rows, once no other one will be added. Until then, there is no place.
        private(set) var place: Int?
        private(set) var rowCount = 0

        init(_ layout: RowLayout, moment: UInt64, window: FetchWindow?) {
            references = Atomic(ChunkedRow.manyReferences)
            (self.layout, self.moment, self.window) = (layout, moment, window)
        }

        deinit { if let place { window?.remove(place) } }

        /// Notes that no row will be added any more: the rows can be found by the window.
        static func complete(_ chunk: UnsafeMutablePointer<Chunk>, rowCount: Int) {
            chunk.pointee.rowCount = rowCount
            chunk.pointee.place = chunk.pointee.window?.add(chunk)
        }
    }

    /// More than there will ever be rows.
    static var manyReferences: Int { 1 << 30 }

    private var header: Header { address.load(as: Header.self) }

    private var chunk: UnsafeMutablePointer<Chunk> {
        (address - Int(header.offset)).assumingMemoryBound(to: Chunk.self)
    }

    /// The packed columns. As in every packed row, the eight bytes in front of them can be read.
    var bytes: PackedBytes {
        PackedBytes(
            start: address + MemoryLayout<Header>.size, count: layoutReference.use { $0.count },
            byteCount: Int(header.byteCount))
    }

    /// The layout, which the chunk keeps alive.
    var layoutReference: Unretained<RowLayout> { Unretained(chunk.pointee.layout) }

    /// Which notes of a journal the row's is among, if it was inserted. 0 for one that was fetched.
    var moment: UInt64 { chunk.pointee.moment }

    #if DEBUG
    /// How many references to the chunk are left, and where rows may and this row does stand in it: see `_violations`.
    var references: Int { chunk.pointee.references.load(ordering: .acquiring) }
    var placeInChunk: (start: Int, offset: Int) { (SnapshotPool.start, Int(header.offset)) }
    #endif

    /// Lets go of the row.
    func release() { Self.release(chunk, 1) }

    static func release(_ chunk: UnsafeMutablePointer<Chunk>, _ count: Int) {
        let left = chunk.pointee.references.wrappingSubtract(count, ordering: .acquiringAndReleasing).newValue
        if left == 0 { destroy(chunk) }
    }

    /// Keeps the chunk, unless it is about to be freed. Call it where that has to wait.
    static func retain(_ chunk: UnsafeMutablePointer<Chunk>) -> Bool {
        var count = chunk.pointee.references.load(ordering: .acquiring)
        while count > 0 {
            let (isDone, found) = chunk.pointee.references.weakCompareExchange(
                expected: count, desired: count + 1, ordering: .acquiringAndReleasing)
            if isDone { return true }
            count = found
        }
        return false
    }

    /// The window of the fetch that the row was in. Nil for one that was inserted.
    var window: FetchWindow? { chunk.pointee.window }

    @inline(never)
    private static func destroy(_ chunk: UnsafeMutablePointer<Chunk>) {
        chunk.deinitialize(count: 1)
        free(chunk)
    }
}
