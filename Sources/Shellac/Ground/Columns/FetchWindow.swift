/// A window of a fetch: some hundreds of consecutive rows, some of which records may remember.
///
/// The window lists the chunks that contain these rows without keeping them alive: see
/// ``ChunkedRow``. A chunk removes itself when it is freed, on any thread.
final class FetchWindow: Sendable {
    typealias Chunk = UnsafeMutablePointer<ChunkedRow.Chunk>
    private struct Place: @unchecked Sendable { var chunk: Chunk? }  // only accessed under the lock

    private let places = Lock<[Place]>([])

    /// The minimum number of rows in a window.
    static var rowCount: Int { 512 }

    /// Adds a complete chunk, which will get no more rows, and returns its place.
    func add(_ chunk: Chunk) -> Int {
        places.withLock { places in
            places.append(Place(chunk: chunk))
            return places.count - 1
        }
    }

    /// Removes a chunk, which is about to be freed.
    func remove(_ place: Int) { places.withLock { $0[place].chunk = nil } }

    /// Calls a function with each row of the window that is still in memory.
    func eachRow(_ body: (PackedBytes, RowLayout) throws -> Void) rethrows {
        let chunks = places.withLock { places in
            places.compactMap(\.chunk).filter(ChunkedRow.retain).map { Place(chunk: $0) }
        }
        defer { for place in chunks { place.chunk.map { ChunkedRow.release($0, 1) } } }
        for place in chunks {
            guard let chunk = place.chunk else { continue }
            var row = ChunkedRow(address: UnsafeMutableRawPointer(chunk) + SnapshotPool.start)
            for _ in 0..<chunk.pointee.rowCount {
                try body(row.bytes, chunk.pointee.layout)
                row = row.next
            }
        }
    }
}

extension ChunkedRow {
    /// The next row in the chunk. Read it only if there is one.
    fileprivate var next: ChunkedRow {
        let size = (MemoryLayout<Header>.size + bytes.byteCount + 7) & ~7
        return ChunkedRow(address: address + size)
    }
}
