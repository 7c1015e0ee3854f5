// Over 350 lines: because each function documents its parameters.

// Sequence operations for cursors. An operation that returns a cursor is lazy, and consumes this
// one. An operation that returns a value consumes all remaining elements.

extension Cursor {
    // MARK: - Single elements

    /// Returns the next element, or nil if there is none.
    ///
    /// - Throws: any error of the cursor.
    @inlinable
    public func first() throws -> Element? { try next() }

    /// Returns the least element according to a custom order, or nil if there are no elements.
    ///
    /// - Parameter isBefore: A function that returns whether its first argument comes before its
    ///   second. Of equal elements, the first is returned.
    /// - Throws: any error of the cursor or the function.
    @inlinable
    public func min(by isBefore: (Element, Element) throws -> Bool) throws -> Element? {
        var least = try next()
        while let kept = least, let element = try next() {
            if try isBefore(element, kept) { least = element }
        }
        return least
    }

    /// Returns the greatest element according to a custom order, or nil if there are no elements.
    ///
    /// - Parameter isBefore: A function that returns whether its first argument comes before its
    ///   second. Of equal elements, the first is returned.
    /// - Throws: any error of the cursor or the function.
    @inlinable
    public func max(by isBefore: (Element, Element) throws -> Bool) throws -> Element? {
        var greatest = try next()
        while let kept = greatest, let element = try next() {
            if try isBefore(kept, element) { greatest = element }
        }
        return greatest
    }

    /// Returns whether all elements pass a test.
    ///
    /// - Parameter isFine: The test. Elements after the first one that fails are not consumed.
    /// - Throws: any error of the cursor or the function.
    @inlinable
    public func allSatisfy(_ isFine: (Element) throws -> Bool) throws -> Bool {
        try !contains { try !isFine($0) }
    }

    /// Returns the last elements, as an array.
    ///
    /// - Parameter count: The maximum number of elements. All are returned if the cursor has no
    ///   more. A negative number stops the program.
    /// - Throws: any error of the cursor.
    @inlinable
    public func suffix(_ count: Int) throws -> [Element] {
        checkCount(count)
        var kept: [Element] = []
        while let element = try next() {
            kept.append(element)
            // Removing half of the array at a time is cheaper than removing each element.
            if kept.count >= 2 * count + 16 { kept.removeFirst(kept.count - count) }
        }
        return Array(kept.suffix(count))
    }

    /// Returns all elements except for the last ones, as an array.
    ///
    /// - Parameter count: The number of elements to leave out, or all if the cursor has no more. A
    ///   negative number stops the program.
    /// - Throws: any error of the cursor.
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
    /// - Parameter count: The number of elements to skip, which happens when the first element is
    ///   requested. A negative number stops the program.
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

    /// Returns a cursor that skips the first elements as long as they pass a test.
    ///
    /// - Parameter isDropped: The test. The first element that fails becomes the first of the new
    ///   cursor, and no further elements are tested.
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
    /// - Parameter isTaken: The test. The first element that fails is consumed from this cursor,
    ///   too, and is lost.
    @inlinable
    public func prefix(while isTaken: @escaping (Element) throws -> Bool) -> AnyCursor<Element> {
        var isAtEnd = false
        return AnyCursor { [self] in
            if !isAtEnd, let element = try next(), try isTaken(element) { return element }
            isAtEnd = true
            return nil
        }
    }

    /// Returns a cursor of the elements of the sequences that a function creates.
    ///
    /// - Parameter transform: A function that returns the sequence for an element. It is called
    ///   when the previous sequence is exhausted.
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

    /// Returns a cursor of the elements of the cursors that a function creates.
    ///
    /// - Parameter transform: A function that returns the cursor for an element. It is called when
    ///   the previous cursor is exhausted.
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
    func trapCount() -> Never { Misuse.trap("a cursor cannot drop or return a negative number of elements.") }
}

extension Cursor where Element: Equatable {
    /// Returns whether an element is among the remaining ones.
    ///
    /// - Parameter element: The element. Elements after the first equal one are not consumed.
    /// - Throws: any error of the cursor.
    @inlinable
    public func contains(_ element: Element) throws -> Bool { try contains { $0 == element } }
}

extension Cursor where Element: Comparable {
    /// Returns the least element, or nil if there are no elements.
    ///
    /// - Throws: any error of the cursor.
    @inlinable
    public func min() throws -> Element? { try min(by: <) }

