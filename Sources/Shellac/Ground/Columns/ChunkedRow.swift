// A packed row in a reference-counted chunk of memory that it shares with other rows.

import CSQLite
import Synchronization

/// A packed row in memory that it shares with the rows that came before and after it.
///
/// Beyond the object itself, most of the cost of a fetched record would be the allocation of its
/// remembered row. So the rows of one run of a statement share chunks, and so do rows that were
/// inserted one after the other. A chunk is freed together with its last row. A record that
/// outlives all others keeps one chunk alive, which is why chunks are small.
///
/// ## The memory
///
///     0             8        16       24          the row's offset
///     ┌─────────────┬────────┬────────┬───┬────────┬───────────┬───────────────┬─┬────────┬───
///     │ references  │ layout │ moment │ … │ offset │ byteCount │ packed bytes  │ │ offset │ …
///     └─────────────┴────────┴────────┴───┴────────┴───────────┴───────────────┴─┴────────┴───
///     └── Chunk ───────────────────────┘   └── Header ─────────┘  PackedBytes   └─ up to a multiple of 8
///
/// A row's address is that of its header. The offset in the header leads back to the beginning of
/// the chunk.
///
/// ## The count
///
/// The pool that fills a chunk holds more references than there will ever be rows. Each row takes
/// over one of them without any counting. The pool gives back the remaining ones together, when the
/// chunk is full or the run has no more rows. So an atomic instruction is only needed when a row is
/// released, which may happen on any thread.
struct ChunkedRow {
    /// The address of the row's ``Header``, a multiple of 8. The bytes follow the header.
    let address: UnsafeMutableRawPointer

    struct Header {
        /// The distance from the beginning of the chunk.
        let offset: UInt32
        let byteCount: UInt32
    }

    /// The header at the beginning of a chunk.
    struct Chunk: ~Copyable {
        let references: Atomic<Int>
        /// The layout of the rows.
        let layout: RowLayout
        /// The moment of a journal whose notes include those about these rows, or 0 if the rows
        /// were fetched.
        let moment: UInt64
        /// The window of the fetch that the chunk belongs to. Nil if the rows were inserted.
        let window: FetchWindow?
        /// The place in the window and the number of rows, set once no more rows will be added.
        /// Until then, the place is nil.
        private(set) var place: Int?
        private(set) var rowCount = 0

        init(_ layout: RowLayout, moment: UInt64, window: FetchWindow?) {
            references = Atomic(ChunkedRow.manyReferences)
            (self.layout, self.moment, self.window) = (layout, moment, window)
        }

        deinit { if let place { window?.remove(place) } }

        /// Marks the chunk as complete: no more rows will be added, and the window can find its
        /// rows.
        static func complete(_ chunk: UnsafeMutablePointer<Chunk>, rowCount: Int) {
            chunk.pointee.rowCount = rowCount
            chunk.pointee.place = chunk.pointee.window?.add(chunk)
        }
    }

    /// A number of references larger than the number of rows in any chunk.
    static var manyReferences: Int { 1 << 30 }

    private var header: Header { address.load(as: Header.self) }

    private var chunk: UnsafeMutablePointer<Chunk> {
        (address - Int(header.offset)).assumingMemoryBound(to: Chunk.self)
    }

    /// The packed columns. As in every packed row, the eight bytes in front of them are readable.
    var bytes: PackedBytes {
        PackedBytes(
            start: address + MemoryLayout<Header>.size, count: layoutReference.use { $0.count },
            byteCount: Int(header.byteCount))
    }

    /// The layout, which the chunk keeps alive.
    var layoutReference: Unretained<RowLayout> { Unretained(chunk.pointee.layout) }

    /// The moment of a journal whose notes include that about this row, if it was inserted. 0 for a
    /// fetched row.
    var moment: UInt64 { chunk.pointee.moment }

    #if DEBUG
    /// The number of remaining references to the chunk. Below it, the first offset for rows and the
    /// offset of this row: see `_violations`.
    var references: Int { chunk.pointee.references.load(ordering: .acquiring) }
    var placeInChunk: (start: Int, offset: Int) { (SnapshotPool.start, Int(header.offset)) }
    #endif

    /// Releases the row.
    func release() { Self.release(chunk, 1) }

    static func release(_ chunk: UnsafeMutablePointer<Chunk>, _ count: Int) {
        let left = chunk.pointee.references.wrappingSubtract(count, ordering: .acquiringAndReleasing).newValue
        if left == 0 { destroy(chunk) }
    }

    /// Retains the chunk, unless it is about to be freed. Call it while a lock keeps the chunk from
    /// being freed.
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

    /// The window of the fetch that returned the row. Nil for an inserted row.
    var window: FetchWindow? { chunk.pointee.window }

    @inline(never)
    private static func destroy(_ chunk: UnsafeMutablePointer<Chunk>) {
        chunk.deinitialize(count: 1)
        free(chunk)
    }
}
