/// The key of a followed row.
///
/// It is equal for all keys that find the same row, as far as Swift can determine.
enum RowKey: Hashable, Sendable {
    case one(DatabaseValue)
    case several([DatabaseValue])

    init(_ values: [DatabaseValue], comparedBy comparisons: [ColumnComparison]) {
        let values = zip(values, comparisons).map { $1.comparable($0) }
        self = values.count == 1 ? .one(values[0]) : .several(values)
    }

    init(rowID: Int64) { self = .one(rowID.databaseValue) }

    var values: [DatabaseValue] {
        switch self {
        case .one(let value): [value]
        case .several(let values): values
        }
    }
}

/// The lookup of one table's followed rows by their keys, in one state of the schema.
struct FollowedTable {
    /// The columns of the primary key.
    let key: [String]
    let version: RowTesters.Version
    /// The layout of all rows. It knows the table, so that records which merge the rows share it.
    let layout: RowLayout
    /// The changes that concern the followers of rows.
    let concern: LiveConcern
    /// The databases that are read.
    let databases: Set<String>
    /// The comparisons of the key's columns.
    private let comparisons: [ColumnComparison]
    /// The places of the key's columns among the stored ones, if these identify the changed rows.
    private let tellingPlaces: [Int]?
    /// Whether the hook reports all values as they are stored, so that an update without a change
    /// is recognized.
    let tellsValues: Bool
    /// Whether the row id is the key.
    private let isRowID: Bool
    private let oneSQL: String
    private let severalSQL: String

    /// The number of keys that one statement looks up.
    private static let keysAtOnce = 100

    /// Examines the table of a class.
    ///
    /// - Throws: A ``DatabaseError`` if it does not exist, and
    ///   ``RecordError/noKey(databaseTableName:columns:)`` if it has no primary key.
    init(of type: Record.Type, _ version: RowTesters.Version, on db: Database) throws {
        let name = type.databaseTableName
        let table = try db.schema.table(name)
        let key = table.map(type.primaryKey(of:)) ?? type.databasePrimaryKey ?? []
        (self.key, self.version) = (key, version)
        comparisons = key.map { table?.comparison(ofColumn: $0) ?? .unknown }
        let quoted = name.quotedDatabaseIdentifier
        if key.isEmpty {
            // If there is no such table, SQLite reports it.
            _ = try db.cachedStatement(sql: "SELECT * FROM \(quoted)")
            throw RecordError.noKey(databaseTableName: name, columns: [])
        }
        let condition = key.map { "\($0.quotedDatabaseIdentifier) = ?" }.joined(separator: " AND ")
        // A hidden row id is no column of `*`.
        let hidden = key.filter { table?.column(named: $0) == nil }.map(\.quotedDatabaseIdentifier)
        oneSQL = "SELECT \((["*"] + hidden).joined(separator: ", ")) FROM \(quoted) WHERE \(condition)"
        severalSQL = Self.sql(quoted, key, hidden)
        let statement = try db.cachedStatement(sql: oneSQL)
        let names = statement.columnNames
        layout = RowLayout(
            names: names, sql: oneSQL, affinities: names.map { table?.affinity(ofColumn: $0) },
            key: KeyColumns(names: key, comparisons: comparisons))
        databases = statement.effects.databases

        isRowID = table?.rowIDName.map { key.count == 1 && CaseInsensitiveName.matches($0, key[0]) } ?? false
        var (places, tellsValues) = ([Int]?.none, false)
        if let table, table.schemaName == "main", table.kind == .table {
            let stored = StoredColumns(table, db)
            let found = key.compactMap { name in
                stored.names.firstIndex { CaseInsensitiveName.matches($0, name) }
            }
            // If a collation of the program treats values as equal, only SQLite can look them up.
            let areComparable = comparisons.allSatisfy(\.isComparable)
            // The hook sometimes counts virtual columns.
            let isCounted = stored.hasRowID || table.allColumns.allSatisfy { $0.generation != .virtual }
            if isRowID {
                places = []
            } else if areComparable, isCounted, found.count == key.count {
                places = found
            }
            tellsValues = stored.hasRowID && stored.lostColumn == nil && table.tellsOlderRows(stored)
        }
        (tellingPlaces, self.tellsValues) = (places, tellsValues)
        let region = try statement.databaseRegion(db)
        concern =
            places == nil
            ? LiveConcern(region) : LiveConcern(DatabaseRegion(table: name), isOfKeys: true)
    }