    /// Returns the greatest element, or nil if there are no elements.
    ///
    /// - Throws: any error of the cursor.
    @inlinable
    public func max() throws -> Element? { try max(by: <) }
}

extension Cursor where Element: Sequence {
    /// Returns a cursor of the elements of all elements.
    @inlinable
    public func joined() -> AnyCursor<Element.Element> { flatMap { $0 } }
}

extension Cursor where Element: Cursor {
    /// Returns a cursor of the elements of all elements.
    @inlinable
    public func joined() -> AnyCursor<Element.Element> { flatMap { $0 } }
}

extension Cursor where Element: StringProtocol {
    /// Returns all texts, joined with a separator.
    ///
    /// - Parameter separator: The text between two elements, empty by default.
    /// - Throws: any error of the cursor.
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
    /// Creates a cursor that returns the elements of another one.
    ///
    /// - Parameter cursor: The other cursor. Each element is returned by only one of the two.
    public convenience init(_ cursor: some Cursor<Element>) { self.init { try cursor.next() } }

    /// Creates a cursor that returns the elements of a sequence.
    ///
    /// ```swift
    /// let numbers = AnyCursor([1, 2, 3])
    /// ```
    ///
    /// - Parameter elements: The elements. The iteration of the sequence begins immediately.
    public convenience init(_ elements: some Sequence<Element>) {
        self.init(iterator: elements.makeIterator())
    }

    /// Creates a cursor that returns the elements of an iterator.
    ///
    /// - Parameter iterator: The iterator. If it is a value, the cursor uses a copy.
    public convenience init(iterator: some IteratorProtocol<Element>) {
        var iterator = iterator
        self.init { iterator.next() }
    }
}

// MARK: - Collections

extension Array {
    /// Creates an array of all elements of a cursor, with a minimum capacity.
    ///
    /// - Parameters:
    ///   - cursor: The cursor, which is consumed. The rows of a row cursor must be copied: use
    ///     `Row.fetchAll`.
    ///   - minimumCapacity: The number of elements to reserve memory for. There may be more, or
    ///     fewer.
    /// - Throws: any error of the cursor.
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
    /// - Parameter cursor: The cursor. If it throws, the elements before the error have been
    ///   appended.
    @inlinable
    public mutating func append(contentsOf cursor: some Cursor<Element>) throws {
        while let element = try cursor.next() { append(element) }
    }
}

extension Set {
    /// Creates a set of all elements of a cursor, with a minimum capacity.
    ///
    /// - Parameters:
    ///   - cursor: The cursor, which is consumed. The rows of a row cursor must be copied: use
    ///     `Row.fetchSet`.
    ///   - minimumCapacity: The number of elements to reserve memory for. There may be more, or
    ///     fewer.
    /// - Throws: any error of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        var elements = Set<Element>(minimumCapacity: minimumCapacity)
        try cursor.forEach({ elements.insert($0) })
        self = elements
    }

    /// Inserts all elements of a cursor.
    ///
    /// - Parameter cursor: The cursor. If it throws, the elements before the error have been
    ///   inserted.
    @inlinable
    public mutating func formUnion(_ cursor: some Cursor<Element>) throws {
        while let element = try cursor.next() { insert(element) }
    }
}

extension Dictionary {
    /// Creates a dictionary of the elements of a cursor, grouped by a key.
    ///
    /// ```swift
    /// let players = try Dictionary(grouping: Player.fetchCursor(db), by: { $0.teamID })
    /// ```
    ///
    /// - Parameters:
    ///   - minimumCapacity: The number of keys to reserve memory for. There may be more, or fewer.
    ///   - cursor: The cursor. A group has its elements in the order of the cursor.
    ///   - key: A function that returns the key of an element. It is called once for each.
    /// - Throws: any error of the cursor or the function.
    @inlinable
    public init<Member>(
        minimumCapacity: Int = 0, grouping cursor: some Cursor<Member>, by key: (Member) throws -> Key
    ) throws where Value == [Member] {
        var groups = Dictionary(minimumCapacity: minimumCapacity)
        try cursor.forEach({ groups[try key($0), default: []].append($0) })
        self = groups
    }

    /// Creates a dictionary from the keys and values of a cursor.
    ///
    /// - Parameters:
    ///   - minimumCapacity: The number of keys to reserve memory for. There may be more, or fewer.
    ///   - cursor: The cursor of pairs.
    /// - Throws: a ``DatabaseError`` if two keys are equal. The keys come from the database, so
    ///   this is not a misuse.
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
