/// A column of a table, by its name.
///
/// ```swift
/// enum Columns {
///     static let id = Column("id")
///     static let name = Column(CodingKeys.name)
/// }
/// let name: String = try row[Columns.name]
/// ```
public struct Column: Hashable, Sendable {
    /// The name of the column.
    public let name: String

    /// Creates the column of a name.
    ///
    /// - Parameter name: The name, without quotes: SQL gets it quoted.
    public init(_ name: String) { self.name = name }

    /// Creates the column named as a coding key.
    ///
    /// - Parameter key: The key, whose `stringValue` is the name.
    public init(_ key: some CodingKey) { name = key.stringValue }

    /// The row id, which a table has unless it is `WITHOUT ROWID`.
    public static let rowID = Column("rowid")
}

extension Row {
    /// The value in a column.
    ///
    /// - Parameter column: The column, by its name, whose case does not matter. Of several columns of that name, the leftmost is
    ///   read.
    /// - Throws: a ``RowDecodingError`` when the value does not convert, and when the row lacks the column,
    ///   unless an optional is asked.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: Column) -> Value {
        @inline(__always)
        get throws { try self[column.name] }
    }

    /// Whether the row has a column.
    ///
    /// - Parameter column: The column, by its name, whose case does not matter.
    @inlinable
    public func hasColumn(_ column: Column) -> Bool { hasColumn(column.name) }
}
