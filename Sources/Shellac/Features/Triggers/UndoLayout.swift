/// The layout in which the rows of a recorded table are kept: the key of a row, and its columns.
///
/// If the columns of a table change, it gets another layout. Each layout has two temporary tables
/// of its own:
///
/// - `before`: the rows that the present transaction has touched, in their earlier states. `k0…` is
///   the key, `epoch` the number of the transaction, `e` whether the row existed, and `c0…` are its
///   columns. `isForeseen` is whether an insertion has noted the row before it was inserted, if
///   that matters.
/// - `rows`: the rows of all groups, before (`e`, `o0…`) and after (`l`, `n0…`) the change.
///
/// Their columns have no type, so that they keep each value as it is.
struct UndoLayout: Hashable {
    struct Column: Hashable {
        let name: String
        let affinity: ColumnAffinity
    }

    let table: String
    let key: [RowKeyColumn]
    /// All writable columns, except the one that is another name of the row id, and counters.
    /// Triggers maintain these, as the rows that they count come and go.
    let columns: [Column]
    let hasRowID: Bool
    /// Whether `VACUUM` keeps the keys.
    let hasLastingKey: Bool

    /// - Parameter refuse: Makes an error from the reason why a table cannot be recorded.
    init(_ table: TableSchema, _ refuse: (String) -> DatabaseError) throws {
        self.table = table.name
        hasRowID = table.primaryKey.tableHasRowID
        hasLastingKey = !hasRowID || table.primaryKey.rowIDColumn != nil
        guard let key = table.keyOfRow else {
            throw refuse(
                hasRowID
                    ? "its columns use all names of the row id" : "its primary key is not known")
        }
        self.key = key
        columns = table.allColumns.filter { column in
            !column.isGenerated && column.name != table.primaryKey.rowIDColumn
                && !table.isMaintained(column.name)
        }
        .map { Column(name: $0.name, affinity: $0.affinity) }
        // Each of them appears twice in a table, beside the key.
        guard columns.count <= 990 else { throw refuse("it has more than 990 columns") }
    }

    /// Whether the groups of this layout can be undone in a table that has another one by now.
    func isCompatible(with other: UndoLayout) -> Bool {
        let known = Dictionary(
            other.columns.map { (CaseInsensitiveName($0.name), $0.affinity) }, uniquingKeysWith: { a, _ in a }
        )
        return key == other.key && hasRowID == other.hasRowID
            && columns.allSatisfy { known[CaseInsensitiveName($0.name)] == $0.affinity }
    }
}

/// A layout, and its temporary tables.
struct UndoTables {
    let layout: UndoLayout
    /// The number of the layout in the triggers.
    let number: Int
    /// The prefix of the names of the recorder's tables.
    let prefix: String

    /// The names of the tables, as SQL.
    var before: String { "\(prefix) before \(number)".quotedDatabaseIdentifier }
    var rows: String { "\(prefix) rows \(number)".quotedDatabaseIdentifier }

    /// The recorded table, as SQL.
    var table: String { "main." + layout.table.quotedDatabaseIdentifier }

    /// The statements that create the tables, unless they exist.
    var definitions: [String] {
        let keys = layout.key.enumerated().map { index, key in
            "k\(index)\(key.collation)"
        }
        let names = list("k", layout.key.count)
        return [
            "CREATE TEMP TABLE IF NOT EXISTS \(before) "
                + "(\((keys + ["epoch", "e"] + numbered("c") + ["isForeseen"]).joined(separator: ", ")), "
                + "PRIMARY KEY (\(names), epoch)) WITHOUT ROWID",
            "CREATE TEMP TABLE IF NOT EXISTS \(rows) "
                + "(\((["grp"] + keys + ["e", "l"] + numbered("o") + numbered("n")).joined(separator: ", ")), "
                + "PRIMARY KEY (grp, \(names))) WITHOUT ROWID",
        ]
    }

    // MARK: - Pieces of SQL

    /// Returns `c0`, `c1`, … for the columns.
    func numbered(_ letter: String) -> [String] { layout.columns.indices.map { "\(letter)\($0)" } }

    /// Returns `k0, k1` for a number of names.
    func list(_ letter: String, _ count: Int) -> String {
        (0..<count).map { "\(letter)\($0)" }.joined(separator: ", ")
    }

    /// Returns the key columns of kept rows: `p.k0, p.k1`.
    func keys(_ row: String = "") -> String {
        layout.key.indices.map { "\(row)k\($0)" }.joined(separator: ", ")
    }

    /// Returns the columns of a row of the table, in SQL.
    func columns(_ row: String) -> [String] {
        layout.columns.map { "\(row)\($0.name.quotedDatabaseIdentifier)" }
    }

    /// Returns the SQL condition that a row of the table has the key of a kept one.
    func matches(_ row: String, _ kept: String) -> String {
        layout.key.enumerated().map { index, key in
            "\(row).\(key.collated) = \(kept).k\(index)"
        }.joined(separator: " AND ")
    }

    /// Returns the SQL condition that two kept rows have the same key.
    func sameKeys(_ a: String, _ b: String) -> String {
        layout.key.indices.map { "\(a).k\($0) = \(b).k\($0)" }.joined(separator: " AND ")
    }

    /// Returns the SQL condition that two values, or their storage classes, differ.
    static func differ(_ a: String, _ b: String) -> String {
        "(\(a) COLLATE BINARY IS NOT \(b) OR typeof(\(a)) <> typeof(\(b)))"
    }

    /// Returns the SQL condition that an existing row of the table has other values than a kept
    /// one.
    func differs(_ row: String, _ kept: String) -> String {
        let all = zip(columns("\(row)."), numbered("\(kept).c")).map { Self.differ($0, $1) }
        return all.isEmpty ? "0" : "(\(all.joined(separator: " OR ")))"
    }

    /// Returns the SQL condition that a row of a left-joined table exists.
    func isThere(_ row: String) -> String { "\(row).\(layout.key[0].sql) IS NOT NULL" }
}
