/// A sequence in which each step may fail.
///
/// ```swift
/// let names = try String.fetchCursor(db, sql: "SELECT name FROM player")
/// while let name = try names.next() {
///     print(name)
/// }
/// ```
///
/// A cursor can be consumed only once, inside the access that created it.
public protocol Cursor<Element>: AnyObject, SendableMetatype {
    /// The type of the elements.
    associatedtype Element

    /// Returns the next element, or nil if there is none.
    ///
    /// - Throws: an error if the next element cannot be created, such as a ``DatabaseError`` or a
    ///   ``RowDecodingError``.
    func next() throws -> Element?

    /// Calls a function with each remaining element.
    ///
    /// Implement it if the cursor has a faster way to its elements than one call for each. Arrays,
    /// sets and `reduce` use it to get all elements.
    ///
    /// - Parameter body: A function that is called with each element, in order, until there are no
    ///   more or it throws.
    /// - Throws: any error of the cursor or the function.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    /// Calls a function with each element.
    ///
    /// - Parameter body: A function that is called with each element, in order, until there are no
    ///   more or it throws.
    /// - Throws: any error of the cursor or the function.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() { try body(element) }
    }

    /// Returns whether the cursor has no more elements. This consumes the next one.
    ///
    /// - Throws: any error of the cursor.
    @inlinable
    public func isEmpty() throws -> Bool { try next() == nil }

    /// Returns the first element that passes a test.
    ///
    /// - Parameter isFound: The test. Elements after the first one that passes are not consumed.
    /// - Throws: any error of the cursor or the function.
    @inlinable
    public func first(where isFound: (Element) throws -> Bool) throws -> Element? {
        while let element = try next() {
            if try isFound(element) { return element }
        }
        return nil
    }

    /// Returns whether an element passes a test.
    ///
    /// - Parameter isFound: The test. Elements after the first one that passes are not consumed.
    /// - Throws: any error of the cursor or the function.
    @inlinable
    public func contains(where isFound: (Element) throws -> Bool) throws -> Bool {
        try first(where: isFound) != nil
    }

    /// Combines all elements into one value.
    ///
    /// - Parameters:
    ///   - result: The initial value, which is returned if there are no elements.
    ///   - combine: A function that updates the value with an element.
    /// - Throws: any error of the cursor or the function.
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
    ///   - result: The initial value, which is returned if there are no elements.
    ///   - combine: A function that returns a new value from the previous value and an element.
    /// - Throws: any error of the cursor or the function.
    @inlinable
    public func reduce<Result>(
        _ result: Result, _ combine: (Result, Element) throws -> Result
    ) throws -> Result {
        try reduce(into: result) { $0 = try combine($0, $1) }
    }

    /// Returns a cursor of transformed elements.
    ///
    /// - Parameter transform: A function that is called with each element when it is requested. The
    ///   cursor rethrows its errors.
    @inlinable
    public func map<Other>(_ transform: @escaping (Element) throws -> Other) -> AnyCursor<Other> {
        AnyCursor { [self] in try next().map(transform) }
    }

    /// Returns a cursor of the elements that pass a test.
    ///
    /// - Parameter isIncluded: The test, which is called when an element is requested. The cursor
    ///   rethrows its errors.
    @inlinable
    public func filter(_ isIncluded: @escaping (Element) throws -> Bool) -> AnyCursor<Element> {
        AnyCursor { [self] in try first(where: isIncluded) }
    }

    /// Returns a cursor of transformed elements, without the nil results.
    ///
    /// - Parameter transform: A function that is called with each element when one is requested.
    ///   The cursor rethrows its errors.
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
    /// - Parameter count: The maximum number of elements. With 0 or less, there are none.
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

/// A cursor that gets its elements from a function.
public final class AnyCursor<Element>: Cursor {
    private let body: () throws -> Element?

    /// Creates a cursor that gets its elements from a function.
    ///
    /// - Parameter next: A function that returns the next element, or nil at the end. The cursor's
    ///   methods rethrow its errors.
    public init(_ next: @escaping () throws -> Element?) { body = next }

    public func next() throws -> Element? { try body() }
}

extension Array {
    /// Creates an array of all elements of a cursor.
    ///
    /// - Parameter cursor: The cursor, which is consumed. The rows of a row cursor must be copied:
    ///   use `Row.fetchAll`.
    /// - Throws: any error of the cursor.
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
    /// - Parameter cursor: The cursor, which is consumed. The rows of a row cursor must be copied:
    ///   use `Row.fetchSet`.
    /// - Throws: any error of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        var elements: Set<Element> = []
        try cursor.forEach({ elements.insert($0) })
        self = elements
    }
}
