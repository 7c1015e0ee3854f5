/// An index: see ``Database/indexes(on:in:)``.
public struct IndexInfo: Hashable, Sendable {
    /// The origin of an index.
    public enum Origin: String, Hashable, Sendable {
        /// A CREATE INDEX statement.
        case createIndex = "c"
        /// A UNIQUE constraint.
        case uniqueConstraint = "u"
        /// A PRIMARY KEY constraint.
        case primaryKeyConstraint = "pk"
    }

    /// A column or an expression that the index sorts by.
    public struct Key: Hashable, Sendable {
        /// The column, or nil for an expression.
        public let column: String?
        /// The collation that compares strings.
        public let collation: String
        /// Whether the index sorts by the key in descending order.
        public let isDescending: Bool
    }

    /// The name. SQLite names the indexes of constraints itself.
    public let name: String

    /// The keys that the index sorts by, in order.
    public let keys: [Key]

    /// Whether no two rows can have the same keys. (Rows whose keys are NULL never count as the
    /// same.)
    public let isUnique: Bool

    /// Whether the index has a WHERE clause and leaves out rows.
    public let isPartial: Bool

    /// The origin of the index.
    public let origin: Origin

    /// The columns that the index sorts by, in order. Expressions are left out: see
    /// ``hasExpressions``.
    public var columns: [String] { keys.compactMap(\.column) }

    /// Whether the index sorts by an expression.
    public var hasExpressions: Bool { keys.contains { $0.column == nil } }

    /// Whether the index leaves out the row id. The indexes of WITHOUT ROWID tables do, because
    /// there is none.
    let lacksRowID: Bool

    /// Reads a row of `PRAGMA index_list`, and the rows of `PRAGMA index_xinfo`.
    init(_ row: Row, columns: [Row]) throws {
        name = try row["name"]
        isUnique = try row["unique"]
        isPartial = try row["partial"]
        origin = try Origin(rawValue: row["origin"]) ?? .createIndex
        // The columns that find the row follow the keys. -1 is the row id, -2 an expression.
        keys = try columns.filter { try $0["key"] }.map {
            Key(column: try $0["name"], collation: try $0["coll"] ?? "BINARY", isDescending: try $0["desc"])
        }
        lacksRowID = try !columns.contains { try $0["cid"] == -1 }
    }
}
