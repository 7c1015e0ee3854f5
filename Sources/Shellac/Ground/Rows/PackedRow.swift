/// A row that outlives its statement, and what a record remembers of its row: packed bytes, in one allocation with
/// the layout that all rows of the statement share.
///
///     ┌────────────────┬────────┬──────┬──────────────┬─┬───────────────┐
///     │ Swift's object │ layout │ size │ packed bytes │ │ PreviousState │
///     └────────────────┴────────┴──────┴──────────────┴─┴───────────────┘
///                      └── Header ─────┘  PackedBytes  └─ up to the alignment of pointers, in a row that was saved
///
/// See ``PackedBytes`` for what they hold. They are never changed while anybody reads them: see
/// ``make(_:copying:previous:replacing:)``.
@usableFromInline
final class PackedRow: ManagedBuffer<PackedRow.Header, UInt8> {
    @usableFromInline
    struct Header {
        let layout: RowLayout
        /// Twice the number of bytes, and one more for a row that has a ``PreviousState`` behind them.
        let size: Int
    }

    /// What came before a row that a record saved.
    struct PreviousState: ~Copyable {
        /// What the record remembered before.
        enum Memory {
            case nothing
            case row(PackedRow)
            /// The record has come to remember this row in another way. What it remembered before its last save, and
            /// after it.
            indirect case save(before: PackedRow?, after: PackedRow)
            /// The record has merged this row. What it remembered before its last save, and after it, if there was one.
            indirect case merge(before: PackedRow?, after: PackedRow?)
            /// It is not known any more: another save has come, or a rollback.
            case forgotten
        }
        var memory: Memory
        /// Which notes of a journal the save's note is among.
        var moment: UInt64
    }

    deinit { if hasPreviousState { previousStatePointer.deinitialize(count: 1) } }

    // The header is read through its address: it never changes, and needs no check that nobody is changing it.

    var layout: RowLayout { withUnsafeMutablePointerToHeader { $0.pointee.layout } }

    var layoutReference: Unretained<RowLayout> {
        withUnsafeMutablePointerToHeader { Unretained($0.pointee.layout) }
    }

    /// The leftmost column of a name, or -1.
    func column(named name: String) -> Int { layoutReference.use { $0.column(named: name) ?? -1 } }

    /// The number of columns.
    var count: Int { layoutReference.use { $0.count } }

