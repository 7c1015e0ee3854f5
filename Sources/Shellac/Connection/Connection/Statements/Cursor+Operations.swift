// Over 350 lines: because each function says its parameters.

// What sequences of Swift can do, for cursors. What gives a cursor is lazy, and consumes this one; what gives a value consumes all
// that is left.

extension Cursor {
    // MARK: - Single elements

    /// Returns the next element, or nil when there is none.
    ///
    /// - Throws: what the cursor throws.
    @inlinable
    public func first() throws -> Element? { try next() }

    /// Returns the least element, by an order of one's own. Nil without any.
    ///
    /// - Parameter isBefore: Returns whether its first element comes before its second. Of equal ones, the first is returned.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public func min(by isBefore: (Element, Element) throws -> Bool) throws -> Element? {
        var least = try next()
        while let kept = least, let element = try next() {
            if try isBefore(element, kept) { least = element }
        }
        return least
    }

    /// Returns the greatest element, by an order of one's own. Nil without any.
    ///
    /// - Parameter isBefore: Returns whether its first element comes before its second. Of equal ones, the first is returned.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public func max(by isBefore: (Element, Element) throws -> Bool) throws -> Element? {
        var greatest = try next()
        while let kept = greatest, let element = try next() {
            if try isBefore(kept, element) { greatest = element }
        }
        return greatest
    }

    /// Whether all elements pass a test.
    ///
    /// - Parameter isFine: The test. The elements behind the first one that fails are left.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public func allSatisfy(_ isFine: (Element) throws -> Bool) throws -> Bool {
        try !contains { try !isFine($0) }
    }

    /// Returns the last elements, as an array.
    ///
    /// - Parameter count: How many elements there are at most: all, where the cursor has no more. A negative number stops the
    ///   program.
    /// - Throws: what the cursor throws.
    @inlinable
    public func suffix(_ count: Int) throws -> [Element] {
        checkCount(count)
        var kept: [Element] = []
        while let element = try next() {
            kept.append(element)
            // The array is cut by halves, and not at each element.
            if kept.count >= 2 * count + 16 { kept.removeFirst(kept.count - count) }
        }
        return Array(kept.suffix(count))
    }

    /// Returns all elements but the last ones, as an array.
    ///
    /// - Parameter count: How many elements are left out: all, where the cursor has no more. A negative number stops the
    ///   program.
    /// - Throws: what the cursor throws.
    @inlinable
    public func dropLast(_ count: Int = 1) throws -> [Element] {
        checkCount(count)
        return try Array(Array(self).dropLast(count))
    }

    // MARK: - Cursors

    /// Returns a cursor of pairs: the number of each element, from 0, and the element.
    @inlinable
    public func enumerated() -> AnyCursor<(offset: Int, element: Element)> {
        var offset = -1
        return AnyCursor { [self] in
            guard let element = try next() else { return nil }
            offset += 1
            return (offset, element)
        }
    }

    /// Returns a cursor without the first elements.
    ///
    /// - Parameter count: How many elements are passed over, when the first one is asked for. A negative number stops the
    ///   program.
    @inlinable
    public func dropFirst(_ count: Int = 1) -> AnyCursor<Element> {
        checkCount(count)
        var dropped = 0
        return AnyCursor { [self] in
            while dropped < count {
                dropped += 1
                if try next() == nil {
                    dropped = count
                    return nil
                }
            }
            return try next()
        }
    }

    /// Returns a cursor without the first elements, as long as they pass a test.
    ///
    /// - Parameter isDropped: The test. It is not made any more once an element has failed, which is the first one then.
    @inlinable
    public func drop(while isDropped: @escaping (Element) throws -> Bool) -> AnyCursor<Element> {
        var isDropping = true
        return AnyCursor { [self] in
            while let element = try next() {
                if isDropping, try isDropped(element) { continue }
                isDropping = false
                return element
            }
            return nil
        }
    }

    /// Returns a cursor of the first elements, as long as they pass a test.
    ///
    /// - Parameter isTaken: The test. The first element that fails is taken from this cursor, too, and is lost.
    @inlinable
    public func prefix(while isTaken: @escaping (Element) throws -> Bool) -> AnyCursor<Element> {
        var isAtEnd = false
        return AnyCursor { [self] in
            if !isAtEnd, let element = try next(), try isTaken(element) { return element }
            isAtEnd = true
            return nil
        }
    }

    /// Returns a cursor of the elements of the sequences that a function makes.
    ///
    /// - Parameter transform: Returns the sequence of an element. It is called once the one before has no more to give.
    @inlinable
    public func flatMap<Others: Sequence>(
        _ transform: @escaping (Element) throws -> Others
    ) -> AnyCursor<Others.Element> {
        var current: Others.Iterator?
        return AnyCursor { [self] in
            while true {
                if let element = current?.next() { return element }
                guard let element = try next() else { return nil }
                current = try transform(element).makeIterator()
            }
        }
    }

    /// Returns a cursor of the elements of the cursors that a function makes.
    ///
    /// - Parameter transform: Returns the cursor of an element. It is called once the one before has no more to give.
    @inlinable
    public func flatMap<Others: Cursor>(
        _ transform: @escaping (Element) throws -> Others
    ) -> AnyCursor<Others.Element> {
        var current: Others?
        return AnyCursor { [self] in
            while true {
                if let element = try current?.next() { return element }
                guard let element = try next() else { return nil }
                current = try transform(element)
            }
        }
    }

    @inlinable
    func checkCount(_ count: Int) {
        if count < 0 { trapCount() }
    }

    @usableFromInline @inline(never)
    func trapCount() -> Never { Misuse.trap("a cursor cannot drop or give a negative number of elements.") }
}