    /// Returns SQL that looks up several keys, each with its number. The number identifies the
    /// key that has found a row, also if the columns treat different values as equal.
    private static func sql(_ table: String, _ key: [String], _ hidden: [String]) -> String {
        let names = key.indices.map { "k\($0)" }
        let marks = String(repeating: ", ?", count: key.count)
        let values = (0..<keysAtOnce).map { "(\($0)\(marks))" }.joined(separator: ", ")
        let condition = zip(key, names).map { "r.\($0.quotedDatabaseIdentifier) = shellac_keys.\($1)" }
            .joined(separator: " AND ")
        let columns = (["shellac_keys.number", "r.*"] + hidden.map { "r.\($0)" }).joined(separator: ", ")
        return "WITH shellac_keys(\((["number"] + names).joined(separator: ", "))) AS (VALUES \(values)) "
            + "SELECT \(columns) FROM shellac_keys CROSS JOIN \(table) AS r ON \(condition)"
    }

    // MARK: - Keys

    /// Returns the key of a record, among its encoded or remembered values, or nil if there is
    /// none.
    func key(of names: [String], _ values: [DatabaseValue]) -> RowKey? {
        var found: [DatabaseValue] = []
        for (name, comparison) in zip(key, comparisons) {
            guard let place = names.firstIndex(where: { CaseInsensitiveName.matches($0, name) }),
                values[place] != .null
            else { return nil }
            found.append(comparison.affinity?.storing(values[place]) ?? values[place])
        }
        return RowKey(found, comparedBy: comparisons)
    }

    /// Calls a function with the keys of a row, before its change and after. Returns false if they
    /// cannot be determined.
    func tellKeys(
        of row: ChangingRow, _ kind: DatabaseEvent.Kind, _ columns: StoredColumns, _ generation: UInt64,
        _ body: (RowKey) -> Void
    ) -> Bool {
        guard let tellingPlaces, generation == version.schemaGeneration else { return false }
        if isRowID {
            guard columns.hasRowID else { return false }
            if kind != .insert { body(RowKey(rowID: row.initialRowID)) }
            if kind != .delete, kind == .insert || row.finalRowID != row.initialRowID {
                body(RowKey(rowID: row.finalRowID))
            }
            return true
        }
        func tell(_ value: (Int) -> DatabaseValue?) {
            body(RowKey(tellingPlaces.map { value($0) ?? .null }, comparedBy: comparisons))
        }
        if kind != .insert { tell { row.initialValue(at: $0, columns) } }
        if kind != .delete { tell { row.finalValue(at: $0, columns) } }
        return true
    }

    /// Returns the key of a row of which only the row id is known, or nil if that is not its key.
    func key(of event: DatabaseEvent) -> RowKey? {
        isRowID && !event.mayHaveMoved && !event.hasNoRowID ? RowKey(rowID: event.rowID) : nil
    }

    // MARK: - Fetching

    /// Fetches the rows of some keys, in their order, with nil for a missing one.
    func fetch(_ keys: [RowKey], on db: Database) throws -> [PackedRow?] {
        var rows: [PackedRow?] = Array(repeating: nil, count: keys.count)
        if keys.count == 1 {
            try run(oneSQL, keys[0].values, on: db) { rows[0] = rows[0] ?? row($0, from: 0) }
            return rows
        }
        for start in stride(from: 0, to: keys.count, by: Self.keysAtOnce) {
            let part = keys[start..<min(start + Self.keysAtOnce, keys.count)]
            // NULL is equal to nothing.
            let rest = (Self.keysAtOnce - part.count) * key.count
            let values = part.flatMap(\.values) + Array(repeating: DatabaseValue.null, count: rest)
            try run(severalSQL, values, on: db) { live in
                guard let number = Int.fromDatabaseValue(live.value(at: 0).view.databaseValue) else { return }
                rows[start + number] = rows[start + number] ?? row(live, from: 1)
            }
        }
        return rows
    }

    private func run(
        _ sql: String, _ values: [DatabaseValue], on db: Database, _ body: (LiveRow) -> Void
    ) throws {
        let statement = try db.cachedStatement(sql: sql)
        try statement.begin(StatementArguments(values))
        defer { statement.abandon() }
        let row = statement.row
        while try statement.step() { body(row) }
    }

    private func row(_ row: LiveRow, from first: Int) -> PackedRow {
        PackedRow.make(layout) { body in
            for column in first..<first + layout.count { body(row.value(at: column).view) }
        }
    }
}

extension ChangingRow {
    /// Whether an update writes the present values again.
    func isSame(_ columns: StoredColumns) -> Bool {
        if columns.hasRowID, initialRowID != finalRowID { return false }
        return columns.columns.indices.allSatisfy { place in
            guard let before = initialValue(at: place, columns), let after = finalValue(at: place, columns)
            else { return false }
            return before.isIdentical(to: after)
        }
    }
}