    /// How many bytes there are.
    var byteCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.size >> 1 } }

    /// Whether there is something that came before.
    private var hasPreviousState: Bool { withUnsafeMutablePointerToHeader { $0.pointee.size & 1 != 0 } }

    /// What came before the row, if it was saved.
    var memory: PreviousState.Memory { hasPreviousState ? previousStatePointer.pointee.memory : .forgotten }

    /// Which notes of a journal the note of the save is among, or 0.
    var moment: UInt64 { hasPreviousState ? previousStatePointer.pointee.moment : 0 }

    /// Forgets what came before. This changes a row under the hands of the record that saved it.
    func forgetPreviousState() { if hasPreviousState { previousStatePointer.pointee.memory = .forgotten } }

    /// Forgets what came before, and returns the row that it was, if it was one.
    @inline(__always)
    func takePreviousRow() -> PackedRow? {
        guard hasPreviousState else { return nil }
        guard case .row(let row) = exchange(&previousStatePointer.pointee.memory, with: .forgotten) else {
            return nil
        }
        return row
    }

    /// Asks the processor for the row that came before, whose memory is to be used again.
    func prefetchPreviousRow() {
        guard hasPreviousState else { return }
        var address: UnsafeRawPointer?
        if case .row(let row) = previousStatePointer.pointee.memory {
            address = UnsafeRawPointer(Unretained(row).context)
        }
        if let address { prefetch(address, byteCount: 256) }
    }

    /// Makes a row of packed bytes, in the place of one that is no longer wanted, if nobody else holds that.
    ///
    /// A record that is saved again and again has two rows by turns.
    @inline(__always)
    static func make(
        _ layout: Unretained<RowLayout>, copying bytes: PackedBytes, previous: consuming PreviousState,
        replacing unwanted: inout PackedRow?
    ) -> PackedRow {
        guard isKnownUniquelyReferenced(&unwanted),
            unwanted.unsafelyUnwrapped.hasRoom(for: bytes.byteCount, layout), let row = unwanted.take()
        else { return make(layout.object, copying: bytes, previous: previous) }
        row.withUnsafeMutablePointerToElements {
            UnsafeMutableRawPointer($0).copyMemory(from: bytes.start, byteCount: bytes.byteCount)
        }
        row.previousStatePointer.pointee = previous
        return row
    }

    /// Whether it has the very size of another one that has a previous state.
    private func hasRoom(for byteCount: Int, _ layout: Unretained<RowLayout>) -> Bool {
        hasPreviousState && self.byteCount == byteCount && layoutReference == layout
    }

    private var previousStatePointer: UnsafeMutablePointer<PreviousState> {
        let offset = Self.alignedForPreviousState(byteCount)
        return withUnsafeMutablePointerToElements {
            UnsafeMutableRawPointer($0 + offset).assumingMemoryBound(to: PreviousState.self)
        }
    }

    /// Rounds a number of bytes up: the elements begin at a multiple of the alignment of pointers.
    private static func alignedForPreviousState(_ byteCount: Int) -> Int {
        let alignment = MemoryLayout<PreviousState>.alignment
        return (byteCount + alignment - 1) / alignment * alignment
    }

    /// The packed columns.
    var bytes: PackedBytes {
        // They stand still as long as the row is alive: who reads them keeps it alive.
        PackedBytes(
            start: withUnsafeMutablePointerToElements { UnsafeRawPointer($0) }, count: count,
            byteCount: byteCount)
    }

    /// Makes a row of a number of bytes, which a function writes.
    @inline(__always)
    static func make(
        _ layout: RowLayout, byteCount: Int, previous: consuming PreviousState? = nil,
        write: (UnsafeMutableRawPointer) -> Void
    ) -> PackedRow {
        let hasPreviousState =
            switch previous {
            case .none: false
            case .some: true
            }
        let capacity =
            hasPreviousState
            ? alignedForPreviousState(byteCount) + MemoryLayout<PreviousState>.size : byteCount
        let size = byteCount << 1 | (hasPreviousState ? 1 : 0)
        let row = unsafeDowncast(
            create(minimumCapacity: capacity) { _ in Header(layout: layout, size: size) }, to: PackedRow.self)
        row.withUnsafeMutablePointerToElements { write(UnsafeMutableRawPointer($0)) }
        if let previous = consume previous { row.previousStatePointer.initialize(to: previous) }
        return row
    }

    /// Makes a row of packed bytes.
    @inline(__always)
    static func make(
        _ layout: RowLayout, copying bytes: PackedBytes, previous: consuming PreviousState? = nil
    ) -> PackedRow {
        make(layout, byteCount: bytes.byteCount, previous: previous) {
            $0.copyMemory(from: bytes.start, byteCount: bytes.byteCount)
        }
    }

    /// A row of the same bytes, under another layout of the same columns, or with another previous
    /// state.
    func copy(_ layout: RowLayout, previous: consuming PreviousState? = nil) -> PackedRow {
        defer { withExtendedLifetime(self) {} }
        return .make(layout, copying: bytes, previous: previous)
    }

    /// Makes a row of values, which are asked for twice.
    static func make(
        _ layout: RowLayout, previous: consuming PreviousState? = nil,
        eachValue: ((ValueView) -> Void) -> Void
    ) -> PackedRow {
        var length = layout.count
        eachValue { length += $0.packedByteCount }
        return make(layout, byteCount: length, previous: previous) {
            var cursor = PackedCursor(writing: $0, count: layout.count)
            eachValue { cursor.write($0, isExact: true) }
        }
    }

    /// Makes a row by hand.
    static func make(_ layout: RowLayout, values: [DatabaseValue]) -> PackedRow {
        make(layout) { body in for value in values { value.withView(body) } }
    }

    // MARK: - Reading

    /// The value in a column.
    func column(_ column: Int) -> PackedValue { bytes.value(at: column) }

    /// Returns a copy of a value.
    func databaseValue(at column: Int) -> DatabaseValue { self.column(column).view.databaseValue }

    /// A copy of the values.
    var databaseValues: [DatabaseValue] { bytes.databaseValues }
}

// MARK: - From SQLite

extension PackedRow {
    /// Returns a copy of the current row of a statement.
    static func make(_ row: LiveRow) -> PackedRow { make(row, layout: row.layout) }

    /// A copy of the current row of a statement, under another layout of the same columns.
    @inline(never)
    static func make(_ row: LiveRow, layout: RowLayout) -> PackedRow {
        if let packed = row.packed() { make(layout, copying: packed) } else { makeLong(row, layout: layout) }
    }

    @inline(never)
    private static func makeLong(_ row: LiveRow, layout: RowLayout) -> PackedRow {
        make(layout) { body in for column in 0..<row.count { body(row.value(at: column).view) } }
    }
}
