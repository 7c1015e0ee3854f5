// The words of table definitions.

extension Database {
    /// The declared type of a column.
    ///
    /// SQLite takes any type, and draws from it the column's ``ColumnAffinity``. In STRICT tables it takes
    /// `INT`, `INTEGER`, `REAL`, `TEXT`, `BLOB` and `ANY` alone.
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        /// The type as SQL.
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates a type of your own: `ColumnType(sql: "DECIMAL(10, 2)")`.
        ///
        /// - Parameter sql: The type, as SQL. An empty one is none.
        public init(sql: String) { rawValue = sql }

        /// Texts.
        public static let text = ColumnType(rawValue: "TEXT")
        /// Texts that hold JSON.
        public static let jsonText = ColumnType(rawValue: "TEXT")
        /// Integers. Only this type makes a primary key another name of the row id.
        public static let integer = ColumnType(rawValue: "INTEGER")
        /// Real numbers.
        public static let double = ColumnType(rawValue: "DOUBLE")
        /// Real numbers, in STRICT tables, too.
        public static let real = ColumnType(rawValue: "REAL")
        /// Integers and real numbers, each stored as it is.
        public static let numeric = ColumnType(rawValue: "NUMERIC")
        /// Truth values, stored as 0 and 1.
        public static let boolean = ColumnType(rawValue: "BOOLEAN")
        /// Bytes.
        public static let blob = ColumnType(rawValue: "BLOB")
        /// Days.
        public static let date = ColumnType(rawValue: "DATE")
        /// Dates with their time.
        public static let datetime = ColumnType(rawValue: "DATETIME")
        /// Values of all types. In STRICT tables they are stored as they are, elsewhere as in numeric columns.
        public static let any = ColumnType(rawValue: "ANY")
    }

    /// The name of a collation, by which texts compare: see "Datatypes In SQLite", section "Collating Sequences".
    public struct CollationName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(stringLiteral value: String) { rawValue = value }

        /// By their bytes.
        public static let binary = CollationName(rawValue: "BINARY")
        /// Without regard to the case of ASCII letters.
        public static let nocase = CollationName(rawValue: "NOCASE")
        /// Without regard to spaces at the end.
        public static let rtrim = CollationName(rawValue: "RTRIM")
    }

    /// The way in which SQLite treats a row that violates a constraint: see "The ON CONFLICT Clause" in the SQLite
    /// documentation.
    public enum ConflictResolution: String, Hashable, Sendable, CaseIterable {
        /// The whole transaction is rolled back.
        case rollback = "ROLLBACK"
        /// The statement is undone. This is what happens where nothing else is said.
        case abort = "ABORT"
        /// The statement stops, and what it did before stays.
        case fail = "FAIL"
        /// The row is left out.
        case ignore = "IGNORE"
        /// The rows that are in the way are deleted.
        case replace = "REPLACE"
    }

    /// The action on the rows that refer to a row which is deleted or changes: see "SQLite Foreign Key Support".
    public enum ForeignKeyAction: String, Hashable, Sendable, CaseIterable {
        /// They go or change, too.
        case cascade = "CASCADE"
        /// The statement fails at once, even where the foreign key is deferred.
        case restrict = "RESTRICT"
        /// They refer to nothing from then on.
        case setNull = "SET NULL"
        /// They refer to the default value of their column.
        case setDefault = "SET DEFAULT"
    }
}

/// Options for creating a table: see ``Database/create(table:in:options:body:)``.
public struct TableOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Nothing happens when there is a table of that name, whatever its columns.
    public static let ifNotExists = TableOptions(rawValue: 1)
    /// The table belongs to the connection alone, and goes with it.
    public static let temporary = TableOptions(rawValue: 2)
    /// The table is sorted by its primary key, which it must have: see "Clustered Indexes and the WITHOUT ROWID
    /// Optimization" in the SQLite documentation.
    public static let withoutRowID = TableOptions(rawValue: 4)
    /// Values must fit the types of their columns: see "STRICT Tables". SQLite 3.37 brought it.
    public static let strict = TableOptions(rawValue: 8)
}

/// Options for creating a virtual table.
public struct VirtualTableOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Nothing happens when there is a table of that name.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1)
}

/// Options for creating an index.
public struct IndexOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Nothing happens when there is an index of that name.
    public static let ifNotExists = IndexOptions(rawValue: 1)
    /// Two rows cannot have the same values.
    public static let unique = IndexOptions(rawValue: 2)
}

/// Options for creating a view.
public struct ViewOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Nothing happens when there is a view of that name.
    public static let ifNotExists = ViewOptions(rawValue: 1)
    /// The view belongs to the connection alone, and goes with it.
    public static let temporary = ViewOptions(rawValue: 2)
}
