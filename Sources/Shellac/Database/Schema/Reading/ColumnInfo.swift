/// A column of a table or of a view, as the schema has it: see ``Database/columns(in:in:includingHidden:)``.
public struct ColumnInfo: Hashable, Sendable {
    /// The name, with the case that it was declared with.
    public let name: String

    /// The declared type, or an empty text where there is none.
    ///
    /// A generated column has it without `GENERATED ALWAYS`, which SQLite takes for a part of the type.
    public let type: String

    /// The affinity, which converts the values that are stored in the column.
    public let affinity: ColumnAffinity

    /// Whether the column is declared NOT NULL.
    ///
    /// It tells nothing of primary keys: those of a WITHOUT ROWID table are never NULL, those of other tables
    /// may be ("CREATE TABLE" in the SQLite documentation).
    public let isNotNull: Bool

    /// The default value as SQL, such as `'Arthur'` or `CURRENT_TIMESTAMP`, or nil where there is none.
    public let defaultValueSQL: String?

    /// The place of the column in the primary key, from 1 on, or 0 for a column outside of it.
    public let primaryKeyIndex: Int

    /// Whether the value is computed: stored (`.stored`), or at each reading (`.virtual`). Nil for other columns.
    public let generation: GeneratedColumnQualification?

    /// Whether the column is hidden: `SELECT *` leaves it out. Virtual tables have such columns.
    public let isHidden: Bool

    /// Whether the value is computed, and cannot be written.
    public var isGenerated: Bool { generation != nil }

    /// Reads a row of `PRAGMA table_xinfo`.
    init(_ row: Row) throws {
        name = try row["name"]
        var type: String = try row["type"] ?? ""
        let hidden: Int = try row["hidden"]
        // "Generated Columns": 2 is a virtual one, 3 a stored one; 1 is a hidden column of a virtual table.
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

    /// Removes the keywords behind a type, which SQLite takes for a part of it, before 3.38 and in tables created by
    /// then.
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

/// The way in which a generated column gets its value: see "Generated Columns" in the SQLite documentation.
public enum GeneratedColumnQualification: String, Hashable, Sendable {
    /// It is computed at each reading.
    case virtual = "VIRTUAL"
    /// It is computed when the row is written, and stored.
    case stored = "STORED"
}
