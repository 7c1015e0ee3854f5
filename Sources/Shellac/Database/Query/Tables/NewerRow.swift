/// A row of the database that is newer than what a record remembers of it: see ``RecordError/stale(columns:row:)``.
///
/// ```swift
/// do {
///     try player.update(db, ifUnchanged: .changedColumns)
/// } catch RecordError.stale(let columns, let row) {
///     let score: Int = try row["score"]       // what it is now
///     try player.merge(row)                   // player.score stays: it is the player's own change
/// }
/// ```
///
/// Unlike a ``Row``, it may leave the access that has met it.
public struct NewerRow: Hashable, Sendable {
    /// The table.
    public let databaseTableName: String
    /// The names of the columns: those of the table.
    public let columnNames: [String]
    /// The values, in the order of the names.
    public let databaseValues: [DatabaseValue]

    init(databaseTableName: String, columns: [(String, DatabaseValue)]) {
        self.databaseTableName = databaseTableName
        columnNames = columns.map(\.0)
        databaseValues = columns.map(\.1)
    }

    /// The row, to be read as any other.
    public var row: Row { Row(Array(zip(columnNames, databaseValues))) }

    /// The value in a column.
    ///
    /// - Parameter name: The name of the column, whose case does not matter.
    /// - Throws: a ``RowDecodingError`` when the value does not convert, and when the row lacks the column, unless an
    ///   optional is asked.
    public subscript<Value: DatabaseValueConvertible>(_ name: String) -> Value {
        get throws { try row[name] }
    }
}
