/// The columns that a record encodes: packed, compared, or gathered.
///
/// A record encodes the same columns in the same order each time. So the name of the next column is
/// compared with the expected name, by its raw bytes. If they differ, each mode takes a slow path:
///
/// - *Packing* gives up, and reports that the expectation was wrong. Later values are dropped. The
///   columns are then gathered, and packed under the names that were found.
/// - *Comparing* looks up the column. Packed bytes may come from a row with more columns, and in
///   another order. If the changed columns will be written, comparing switches to packing at the
///   first difference. The columns before it are copied from the packed bytes, so the record is
///   encoded only once.
/// - *Gathering* expects nothing: every value takes the slow path. The last value of a column
///   counts.
@usableFromInline
struct ColumnEncoding: ~Copyable {
    enum Mode: UInt8 { case packing, comparing, gathering }

    /// Comparing: the name of the next column, or the end of the names. In other modes, always the
    /// latter.
    @usableFromInline var nextCompared: UnsafePointer<NameBits>
    /// Packing: the name of the next column, or the end of the names. In other modes, always the
    /// latter.
    var nextPacked: UnsafePointer<NameBits>
    /// The place of the next column.
    @usableFromInline var cursor: PackedCursor

    let count: Int
    private(set) var mode: Mode
    let layout: Unretained<RowLayout>
    /// The place of the first column that is written or compared.
    private var start: PackedCursor
    /// The memory to pack into, if there is any. When comparing, it is used from the first
    /// difference on.
    private(set) var buffer: PackedBuffer?

    /// Packing: whether the expectation was wrong.
    private(set) var hasUnexpectedColumn = false
    /// Comparing: whether a value differs from the packed one.
    var isDifferent = false
    /// Comparing: whether a column may have been given several values, the last of which counts.
    private(set) var mayRepeat = false
    /// Comparing: whether encoded columns were read, which this mode does not keep.
    private(set) var wasRead = false
    /// The first column that was packed, and the offset of its payload in the bytes.
    private(set) var firstPacked: (column: Int, offset: Int) = (0, 0)

    /// Gathering: the columns so far. Nil after packing has given up.
    let gathering: Unretained<Gathering>?

    private static let nothing = RowLayout(names: [], sql: nil)

    /// Creates an encoding that gathers columns.
    init(gatheringInto gathering: Gathering) {
        layout = Unretained(Self.nothing)
        count = 0
        nextCompared = Self.nothing.bits
        nextPacked = nextCompared
        mode = .gathering
        self.gathering = Unretained(gathering)
        start = PackedCursor(reading: nextCompared, count: 0)
        cursor = start
    }

    /// Returns the number of bytes needed for a number of columns: each has room for a number.
    static func minimumCapacity(for count: Int) -> Int { 9 &* count &+ 8 }

    /// Creates an encoding that packs the columns of a layout into memory. It must have
    /// ``minimumCapacity(for:)``. A larger buffer may replace it, and the caller must take that one
    /// back.
    @inline(__always)
    init(packing layout: RowLayout, into buffer: PackedBuffer) {
        assert(buffer.capacity >= Self.minimumCapacity(for: layout.count))
        self.layout = Unretained(layout)
        count = layout.count
        nextPacked = layout.bits
        nextCompared = layout.bits + count
        mode = .packing
        gathering = nil
        self.buffer = buffer
        start = PackedCursor(writing: buffer.start, count: count)
        cursor = start
    }

    /// Creates an encoding that compares columns with those of a row. There must be 8 readable
    /// bytes in front of the row. If there is a buffer, the columns are packed into it from the
    /// first difference on.
    @inline(__always)
    init(
        comparingWith row: PackedBytes, layout: Unretained<RowLayout>,
        thenPackingInto buffer: PackedBuffer? = nil
    ) {
        self.layout = layout
        (count, nextCompared) = layout.use { ($0.count, $0.bits) }
        nextPacked = nextCompared + count
        mode = .comparing
        gathering = nil
        start = row.cursor
        cursor = start
        self.buffer = buffer
    }

    /// The index of the next column.
    var next: Int { start.distance(to: cursor).columns }

    /// The number of bytes that were packed or compared, and the number of payload bytes among
    /// them.
    var byteCount: Int { count &+ payloadByteCount }
    private var payloadByteCount: Int { start.distance(to: cursor).payloads }

    private var endOfNames: UnsafePointer<NameBits> { layout.use { $0.bits } + count }

