// Fills shared memory chunks with the packed rows of one fetch or one series of insertions.

import CSQLite
import Synchronization

/// A pool that fills chunks with the rows of one run of a statement, or of insertions between two
/// moments of a journal. See ``ChunkedRow``.
struct SnapshotPool: ~Copyable {
    private var chunk: UnsafeMutablePointer<ChunkedRow.Chunk>?
    /// The place of the next row, and the end of the chunk.
    private var next: UnsafeMutableRawPointer?
    private var end: UnsafeMutableRawPointer?
    private var rowCount = 0
    /// The layout of the rows in chunks, for comparison.
    private var layout: Unretained<RowLayout>?
    /// The number of rows that the next chunk is sized for: 0 before the first row of a run.
    private var expectedCount = 0
    private var moment: UInt64 = 0
    /// The window that the chunks belong to, and its current number of rows without those of the
    /// last chunk.
    private var window: FetchWindow?
    private var windowCount = 0

    init() {}

    deinit { giveBack() }

    /// The maximum size of a chunk, and that of a row in a chunk. From 1,024 bytes on, glibc's
    /// `malloc` consolidates all freed memory before it allocates. That took longer than the rest
    /// of a fetch.
    private static var maximumBytes: Int { 992 }
    private static var maximumBytesOfRow: Int { 256 }
    static var start: Int { (MemoryLayout<ChunkedRow.Chunk>.size + 7) & ~7 }

    /// Adds a row. Returns nil for a row that needs memory of its own.
    ///
    /// That is the first row, which may be the only one, and any large row. It is also a row with
    /// another layout than the first row in a chunk.
    @inline(__always)
    mutating func add(_ bytes: PackedBytes, _ layout: Unretained<RowLayout>) -> ChunkedRow? {
        add(byteCount: bytes.byteCount, layout) {
            $0.copyMemory(from: bytes.start, byteCount: bytes.byteCount)
        }
    }

    /// Adds a row whose bytes are written by a function.
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

    /// Begins a chunk, unless the row needs memory of its own.
    @inline(never)
    private mutating func beginChunk(_ layout: Unretained<RowLayout>, _ size: Int) -> Bool {
        let count = expectedCount
        expectedCount = max(4, min(count * 2, 1 << 10))
        guard count > 0, size > MemoryLayout<ChunkedRow.Header>.size, size <= Self.maximumBytesOfRow else {
            return false
        }
        // Otherwise, records of several types that are read from the same rows would each begin a
        // chunk.
        guard self.layout == nil || self.layout == layout else { return false }
        let capacity = max(min(Self.start + count * size, Self.maximumBytes), Self.start + size)
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

    /// Begins a series of insertions, with notes that belong to the given moment.
    mutating func begin(moment: UInt64) {
        if moment == self.moment { return }
        reset()
        self.moment = moment
    }

    /// Ends the run.
    mutating func finish() {
        if expectedCount != 0 { reset() }
    }

    @inline(never)
    private mutating func reset() {
        self = SnapshotPool()  // (this also gives back the references)
    }

    /// Gives back the references that no row has taken.
    private borrowing func giveBack() {
        guard let chunk else { return }
        ChunkedRow.Chunk.complete(chunk, rowCount: rowCount)
        ChunkedRow.release(chunk, ChunkedRow.manyReferences - rowCount)
    }
}
