/// A sequence whose every step may fail.
///
/// ```swift
/// let names = try String.fetchCursor(db, sql: "SELECT name FROM player")
/// while let name = try names.next() {
///     print(name)
/// }
/// ```
///
/// A cursor is consumed once, inside the access that made it.
public protocol Cursor<Element>: AnyObject, SendableMetatype {
    /// The type of the elements.
    associatedtype Element

    /// Returns the next element, or nil when there is none.
    ///
    /// - Throws: what keeps the next element from being made, such as a ``DatabaseError`` or a ``RowDecodingError``.
    func next() throws -> Element?

    /// Calls a function with each element that is left.
    ///
    /// A cursor that has a faster way to its elements than one call for each may do it in its own way: arrays, sets and
    /// `reduce` ask for all elements so.
    ///
    /// - Parameter body: Called with each element, in order, until there is none, or until it throws.
    /// - Throws: what the cursor throws, and what the function throws.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    /// Calls a function with each element.
    ///
    /// - Parameter body: Called with each element, in order, until there is none, or until it throws.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() { try body(element) }
    }

    /// Whether the cursor has no more element. It consumes the next one.
    ///
    /// - Throws: what the cursor throws.
    @inlinable
    public func isEmpty() throws -> Bool { try next() == nil }

    /// Returns the first element that passes a test.
    ///
    /// - Parameter isFound: The test. The elements behind the first one that passes it are left.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public func first(where isFound: (Element) throws -> Bool) throws -> Element? {
        while let element = try next() {
            if try isFound(element) { return element }
        }
        return nil
    }

    /// Whether an element passes a test.
    ///
    /// - Parameter isFound: The test. The elements behind the first one that passes it are left.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public func contains(where isFound: (Element) throws -> Bool) throws -> Bool {
        try first(where: isFound) != nil
    }

    /// Combines all elements into one value.
    ///
    /// - Parameters:
    ///   - result: The value to begin with. It is returned where there is no element.
    ///   - combine: Changes the value by an element.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public func reduce<Result>(
        into result: Result, _ combine: (inout Result, Element) throws -> Void
    ) throws -> Result {
        var result = result
        try forEach { try combine(&result, $0) }
        return result
    }

    /// Combines all elements into one value.
    ///
    /// - Parameters:
    ///   - result: The value to begin with. It is returned where there is no element.
    ///   - combine: Returns the value of all elements up to one, from that of those before it and that one.
    /// - Throws: what the cursor throws, and what the function throws.
    @inlinable
    public func reduce<Result>(
        _ result: Result, _ combine: (Result, Element) throws -> Result
    ) throws -> Result {
        try reduce(into: result) { $0 = try combine($0, $1) }
    }

    /// Returns a cursor of transformed elements.
    ///
    /// - Parameter transform: Called with each element, when the cursor is asked for it. What it throws, the cursor throws.
    @inlinable
    public func map<Other>(_ transform: @escaping (Element) throws -> Other) -> AnyCursor<Other> {
        AnyCursor { [self] in try next().map(transform) }
    }

    /// Returns a cursor of the elements that pass a test.
    ///
    /// - Parameter isIncluded: The test, made when the cursor is asked for an element. What it throws, the cursor throws.
    @inlinable
    public func filter(_ isIncluded: @escaping (Element) throws -> Bool) -> AnyCursor<Element> {
        AnyCursor { [self] in try first(where: isIncluded) }
    }

    /// Returns a cursor of transformed elements, without those that became nil.
    ///
    /// - Parameter transform: Called with each element, when the cursor is asked for one. What it throws, the cursor throws.
    @inlinable
    public func compactMap<Other>(_ transform: @escaping (Element) throws -> Other?) -> AnyCursor<Other> {
        AnyCursor { [self] in
            while let element = try next() {
                if let other = try transform(element) { return other }
            }
            return nil
        }
    }

    /// Returns a cursor of the first elements.
    ///
    /// - Parameter count: How many elements there are at most. There is none if it is 0 or less.
    @inlinable
    public func prefix(_ count: Int) -> AnyCursor<Element> {
        var rest = count
        return AnyCursor { [self] in
            guard rest > 0 else { return nil }
            rest -= 1
            return try next()
        }
    }
}

/// A cursor made of a function.
public final class AnyCursor<Element>: Cursor {
    private let body: () throws -> Element?

    /// Creates a cursor that asks a function for its elements.
    ///
    /// - Parameter next: Returns the next element, or nil at the end. What it throws, the cursor's methods throw.
    public init(_ next: @escaping () throws -> Element?) { body = next }

    public func next() throws -> Element? { try body() }
}

extension Array {
    /// Creates an array of all elements of a cursor.
    ///
    /// - Parameter cursor: The cursor, of which nothing is left then. The rows of one must be copied: use `Row.fetchAll`.
    /// - Throws: what the cursor throws.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        var elements: [Element] = []
        try cursor.forEach({ elements.append($0) })
        self = elements
    }
}

extension Set {
    /// Creates a set of all elements of a cursor.
    ///
    /// - Parameter cursor: The cursor, of which nothing is left then. The rows of one must be copied: use `Row.fetchSet`.
    /// - Throws: what the cursor throws.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        var elements: Set<Element> = []
        try cursor.forEach({ elements.insert($0) })
        self = elements
    }
}