    // MARK: - Packing

    /// Switches to packing, if there is memory for it.
    mutating func startPacking() -> Bool {
        guard let buffer, !isDifferent, !mayRepeat, !wasRead, next < count else { return false }
        let (compared, column, length) = (start, next, payloadByteCount)
        start = PackedCursor(writing: buffer.start, count: count)
        cursor = start
        mode = .packing
        (nextPacked, nextCompared) = (nextCompared, endOfNames)
        reserve(length)
        cursor.copy((column, length), from: compared)
        firstPacked = (column, count + length)
        return true
    }

    /// Makes room for a payload, and for a number in each column behind it.
    private mutating func reserve(_ length: Int) {
        let needed = byteCount &+ length &+ 8 &* (count &+ 1)
        if needed > buffer.unsafelyUnwrapped.capacity { grow(needed) }
    }

    @inline(never)
    private mutating func grow(_ needed: Int) {
        let old = start
        buffer?.grow(to: needed)
        start = PackedCursor(writing: buffer.unsafelyUnwrapped.start, count: count)
        cursor = start.moved(by: old.distance(to: cursor))
    }

    /// Packs a value in the next column, if there is one.
    @inline(__always)
    mutating func pack(_ value: ValueView, isDate: Bool) {
        guard next < count else { return giveUp() }  // more values than columns
        switch value {
        case .text(let utf8): reserve(utf8.count &+ 4)
        case .blob(let bytes): reserve(bytes.count &+ 4)
        default: break
        }
        packNext { $0.write(value, isDate: isDate) }
    }

    /// Packs a value in the next column, which must exist.
    mutating func packNext(_ write: (inout PackedCursor) -> Void) {
        write(&cursor)
        nextPacked += 1
    }

    private mutating func giveUp() {
        hasUnexpectedColumn = true
        mode = .gathering
        nextPacked = endOfNames
        cursor = start
    }

    // MARK: - Comparing

    /// The packed value to compare with: NULL behind the last column.
    var stored: PackedValue { next < count ? cursor.value : PackedValue(.null, cursor.value.payload) }

    /// Skips a value after comparing it.
    @inline(__always)
    mutating func advance(past stored: PackedValue) {
        guard next < count else {
            mayRepeat = true  // more values than columns
            return
        }
        cursor.advance(past: stored)
        nextCompared += 1
    }

    /// Whether the result of the comparison may be wrong.
    var isDoubtful: Bool { wasRead || isDifferent && mayRepeat }

    /// Moves to the column with an unexpected name. Returns false if there is none.
    private mutating func seek(_ name: String) -> Bool {
        guard let column = layout.use({ $0.column(named: name) }) else { return false }
        if column < next {
            mayRepeat = true
            nextCompared -= next
            cursor = start
        }
        while next < column { advance(past: stored) }
        return true
    }
}

// MARK: - Names

extension ColumnEncoding {
    /// Returns the value that was given to a column.
    @usableFromInline
    mutating func value(of name: String) -> DatabaseValue? {
        switch mode {
        case .gathering:
            return gathering?.use { gathering in
                gathering.columns.first { CaseInsensitiveName.matches($0.name, name) }?.value
            }
        case .packing:
            guard let column = layout.use({ $0.column(named: name) }), column < next else { return nil }
            var cursor = start
            for _ in 0..<column { cursor.advance(past: cursor.value) }
            return cursor.value.view.databaseValue
        case .comparing:
            wasRead = true
            return nil
        }
    }

    /// Whether a column is the next one to compare.
    @inlinable
    func compares(_ name: String) -> Bool { nextCompared.pointee == NameBits(name) }

    /// Whether a column is the next one to pack.
    func packs(_ name: String) -> Bool { nextPacked.pointee == NameBits(name) }

    /// Moves to a column. Returns whether its value must be stored.
    mutating func seek(to name: String) -> Bool { packs(name) || compares(name) || find(name) }

    /// Moves to an unexpected column.
    @inline(never)
    private mutating func find(_ name: String) -> Bool {
        switch mode {
        case .packing:
            // A name of over 15 bytes may be equal, but at another address. It is equal if its
            // bytes are.
            if next < count, layout.use({ $0.names[next].hasSameBytes(as: name) }) { return true }
            giveUp()
            return false
        case .comparing:
            if seek(name) { return true }
            isDifferent = true
            return false
        case .gathering:
            gathering?.use { $0.name = name }
            return gathering != nil
        }
    }
}
