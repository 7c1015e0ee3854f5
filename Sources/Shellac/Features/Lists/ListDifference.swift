/// The difference between two lists.
///
/// Rows are the same if their keys are equal. Of the rows in both lists, as many as possible keep
/// their positions: a longest sequence that is in both in the same order. The others move.
struct ListDifference {
    let changes: FetchedRecordsChanges
    /// For each place of the new list, the place of the row in the old list if its values are the
    /// same, or -1.
    let unchanged: [Int32]

    /// Compares two lists, in a time that grows little faster than their length.
    init(from old: ListContents, to new: ListContents) {
        let places = new.keys.places(in: old.keys)
        let sections = SectionMatch(old.sections, new.sections)
        let moved = Self.moved(places, sections, old, new)

        var hasFollower = [Bool](repeating: false, count: old.count)
        for place in places where place >= 0 { hasFollower[Int(place)] = true }
        var changes: [FetchedRecordChange] = []
        for place in hasFollower.indices where !hasFollower[place] {
            changes.append(.deletion(indexPath: old.indexPath(of: place)))
        }
        var unchanged = places
        let hasSameColumns = new.rows.hasSameColumns(as: old.rows)
        for (place, oldPlace) in places.enumerated() {
            guard oldPlace >= 0 else {
                changes.append(.insertion(indexPath: new.indexPath(of: place)))
                continue
            }
            let oldPlace = Int(oldPlace)
            let isSame =
                hasSameColumns
                && new.rows.isRow(new.rowNumber(at: place), sameAs: old.rowNumber(at: oldPlace), of: old.rows)
            if !isSame { unchanged[place] = -1 }
            if moved[place] {
                changes.append(
                    .move(
                        indexPath: old.indexPath(of: oldPlace), newIndexPath: new.indexPath(of: place),
                        oldValues: isSame ? nil : old.row(at: oldPlace)))
            } else if !isSame {
                changes.append(
                    .update(
                        indexPath: old.indexPath(of: oldPlace), newIndexPath: new.indexPath(of: place),
                        oldValues: old.row(at: oldPlace)))
            }
        }
        self.changes = FetchedRecordsChanges(
            deletedSections: sections.deleted, insertedSections: sections.inserted, changes: changes)
        self.unchanged = unchanged
    }

    /// Finds the rows of the new list that move, among those that were in the old one.
    private static func moved(
        _ places: [Int32], _ sections: SectionMatch, _ old: ListContents, _ new: ListContents
    ) -> [Bool] {
        var moved = [Bool](repeating: true, count: places.count)
        // (Kept sections have the same order in both lists. So the rows that stay in them are in
        // the order of both lists.)
        var candidates: [Int32] = []
        candidates.reserveCapacity(places.count)
        for (number, section) in new.sections.enumerated() {
            guard let oldSection = sections.oldNumber[number].map({ old.sections[$0] }) else { continue }
            let range = Int32(oldSection.start)..<Int32(oldSection.start + oldSection.count)
            for place in section.start..<section.start + section.count where range ~= places[place] {
                candidates.append(Int32(place))
            }
        }
        for index in increasing(candidates.map { places[Int($0)] }) { moved[Int(candidates[index])] = false }
        return moved
    }
}

/// The sections that two lists have in common, and that do not move.
private struct SectionMatch {
    /// For each section of the new list, the number that it had in the old one, unless it moves.
    private(set) var oldNumber: [Int?]
    private(set) var deleted: [Int] = []
    private(set) var inserted: [Int] = []

    init(_ old: [ListContents.Section], _ new: [ListContents.Section]) {
        if old.elementsEqual(new, by: { $0.name.hasSameBytes(as: $1.name) }) {
            oldNumber = Array(new.indices)
            return
        }
        let numbers = Dictionary(uniqueKeysWithValues: old.enumerated().map { (ExactNames([$1.name]), $0) })
        let known = new.indices.filter { numbers[ExactNames([new[$0].name])] != nil }
        oldNumber = Array(repeating: nil, count: new.count)
        for index in increasing(known.map { Int32(numbers[ExactNames([new[$0].name])] ?? -1) }) {
            oldNumber[known[index]] = numbers[ExactNames([new[known[index]].name])]
        }
        let still = Set(oldNumber.compactMap(\.self))
        deleted = old.indices.filter { !still.contains($0) }
        inserted = new.indices.filter { oldNumber[$0] == nil }
    }
}

/// Finds a longest sequence of increasing numbers ("patience sorting"). Returns their places, in
/// order.
private func increasing(_ numbers: [Int32]) -> [Int] {
    // Mostly all of them increase.
    if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) { return Array(numbers.indices) }
    /// For each length, the place of the smallest number that ends a sequence of that length.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: numbers.count)
    for (place, number) in numbers.enumerated() {
        var (low, high) = (0, ends.count)
        if let last = ends.last, numbers[last] < number { low = high }
        while low < high {
            let middle = (low + high) / 2
            if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
        }
        if low > 0 { previous[place] = ends[low - 1] }
        if low == ends.count { ends.append(place) } else { ends[low] = place }
    }
    var sequence: [Int] = []
    var place = ends.last ?? -1
    while place >= 0 {
        sequence.append(place)
        place = previous[place]
    }
    return sequence.reversed()
}
