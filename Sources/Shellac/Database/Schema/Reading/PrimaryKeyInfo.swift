/// The primary key of a table: see ``Database/primaryKey(_:in:)``.
///
/// ```swift
/// try dbQueue.write { db in
///     try db.create(table: "player") { t in
///         t.autoIncrementedPrimaryKey("id")
///         t.column("name", .text)
///     }
///     let key = try db.primaryKey("player")
///     key.columns         // ["id"]
///     key.rowIDColumn     // "id"
///     key.isRowID         // true
/// }
/// ```
public struct PrimaryKeyInfo: Hashable, Sendable {
    private enum Kind: Hashable {
        /// A column that is another name of the row id.
        case rowID(ColumnInfo)
        /// No declared key: the row id, by a name that no column has taken.
        case hiddenRowID(String)
        case columns([ColumnInfo])
        case none
    }

    private let kind: Kind

    /// Whether the rows have a row id, be it the primary key or not.
    public let tableHasRowID: Bool

    /// The columns, in the order of the key.
    ///
    /// A table without a declared primary key has its hidden row id for one: `["rowid"]`, or `_rowid_` or `oid`
    /// where columns have taken the names before. A view has no key, and no columns here; nor has a table that
    /// declares none, and columns with all three names.
    public var columns: [String] {
        switch kind {
        case .rowID(let column): [column.name]
        case .hiddenRowID(let name): [name]
        case .columns(let columns): columns.map(\.name)
        case .none: []
        }
    }

    /// The column that is another name of the row id: an `INTEGER PRIMARY KEY`. Nil for all other keys.
    ///
    /// An insert that leaves it NULL fills it in. `INTEGER PRIMARY KEY DESC` is no such column, by an old mistake
    /// of SQLite's, and a WITHOUT ROWID table has none: see "Rowid Tables" and "CREATE TABLE" in its documentation.
    public var rowIDColumn: String? {
        if case .rowID(let column) = kind { column.name } else { nil }
    }

    /// Whether the key is the row id, by the name of a column or hidden.
    public var isRowID: Bool {
        switch kind {
        case .rowID, .hiddenRowID: true
        case .columns, .none: false
        }
    }

    /// Whether the key is the row id, and no column: `SELECT *` does not give it.
    public var isHiddenRowID: Bool {
        if case .hiddenRowID = kind { true } else { false }
    }

    /// The declared columns of the key, with all that the schema says of them. Nil where the key is no declared one: a hidden row id,
    /// or none.
    public var columnInfos: [ColumnInfo]? {
        switch kind {
        case .rowID(let column): [column]
        case .columns(let columns): columns
        case .hiddenRowID, .none: nil
        }
    }

    /// - Parameters:
    ///   - isRowIDColumn: Whether the only column of the declared key is another name of the row id.
    ///   - rowIDName: A name for the row id that no column has.
    init(declared columns: [ColumnInfo], isRowIDColumn: Bool, tableHasRowID: Bool, rowIDName: String?) {
        self.tableHasRowID = tableHasRowID
        if isRowIDColumn, let column = columns.first {
            kind = .rowID(column)
        } else if !columns.isEmpty {
            kind = .columns(columns)
        } else if tableHasRowID, let rowIDName {
            kind = .hiddenRowID(rowIDName)
        } else {
            kind = .none
        }
    }
}
