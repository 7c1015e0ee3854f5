/// The row that a record remembers.
///
/// The record remembers nothing, one of the rows that were fetched or inserted together, or a row
/// of its own.
///
/// It is one machine word in the record:
///
///     63                                        2        1        0
///     ┌─────────────────────────────────────────┬────────┬─────────┐
///     │ address of a PackedRow or a ChunkedRow  │ in use │ chunked │
///     └─────────────────────────────────────────┴────────┴─────────┘
///
/// A row that was fetched or inserted among others is in their chunk. When the record is saved
/// again, it gets memory of its own. This memory can have a previous state, and can be noted in a
/// journal.
///
/// ## The life of a comparison
///
/// A comparison of the row with the columns that its record encodes marks the row as in use. The
/// encoding code may save the record, or undo a save, and then the record forgets the row that is
/// being read. Counting a reference for each comparison would take as long as the comparison.
///
/// So if the record forgets a row in use, its reference passes to the comparison. At its end, the
/// comparison finds that the mark is gone, and releases the reference. By then, the record may
/// remember the same row again. That has a reference of its own, and no mark, or the mark of a
/// nested comparison.
struct RememberedRow: ~Copyable {
    /// The word is 0 if nothing is remembered.
    private var word: UInt = 0

    private static var isChunked: UInt { 1 }
    private static var isInUse: UInt { 2 }
    private static var marks: UInt { isChunked | isInUse }

    init() {}

    deinit { Self.release(word) }

    @inline(__always)
    private static func release(_ word: UInt) {
        if word == 0 { return }
        if word & isChunked != 0 { chunkedRow(word).release() } else { packedRow(word).release() }
    }

    /// Releases a row that the record has forgotten during a comparison. It is not inlined, so that
    /// the common path is.
    @inline(never)
    private static func giveBack(_ word: UInt) { release(word) }

    private static func chunkedRow(_ word: UInt) -> ChunkedRow {
        ChunkedRow(address: UnsafeMutableRawPointer(bitPattern: word & ~marks).unsafelyUnwrapped)
    }

    private static func packedRow(_ word: UInt) -> Unmanaged<PackedRow> {
        Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word & ~marks).unsafelyUnwrapped)
    }

    /// Replaces the word. The new word owns its reference.
    @inline(__always)
    private mutating func replace(with new: UInt) {
        let old = word
        word = new
        if old & Self.isInUse == 0 { Self.release(old) }
    }

    /// Whether nothing is remembered.
    var isNothing: Bool { word == 0 }

    /// Remembers a row of a chunk.
    @inline(__always)
    mutating func remember(_ row: ChunkedRow) {
        replace(with: UInt(bitPattern: row.address) | Self.isChunked)
    }

    /// The row. If it is in a chunk, this is a copy.
    var row: PackedRow? {
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
            let previous = moment == 0 ? nil : PackedRow.PreviousState(memory: .nothing, moment: moment)
            return .make(row.layoutReference.object, copying: row.bytes, previous: previous)
        }
    }

    /// The row, without reference counting. Only valid outside of a chunk: see ``leaveChunk()``.
    var packed: Unretained<PackedRow>? {
        assert(word & Self.isChunked == 0, "the row is in a chunk")
        return word == 0 ? nil : Unretained(context: Self.packedRow(word).toOpaque())
    }

    /// The window of the fetch that the row came from. Nil if it has memory of its own, or was
    /// inserted.
    var window: FetchWindow? { word & Self.isChunked == 0 ? nil : Self.chunkedRow(word).window }

    /// Moves a row from a chunk to memory of its own.
    @inline(__always)
    mutating func leaveChunk() {
        if word & Self.isChunked != 0 { row = copyOfChunkedRow }
    }

    /// Takes the row. Afterwards, nothing is remembered.
    @inline(__always)
    mutating func take() -> PackedRow? {
        leaveChunk()
        let old = word
        word = 0
        if old == 0 { return nil }
        return old & Self.isInUse != 0
            ? Self.packedRow(old).takeUnretainedValue() : Self.packedRow(old).takeRetainedValue()
    }

    /// Prefetches the row into the processor's cache, up to the size of most rows.
    func prefetchRow() {
        if let address = UnsafeRawPointer(bitPattern: word & ~Self.marks) {
            prefetch(address, byteCount: 256)
        }
    }

    /// Prefetches the memory that the next row will be written to, if it is known.
    func prefetchNextRow() {
        if word & Self.isChunked == 0 { packed?.use { $0.prefetchPreviousRow() } }
    }

    // MARK: - Comparing

    /// A row as it is, for a comparison.
    struct View {
        private let record: Unretained<Record>
        /// The word, without a mark.
        private let word: UInt
        /// The columns and their layout. They are valid as long as the row is.
        let bytes: PackedBytes
        let layout: Unretained<RowLayout>

        /// Creates a view of the row of a record. Nil if nothing is remembered.
        @inline(__always)
        init?(_ record: Record) {
            word = record.rememberedRow.word & ~RememberedRow.isInUse
            if word == 0 { return nil }
            self.record = Unretained(record)
            if word & RememberedRow.isChunked != 0 {
                let row = RememberedRow.chunkedRow(word)
                (bytes, layout) = (row.bytes, row.layoutReference)
            } else {
                (bytes, layout) = RememberedRow.packedRow(word)._withUnsafeGuaranteedRef {
                    ($0.bytes, $0.layoutReference)
                }
            }
        }

        /// Whether the record still remembers the row.
        var isStillRemembered: Bool { record.use { $0.rememberedRow.word & ~RememberedRow.isInUse == word } }

        /// Runs a function during which the row stays alive, even if the record forgets it.
        func whileInUse<Result>(_ body: () throws -> Result) rethrows -> Result {
            // An outer comparison has marked it, and will remove the mark.
            let isMarked = record.use { $0.rememberedRow.word & RememberedRow.isInUse != 0 }
            if isMarked { return try body() }
            record.use { $0.rememberedRow.word |= RememberedRow.isInUse }
            defer {
                record.use { record in
                    if record.rememberedRow.word == word | RememberedRow.isInUse {
                        record.rememberedRow.word = word
                    } else {
                        RememberedRow.giveBack(word)
                    }
                }
            }
            return try body()
        }
    }

    #if DEBUG
    /// The row in its memory, in a chunk or alone: see `_violations`.
    var memory: (chunked: ChunkedRow?, packed: PackedRow?) {
        if word == 0 { return (nil, nil) }
        if word & Self.isChunked != 0 { return (Self.chunkedRow(word), nil) }
        return (nil, Self.packedRow(word).takeUnretainedValue())
    }
    #endif
}
