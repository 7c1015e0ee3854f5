/// What a record remembers of its row: nothing, one of the rows that were fetched together, or a row of its own.
///
/// It is one machine word in the record. A row that was fetched among others stands in their chunk. When the record is
/// saved, it gets memory of its own, which can have a past, and can be noted in a journal. Whoever only looks at the
/// row changes nothing here: so threads that share a record in order to read it, on their own responsibility, may ask
/// it for its changes.
struct RememberedRow: ~Copyable {
    /// 0, or the address of a ``PackedRow`` or of a ``ChunkedRow``, and in its lowest bit which of the two it is.
    private var word: UInt = 0

    private static var isChunked: UInt { 1 }

    init() {}

    deinit { Self.release(word) }

    @inline(__always)
    private static func release(_ word: UInt) {
        if word == 0 { return }
        if word & isChunked != 0 { chunkedRow(word).release() } else { packedRow(word).release() }
    }

    @inline(__always)
    private static func chunkedRow(_ word: UInt) -> ChunkedRow {
        ChunkedRow(address: UnsafeMutableRawPointer(bitPattern: word & ~isChunked).unsafelyUnwrapped)
    }

    @inline(__always)
    private static func packedRow(_ word: UInt) -> Unmanaged<PackedRow> {
        Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
    }

    /// Puts another word in the place, which owns what it means.
    @inline(__always)
    private mutating func replace(with new: UInt) {
        let old = word
        word = new
        Self.release(old)
    }

    /// Remembers a row of a chunk.
    @inline(__always)
    mutating func remember(_ row: ChunkedRow) {
        replace(with: UInt(bitPattern: row.address) | Self.isChunked)
    }

    /// The row. If it stands in a chunk, it is a copy.
    var row: PackedRow? {
        @inline(__always)
        get {
            if word & Self.isChunked != 0 { return copyOfChunkedRow }
            return word == 0 ? nil : Self.packedRow(word).takeUnretainedValue()
        }
        @inline(__always)
        set { replace(with: newValue.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0) }
    }

    private var copyOfChunkedRow: PackedRow {
        @inline(never)
        get {
            let row = Self.chunkedRow(word)
            return row.layoutReference.use { PackedRow.make($0, copying: row.bytes) }
        }
    }

    /// Gives a row that stands in a chunk memory of its own.
    @inline(__always)
    mutating func leaveChunk() {
        if word & Self.isChunked != 0 { row = copyOfChunkedRow }
    }

    /// Takes the row: nothing is remembered any more.
    @inline(__always)
    mutating func take() -> PackedRow? {
        leaveChunk()
        defer { word = 0 }
        return word == 0 ? nil : Self.packedRow(word).takeRetainedValue()
    }

    // MARK: - Holding

    /// A row that stands still until it is let go of, also where the record forgets it meanwhile.
    struct Held {
        fileprivate let word: UInt
        /// The bytes, and their layout.
        let bytes: UnsafeRawPointer
        let layout: Unmanaged<RowLayout>

        /// Lets go of the row.
        @inline(__always)
        func letGo() { RememberedRow.release(word) }
    }

    /// Holds the row, which must be let go of. Nil where nothing is remembered.
    @inline(__always)
    func hold() -> Held? {
        if word == 0 { return nil }
        if word & Self.isChunked != 0 {
            let row = Self.chunkedRow(word)
            row.retain()
            return Held(
                word: word, bytes: row.bytes.baseAddress.unsafelyUnwrapped, layout: row.layoutReference)
        }
        return Self.packedRow(word).retain().use {
            Held(word: word, bytes: $0.bytes, layout: $0.layoutReference)
        }
    }
}
