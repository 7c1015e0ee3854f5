// The types used in table definitions.

extension Database {
    /// The declared type of a column.
    ///
    /// SQLite accepts any type, and derives the column's ``ColumnAffinity`` from it. In STRICT
    /// tables it accepts only `INT`, `INTEGER`, `REAL`, `TEXT`, `BLOB` and `ANY`.
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        /// The type as SQL.
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates a type of your own: `ColumnType(sql: "DECIMAL(10, 2)")`.
        ///
        /// - Parameter sql: The type, as SQL. An empty string means no type.
        public init(sql: String) { rawValue = sql }

        /// Strings.
        public static let text = ColumnType(rawValue: "TEXT")
        /// Strings that contain JSON.
        public static let jsonText = ColumnType(rawValue: "TEXT")
        /// Integers. Only this type makes a primary key another name of the row id.
        public static let integer = ColumnType(rawValue: "INTEGER")
        /// Real numbers.
        public static let double = ColumnType(rawValue: "DOUBLE")
        /// Real numbers, also in STRICT tables.
        public static let real = ColumnType(rawValue: "REAL")
        /// Integers and real numbers, each stored unchanged.
        public static let numeric = ColumnType(rawValue: "NUMERIC")
        /// Boolean values, stored as 0 and 1.
        public static let boolean = ColumnType(rawValue: "BOOLEAN")
        /// Bytes.
        public static let blob = ColumnType(rawValue: "BLOB")
        /// Days.
        public static let date = ColumnType(rawValue: "DATE")
        /// Dates with their time.
        public static let datetime = ColumnType(rawValue: "DATETIME")
        /// Values of all types. STRICT tables store them unchanged, other tables as in numeric
        /// columns.
        public static let any = ColumnType(rawValue: "ANY")
    }

    /// The name of a collation, which compares strings: see "Datatypes In SQLite", section
    /// "Collating Sequences".
    public struct CollationName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(stringLiteral value: String) { rawValue = value }

        /// The collation that compares bytes.
        public static let binary = CollationName(rawValue: "BINARY")
        /// The collation that ignores the case of ASCII letters.
        public static let nocase = CollationName(rawValue: "NOCASE")
        /// The collation that ignores trailing spaces.
        public static let rtrim = CollationName(rawValue: "RTRIM")
    }

    /// The policy for a row that violates a constraint: see "The ON CONFLICT Clause" in the SQLite
    /// documentation.
    public enum ConflictResolution: String, Hashable, Sendable, CaseIterable {
        /// The whole transaction is rolled back.
        case rollback = "ROLLBACK"
        /// The statement is undone. This is the default.
        case abort = "ABORT"
        /// The statement stops, and its earlier changes remain.
        case fail = "FAIL"
        /// The row is left out.
        case ignore = "IGNORE"
        /// The conflicting rows are deleted.
        case replace = "REPLACE"
    }

    /// The action on rows whose referenced row is deleted or changed: see "SQLite Foreign Key
    /// Support".
    public enum ForeignKeyAction: String, Hashable, Sendable, CaseIterable {
        /// They are deleted or changed, too.
        case cascade = "CASCADE"
        /// The statement fails at once, even if the foreign key is deferred.
        case restrict = "RESTRICT"
        /// Their reference becomes NULL.
        case setNull = "SET NULL"
        /// Their reference becomes the default value of its column.
        case setDefault = "SET DEFAULT"
    }
}

/// Options for creating a table: see ``Database/create(table:in:options:body:)``.
public struct TableOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An existing table of that name is left as it is, whatever its columns.
    public static let ifNotExists = TableOptions(rawValue: 1)
    /// The table exists only on this connection, and is deleted with it.
    public static let temporary = TableOptions(rawValue: 2)
    /// The table is sorted by its primary key, which it must have: see "Clustered Indexes and the
    /// WITHOUT ROWID Optimization" in the SQLite documentation.
    public static let withoutRowID = TableOptions(rawValue: 4)
    /// Values must fit the types of their columns: see "STRICT Tables". Requires SQLite 3.37.
    public static let strict = TableOptions(rawValue: 8)
}

/// Options for creating a virtual table.
public struct VirtualTableOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An existing table of that name is left as it is.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1)
}

/// Options for creating an index.
public struct IndexOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An existing index of that name is left as it is.
    public static let ifNotExists = IndexOptions(rawValue: 1)
    /// No two rows can have the same values.
    public static let unique = IndexOptions(rawValue: 2)
}

/// Options for creating a view.
public struct ViewOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An existing view of that name is left as it is.
    public static let ifNotExists = ViewOptions(rawValue: 1)
    /// The view exists only on this connection, and is deleted with it.
    public static let temporary = ViewOptions(rawValue: 2)
}
