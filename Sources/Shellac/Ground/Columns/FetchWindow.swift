/// A window of a fetch: some hundreds of rows that came one after the other, of which some may be remembered still.
///
/// It knows the chunks that these stand in, and keeps none of them: see ``ChunkedRow``. A chunk leaves it when it is freed,
/// on whatever thread that is.
final class FetchWindow: Sendable {
    typealias Chunk = UnsafeMutablePointer<ChunkedRow.Chunk>
    private struct Place: @unchecked Sendable { var chunk: Chunk? }  // looked at under the lock alone

    private let places = Lock<[Place]>([])

    /// How many rows a window has, at least.
    static var rowCount: Int { 512 }

    /// Adds a chunk to which no row will be added any more, and returns its place.
    func add(_ chunk: Chunk) -> Int {
        places.withLock { places in
            places.append(Place(chunk: chunk))
            return places.count - 1
        }
    }

    /// Removes a chunk, which is about to be freed.
    func remove(_ place: Int) { places.withLock { $0[place].chunk = nil } }

    /// Calls a function with each row of the window that stands in memory still.
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
    /// The row behind this one, if there is another one.
    fileprivate var next: ChunkedRow {
        let size = (MemoryLayout<Header>.size + bytes.byteCount + 7) & ~7
        return ChunkedRow(address: address + size)
    }
}
