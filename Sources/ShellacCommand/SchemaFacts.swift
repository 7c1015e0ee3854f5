// A schema summary for the verbs: tables, views, unindexed foreign keys, redundant indexes.

import Shellac

/// The declarations of a database, as the verbs need them.
struct SchemaFacts {
    struct Table {
        let name: String
        let columns: [ColumnInfo]
        let key: PrimaryKeyInfo
        let foreignKeys: [ForeignKeyInfo]
        let indexes: [IndexInfo]
        let isVirtual: Bool
    }

    private(set) var tables: [Table] = []
    private(set) var views: [String]
    /// The number of tables that are left out.
    private(set) var ownTableCount = 0
    /// The tables that this program cannot read, with the reason: virtual ones whose module is
    /// missing.
    private(set) var unreadable: [(name: String, reason: String)] = []

    /// - Parameter all: Whether to include the tables that SQLite and Shellac make for themselves.
    init(_ db: Database, all: Bool = true) throws {
        views = try db.viewNames()
        let own = all ? nil : try OwnTables(db)
        let virtual = try Set(
            String.fetchAll(
                db, sql: "SELECT lower(name) FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0"))
        for name in try db.tableNames() {
            guard !(own?.contains(name) ?? false) else {
                ownTableCount += 1
                continue
            }
            do {
                tables.append(
                    Table(
                        name: name, columns: try db.columns(in: name, in: "main"),
                        key: try db.primaryKey(name, in: "main"),
                        foreignKeys: try db.foreignKeys(on: name, in: "main"),
                        indexes: try db.indexes(on: name, in: "main"),
                        isVirtual: virtual.contains(name.asciiLowercased)))
            } catch let error as DatabaseError where virtual.contains(name.asciiLowercased) {
                unreadable.append((name, error.message ?? "\(error.resultCode)"))
            }
        }
    }

    func table(_ name: String) -> Table? { tables.first { $0.name.isSameName(as: name) } }

    // MARK: - Indexes

    /// The foreign keys without an index that begins with their columns. Each deletion of a row
    /// that they refer to reads the whole table.
    var unindexedForeignKeys: [(key: ForeignKeyInfo, remedy: String)] {
        tables.flatMap { table in
            table.foreignKeys.filter { !table.hasIndex(beginningWith: $0.originColumns) }.map { key in
                let name = ([table.name] + key.originColumns).joined(separator: "_")
                let columns = key.originColumns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
                return (
                    key,
                    "CREATE INDEX \(name.quotedDatabaseIdentifier) ON \(table.name.quotedDatabaseIdentifier)(\(columns))"
                )
            }
        }
    }

    /// The indexes that another one makes superfluous, each with the reason.
    var superfluousIndexes: [(table: String, index: IndexInfo, reason: String)] {
        tables.flatMap { table in
            table.indexes.compactMap { index in
                table.reasonToDrop(index).map { (table.name, index, $0) }
            }
        }
    }
}

extension SchemaFacts {
    /// Returns a name for the row ID that no column has. Nil if columns have all of them.
    static func rowIDName(besides columns: [String]) -> String? {
        ["rowid", "_rowid_", "oid"].first { name in !columns.contains { $0.isSameName(as: name) } }
    }
}

/// The tables that SQLite and Shellac make for themselves: for the content of virtual tables, for
/// migrations, counters and undo.
struct OwnTables {
    private let shadows: Set<String>

    init(_ db: Database) throws {
        shadows = try Set(
            String.fetchAll(
                db,
                sql: "SELECT lower(name) FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'"))
    }

    /// Whether a table, or a trigger, is one of them.
    func contains(_ name: String, countingMigrations: Bool = true) -> Bool {
        shadows.contains(name.asciiLowercased) || OwnName.contains(name)
            || countingMigrations && name.isSameName(as: "grdb_migrations")
    }
}

extension SchemaFacts.Table {
    /// Whether an index begins with some columns, in any order.
    func hasIndex(beginningWith columns: [String]) -> Bool {
        func begins(_ others: [String]) -> Bool {
            // For equalities, the order does not matter.
            let start = others.prefix(columns.count)
            return start.count == columns.count
                && columns.allSatisfy { column in start.contains { $0.isSameName(as: column) } }
        }
        if begins(key.columns) { return true }
        return indexes.contains { index in
            !index.isPartial && !index.keys.prefix(columns.count).contains { $0.column == nil }
                && begins(index.columns)
        }
    }

    /// Returns the reason why an index is not needed, or nil if it is needed.
    fileprivate func reasonToDrop(_ index: IndexInfo) -> String? {
        guard index.origin == .createIndex, !index.isPartial, !index.hasExpressions else { return nil }
        func covers(_ keys: [(String?, String)]) -> Bool {
            keys.count >= index.keys.count
                && zip(index.keys, keys).allSatisfy { mine, other in
                    (mine.column ?? "").isSameName(as: other.0 ?? "")
                        && mine.collation.isSameName(as: other.1)
                }
        }
        if let row = key.rowIDColumn, index.columns.count == 1, index.columns[0].isSameName(as: row) {
            return "it indexes the row id, by which the table is already sorted"
        }
        for other in indexes where other.name != index.name && !other.isPartial && !other.hasExpressions {
            guard covers(other.keys.map { ($0.column, $0.collation) }) else { continue }
            let isSame = other.keys.count == index.keys.count
            // Of two equal indexes, the newer one is superfluous. Of a unique one and another, the
            // other is.
            if index.isUnique, !(isSame && other.isUnique) { continue }
            if isSame, index.isUnique == other.isUnique, other.origin == .createIndex,
                let mine = indexes.firstIndex(of: index), let its = indexes.firstIndex(of: other), mine < its
            {
                continue
            }
            return isSame ? "\(other.name) is the same" : "\(other.name) begins with the same columns"
        }
        return nil
    }
}

extension String {
    /// Whether SQLite treats two names as equal: without regard to the case of ASCII letters.
    func isSameName(as other: String) -> Bool {
        asciiLowercased.utf8.elementsEqual(other.asciiLowercased.utf8)
    }

    var asciiLowercased: String {
        String(decoding: utf8.map { 65...90 ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Returns columns of a table in a readable form: `player.teamId`, `a.(b, c)`.
    static func place(_ table: String, _ columns: [String]) -> String {
        let list = columns.joined(separator: ", ")
        return columns.count == 1 ? "\(table).\(list)" : "\(table).(\(list))"
    }

    /// Returns a size in a readable form.
    static func size(_ bytes: Int) -> String {
        var (amount, unit) = (Double(bytes), 0)
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        while amount >= 999.5, unit < units.count - 1 { (amount, unit) = (amount / 1_000, unit + 1) }
        if unit == 0 { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        let tenths = Int((amount * 10).rounded())
        return tenths < 100
            ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\(Int(amount.rounded())) \(units[unit])"
    }

    /// Returns a number with a noun: `1 row`, `2 rows`.
    static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(number == 1 ? thing : thing.hasSuffix("x") ? thing + "es" : thing + "s")"
    }
}