extension Cursor where Element: Equatable {
    /// Whether an element is among those that are left.
    ///
    /// - Parameter element: The element. Those behind the first one that equals it are left.
    /// - Throws: what the cursor throws.
    @inlinable
    public func contains(_ element: Element) throws -> Bool { try contains { $0 == element } }
}

extension Cursor where Element: Comparable {
    /// Returns the least element. Nil without any.
    ///
    /// - Throws: what the cursor throws.
    @inlinable
    public func min() throws -> Element? { try min(by: <) }

    /// Returns the greatest element. Nil without any.
    ///
    /// - Throws: what the cursor throws.
    @inlinable
    public func max() throws -> Element? { try max(by: <) }
}

extension Cursor where Element: Sequence {
    /// Returns a cursor of the elements of the elements.
    @inlinable
    public func joined() -> AnyCursor<Element.Element> { flatMap { $0 } }
}

extension Cursor where Element: Cursor {
    /// Returns a cursor of the elements of the elements.
    @inlinable
    public func joined() -> AnyCursor<Element.Element> { flatMap { $0 } }
}

extension Cursor where Element: StringProtocol {
    /// Returns all texts, with a separator between them.
    ///
    /// - Parameter separator: What stands between two texts. Nothing by default.
    /// - Throws: what the cursor throws.
    @inlinable
    public func joined(separator: String = "") throws -> String {
        var joined = ""
        var isFirst = true
        try forEach { element in
            if !isFirst { joined += separator }
            isFirst = false
            joined += element
        }
        return joined
    }
}

// MARK: - Any cursor

extension AnyCursor {
    /// Creates a cursor that gives the elements of another one.
    ///
    /// - Parameter cursor: The other cursor. What one of the two has given, the other does not give.
    public convenience init(_ cursor: some Cursor<Element>) { self.init { try cursor.next() } }

    /// Creates a cursor that gives the elements of a sequence.
    ///
    /// ```swift
    /// let numbers = AnyCursor([1, 2, 3])
    /// ```
    ///
    /// - Parameter elements: The elements. The sequence is begun at once.
    public convenience init(_ elements: some Sequence<Element>) {
        self.init(iterator: elements.makeIterator())
    }

    /// Creates a cursor that gives the elements of an iterator.
    ///
    /// - Parameter iterator: The iterator: a copy of it, where it is a value.
    public convenience init(iterator: some IteratorProtocol<Element>) {
        var iterator = iterator
        self.init { iterator.next() }
    }
}

