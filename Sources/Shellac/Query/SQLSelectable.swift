/// What a `SELECT` statement selects: a column, or all columns.
public protocol SQLSelectable: Sendable {
    /// The SQL between `SELECT` and `FROM`.
    var selectionSQL: SQL { get }
}

extension Column: SQLSelectable {
    public var selectionSQL: SQL { SQL(sql: name.quotedDatabaseIdentifier) }
}

/// All columns of a table: `*`.
public struct AllColumns: SQLSelectable, Hashable {
    public init() {}

    public var selectionSQL: SQL { SQL(sql: "*") }
}

extension SQLSelectable where Self == AllColumns {
    /// All columns of a table: `*`.
    public static var allColumns: AllColumns { AllColumns() }
}

extension SQLSelectable where Self == Column {
    /// The row id, which a table has unless it is `WITHOUT ROWID`.
    public static var rowID: Column { .rowID }
}
