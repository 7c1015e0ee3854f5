/// The contents of a list as fetched: its rows, their keys, and its sections. They are immutable.
struct ListContents: Sendable {
    struct Section: Sendable {
        /// The name. Two names are the same if they have the same bytes.
        let name: String
        /// The place of its first row in the whole list.
        let start: Int
        let count: Int
    }

    let rows: PackedRows
    let sections: [Section]
    let keys: ListKeys
    private let keyColumns: [ListKeyColumn]
    /// The number of the row at each place of the list. Nil if the rows are in their order.
    private let order: [Int]?

    /// - Parameters:
    ///   - rows: The rows, in the order of the request.
    ///   - keyColumns: The columns that identify rows.
    ///   - sectionName: Returns the name of a row's section. If nil, there is one section without a
    ///     name.
    /// - Throws: Errors of `sectionName`.
    init(_ rows: PackedRows, keyColumns: [ListKeyColumn], sectionName: (@Sendable (Row) throws -> String)?)
        throws
    {
        self.rows = rows
        if let sectionName {
            let groups = try Self.groups(rows, sectionName)
            var start = 0
            sections = groups.map { name, rows in
                defer { start += rows.count }
                return Section(name: name, start: start, count: rows.count)
            }
            let order = groups.flatMap(\.rows)
            self.order = order.elementsEqual(0..<rows.count) ? nil : order
        } else {
            sections = [Section(name: "", start: 0, count: rows.count)]
            order = nil
        }
        keys = ListKeys(rows, columns: keyColumns, order: order)
        self.keyColumns = keyColumns
    }

    private init(_ rows: PackedRows, _ sections: [Section]) {
        (self.rows, self.sections, order) = (rows, sections, nil)
        (keys, keyColumns) = (.integers([]), [])
    }

    /// Returns the list before anything was fetched.
    func emptied(hasSections: Bool) -> ListContents {
        ListContents(rows.emptied, hasSections ? [] : [Section(name: "", start: 0, count: 0)])
    }

    /// Groups rows by their sections, in the order of each section's first row.
    private static func groups(
        _ rows: PackedRows, _ sectionName: (Row) throws -> String
    ) throws -> [(name: String, rows: [Int])] {
        var groups: [(name: String, rows: [Int])] = []
        // Swift compares texts by canonical equivalence, not by bytes.
        var numbers: [ExactNames: Int] = [:]
        for index in 0..<rows.count {
            let name = try sectionName(rows.row(at: index))
            if let last = groups.last, last.name.hasSameBytes(as: name) {
                groups[groups.count - 1].rows.append(index)
            } else if let number = numbers[ExactNames([name])] {
                groups[number].rows.append(index)
            } else {
                numbers[ExactNames([name])] = groups.count
                groups.append((name, [index]))
            }
        }
        return groups
    }

    var count: Int { rows.count }

    /// The names of the columns that identify rows.
    var keyNames: [String] { keyColumns.map { rows.layout.names[$0.place] } }

    /// Returns the place of the row with a key, given as a record has it.
    func place(ofKey key: [DatabaseValue]) -> Int? {
        keys.place(of: zip(key, keyColumns).map { $1.comparison.comparable($0) })
    }

    /// Returns the number of the row at a place of the list.
    func rowNumber(at place: Int) -> Int { order?[place] ?? place }

    /// Returns the row at a place of the list.
    func row(at place: Int) -> Row { rows.row(at: rowNumber(at: place)) }

    /// Returns the section that contains a place of the list.
    func section(of place: Int) -> Int {
        var (low, high) = (0, sections.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if sections[middle].start <= place { low = middle } else { high = middle }
        }
        return low
    }

    func indexPath(of place: Int) -> RecordIndexPath {
        let section = section(of: place)
        return RecordIndexPath(row: place - sections[section].start, section: section)
    }

    /// Returns the place of an index path in the whole list, or nil if it does not exist.
    func place(of indexPath: RecordIndexPath) -> Int? {
        guard sections.indices.contains(indexPath.section) else { return nil }
        let section = sections[indexPath.section]
        return 0..<section.count ~= indexPath.row ? section.start + indexPath.row : nil
    }
}

