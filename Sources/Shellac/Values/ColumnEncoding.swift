#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The columns that a record encodes, on their way: packed into bytes, compared with packed bytes, or gathered.
///
/// A record encodes the same columns in the same order each time, so the name of the next column is compared with
/// the one expected, by its raw bytes. Where they differ, the slow road is taken:
///
/// - *Packing* stops, and tells that the expectation was wrong. The columns are then gathered, and packed under the
///   names that were found.
/// - *Comparing* looks the column up. Packed bytes may come from a row with more columns, and in another order.
///   Where the changed columns are to be written, it becomes packing at the first one that differs: those before it are
///   what the packed bytes are, and the record is encoded once.
/// - *Gathering* expects nothing: all is on the slow road. The last value of a column counts.
@usableFromInline
struct ColumnEncoding: ~Copyable {
    enum Mode: UInt8 { case packing, comparing, gathering, ignoring }

    /// Comparing: the name of the next column, or the end of the names. Otherwise, always the latter.
    @usableFromInline var nextCompared: UnsafePointer<NameBits>
    /// Packing: the same.
    var nextPacked: UnsafePointer<NameBits>
    /// Where the next column's tag stands, and its payload.
    @usableFromInline var nextTag: UnsafeMutableRawPointer
    @usableFromInline var payload: UnsafeMutableRawPointer

    let count: Int
    private(set) var mode: Mode
    /// Whoever encodes keeps it alive.
    private let layout: Unmanaged<RowLayout>
    /// The bytes that are written, or compared with: tags, and then payloads.
    private(set) var base: UnsafeMutableRawPointer
    /// How many bytes may be written.
    private(set) var capacity: Int

    /// Packing: whether the expectation was wrong.
    private(set) var hasUnexpectedColumn = false
    /// Comparing: whether a value is not the packed one.
    var isDifferent = false
    /// Comparing: whether a column may have been given values more than once, of which the last one counts.
    private(set) var mayRepeat = false
    /// Comparing: whether columns were read, which are not there.
    private(set) var wasRead = false
    /// Comparing: memory to pack into from the first difference on.
    private var spare: UnsafeMutableRawPointer?
    /// The column from which on it was packed, and where its payload stands among the bytes.
    private(set) var firstPacked: (column: Int, offset: Int) = (0, 0)

    /// Gathering: the columns so far, which whoever encodes keeps alive.
    let gathering: Unmanaged<Gathering>?

    private static let nothing = RowLayout(names: [], sql: nil)

    /// Gathers columns.
    init(gatheringInto gathering: Gathering) {
        layout = Unmanaged.passUnretained(Self.nothing)
        count = 0
        nextCompared = Self.nothing.bits
        nextPacked = nextCompared
        mode = .gathering
        self.gathering = Unmanaged.passUnretained(gathering)
        base = UnsafeMutableRawPointer(mutating: nextCompared)
        nextTag = base
        payload = base
        capacity = 0
    }

    /// How many bytes there must be for a number of columns: each has room for a number.
    @inline(__always)
    static func leastCapacity(for count: Int) -> Int { 9 &* count &+ 8 }

    /// Packs the columns of a layout into bytes, of which there must be ``leastCapacity(for:)``. These may be replaced by
    /// more: they must come from `malloc`.
    @inline(__always)
    init(packing layout: RowLayout, into base: UnsafeMutableRawPointer, capacity: Int) {
        assert(capacity >= Self.leastCapacity(for: layout.count))
        self.layout = Unmanaged.passUnretained(layout)
        count = layout.count
        nextPacked = layout.bits
        nextCompared = layout.bits + count
        mode = .packing
        gathering = nil
        self.base = base
        self.capacity = capacity
        nextTag = base
        payload = base + count
    }

    /// Compares columns with the packed bytes of a row. (What stands in front of these may be read.)
    @inline(__always)
    init(comparingWith bytes: UnsafeRawPointer, layout: Unmanaged<RowLayout>) {
        self.layout = layout
        (count, nextCompared) = layout.use { ($0.count, $0.bits) }
        nextPacked = nextCompared + count
        mode = .comparing
        gathering = nil
        base = UnsafeMutableRawPointer(mutating: bytes)
        nextTag = base
        payload = base + count
        capacity = 0
    }

    /// Compares columns with the packed bytes of a row that has the same ones, and packs them into memory from the
    /// first difference on.
    @inline(__always)
    init(
        comparingWith bytes: UnsafeRawPointer, layout: Unmanaged<RowLayout>,
        thenPackingInto spare: UnsafeMutableRawPointer,
        capacity: Int
    ) {
        self.init(comparingWith: bytes, layout: layout)
        self.spare = spare
        self.capacity = capacity
    }

    /// The number of the next column.
    @inline(__always)
    var next: Int { nextTag - base }

    private var endOfNames: UnsafePointer<NameBits> { layout.use { $0.bits } + count }

    // MARK: - Packing

