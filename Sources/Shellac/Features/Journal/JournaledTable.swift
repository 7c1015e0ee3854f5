// The columns of a table as the journal records them.

import CSQLite

/// A table whose changes the journal records.
///
/// Its columns are those of changesets: all but the generated ones. For SQLite's hook, they have
/// other indices: see ``StoredColumns``.
final class JournaledTable {
    struct Column {
        let name: String
        /// The index for values before a change.
        let oldIndex: Int32
        /// The indices for values after an insertion, and after an update.
        let insertedIndex: Int32
        let updatedIndex: Int32
        let isRowID: Bool
        let isKey: Bool
        /// Whether the column has the affinity REAL: SQLite reports some whole numbers as
        /// integers.
        let isReal: Bool
        /// Whether whole numbers are stored as integers: SQLite reports some as real numbers.
        let isIntegral: Bool
        let isNotNull: Bool
        let valueOfOlderRows: DatabaseValue?
    }

    let name: String
    /// The name as SQLite reports it.
    let reportedName: [CChar]
    let columns: [Column]
    /// The heading of the table in a changeset.
    let heading: [UInt8]
    /// Whether the key is the row ID.
    let hasRowIDKey: Bool
    /// The places of the key's columns, in the order of the key.
    let key: [Int]

    var columnNames: [String] { columns.map(\.name) }

    /// Reads the columns of a table.
    ///
    /// - Throws: a ``JournalError/unfitTable(_:reason:)``.
    init(_ table: TableSchema, _ database: Database) throws {
        func unfit(_ reason: String) -> JournalError { .unfitTable(table.name, reason: reason) }
        switch table.kind {
        case .table: break
        case .virtualTable: throw unfit("it is a virtual table, whose rows SQLite does not report")
        case .view: throw unfit("it is a view")
        case .tableValuedFunction: throw unfit("it is a table-valued function")
        }
        let declared = table.allColumns.filter { $0.primaryKeyIndex > 0 }
        guard !declared.isEmpty else {
            throw unfit("it has no declared primary key, which identifies its rows")
        }
        let stored = StoredColumns(table, database)
        if let lost = stored.lostColumn {
            throw unfit(
                "SQLite confuses its column \(lost) with the primary key: declare the INTEGER PRIMARY KEY before "
                    + "the virtual columns")
        }
        var columns: [Column] = []
        var flags: [UInt8] = []
        let countsVirtual = PreUpdateFunctions.countsVirtualColumns
        for (place, column) in stored.columns.enumerated() {
            let info = table.allColumns[Int(column.index)]
            if info.isGenerated { continue }
            func index(_ all: Bool) -> Int32 { all || countsVirtual ? column.index : Int32(place) }
            columns.append(
                Column(
                    name: column.name, oldIndex: index(!stored.hasRowID),
                    insertedIndex: index(!stored.hasRowID), updatedIndex: index(false),
                    isRowID: column.isRowID, isKey: info.primaryKeyIndex > 0,
                    isReal: column.affinity == .real,
                    isIntegral: column.affinity == .integer || column.affinity == .numeric,
                    isNotNull: column.isNotNull, valueOfOlderRows: column.valueOfOlderRows))
            flags.append(UInt8(clamping: info.primaryKeyIndex))
        }
        guard columns.contains(where: \.isKey) else { throw unfit("its primary key is a generated column") }
        name = table.name
        reportedName = Array(table.name.utf8CString)
        self.columns = columns
        hasRowIDKey = table.primaryKey.rowIDColumn != nil
        key = columns.indices.filter { flags[$0] > 0 }.sorted { flags[$0] < flags[$1] }
        var heading = ChangesetBytes()
        heading.append(ChangesetFormat.table)
        heading.append(varint: columns.count)
        for flag in flags { heading.append(flag) }
        for byte in name.utf8 { heading.append(byte) }
        heading.append(0)
        self.heading = Array(heading.bytes)
    }

    /// Whether another state of the table has the same columns and key.
    func isSame(as other: JournaledTable) -> Bool {
        heading == other.heading && columnNames == other.columnNames
    }

    /// The SQL that reads a row by its key. The parameters are numbered in the order of the key.
    var selection: String {
        let names = columns.map(\.name.quotedDatabaseIdentifier).joined(separator: ", ")
        return "SELECT \(names) FROM main.\(name.quotedDatabaseIdentifier) WHERE \(keyCondition)"
    }

    /// The condition for a row with a key. Keys differ that their collation considers equal.
    var keyCondition: String {
        key.enumerated().map { place, column in
            let name = columns[column].name.quotedDatabaseIdentifier
            let condition = "\(name) IS ?\(place + 1)"
            return columns[column].isRowID
                ? condition : "\(condition) AND \(name) COLLATE BINARY IS ?\(place + 1)"
        }.joined(separator: " AND ")
    }

    /// The SQL that finds a row without a key.
    var selectionOfNullKeys: String? {
        if hasRowIDKey { return nil }
        let condition = key.map { "\(columns[$0].name.quotedDatabaseIdentifier) IS NULL" }
        return "SELECT 1 FROM main.\(name.quotedDatabaseIdentifier) WHERE "
            + condition.joined(separator: " OR ") + " LIMIT 1"
    }
}
