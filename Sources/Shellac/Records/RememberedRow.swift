/// What a record remembers of its row: nothing, one of the rows that were fetched together, or a row of its own.
///
/// It is one machine word in the record. A row that was fetched among others stands in their chunk, until somebody asks
/// for it as a row: then it gets its own memory, which can have a past and can be noted in a journal.
///
/// ## Holding
///
/// To find out whether a record has changed is to compare bytes while the record is encoded. What is encoded is written
/// by the user of the class, who may save the record there, and so replace what it remembers. The bytes must stand still
/// meanwhile, and counting a reference would take as long as to compare some columns. So a row is marked as held: what
/// replaces a row that is held does not let go of it, and leaves that to the holder.
struct RememberedRow: ~Copyable {
    /// 0, or the address of a ``PackedRow`` or of a ``ChunkedRow``, and in its lowest bits what it is.
    private var word: UInt = 0

    private static var isChunked: UInt { 1 }
    private static var isHeld: UInt { 2 }

    init() {}

    deinit { Self.release(word & ~Self.isHeld) }

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
        if old & Self.isHeld == 0 { Self.release(old) }
    }

    /// Remembers a row of a chunk.
    @inline(__always)
    mutating func remember(_ row: ChunkedRow) {
        replace(with: UInt(bitPattern: row.address) | Self.isChunked)
    }

    /// The row, in memory of its own.
    var row: PackedRow? {
        @inline(__always)
        mutating get {
            if word & Self.isChunked != 0 { moveOutOfChunk() }
            let word = word & ~Self.isHeld
            return word == 0 ? nil : Self.packedRow(word).takeUnretainedValue()
        }
        @inline(__always)
        set { replace(with: newValue.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0) }
    }

    @inline(never)
    private mutating func moveOutOfChunk() {
        let row = Self.chunkedRow(word & ~Self.isHeld)
        self.row = row.layoutReference.use { PackedRow.make($0, copying: row.bytes) }
    }

    /// Takes the row: nothing is remembered any more.
    @inline(__always)
    mutating func take() -> PackedRow? {
        if word & (Self.isChunked | Self.isHeld) != 0 { return takeSlowly() }
        defer { word = 0 }
        return word == 0 ? nil : Self.packedRow(word).takeRetainedValue()
    }

    @inline(never)
    private mutating func takeSlowly() -> PackedRow? {
        let row = row
        self.row = nil
        return row
    }

    // MARK: - Holding

    /// A row that stands still until it is let go of.
    struct Held {
        fileprivate let word: UInt
        /// Whether this is the first to hold it.
        fileprivate let isFirst: Bool
        /// The bytes, and their layout.
        let bytes: UnsafeRawPointer
        let layout: Unmanaged<RowLayout>
    }

    /// Holds the row, which must be let go of. Nil where nothing is remembered.
    @inline(__always)
    mutating func hold() -> Held? {
        let isFirst = word & Self.isHeld == 0
        let word = word & ~Self.isHeld
        if word == 0 { return nil }
        self.word = word | Self.isHeld
        if word & Self.isChunked != 0 {
            let row = Self.chunkedRow(word)
            return Held(
                word: word, isFirst: isFirst, bytes: row.bytes.baseAddress.unsafelyUnwrapped,
                layout: row.layoutReference)
        }
        return Self.packedRow(word).use {
            Held(word: word, isFirst: isFirst, bytes: $0.bytes, layout: $0.layoutReference)
        }
    }

    /// Lets go of a row that was held.
    @inline(__always)
    mutating func letGo(_ held: Held) {
        if !held.isFirst { return }
        if word == held.word | Self.isHeld { word = held.word } else { Self.release(held.word) }
    }
}
