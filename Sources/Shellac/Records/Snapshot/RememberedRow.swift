/// What a record remembers of its row: nothing, one of the rows that were fetched or inserted together, or a row of its
/// own.
///
/// It is one machine word in the record. A row that was fetched or inserted among others stands in their chunk. When the
/// record is saved again, it gets memory of its own, which can have a past, and can be noted in a journal. Whoever only
/// looks at the row changes nothing here: so threads that share a record in order to read it, on their own
/// responsibility, may ask it for its changes.
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
        if old != 0, !RowInUse.takeReference(old) { Self.release(old) }
    }

    /// Whether nothing is remembered.
    @inline(__always)
    var isNothing: Bool { word == 0 }

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
            let moment = row.moment
            let past = moment == 0 ? nil : PackedRow.Past(memory: .nothing, moment: moment)
            return .make(row.layoutReference.object, copying: row.bytes, past: past)
        }
    }

    /// The row, without counting a reference. Outside of a chunk only: see ``leaveChunk()``.
    var packed: Unmanaged<PackedRow>? {
        @inline(__always)
        get {
            assert(word & Self.isChunked == 0, "the row stands in a chunk")
            return word == 0 ? nil : Self.packedRow(word)
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
        let old = word
        word = 0
        if old == 0 { return nil }
        return RowInUse.takeReference(old)
            ? Self.packedRow(old).takeUnretainedValue() : Self.packedRow(old).takeRetainedValue()
    }

    /// Asks the processor for the row, as far as most rows go.
    @inline(__always)
    func prefetchRow() {
        if let address = UnsafeRawPointer(bitPattern: word & ~Self.isChunked) {
            prefetch(address, byteCount: 256)
        }
    }

    /// Asks the processor for the memory that the next row will be written to, if it is known.
    @inline(__always)
    func prefetchNextRow() {
        if word & Self.isChunked == 0 { packed?.use { $0.prefetchPast() } }
    }

    // MARK: - Comparing

    /// A row as it is, to be compared with.
    struct Look {
        fileprivate let word: UInt
        /// The columns, and their layout: good as long as the row is.
        let bytes: PackedBytes
        let layout: Unretained<RowLayout>

        /// Runs a function during which the row stands still, also where the record forgets it.
        @inline(__always)
        func whileInUse<Result>(_ body: () throws -> Result) rethrows -> Result {
            try RowInUse.with(word, release: RememberedRow.release, body)
        }
    }

    /// The row, to be compared with. Nil where nothing is remembered.
    var look: Look? {
        @inline(__always)
        get {
            if word == 0 { return nil }
            if word & Self.isChunked != 0 {
                let row = Self.chunkedRow(word)
                return Look(
                    word: word, bytes: row.bytes, layout: row.layoutReference)
            }
            return Self.packedRow(word).use { Look(word: word, bytes: $0.bytes, layout: $0.layoutReference) }
        }
    }

    /// Whether the row is still the one that was looked at.
    @inline(__always)
    func isStill(_ look: Look) -> Bool { word == look.word }

    #if DEBUG
    /// The row as it stands in memory, in a chunk or alone: see `_violations`.
    var memory: (chunked: ChunkedRow?, packed: PackedRow?) {
        if word == 0 { return (nil, nil) }
        if word & Self.isChunked != 0 { return (Self.chunkedRow(word), nil) }
        return (nil, Self.packedRow(word).takeUnretainedValue())
    }
    #endif
}