    /// Packs from here on, if there is memory for it.
    mutating func startPacking() -> Bool {
        guard let spare, !isDifferent, !mayRepeat, !wasRead, next < count else { return false }
        let (tags, start, column) = (base, base + count, next)
        let length = payload - start
        base = spare
        nextTag = spare + column
        payload = spare + count
        mode = .packing
        (nextPacked, nextCompared) = (nextCompared, endOfNames)
        reserve(length)
        base.copyMemory(from: tags, byteCount: column)
        payload.copyMemory(from: start, byteCount: length)
        payload += length
        firstPacked = (column, count + length)
        return true
    }

    /// Makes room for a payload, behind which all other columns have room for a number.
    @inline(__always)
    mutating func reserve(_ length: Int) {
        let needed = (payload - base) &+ length &+ 8 &* (count &+ 1)
        if needed > capacity { grow(needed) }
    }

    @inline(never)
    private mutating func grow(_ needed: Int) {
        let (used, column) = (payload - base, next)
        capacity = max(capacity * 2, needed)
        guard let larger = realloc(base, capacity) else { Misuse.trap("there is no memory left") }
        base = larger
        nextTag = larger + column
        payload = larger + used
    }

    /// Writes the tag of a payload that was written.
    @inline(__always)
    mutating func finish(_ tag: UInt8) {
        guard next < count else { return giveUp() }  // more values than columns
        packed(tag)
    }

    @inline(__always)
    mutating func packed(_ tag: UInt8) {
        nextTag.storeBytes(of: tag, as: UInt8.self)
        nextTag += 1
        nextPacked += 1
    }

    private mutating func giveUp() {
        hasUnexpectedColumn = true
        mode = .ignoring
        nextPacked = endOfNames
        nextTag = base
    }

    // MARK: - Comparing

    /// The tag of the column that is compared.
    @inline(__always)
    var tag: UInt8 { next < count ? nextTag.load(as: UInt8.self) : PackedTag.null }

    @inline(__always)
    mutating func advance(past tag: UInt8) {
        guard next < count else {
            mayRepeat = true  // more values than columns
            return
        }
        pass(nextTag, to: payload + PackedTag.length(tag, payload))
    }

    /// Passes a column: its tag, and its payload up to the end.
    @inlinable @inline(__always)
    mutating func pass(_ tag: UnsafeMutableRawPointer, to end: UnsafeMutableRawPointer) {
        nextTag = tag + 1
        payload = end
        nextCompared += 1
    }

    /// The bytes differ: the column's affinity, or the instant of a date, decides. Returns whether the column has
    /// been compared: otherwise, it is to be packed.
    @inline(never)
    mutating func compareSlowly(_ value: DatabaseValue, isDate: Bool = false) -> Bool {
        let tag = tag
        let stored = PackedTag.databaseValue(tag, payload)
        if !ColumnAffinity.isStored(value, as: stored, in: layout.use { $0.affinity(ofColumn: next) }),
            !(isDate && StoredDate(value)?.isEqual(to: StoredDate(stored)) == true)
        {
            if startPacking() { return false }
            isDifferent = true
        }
        advance(past: tag)
        return true
    }

    mutating func isEqual(_ bytes: UnsafeRawBufferPointer, to tag: UInt8) -> Bool {
        let old = PackedTag.bytes(tag, payload)
        guard old.count == bytes.count else { return false }
        guard let a = old.baseAddress, let b = bytes.baseAddress else { return true }
        return memcmp(a, b, bytes.count) == 0
    }

    /// Whether the answer may be wrong.
    var isDoubtful: Bool { wasRead || isDifferent && mayRepeat }

    /// Goes to the column of a name that was not expected. Returns false if there is none.
    private mutating func seek(_ name: String) -> Bool {
        guard let column = layout.use({ $0.column(named: name) }) else { return false }
        if column < next {
            mayRepeat = true
            nextCompared -= next
            nextTag = base
            payload = base + count
        }
        while next < column { advance(past: tag) }
        return true
    }
}

// MARK: - Names

extension ColumnEncoding {
    /// What a column has been given.
    @usableFromInline
    mutating func value(of name: String) -> DatabaseValue? {
        switch mode {
        case .gathering:
            return gathering?.use { gathering in
                gathering.columns.first { CaseInsensitiveName.matches($0.name, name) }?.value
            }
        case .packing:
            guard let column = layout.use({ $0.column(named: name) }), column < next else { return nil }
            let (tag, payload) = PackedTag.column(column, in: UnsafeRawPointer(base), count: count)
            return PackedTag.databaseValue(tag, payload)
        case .comparing, .ignoring:
            wasRead = true
            return nil
        }
    }

    /// Whether a column is the next one that is compared.
    @inlinable @inline(__always)
    func compares(_ name: String) -> Bool { nextCompared.pointee == NameBits(name) }

    /// Whether a column is the next one that is packed.
    @inline(__always)
    func packs(_ name: String) -> Bool { nextPacked.pointee == NameBits(name) }

    /// Goes to a column. Returns whether it is one that a value is stored in.
    @inline(__always)
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
            return true
        case .ignoring: return false
        }
    }
}
