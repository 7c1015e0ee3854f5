/// A type that the fetching methods return: rows, values, optional values, records.
///
/// Do not conform to this protocol directly. Conform to ``DatabaseValueConvertible`` for a value in
/// one column, or to a record protocol for a type that reads a whole row. The fetching methods are
/// written once, for this protocol: see `fetchCursor`, `fetchAll`, `fetchSet` and `fetchOne`.
public protocol DatabaseFetchable: SendableMetatype {
    /// Returns a cursor's element for the current row. It may only be valid until the cursor's next
    /// step.
    @_documentation(visibility: internal)
    static func currentElement(of row: LiveRow) throws -> Self

    /// Returns the element that arrays and sets keep for the current row.
    @_documentation(visibility: internal)
    static func keptElement(of row: LiveRow) throws -> Self

    /// Returns the result of `fetchOne` for the current row.
    @_documentation(visibility: internal)
    static func onlyElement(of row: LiveRow) throws -> Self?

    /// Returns a copy of a cursor's element that the caller can keep.
    @_documentation(visibility: internal)
    static func kept(_ element: Self) throws -> Self
}

extension DatabaseFetchable {
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func keptElement(of row: LiveRow) throws -> Self { try currentElement(of: row) }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func onlyElement(of row: LiveRow) throws -> Self? { try keptElement(of: row) }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func kept(_ element: Self) throws -> Self { element }
}
