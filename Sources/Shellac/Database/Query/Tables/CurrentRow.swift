/// A row newer than the values a record remembers: see ``RecordError/stale(columns:row:)``.
///
/// ```swift
/// do {
///     try player.update(db, checking: .changedColumns)
/// } catch RecordError.stale(let columns, let row) {
///     let score: Int = try row["score"]       // what it is now
///     try player.merge(row)                   // player.score stays: it is the player's own change
/// }
/// ```
///
/// Unlike a ``Row``, it may leave the access that has read it.
public struct CurrentRow: Hashable, Sendable {
    /// The table.
    public let databaseTableName: String
    /// The names of the table's columns.
    public let columnNames: [String]
    /// The values, in the order of the names.
    public let databaseValues: [DatabaseValue]

    init(databaseTableName: String, columns: [(String, DatabaseValue)]) {
        self.databaseTableName = databaseTableName
        columnNames = columns.map(\.0)
        databaseValues = columns.map(\.1)
    }

    /// The row, which can be read like any other.
    public var row: Row { Row(Array(zip(columnNames, databaseValues))) }

    /// Returns the value in a column.
    ///
    /// - Parameter name: The name of the column, in any case.
    /// - Throws: a ``RowDecodingError`` when the value does not convert. Also when the row lacks
    ///   the column, unless an optional is requested.
    public subscript<Value: DatabaseValueConvertible>(_ name: String) -> Value {
        get throws { try row[name] }
    }
}

@available(*, unavailable, renamed: "CurrentRow")
public typealias NewerRow = CurrentRow
