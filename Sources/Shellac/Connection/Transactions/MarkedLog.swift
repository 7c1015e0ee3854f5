/// A log of elements in order of time, which can be cut back to a savepoint as ROLLBACK TO does.
///
/// ```
/// elements   a  b  c  d  e  f      opened last when they came:  0 0 3 3 3 5
/// marks      └ 0   └ 3      └ 5    of which b, say, is undone by no savepoint, and f by 3, 4 and 5
/// ```
///
/// The log does not track savepoints. Their numbers grow, so an element that came after a savepoint
/// was opened carries that number or a greater one. ROLLBACK TO undoes the element, even if
/// savepoints in between were released. So it is enough that each element comes with the number of
/// the savepoint opened last: see ``SavepointStack/lastNumber``. RELEASE changes nothing.
struct MarkedLog<Element>: ~Copyable {
    private(set) var elements: [Element] = []
    /// The starts of the elements that came with each savepoint number. The elements of the last
    /// mark may have been taken.
    private(set) var marks: [(savepoint: Int, start: Int)] = []
    /// The number in the last mark, or -1.
    private var lastMarked = -1

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }

    subscript(index: Int) -> Element {
        get { elements[index] }
        _modify { yield &elements[index] }
    }

    /// Adds an element, with the number of the savepoint opened last.
    mutating func append(_ element: Element, after savepoint: Int) {
        if savepoint != lastMarked { mark(savepoint) }
        elements.append(element)
    }

    /// Adds elements, with the number of the savepoint opened last.
    mutating func append(contentsOf new: some Collection<Element>, after savepoint: Int) {
        if new.isEmpty { return }
        if savepoint != lastMarked { mark(savepoint) }
        elements.append(contentsOf: new)
    }

    @inline(never)
    private mutating func mark(_ savepoint: Int) {
        marks.append((savepoint, elements.count))
        lastMarked = savepoint
    }

    /// Takes the elements that came since a savepoint was opened.
    mutating func takeElements(since savepoint: Int) -> [Element] {
        let mark = marks.first { $0.savepoint >= savepoint }
        let start = mark?.start ?? elements.count
        return takeElements(from: start)
    }

    /// Takes the elements from an index on.
    mutating func takeElements(from start: Int) -> [Element] {
        guard start < elements.count else { return [] }
        let taken = Array(elements[start...])
        elements.removeSubrange(start...)
        marks.removeAll { $0.start >= start }
        lastMarked = marks.last?.savepoint ?? -1
        return taken
    }

    /// Takes all elements, and continues in the memory of an empty array.
    mutating func takeAll(leaving memory: consuming [Element] = []) -> [Element] {
        if !marks.isEmpty { marks.removeAll(keepingCapacity: true) }
        lastMarked = -1
        let taken = elements
        elements = memory
        return taken
    }

    mutating func removeAll() { if !elements.isEmpty { _ = takeAll() } }
}
