/// A column of a table or view in the schema: see ``Database/columns(in:in:includingHidden:)``.
public struct ColumnInfo: Hashable, Sendable {
    /// The name, in the case it was declared with.
    public let name: String

    /// The declared type, or an empty string if there is none.
    ///
    /// The type of a generated column leaves out `GENERATED ALWAYS`, which SQLite considers part of
    /// it.
    public let type: String

    /// The affinity, which converts the values that are stored in the column.
    public let affinity: ColumnAffinity

    /// Whether the column is declared NOT NULL.
    ///
    /// This says nothing about primary keys. The keys of a WITHOUT ROWID table are never NULL, but
    /// those of other tables may be ("CREATE TABLE" in the SQLite documentation).
    public let isNotNull: Bool

    /// The default value as SQL, such as `'Arthur'` or `CURRENT_TIMESTAMP`, or nil if there is
    /// none.
    public let defaultValueSQL: String?

    /// The position of the column in the primary key, counted from 1, or 0 for a column outside of
    /// it.
    public let primaryKeyIndex: Int

    /// Whether the value is computed and stored (`.stored`), or computed at each reading
    /// (`.virtual`). Nil for other columns.
    public let generation: GeneratedColumnQualification?

    /// Whether the column is hidden: `SELECT *` leaves it out. Virtual tables have such columns.
    public let isHidden: Bool

    /// Whether the value is computed and cannot be written.
    public var isGenerated: Bool { generation != nil }

    /// Reads a row of `PRAGMA table_xinfo`.
    init(_ row: Row) throws {
        name = try row["name"]
        var type: String = try row["type"] ?? ""
        let hidden: Int = try row["hidden"]
        // "Generated Columns": 2 is a virtual one, 3 a stored one. 1 is a hidden column of a
        // virtual table.
        generation = hidden == 2 ? .virtual : hidden == 3 ? .stored : nil
        isHidden = hidden == 1
        if generation != nil { type = Self.typeWithoutKeywords(type) }
        self.type = type
        affinity = ColumnAffinity(declaredType: type)
        isNotNull = try row["notnull"]
        defaultValueSQL = try row["dflt_value"]
        primaryKeyIndex = try row["pk"]
    }

    private init(_ column: ColumnInfo, affinity: ColumnAffinity) {
        name = column.name
        type = column.type
        self.affinity = affinity
        isNotNull = column.isNotNull
        defaultValueSQL = column.defaultValueSQL
        primaryKeyIndex = column.primaryKeyIndex
        generation = column.generation
        isHidden = column.isHidden
    }

    /// This column in a STRICT table.
    var inStrictTable: ColumnInfo {
        ColumnInfo(self, affinity: ColumnAffinity(declaredType: type, isStrict: true))
    }

    /// Removes the keywords after a type. SQLite before 3.38 considers them part of the type, and
    /// still does for tables created then.
    private static func typeWithoutKeywords(_ type: String) -> String {
        let keywords = " generated always"
        guard type.utf8.count >= keywords.utf8.count - 1 else { return type }
        let end = String(Substring(type.utf8.suffix(keywords.utf8.count)))
        if CaseInsensitiveName.matches(end, keywords) {
            return String(Substring(type.utf8.dropLast(keywords.utf8.count)))
        }
        return CaseInsensitiveName.matches(type, String(keywords.dropFirst())) ? "" : type
    }
}

/// The kind of a generated column: see "Generated Columns" in the SQLite documentation.
public enum GeneratedColumnQualification: String, Hashable, Sendable {
    /// The value is computed at each reading.
    case virtual = "VIRTUAL"
    /// The value is computed when the row is written, and stored.
    case stored = "STORED"
}
