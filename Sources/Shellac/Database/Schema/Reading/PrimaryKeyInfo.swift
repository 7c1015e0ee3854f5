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
        /// No declared key. The key is the row id, under a name that no column has taken.
        case hiddenRowID(String)
        case columns([ColumnInfo])
        case none
    }

    private let kind: Kind

    /// Whether the rows have a row id, whether or not it is the primary key.
    public let tableHasRowID: Bool

    /// The columns, in the order of the key.
    ///
    /// Without a declared primary key, the key of a table is its hidden row id, `["rowid"]`. It is
    /// `_rowid_` or `oid` if columns have taken the earlier names. A view has no key, and no
    /// columns here. The same goes for a table without a declared key whose columns have all three
    /// names.
    public var columns: [String] {
        switch kind {
        case .rowID(let column): [column.name]
        case .hiddenRowID(let name): [name]
        case .columns(let columns): columns.map(\.name)
        case .none: []
        }
    }

    /// The column that is another name of the row id: an `INTEGER PRIMARY KEY`. Nil for all other
    /// keys.
    ///
    /// An insert that leaves it NULL fills it in. `INTEGER PRIMARY KEY DESC` is no such column,
    /// because of an old bug in SQLite, and a WITHOUT ROWID table has none. See "Rowid Tables" and
    /// "CREATE TABLE" in its documentation.
    public var rowIDColumn: String? {
        if case .rowID(let column) = kind { column.name } else { nil }
    }

    /// Whether the key is the row id, named by a column or hidden.
    public var isRowID: Bool {
        switch kind {
        case .rowID, .hiddenRowID: true
        case .columns, .none: false
        }
    }

    /// Whether the key is the row id but not a column, so that `SELECT *` leaves it out.
    public var isHiddenRowID: Bool {
        if case .hiddenRowID = kind { true } else { false }
    }

    /// The declared columns of the key, as the schema describes them. Nil if the key is not
    /// declared: a hidden row id, or none.
    public var columnInfos: [ColumnInfo]? {
        switch kind {
        case .rowID(let column): [column]
        case .columns(let columns): columns
        case .hiddenRowID, .none: nil
        }
    }

    /// - Parameters:
    ///   - isRowIDColumn: Whether the only column of the declared key is another name of the row
    ///     id.
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
