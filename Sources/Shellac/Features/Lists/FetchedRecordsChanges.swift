/// A change of one row of a list.
public enum FetchedRecordChange: Hashable {
    /// A new row, with its place in the new list.
    case insertion(indexPath: RecordIndexPath)
    /// A removed row, with its place in the old list.
    case deletion(indexPath: RecordIndexPath)
    /// A row that has moved, with its places in the old and in the new list. If its values have
    /// changed, too, it comes with the old ones.
    case move(indexPath: RecordIndexPath, newIndexPath: RecordIndexPath, oldValues: Row?)
    /// A row with changed values, with its places in the old and in the new list, and its old
    /// values. The rows around it may have shifted it.
    case update(indexPath: RecordIndexPath, newIndexPath: RecordIndexPath, oldValues: Row)
}

/// The changes of a list: everything that was committed since the last changes, together.
///
/// Deletions and deleted sections have the places of the old list. Insertions and inserted sections
/// have those of the new one, and moves and updates have both. So they do not depend on their
/// order, and are what the batch updates of table views and collection views expect. A section that
/// has changed its place is a deleted one and an inserted one, and its rows are moves.
///
/// The law is that they turn the old list into the new one, and ``applied(to:element:)`` does so.
public struct FetchedRecordsChanges: Hashable {
    /// The sections of the old list that are gone, in their order.
    public var deletedSections: [Int]
    /// The sections of the new list that were not there, in their order.
    public var insertedSections: [Int]
    /// The changes of the rows: deletions in the order of the old list, and then all others in that
    /// of the new one.
    public var changes: [FetchedRecordChange]

    /// Creates changes, for tests of code that uses them.
    ///
    /// - Parameters:
    ///   - deletedSections: Sections of the old list that are gone.
    ///   - insertedSections: Sections of the new list that were not there.
    ///   - changes: The changes of the rows.
    public init(
        deletedSections: [Int] = [], insertedSections: [Int] = [], changes: [FetchedRecordChange] = []
    ) {
        (self.deletedSections, self.insertedSections) = (deletedSections, insertedSections)
        self.changes = changes
    }

    /// Whether nothing has changed.
    public var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && changes.isEmpty }

    /// Returns sections after these changes.
    ///
    /// ```swift
    /// for try await changes in controller.changes {
    ///     titles = changes.applied(to: titles) { place in controller.record(at: place).name }
    /// }
    /// ```
    ///
    /// It traps if the sections are not the old list of the changes.
    ///
    /// - Parameters:
    ///   - sections: The content of each section before the changes.
    ///   - element: Returns the element at a place of the new list. It is called for insertions and
    ///     updates. An element that only moves is reused.
    public func applied<Element>(
        to sections: [[Element]], element: (RecordIndexPath) throws -> Element
    ) rethrows -> [[Element]] {
        var gone: [Int: Set<Int>] = [:]
        var arrivals: [(place: RecordIndexPath, element: Element)] = []
        var updates: [RecordIndexPath] = []
        for change in changes {
            switch change {
            case .insertion(let place): arrivals.append((place, try element(place)))
            case .deletion(let place): gone[place.section, default: []].insert(place.row)
            case .move(let old, let new, let oldValues):
                gone[old.section, default: []].insert(old.row)
                arrivals.append(
                    (new, try oldValues == nil ? Self.element(at: old, of: sections) : element(new)))
            case .update(_, let new, _): updates.append(new)
            }
        }
        let deleted = Set(deletedSections)
        guard deleted.allSatisfy(sections.indices.contains),
            gone.allSatisfy({ section, rows in
                sections.indices.contains(section) && rows.allSatisfy(sections[section].indices.contains)
            })
        else { Self.trapUnfit() }
        var kept = sections.indices.filter { !deleted.contains($0) }.map { section in
            guard let rows = gone[section] else { return sections[section] }
            return sections[section].indices.filter { !rows.contains($0) }.map { sections[section][$0] }
        }[...]
        let inserted = Set(insertedSections)
        guard inserted.allSatisfy((0..<kept.count + inserted.count).contains) else { Self.trapUnfit() }
        var result: [[Element]] = (0..<kept.count + inserted.count).map { section in
            inserted.contains(section) ? [] : kept.popFirst() ?? []
        }
        // In ascending order, each element ends up at its place.
        for (section, arrivals) in Dictionary(grouping: arrivals, by: \.place.section) {
            guard result.indices.contains(section) else { Self.trapUnfit() }
            result[section] = Self.merge(result[section], with: arrivals.map { ($0.place.row, $0.element) })
        }
        for place in updates {
            guard result.indices.contains(place.section), result[place.section].indices.contains(place.row)
            else { Self.trapUnfit() }
            result[place.section][place.row] = try element(place)
        }
        return result
    }

    /// Inserts elements among others, at their final places.
    private static func merge<Element>(_ others: [Element], with arrivals: [(row: Int, element: Element)])
        -> [Element]
    {
        var (result, others) = ([Element](), others[...])
        result.reserveCapacity(others.count + arrivals.count)
        for (row, element) in arrivals.sorted(by: { $0.row < $1.row }) {
            guard row >= result.count, row - result.count <= others.count else { trapUnfit() }
            let between = row - result.count
            result += others.prefix(between)
            others.removeFirst(between)
            result.append(element)
        }
        return result + others
    }

    private static func element<Element>(at place: RecordIndexPath, of sections: [[Element]]) -> Element {
        guard sections.indices.contains(place.section), sections[place.section].indices.contains(place.row)
        else {
            trapUnfit()
        }
        return sections[place.section][place.row]
    }

    private static func trapUnfit() -> Never {
        Misuse.trap(
            "changes were applied to another list than their own: apply them to the result of the changes "
                + "before them."
        )
    }
}
