/// A row that outlives its statement, or that a record remembers.
///
/// Its packed bytes are in one allocation with a reference to the layout that all rows of the
/// statement share.
///
///     ┌────────────────┬────────┬──────┬──────────────┬─┬───────────────┐
///     │ Swift's object │ layout │ size │ packed bytes │ │ PreviousState │
///     └────────────────┴────────┴──────┴──────────────┴─┴───────────────┘
///                      └── Header ─────┘  PackedBytes  └─ up to the alignment of pointers, in a row that was saved
///
/// See ``PackedBytes`` for the format. The bytes never change while anything reads them: see
/// ``make(_:copying:previous:replacing:)``.
@usableFromInline
final class PackedRow: ManagedBuffer<PackedRow.Header, UInt8> {
    @usableFromInline
    struct Header {
        let layout: RowLayout
        /// Twice the number of bytes, plus one if a ``PreviousState`` follows the bytes.
        let size: Int
    }

    /// The state before a record saved the row.
    struct PreviousState: ~Copyable {
        /// The row that the record remembered before.
        enum Memory {
            case nothing
            case row(PackedRow)
            /// The record remembers this row without having saved it. The rows are those it
            /// remembered before and after its last save.
            indirect case save(before: PackedRow?, after: PackedRow)
            /// The record has merged this row. The rows are those it remembered before and after
            /// its last save, if there was one.
            indirect case merge(before: PackedRow?, after: PackedRow?)
            /// The state is no longer known, because another save or a rollback has come.
            case forgotten
        }
        var memory: Memory
        /// The moment of a journal whose notes include the save's note.
        var moment: UInt64
    }

    deinit { if hasPreviousState { previousStatePointer.deinitialize(count: 1) } }

    // The header is read through its address: it never changes, so it needs no exclusivity check.

    var layout: RowLayout { withUnsafeMutablePointerToHeader { $0.pointee.layout } }

    var layoutReference: Unretained<RowLayout> {
        withUnsafeMutablePointerToHeader { Unretained($0.pointee.layout) }
    }

    /// Returns the leftmost column with a name, or -1.
    func column(named name: String) -> Int { layoutReference.use { $0.column(named: name) ?? -1 } }

    /// The number of columns.
    var count: Int { layoutReference.use { $0.count } }

    /// The number of packed bytes.
    var byteCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.size >> 1 } }

    /// Whether the row has a previous state.
    private var hasPreviousState: Bool { withUnsafeMutablePointerToHeader { $0.pointee.size & 1 != 0 } }

    /// The state before the row, if it was saved.
    var memory: PreviousState.Memory { hasPreviousState ? previousStatePointer.pointee.memory : .forgotten }

    /// The moment of a journal whose notes include the save's note, or 0.
    var moment: UInt64 { hasPreviousState ? previousStatePointer.pointee.moment : 0 }

    /// Forgets the previous state. This modifies a row that the saving record still refers to.
    func forgetPreviousState() { if hasPreviousState { previousStatePointer.pointee.memory = .forgotten } }

    /// Forgets the previous state. Returns the previous row, if there was one.
    @inline(__always)
    func takePreviousRow() -> PackedRow? {
        guard hasPreviousState else { return nil }
        guard case .row(let row) = exchange(&previousStatePointer.pointee.memory, with: .forgotten) else {
            return nil
        }
        return row
    }

    /// Prefetches the previous row, whose memory will be reused.
    func prefetchPreviousRow() {
        guard hasPreviousState else { return }
        var address: UnsafeRawPointer?
        if case .row(let row) = previousStatePointer.pointee.memory {
            address = UnsafeRawPointer(Unretained(row).context)
        }
        if let address { prefetch(address, byteCount: 256) }
    }

    /// Creates a row of packed bytes. Reuses the memory of an unwanted row, if nothing else refers
    /// to it.
    ///
    /// A record that is saved repeatedly alternates between two rows.
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

    /// Whether the row has the same size and layout as another row with a previous state.
    private func hasRoom(for byteCount: Int, _ layout: Unretained<RowLayout>) -> Bool {
        hasPreviousState && self.byteCount == byteCount && layoutReference == layout
    }

    private var previousStatePointer: UnsafeMutablePointer<PreviousState> {
        let offset = Self.alignedForPreviousState(byteCount)
        return withUnsafeMutablePointerToElements {
            UnsafeMutableRawPointer($0 + offset).assumingMemoryBound(to: PreviousState.self)
        }
    }

    /// Rounds up a number of bytes. The elements begin at a multiple of the alignment of pointers.
    private static func alignedForPreviousState(_ byteCount: Int) -> Int {
        let alignment = MemoryLayout<PreviousState>.alignment
        return (byteCount + alignment - 1) / alignment * alignment
    }

    /// The packed columns.
    var bytes: PackedBytes {
        // The bytes do not move as long as the row is alive, so the reader must keep it alive.
        PackedBytes(
            start: withUnsafeMutablePointerToElements { UnsafeRawPointer($0) }, count: count,
            byteCount: byteCount)
    }

    /// Creates a row of the given number of bytes, which a function writes.
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

    /// Creates a row of packed bytes.
    @inline(__always)
    static func make(
        _ layout: RowLayout, copying bytes: PackedBytes, previous: consuming PreviousState? = nil
    ) -> PackedRow {
        make(layout, byteCount: bytes.byteCount, previous: previous) {
            $0.copyMemory(from: bytes.start, byteCount: bytes.byteCount)
        }
    }

    /// Returns a row of the same bytes, with another layout of the same columns, or with another
    /// previous state.
    func copy(_ layout: RowLayout, previous: consuming PreviousState? = nil) -> PackedRow {
        defer { withExtendedLifetime(self) {} }
        return .make(layout, copying: bytes, previous: previous)
    }

    /// Creates a row of values. They are enumerated twice.
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

    /// Creates a row from values.
    static func make(_ layout: RowLayout, values: [DatabaseValue]) -> PackedRow {
        make(layout) { body in for value in values { value.withView(body) } }
    }

    // MARK: - Reading

    /// Returns the value in a column.
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

    /// Returns a copy of the current row of a statement, with another layout of the same columns.
    @inline(never)
    static func make(_ row: LiveRow, layout: RowLayout) -> PackedRow {
        if let packed = row.packed() { make(layout, copying: packed) } else { makeLong(row, layout: layout) }
    }

    @inline(never)
    private static func makeLong(_ row: LiveRow, layout: RowLayout) -> PackedRow {
        make(layout) { body in for column in 0..<row.count { body(row.value(at: column).view) } }
    }
}