// MARK: - Collections

extension Array {
    /// Creates an array of all elements of a cursor, with memory for some of them at once.
    ///
    /// - Parameters:
    ///   - cursor: The cursor, of which nothing is left then. The rows of one must be copied: use `Row.fetchAll`.
    ///   - minimumCapacity: How many elements there is memory for from the beginning. There may be more, or fewer.
    /// - Throws: what the cursor throws.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        var elements: [Element] = []
        elements.reserveCapacity(minimumCapacity)
        try cursor.forEach({ elements.append($0) })
        self = elements
    }
}

extension RangeReplaceableCollection {
    /// Appends all elements of a cursor.
    ///
    /// - Parameter cursor: The cursor. Where it throws, the elements that it gave before were appended.
    @inlinable
    public mutating func append(contentsOf cursor: some Cursor<Element>) throws {
        while let element = try cursor.next() { append(element) }
    }
}

extension Set {
    /// Creates a set of all elements of a cursor, with memory for some of them at once.
    ///
    /// - Parameters:
    ///   - cursor: The cursor, of which nothing is left then. The rows of one must be copied: use `Row.fetchSet`.
    ///   - minimumCapacity: How many elements there is memory for from the beginning. There may be more, or fewer.
    /// - Throws: what the cursor throws.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        var elements = Set<Element>(minimumCapacity: minimumCapacity)
        try cursor.forEach({ elements.insert($0) })
        self = elements
    }

    /// Inserts all elements of a cursor.
    ///
    /// - Parameter cursor: The cursor. Where it throws, the elements that it gave before were inserted.
    @inlinable
    public mutating func formUnion(_ cursor: some Cursor<Element>) throws {
        while let element = try cursor.next() { insert(element) }
    }
}

extension Dictionary {
    /// Creates a dictionary of the elements of a cursor, in groups by a key.
    ///
    /// ```swift
    /// let players = try Dictionary(grouping: Player.fetchCursor(db), by: { $0.teamID })
    /// ```
    ///
    /// - Parameters:
    ///   - minimumCapacity: How many keys there is memory for from the beginning. There may be more, or fewer.
    ///   - cursor: The cursor. A group has its elements in the order of the cursor.
    ///   - key: Returns the key of an element. It is called once for each.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public init<Member>(
        minimumCapacity: Int = 0, grouping cursor: some Cursor<Member>, by key: (Member) throws -> Key
    ) throws where Value == [Member] {
        var groups = Dictionary(minimumCapacity: minimumCapacity)
        try cursor.forEach({ groups[try key($0), default: []].append($0) })
        self = groups
    }

    /// Creates a dictionary of the keys and values of a cursor.
    ///
    /// - Parameters:
    ///   - minimumCapacity: How many keys there is memory for from the beginning. There may be more, or fewer.
    ///   - cursor: The cursor of pairs.
    /// - Throws: a ``DatabaseError`` when two keys are equal: they come from the database, and so this is no misuse.
    @inlinable
    public init(
        minimumCapacity: Int = 0, uniqueKeysWithValues cursor: some Cursor<(Key, Value)>
    ) throws {
        var values = Dictionary(minimumCapacity: minimumCapacity)
        while let (key, value) = try cursor.next() {
            if values.updateValue(value, forKey: key) != nil { throw duplicateKey(key) }
        }
        self = values
    }
}

@usableFromInline @inline(never)
func duplicateKey(_ key: some Any) -> DatabaseError {
    DatabaseError(
        resultCode: .SQLITE_MISUSE,
        message: "two elements of a cursor have the key \(key): group them by Dictionary(grouping:by:)")
}

// MARK: - Names

/// A cursor of transformed elements.
public typealias MapCursor<Base: Cursor, Element> = AnyCursor<Element>
/// A cursor of the elements that pass a test.
public typealias FilterCursor<Base: Cursor> = AnyCursor<Base.Element>
/// A cursor of pairs: the number of each element, and the element.
public typealias EnumeratedCursor<Base: Cursor> = AnyCursor<(offset: Int, element: Base.Element)>
