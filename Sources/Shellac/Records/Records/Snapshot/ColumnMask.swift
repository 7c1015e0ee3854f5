/// Some of the columns that a record encodes, by their positions.
struct ColumnMask: Hashable {
    /// A bit for each of the first 64 columns.
    private var bits: UInt64 = 0
    /// The other columns, if there are any.
    private var others: Set<Int>?

    init() {}

    init(_ columns: some Sequence<Int>) { for column in columns { insert(column) } }

    mutating func insert(_ column: Int) {
        if column < 64 { bits |= 1 << UInt64(column) } else { insertOther(column) }
    }

    @inline(never)
    private mutating func insertOther(_ column: Int) {
        if others?.insert(column) == nil { others = [column] }
    }

    mutating func subtract(_ columns: ColumnMask) {
        bits &= ~columns.bits
        if others != nil { setOthers(others?.subtracting(columns.others ?? [])) }
    }

    mutating func formUnion(_ columns: ColumnMask) {
        bits |= columns.bits
        if columns.others != nil { setOthers(columns.others?.union(others ?? [])) }
    }

    @inline(__always)
    func subtracting(_ columns: ColumnMask) -> ColumnMask {
        var mask = self
        mask.subtract(columns)
        return mask
    }

    mutating func remove(_ column: Int) { subtract(ColumnMask(CollectionOfOne(column))) }

    /// Nil represents an empty set.
    @inline(never)
    private mutating func setOthers(_ columns: Set<Int>?) {
        others = columns?.isEmpty == true ? nil : columns
    }

    func contains(_ column: Int) -> Bool {
        column < 64 ? bits & (1 << UInt64(column)) != 0 : others?.contains(column) ?? false
    }

    /// Whether the mask has the given column, or one after it.
    func reaches(_ column: Int) -> Bool { column < 64 && bits &>> UInt64(column) != 0 || others != nil }

    var count: Int { bits.nonzeroBitCount &+ (others?.count ?? 0) }

    var isEmpty: Bool { bits == 0 && others == nil }

    static func == (a: Self, b: Self) -> Bool {
        a.bits == b.bits && (a.others == nil && b.others == nil || a.others == b.others)
    }
}

extension PackedBytes {
    /// Calls a function with the values of some of the columns, from left to right.
    @inline(__always)
    func eachColumn(in mask: ColumnMask, _ body: (_ value: PackedValue) -> Void) {
        var (column, cursor) = (0, cursor)
        while column < count, mask.reaches(column) {
            let value = cursor.next()
            if mask.contains(column) { body(value) }
            column &+= 1
        }
    }
}
