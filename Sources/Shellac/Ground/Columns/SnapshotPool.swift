// Fills shared memory chunks with the packed rows of one fetch or one series of insertions.

import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Fills chunks with the rows of one run: of one statement, or of insertions between two moments of a journal. See
/// ``ChunkedRow``.
struct SnapshotPool: ~Copyable {
    private var chunk: UnsafeMutablePointer<ChunkedRow.Chunk>?
    /// Where the next row is to stand, and where the chunk ends.
    private var next: UnsafeMutableRawPointer?
    private var end: UnsafeMutableRawPointer?
    private var rowCount = 0
    /// The layout of the rows that stand in chunks, to compare with.
    private var layout: Unretained<RowLayout>?
    /// How many rows the next chunk is made for: 0 in front of the first row of a run.
    private var expectedCount = 0
    private var moment: UInt64 = 0
    /// The window that the chunks belong to, and how many rows it has by now, without those of the last chunk.
    private var window: FetchWindow?
    private var windowCount = 0

    init() {}

    deinit { giveBack() }

    /// The most bytes that a chunk has, and that a row of a chunk has. From 1,024 bytes on, glibc's `malloc` tidies up
    /// all that was freed before it looks for memory, which took longer than the rest of a fetch.
    private static var mostBytes: Int { 992 }
    private static var mostBytesOfRow: Int { 256 }
    static var start: Int { (MemoryLayout<ChunkedRow.Chunk>.size + 7) & ~7 }

    /// Adds a row. Nil for one that is to stand alone: the first one, which may be the only one, large ones, and those
    /// of another layout than the first that was put in a chunk.
    @inline(__always)
    mutating func add(_ bytes: PackedBytes, _ layout: Unretained<RowLayout>) -> ChunkedRow? {
        add(byteCount: bytes.byteCount, layout) {
            $0.copyMemory(from: bytes.start, byteCount: bytes.byteCount)
        }
    }

    /// Adds a row whose bytes a function writes.
    @inline(__always)
    mutating func add(
        byteCount: Int, _ layout: Unretained<RowLayout>, write: (UnsafeMutableRawPointer) -> Void
    ) -> ChunkedRow? {
        let size = (MemoryLayout<ChunkedRow.Header>.size &+ byteCount &+ 7) & ~7
        if !hasRoom(size, layout), !beginChunk(layout, size) { return nil }
        let address = next.unsafelyUnwrapped
        let offset = address - UnsafeMutableRawPointer(chunk.unsafelyUnwrapped)
        address.storeBytes(
            of: ChunkedRow.Header(
                offset: UInt32(truncatingIfNeeded: offset),
                byteCount: UInt32(truncatingIfNeeded: byteCount)),
            as: ChunkedRow.Header.self)
        write(address + MemoryLayout<ChunkedRow.Header>.size)
        next = address + size
        rowCount &+= 1
        return ChunkedRow(address: address)
    }

    /// Whether the chunk has room for a row.
    private borrowing func hasRoom(_ size: Int, _ layout: Unretained<RowLayout>) -> Bool {
        guard let next else { return false }
        return end.unsafelyUnwrapped - next >= size && self.layout == layout
    }

    /// Begins a chunk, unless the row is to stand alone.
    @inline(never)
    private mutating func beginChunk(_ layout: Unretained<RowLayout>, _ size: Int) -> Bool {
        let count = expectedCount
        expectedCount = max(4, min(count * 2, 1 << 10))
        guard count > 0, size > MemoryLayout<ChunkedRow.Header>.size, size <= Self.mostBytesOfRow else {
            return false
        }
        // Records of several types that are read from the same rows would begin a chunk for each.
        guard self.layout == nil || self.layout == layout else { return false }
        let capacity = max(min(Self.start + count * size, Self.mostBytes), Self.start + size)
        giveBack()
        windowCount &+= rowCount
        (chunk, next, end, rowCount) = (nil, nil, nil, 0)
        let window = moment == 0 ? currentWindow() : nil
        guard let memory = malloc(capacity) else { return false }
        let chunk = memory.assumingMemoryBound(to: ChunkedRow.Chunk.self)
        chunk.initialize(to: ChunkedRow.Chunk(layout.object, moment: moment, window: window))
        self.chunk = chunk
        self.layout = layout
        (next, end) = (memory + Self.start, memory + capacity)
        return true
    }

    /// The window that the next chunk belongs to.
    private mutating func currentWindow() -> FetchWindow {
        if let window, windowCount < FetchWindow.rowCount { return window }
        let window = FetchWindow()
        (self.window, windowCount) = (window, 0)
        return window
    }

    /// The rows to come are inserted, and their notes are among those of a moment.
    mutating func begin(moment: UInt64) {
        if moment == self.moment { return }
        reset()
        self.moment = moment
    }

    /// The run has ended.
    mutating func finish() {
        if expectedCount != 0 { reset() }
    }

    @inline(never)
    private mutating func reset() {
        self = SnapshotPool()  // which gives back
    }

    /// Gives back the references that no row has taken.
    private borrowing func giveBack() {
        guard let chunk else { return }
        ChunkedRow.Chunk.complete(chunk, rowCount: rowCount)
        ChunkedRow.release(chunk, ChunkedRow.manyReferences - rowCount)
    }
}
