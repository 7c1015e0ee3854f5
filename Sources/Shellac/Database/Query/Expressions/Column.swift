/// A column of a table, identified by its name.
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

    /// Creates a column with the given name.
    ///
    /// - Parameter name: The name, without quotes. It is quoted in SQL.
    public init(_ name: String) { self.name = name }

    /// Creates a column named by a coding key.
    ///
    /// - Parameter key: The key, whose `stringValue` is the name.
    public init(_ key: some CodingKey) { name = key.stringValue }

    /// The row id, which every table has unless it is `WITHOUT ROWID`.
    public static let rowID = Column("rowid")
}

extension Row {
    /// Returns the value in a column.
    ///
    /// - Parameter column: The column, whose name matches in any case. If several columns have that
    ///   name, the leftmost is read.
    /// - Throws: a ``RowDecodingError`` when the value does not convert. Also when the row lacks
    ///   the column, unless an optional is requested.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: Column) -> Value {
        @inline(__always)
        get throws { try self[column.name] }
    }
}
