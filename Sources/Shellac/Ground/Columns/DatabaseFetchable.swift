/// A type that the fetching methods give: rows, values, optional values, records.
///
/// Do not conform to this protocol: conform to ``DatabaseValueConvertible`` for a value in one column, and
/// to a record protocol for a type that reads a whole row. The fetching methods are written once, for this
/// protocol: see `fetchCursor`, `fetchAll`, `fetchSet` and `fetchOne`.
public protocol DatabaseFetchable: SendableMetatype {
    /// What a cursor gives for the current row. It may be good until the cursor's next step only.
    @_documentation(visibility: internal)
    static func currentElement(of row: LiveRow) throws -> Self

    /// What arrays and sets keep for the current row.
    @_documentation(visibility: internal)
    static func keptElement(of row: LiveRow) throws -> Self

    /// What `fetchOne` gives for the current row.
    @_documentation(visibility: internal)
    static func onlyElement(of row: LiveRow) throws -> Self?

    /// What a cursor gave, made so that it can be kept.
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