/// A column that identifies the rows of a list.
struct ListKeyColumn: Sendable {
    let place: Int
    let comparison: ColumnComparison
}

/// The keys that identify the rows of a list, by their places. Mostly they are row ids.
enum ListKeys: Sendable {
    case integers([Int64])
    /// Values that are equal if their columns treat them as equal.
    case values([[DatabaseValue]])

    init(_ rows: PackedRows, columns: [ListKeyColumn], order: [Int]?) {
        let numbers = order ?? Array(0..<rows.count)
        if columns.count == 1 {
            var integers: [Int64] = []
            integers.reserveCapacity(numbers.count)
            for number in numbers {
                guard let integer = rows.integer(at: number, in: columns[0].place) else { break }
                integers.append(integer)
            }
            if integers.count == numbers.count {
                self = .integers(integers)
                return
            }
        }
        let places = columns.map(\.place)
        self = .values(
            numbers.map { number in
                zip(rows.values(at: number, in: places), columns).map { $1.comparison.comparable($0) }
            })
    }

    /// Returns the place of a key.
    func place(of key: [DatabaseValue]) -> Int? {
        switch self {
        case .integers(let integers):
            guard key.count == 1, let wanted = Int64.fromDatabaseValue(key[0]) else { return nil }
            return integers.firstIndex(of: wanted)
        case .values(let values): return values.firstIndex(of: key)
        }
    }

    /// Returns the place that each row of a list had in another one, or -1.
    ///
    /// Rows with the same key are matched in their order.
    func places(in old: ListKeys) -> [Int32] {
        switch (old, self) {
        case (.integers(let old), .integers(let new)):
            matchPlaces(old, new) { UInt64(bitPattern: $0) }
        default: matchPlaces(old.values, values) { UInt64(bitPattern: Int64($0.hashValue)) }
        }
    }

    private var values: [[DatabaseValue]] {
        switch self {
        case .integers(let integers): integers.map { [$0.databaseValue] }
        case .values(let values): values
        }
    }
}

/// Returns the place that each key of a list had in another one, or -1.
///
/// - Parameter hash: Returns a number for a key. Equal keys have equal numbers, and different keys
///   mostly have different ones.
private func matchPlaces<Key: Equatable>(_ old: [Key], _ new: [Key], hash: (Key) -> UInt64) -> [Int32] {
    var places = [Int32](repeating: -1, count: new.count)
    // Most of a list stays in its place.
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, old[start] == new[start] {
        places[start] = Int32(truncatingIfNeeded: start)
        start += 1
    }
    var end = 0
    while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] {
        end += 1
        places[new.count - end] = Int32(truncatingIfNeeded: old.count - end)
    }
    let (olds, news) = (start..<old.count - end, start..<new.count - end)
    if olds.isEmpty || news.isEmpty { return places }
    // Open addressing: a key is at its hash, or behind it. Its rows are a chain, in their order. So
    // many rows of one key are found as fast as rows of many keys.
    var bits = 1
    while 1 << bits < olds.count * 2 { bits += 1 }
    /// The last row of the key in each slot, which represents the key.
    var slots = [Int32](repeating: -1, count: 1 << bits)
    /// The first row of each slot that was not matched yet. `next` has the next row of the same
    /// key.
    var first = slots
    var next = [Int32](repeating: -1, count: olds.count)
    func slot(of key: Key) -> Int {
        // The upper bits of the product depend on the whole number: row ids may be multiples of
        // anything.
        var slot = Int(truncatingIfNeeded: (hash(key) &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - bits))
        while slots[slot] != -1, old[Int(slots[slot])] != key { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }
    for place in olds.reversed() {
        let slot = slot(of: old[place])
        if slots[slot] == -1 { slots[slot] = Int32(truncatingIfNeeded: place) }
        next[place - start] = first[slot]
        first[slot] = Int32(truncatingIfNeeded: place)
    }
    for place in news {
        let slot = slot(of: new[place])
        let found = first[slot]
        guard found != -1 else { continue }
        places[place] = found
        first[slot] = next[Int(found) - start]
    }
    return places
}
