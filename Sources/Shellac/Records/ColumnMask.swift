/// Some of the columns that a record encodes, by their positions.
struct ColumnMask: Hashable {
    /// A bit for each of the first 64 columns.
    private var bits: UInt64 = 0
    /// The others.
    private var others: Set<Int> = []

    init() {}

    init(_ columns: some Sequence<Int>) { for column in columns { insert(column) } }

    @inline(__always)
    mutating func insert(_ column: Int) {
        if column < 64 { bits |= 1 << UInt64(column) } else { others.insert(column) }
    }

    mutating func remove(_ column: Int) {
        if column < 64 { bits &= ~(1 << UInt64(column)) } else { others.remove(column) }
    }

    @inline(__always)
    func contains(_ column: Int) -> Bool {
        column < 64 ? bits & (1 << UInt64(column)) != 0 : others.contains(column)
    }

    @inline(__always)
    var count: Int { bits.nonzeroBitCount &+ others.count }

    @inline(__always)
    var isEmpty: Bool { bits == 0 && others.isEmpty }

    mutating func formUnion(_ other: ColumnMask) {
        bits |= other.bits
        others.formUnion(other.others)
    }

    @inline(__always)
    static func == (a: Self, b: Self) -> Bool {
        a.bits == b.bits && (a.others.isEmpty && b.others.isEmpty || a.others == b.others)
    }
}
