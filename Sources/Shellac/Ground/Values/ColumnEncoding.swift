/// The columns that a record encodes, on their way: packed into bytes, compared with packed bytes, or gathered.
///
/// A record encodes the same columns in the same order each time, so the name of the next column is compared with
/// the one expected, by its raw bytes. Where they differ, the slow way is taken:
///
/// - *Packing* gives up, and tells that the expectation was wrong: what follows goes nowhere. The columns are then
///   gathered, and packed under the names that were found.
/// - *Comparing* looks the column up. Packed bytes may come from a row with more columns, and in another order.
///   Where the changed columns are to be written, it becomes packing at the first one that differs: those before it are
///   what the packed bytes are, and the record is encoded once.
/// - *Gathering* expects nothing: all is on the slow way. The last value of a column counts.
@usableFromInline
struct ColumnEncoding: ~Copyable {
    enum Mode: UInt8 { case packing, comparing, gathering }

    /// Comparing: the name of the next column, or the end of the names. Otherwise, always the latter.
    @usableFromInline var nextCompared: UnsafePointer<NameBits>
    /// Packing: the name of the next column, or the end of the names. Otherwise, always the latter.
    var nextPacked: UnsafePointer<NameBits>
    /// Where the next column stands.
    @usableFromInline var cursor: PackedCursor

    let count: Int
    private(set) var mode: Mode
    let layout: Unretained<RowLayout>
    /// The columns that are written, or compared with.
    private var start: PackedCursor
    /// The memory to pack into, if there is any: when columns are compared, from the first difference on.
    private(set) var buffer: PackedBuffer?

    /// Packing: whether the expectation was wrong.
    private(set) var hasUnexpectedColumn = false
    /// Comparing: whether a value is not the packed one.
    var isDifferent = false
    /// Comparing: whether a column may have been given values more than once, of which the last one counts.
    private(set) var mayRepeat = false
    /// Comparing: whether columns were read, which are not there.
    private(set) var wasRead = false
    /// The column from which on it was packed, and where its payload stands among the bytes.
    private(set) var firstPacked: (column: Int, offset: Int) = (0, 0)

    /// Gathering: the columns so far. Nil where packing has given up.
    let gathering: Unretained<Gathering>?

    private static let nothing = RowLayout(names: [], sql: nil)

    /// Gathers columns.
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

    /// How many bytes there must be for a number of columns: each has room for a number.
    static func leastCapacity(for count: Int) -> Int { 9 &* count &+ 8 }

    /// Packs the columns of a layout into memory, of which there must be ``leastCapacity(for:)``. It may be replaced by
    /// more, which is to be taken back.
    @inline(__always)
    init(packing layout: RowLayout, into buffer: PackedBuffer) {
        assert(buffer.capacity >= Self.leastCapacity(for: layout.count))
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

    /// Compares columns with those of a row, in front of which 8 bytes may be read, and packs them into memory from the
    /// first difference on, if there is any.
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

    /// The number of the next column.
    var next: Int { start.distance(to: cursor).columns }

    /// How many bytes were packed, or compared, and how many of them are payloads.
    var byteCount: Int { count &+ payloadByteCount }
    private var payloadByteCount: Int { start.distance(to: cursor).payloads }

    private var endOfNames: UnsafePointer<NameBits> { layout.use { $0.bits } + count }

    // MARK: - Packing

    /// Packs from here on, if there is memory for it.
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

    /// Makes room for a payload, behind which all other columns have room for a number.
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

    /// Packs a value in the next column, which is there.
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

    /// The value that is compared: NULL behind the last column.
    var stored: PackedValue { next < count ? cursor.value : PackedValue(.null, cursor.value.payload) }

    /// Passes a value that was compared.
    @inline(__always)
    mutating func advance(past stored: PackedValue) {
        guard next < count else {
            mayRepeat = true  // more values than columns
            return
        }
        cursor.advance(past: stored)
        nextCompared += 1
    }

    /// Whether the answer may be wrong.
    var isDoubtful: Bool { wasRead || isDifferent && mayRepeat }

    /// Goes to the column of a name that was not expected. Returns false if there is none.
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
    /// Returns the value that a column has been given.
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

    /// Whether a column is the next one that is compared.
    @inlinable
    func compares(_ name: String) -> Bool { nextCompared.pointee == NameBits(name) }

    /// Whether a column is the next one that is packed.
    func packs(_ name: String) -> Bool { nextPacked.pointee == NameBits(name) }

    /// Goes to a column. Returns whether it is one that a value is stored in.
    mutating func isAt(_ name: String) -> Bool { packs(name) || compares(name) || find(name) }

    /// Goes to a column that was not expected.
    @inline(never)
    private mutating func find(_ name: String) -> Bool {
        switch mode {
        case .packing:
            // A name of over 15 bytes may be equal, and stand elsewhere. It is equal if its bytes are.
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
