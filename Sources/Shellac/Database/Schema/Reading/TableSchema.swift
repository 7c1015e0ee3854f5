// The schema of a table or view, read by PRAGMAs: columns, indexes, keys, collations.

import CSQLite

/// The schema of a table, a view, or a table-valued function.
///
/// It is valid as long as ``Database/schemaGeneration`` stays the same.
final class TableSchema: Sendable {
    enum Kind: Hashable {
        case table
        case virtualTable
        case view
        /// A virtual table that exists without having been created, such as `json_each`. See "The
        /// Virtual Table Mechanism Of SQLite", section "Eponymous virtual tables".
        case tableValuedFunction
    }

    /// The database of the table: `main`, `temp`, or the name of an attached one.
    let schemaName: String
    /// The declared name.
    let name: String
    let kind: Kind
    /// The SQL that created the table. Empty if no statement created it.
    let sql: String
    /// All columns, including hidden ones.
    let allColumns: [ColumnInfo]
    /// The columns returned by `SELECT *`.
    let columns: [ColumnInfo]
    /// The indexes, oldest first.
    let indexes: [IndexInfo]
    let primaryKey: PrimaryKeyInfo
    /// The keys of unique indexes that hold only some of the rows.
    let partialKeys: [PartialKey]

    /// The columns that are maintained by triggers. Nothing else should write them.
    let maintainedColumns: [CounterMark]

    /// Whether a column is one of these.
    func isMaintained(_ column: String) -> Bool {
        maintainedColumns.contains { CaseInsensitiveName.matches($0.column, column) }
    }
    private let columnIndexes: [CaseInsensitiveName: Int]
    /// The collations of the columns that are not compared byte by byte.
    private let collations: [CaseInsensitiveName: ColumnComparison.Collation]

    /// Reads the schema of a table.
    init(_ db: Database, name: String, in schemaName: String, kind: Kind, sql: String = "") throws {
        self.sql = sql
        maintainedColumns = kind == .table ? CounterMark.marks(in: sql) : []
        self.schemaName = schemaName
        self.name = name
        self.kind = kind

        func rows(_ pragma: String, _ argument: String) throws -> [Row] {
            let pragma = "PRAGMA \(schemaName.quotedDatabaseIdentifier).\(pragma)"
            return try Row.fetchAll(
                db.makeStatement(sql: "\(pragma)(\(argument.quotedDatabaseIdentifier))"))
        }

        var columns = try rows("table_xinfo", name).map(ColumnInfo.init)
        if kind == .table, columns.contains(where: { CaseInsensitiveName.matches($0.type, "any") }),
            Features.versionNumber >= 3_037_000  // the version that introduced STRICT tables
        {
            let isStrict = try rows("table_list", name).contains {
                try CaseInsensitiveName.matches($0["schema"], schemaName) && $0["strict"]
            }
            if isStrict { columns = columns.map(\.inStrictTable) }
        }
        allColumns = columns
        self.columns = columns.filter { !$0.isHidden }
        columnIndexes = Dictionary(
            zip(columns.map { CaseInsensitiveName($0.name) }, columns.indices),
            uniquingKeysWith: { a, _ in a })

        // The list begins with the newest one.
        let indexes = try rows("index_list", name).reversed().map {
            try IndexInfo($0, columns: rows("index_xinfo", $0["name"]))
        }
        self.indexes = indexes
        partialKeys = try indexes.compactMap { try PartialKey($0, in: schemaName, db) }
        var collations: [CaseInsensitiveName: ColumnComparison.Collation] = [:]
        for column in columns where kind != .view {
            guard let collation = db.collation(ofColumn: column.name, in: name, of: schemaName),
                !CaseInsensitiveName.matches(collation, "BINARY")
            else { continue }
            collations[CaseInsensitiveName(column.name)] = db.collation(named: collation)
        }
        self.collations = collations

        // A primary key has an index unless it is another name of the row id. This distinguishes
        // INTEGER PRIMARY KEY from INTEGER PRIMARY KEY DESC. The index lacks the row id if the
        // table has none.
        let keyIndex = indexes.first { $0.origin == .primaryKeyConstraint }
        var declared = columns.filter { $0.primaryKeyIndex > 0 }
            .sorted { $0.primaryKeyIndex < $1.primaryKeyIndex }
        let indexesByName = columnIndexes
        if kind == .view, let source = db.configuration.schemaSource,
            let key = try source.columnsForPrimaryKey(
                db, inView: DatabaseObjectID(name: name, schemaName: schemaName))
        {
            declared = try key.map { [columns] column in
                if let index = indexesByName[CaseInsensitiveName(column)] { return columns[index] }
                throw DatabaseError(
                    message:
                        "the schema source says that the key of the view \(name) has the column \(column), "
                        + "which the view lacks")
            }
        }
        primaryKey = PrimaryKeyInfo(
            declared: declared,
            isRowIDColumn: kind == .table && declared.count == 1 && keyIndex == nil,
            tableHasRowID: kind != .view && keyIndex?.lacksRowID != true,
            rowIDName: Self.rowIDNames.first { indexesByName[CaseInsensitiveName($0)] == nil })
    }

    /// The names of the row id, unless a column has them: see "ROWIDs and the INTEGER PRIMARY KEY"
    /// in "CREATE TABLE".
    static let rowIDNames = ["rowid", "_rowid_", "oid"]

