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
/// ## The count
///
/// Whoever fills a chunk holds more references than there will ever be rows. Each row takes one of them, which nobody
/// has to count, and those that are left are given back together when the chunk is full, or no other row belongs to the
/// same run. So an atomic instruction is needed only where a row is let go of, by whatever thread that happens.
struct ChunkedRow {
    /// Where the row's ``Header`` stands, at a multiple of 8. The bytes follow.
    let address: UnsafeMutableRawPointer

    private struct Header {
        /// How far the beginning of the chunk is away.
        let offset: UInt32
        let byteCount: UInt32
    }

    /// What stands at the beginning of a chunk.
    fileprivate struct Chunk: ~Copyable {
        let references: Atomic<Int>
        /// The layout of the rows.
        let layout: RowLayout
        /// Which notes of a journal those of the rows are among, or 0 where the rows were fetched.
        let moment: UInt64
    }

    /// More than there will ever be rows.
    static var manyReferences: Int { 1 << 30 }

    @inline(__always)
    private var header: Header { address.load(as: Header.self) }

    @inline(__always)
    private var chunk: UnsafeMutablePointer<Chunk> {
        (address - Int(header.offset)).assumingMemoryBound(to: Chunk.self)
    }

    /// The packed columns. As in every packed row, the eight bytes in front of them can be read.
    @inline(__always)
    var bytes: PackedBytes {
        PackedBytes(
            start: address + MemoryLayout<Header>.size, count: layoutReference.use { $0.count },
            byteCount: Int(header.byteCount))
    }

    /// The layout, which the chunk keeps alive.
    @inline(__always)
    var layoutReference: Unretained<RowLayout> { Unretained(chunk.pointee.layout) }

    /// Which notes of a journal the row's is among, if it was inserted. 0 for one that was fetched.
    @inline(__always)
    var moment: UInt64 { chunk.pointee.moment }

    #if DEBUG
    /// How many references to the chunk are left, and where rows may and this row does stand in it: see `_violations`.
    var references: Int { chunk.pointee.references.load(ordering: .acquiring) }
    var placeInChunk: (start: Int, offset: Int) { (Filling.start, Int(header.offset)) }
    #endif

    /// Lets go of the row.
    @inline(__always)
    func release() { Self.release(chunk, 1) }

    @inline(__always)
    fileprivate static func release(_ chunk: UnsafeMutablePointer<Chunk>, _ count: Int) {
        let left = chunk.pointee.references.wrappingSubtract(count, ordering: .acquiringAndReleasing).newValue
        if left == 0 { destroy(chunk) }
    }

    @inline(never)
    private static func destroy(_ chunk: UnsafeMutablePointer<Chunk>) {
        chunk.deinitialize(count: 1)
        free(chunk)
    }
}

extension ChunkedRow {
    /// What fills chunks with the rows of one run: of one statement, or of insertions between two moments of a journal.
    struct Filling: ~Copyable {
        private var chunk: UnsafeMutablePointer<Chunk>?
        /// Where the next row is to stand, and where the chunk ends.
        private var next: UnsafeMutableRawPointer?
        private var end: UnsafeMutableRawPointer?
        private var rowCount = 0
        /// The layout of the rows that stand in chunks, to compare with.
        private var layout: Unretained<RowLayout>?
        /// How many rows the next chunk is made for: 0 in front of the first row of a run.
        private var expectedCount = 0
        private var moment: UInt64 = 0

        init() {}

        deinit { giveBack() }

        /// The most bytes that a chunk has, and that a row of a chunk has. From 1,024 bytes on, glibc's `malloc` tidies up
        /// all that was freed before it looks for memory, which took longer than the rest of a fetch.
        private static var mostBytes: Int { 992 }
        private static var mostBytesOfRow: Int { 256 }
        fileprivate static var start: Int { (MemoryLayout<Chunk>.size + 7) & ~7 }

        /// Adds a row. Nil for one that is to stand alone: the first one, which may be the only one, large ones, and those
        /// of another layout than the first that was put in a chunk.
        @inline(__always)
        mutating func add(_ bytes: PackedBytes, _ layout: Unretained<RowLayout>) -> ChunkedRow? {
            add(byteCount: bytes.byteCount, layout) {
                $0.copyMemory(from: bytes.start, byteCount: bytes.byteCount)
            }
        }

        /// The same, for bytes that a function writes.
        @inline(__always)
        mutating func add(
            byteCount: Int, _ layout: Unretained<RowLayout>, write: (UnsafeMutableRawPointer) -> Void
        ) -> ChunkedRow? {
            let size = (MemoryLayout<Header>.size &+ byteCount &+ 7) & ~7
            if !hasRoom(size, layout), !beginChunk(layout, size) { return nil }
            let address = next.unsafelyUnwrapped
            let offset = address - UnsafeMutableRawPointer(chunk.unsafelyUnwrapped)
            address.storeBytes(
                of: Header(
                    offset: UInt32(truncatingIfNeeded: offset),
                    byteCount: UInt32(truncatingIfNeeded: byteCount)),
                as: Header.self)
            write(address + MemoryLayout<Header>.size)
            next = address + size
            rowCount &+= 1
            return ChunkedRow(address: address)
        }

        /// Whether the chunk has room for a row.
        @inline(__always)
        private borrowing func hasRoom(_ size: Int, _ layout: Unretained<RowLayout>) -> Bool {
            guard let next else { return false }
            return end.unsafelyUnwrapped - next >= size && self.layout == layout
        }

        /// Begins a chunk, unless the row is to stand alone.
        @inline(never)
        private mutating func beginChunk(_ layout: Unretained<RowLayout>, _ size: Int) -> Bool {
            let count = expectedCount
            expectedCount = max(4, min(count * 2, 1 << 10))
            guard count > 0, size > MemoryLayout<Header>.size, size <= Self.mostBytesOfRow else {
                return false
            }
            // Records of several types that are read from the same rows would begin a chunk for each.
            guard self.layout == nil || self.layout == layout else { return false }
            let capacity = max(min(Self.start + count * size, Self.mostBytes), Self.start + size)
            giveBack()
            (chunk, next, end, rowCount) = (nil, nil, nil, 0)
            guard let memory = malloc(capacity) else { return false }
            let chunk = memory.assumingMemoryBound(to: Chunk.self)
            chunk.initialize(
                to: Chunk(references: Atomic(manyReferences), layout: layout.object, moment: moment))
            self.chunk = chunk
            self.layout = layout
            (next, end) = (memory + Self.start, memory + capacity)
            return true
        }

        /// The rows to come are inserted, and their notes are among those of a moment.
        @inline(__always)
        mutating func begin(moment: UInt64) {
            if moment == self.moment { return }
            reset()
            self.moment = moment
        }

        /// The run has ended.
        @inline(__always)
        mutating func finish() {
            if expectedCount != 0 { reset() }
        }

        @inline(never)
        private mutating func reset() {
            self = Filling()  // which gives back
        }

        /// Gives back the references that no row has taken.
        private borrowing func giveBack() {
            if let chunk { release(chunk, manyReferences - rowCount) }
        }
    }
}