    /// A name for the row id that SQL can use: the column that is another name of it, or a name
    /// that no column has. Nil if the table has no row id, or if columns have all its names.
    var rowIDName: String? {
        guard kind == .table, primaryKey.tableHasRowID else { return nil }
        return primaryKey.rowIDColumn ?? Self.rowIDNames.first { column(named: $0) == nil }
    }

    /// Returns the column with the given name.
    func column(named name: String) -> ColumnInfo? {
        columnIndexes[CaseInsensitiveName(name)].map { allColumns[$0] }
    }

    /// Returns the affinity of a column, which converts the values stored in it. Nil for a column
    /// that the table lacks.
    func affinity(ofColumn name: String) -> ColumnAffinity? { column(named: name)?.affinity }

    /// Returns how the values of a column are compared. The column may be the row id under one of
    /// its names.
    func comparison(ofColumn name: String) -> ColumnComparison {
        guard let column = column(named: name) else {
            let isRowID = Self.rowIDNames.contains { CaseInsensitiveName.matches($0, name) }
            return isRowID ? ColumnComparison(affinity: .integer, collation: .binary) : .unknown
        }
        // A row id is an integer, regardless of the declared type of its column.
        let isRowID = primaryKey.rowIDColumn.map { CaseInsensitiveName.matches($0, name) } ?? false
        // The columns of a view may be expressions, whose strings may be compared with any
        // collation.
        let isKnown = kind != .view || [.integer, .numeric, .real].contains(column.affinity)
        let collation = isRowID ? nil : collations[CaseInsensitiveName(name)]
        return ColumnComparison(
            affinity: column.affinity, collation: collation ?? (isKnown ? .binary : .unknown))
    }

    /// Returns the collation by which SQLite compares foreign keys that refer to a column.
    ///
    /// It is the collation of this column, regardless of those of the foreign keys: see "SQLite
    /// Foreign Key Support", section "Introduction to Foreign Key Constraints". The result is nil
    /// for a row id, whose integers need no collation, and for an unknown collation.
    func collation(ofReferencesTo name: String) -> ColumnComparison.Collation? {
        guard column(named: name) != nil else { return nil }
        if let rowID = primaryKey.rowIDColumn, CaseInsensitiveName.matches(rowID, name) { return nil }
        let collation = comparison(ofColumn: name).collation
        return collation == .unknown ? nil : collation
    }

    /// Returns the columns of a key, with the comparison of each.
    func key(_ names: [String]) -> KeyColumns {
        KeyColumns(names: names, comparisons: names.map(comparison(ofColumn:)))
    }

    /// Returns the columns of a unique key, as the table spells them and in the order of the key.
    /// Nil if the given names are not a unique key.
    ///
    /// A unique key is the primary key, the row id, or the columns of a suitable unique index. Such
    /// an index holds all rows, and considers values equal if the columns do.
    func uniqueKey(of names: some Sequence<String>) -> [String]? {
        let names = Set(names.map(CaseInsensitiveName.init))
        func isKey(_ columns: [String]) -> Bool {
            !columns.isEmpty && names == Set(columns.map(CaseInsensitiveName.init))
        }
        if isKey(primaryKey.columns) { return primaryKey.columns }
        let indexes = indexes.filter {
            $0.isUnique && !$0.isPartial && !$0.hasExpressions && comparesAsColumns($0)
        }
        if let index = indexes.first(where: { isKey($0.columns) }) { return index.columns }
        guard primaryKey.tableHasRowID else { return nil }
        return Self.rowIDNames.first { isKey([$0]) && column(named: $0) == nil }.map { [$0] }
    }

    /// Whether an index considers values equal if its columns do.
    private func comparesAsColumns(_ index: IndexInfo) -> Bool {
        index.keys.allSatisfy { key in
            // Strings that are equal by BINARY are equal by all collations.
            let collation = key.column.flatMap { collations[CaseInsensitiveName($0)] }
            return collation?.name.map { CaseInsensitiveName.matches($0, key.collation) } ?? true
        }
    }

    /// Returns the keys of partial unique indexes that consist of the given columns.
    func partialKeys(of names: some Sequence<String>) -> [PartialKey] {
        if partialKeys.isEmpty { return [] }
        let names = Set(names.map(CaseInsensitiveName.init))
        return partialKeys.filter { key in
            names == Set(key.index.columns.map(CaseInsensitiveName.init)) && comparesAsColumns(key.index)
        }
    }
}

extension Database {
    /// Returns the collation of a column, which no PRAGMA reports. Nil for a column that does not
    /// belong to a table.
    fileprivate func collation(ofColumn column: String, in tableName: String, of schemaName: String)
        -> String?
    {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            pointer, schemaName, tableName, column, nil, &collation, nil, nil, nil)
        return code == SQLITE_OK ? collation.map { String(cString: $0) } : nil
    }

    /// Returns a collation by its name. A program may have replaced SQLite's own.
    fileprivate func collation(named name: String) -> ColumnComparison.Collation {
        func isNamed(_ other: String) -> Bool { CaseInsensitiveName.matches(other, name) }
        if let added = added.collations.first(where: { isNamed($0.name) }) {
            return .added(name: name, areEqual: added.areEqual)
        }
        if isNamed("NOCASE") { return .noCase }
        return isNamed("RTRIM") ? .rightTrim : .added(name: name, areEqual: nil)
    }
}
