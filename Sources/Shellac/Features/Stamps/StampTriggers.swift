/// The triggers that stamp the rows of a table.
///
/// Their guards were found by experiment. They terminate even if triggers are recursive, they keep
/// explicit values, and they ignore stamps by another one of them. `NEW.updatedAt IS OLD.updatedAt`
/// alone would recurse forever at the second update of one transaction.
struct StampTriggers {
    private let stamps: DatabaseStamps
    private let table: TableSchema
    /// The key of the row that a trigger runs for.
    private let key: [String]
    /// Whether a callback is called for the table's updates.
    private let isHeard: Bool
    /// The first statements of a trigger that runs after an insertion: see
    /// ``UndoTables/noteOfInsertion(function:)``.
    private let notes: String

    /// Creates the triggers of a table. Nil if the table cannot have them (any more).
    init?(_ declared: DatabaseStamps, _ table: TableSchema, isHeard: Bool, notes: String) {
        guard table.kind == .table, let key = table.keyOfRow("NEW") else { return nil }
        func known(_ name: String?) -> String? { name.flatMap { table.column(named: $0)?.name } }
        var stamps = DatabaseStamps(created: known(declared.created), updated: known(declared.updated))
        for group in declared.groups {
            let columns = group.columns.compactMap(known)
            guard let stamp = known(group.stamp), columns.count == group.columns.count else { continue }
            stamps = stamps.adding(DatabaseStamps.Group(stamp: stamp, columns: columns))
        }
        self.stamps = stamps
        self.table = table
        self.key = key
        self.isHeard = isHeard
        self.notes = notes
    }

    /// Returns the names and the SQL of all triggers.
    func all() -> [(name: String, sql: String)] {
        let (created, updated) = (
            stamps.created?.quotedDatabaseIdentifier, stamps.updated?.quotedDatabaseIdentifier
        )
        var triggers: [(name: String, sql: String)] = []
        let missing = [stamps.created, stamps.updated].compactMap(\.self).map { name in
            let quoted = name.quotedDatabaseIdentifier
            guard let date = table.column(named: name)?.currentDateByDefault else {
                return (new: "NEW.\(quoted) IS NULL", set: "\(quoted) = coalesce(\(quoted), stamp())")
            }
            // The date is missing, or explicitly "now": stamp() is exactly that, for all rows of
            // the transaction. SQLite's own date stays the same within a statement ("Date And Time
            // Functions").
            func isNow(_ column: String) -> String { "(\(column) IS NULL OR \(column) IS \(date))" }
            return (
                new: isNow("NEW.\(quoted)"),
                set: "\(quoted) = CASE WHEN \(isNow(quoted)) THEN stamp() ELSE \(quoted) END"
            )
        }
        if !missing.isEmpty {
            let condition = missing.map(\.new).joined(separator: " OR ")
            triggers.append(
                make(
                    "insert", "INSERT",
                    (missing.count > 1 ? "(\(condition))" : condition) + " AND stamp() IS NOT NULL",
                    missing.map(\.set).joined(separator: ", ")))
        }
        if let updated {
            let same = [updated, created].compactMap(\.self).map { "NEW.\($0) IS OLD.\($0)" }
                .joined(separator: " AND ")
            triggers.append(
                make(
                    "update", "UPDATE\(columnsNotMaintained)",
                    "\(same) AND NEW.\(updated) IS NOT stamp() AND stamp() IS NOT NULL",
                    "\(updated) = stamp()"))
        }
        for group in stamps.groups {
            let stamp = group.stamp.quotedDatabaseIdentifier
            let columns = group.columns.map(\.quotedDatabaseIdentifier)
            // The column's collation might treat two different texts as equal.
            let changed = columns.map { "NEW.\($0) COLLATE BINARY IS NOT OLD.\($0)" }.joined(
                separator: " OR ")
            triggers.append(
                make(
                    "update of \(group.stamp)", "UPDATE OF \(columns.joined(separator: ", "))",
                    "(\(changed)) AND NEW.\(stamp) IS OLD.\(stamp) AND NEW.\(stamp) IS NOT stamp() "
                        + "AND stamp() IS NOT NULL",
                    "\(stamp) = stamp()"))
        }
        return triggers
    }

    /// ` OF "a", "b"` if triggers maintain columns of the table: that is no update of the row.
    private var columnsNotMaintained: String {
        guard !table.maintainedColumns.isEmpty else { return "" }
        let names = table.columns.map(\.name).filter { name in
            !table.isMaintained(name)
        }
        return " OF \(names.map(\.quotedDatabaseIdentifier).joined(separator: ", "))"
    }

    private func make(_ what: String, _ event: String, _ condition: String, _ values: String) -> (
        name: String, sql: String
    ) {
        let prefix = isHeard ? DatabaseStamps.callingTriggerPrefix : DatabaseStamps.triggerPrefix
        let name = "\(prefix)\(table.name) \(what)"
        let quoted = table.name.quotedDatabaseIdentifier
        let row = key.map { "\($0.dropFirst("NEW.".count)) = \($0)" }.joined(separator: " AND ")
        var body = "UPDATE \(quoted) SET \(values) WHERE \(row);"
        if isHeard {
            let literal = table.name.quotedDatabaseLiteral
            // A function takes at most 127 arguments.
            let arguments = ([literal] + key.prefix(100)).joined(separator: ", ")
            body = "SELECT shellac_filling(\(arguments)); \(body) SELECT shellac_filling(\(literal));"
        }
        if event == "INSERT" { body = notes + body }
        return (
            name,
            "CREATE TRIGGER \(name.quotedDatabaseIdentifier) AFTER \(event) ON main.\(quoted) FOR EACH ROW "
                + "WHEN \(condition) BEGIN \(body) END"
        )
    }

    // MARK: - Checks

    /// Throws if a table cannot be stamped in this way, and logs the columns that an insertion must
    /// set.
    static func check(_ declared: DatabaseStamps, on name: String, _ database: Database) throws {
        func refuse(_ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "the table \(name) cannot be stamped: \(reason)")
        }
        let table = try database.tableForTriggers(name, refuse)
        func column(_ name: String) throws -> ColumnInfo {
            guard let column = table.column(named: name) else { throw refuse("it has no column \(name)") }
            return column
        }
        guard table.keyOfRow("NEW") != nil else {
            throw refuse("its rows have neither a primary key nor a row id that SQL could use")
        }
        let groups = declared.groups
        for name in [declared.created, declared.updated].compactMap(\.self) + groups.map(\.stamp) {
            let column = try column(name)
            guard !column.isGenerated else { throw refuse("its column \(name) is generated") }
            guard column.primaryKeyIndex == 0 else {
                throw refuse("its column \(name) is in the primary key")
            }
            // (Others have an affinity, and take any text. See "STRICT Tables".)
            guard try !database.isStrict(table) || ["TEXT", "ANY"].contains(column.type.uppercased()) else {
                throw refuse(
                    "its column \(name) cannot store the text of a stamp. In a STRICT table, declare the column as TEXT"
                )
            }
        }
        for name in groups.flatMap(\.columns) { _ = try column(name) }
        let naked = try [declared.created, declared.updated].compactMap(\.self).map(column)
            .filter { $0.isNotNull && $0.defaultValueSQL == nil }.map(\.name)
        if naked.isEmpty { return }
        let columns = naked.joined(separator: " and ")
        ErrorLog.warn(
            "the table \(table.name) has stamps that are NOT NULL without a default value: \(columns). Raw SQL that "
                + "inserts rows must set them, because the trigger that stamps rows runs after the insertion. "
                + "Declare them NOT NULL DEFAULT CURRENT_TIMESTAMP, as t.timestamps() does, or allow NULL. "
                + "The trigger replaces the default value with the date of the transaction")
    }
}

extension ColumnInfo {
    /// The default value, if it is the date at which a row is inserted.
    fileprivate var currentDateByDefault: String? {
        guard let sql = defaultValueSQL?.uppercased(), let expression = defaultExpression else { return nil }
        // (In quotes, a name would be a column in the trigger.)
        guard !sql.contains("\""), !sql.contains("`"), !sql.contains("[") else { return nil }
        return sql == "CURRENT_TIMESTAMP" || sql.contains("'NOW'") ? expression : nil
    }
}

extension Database {
    /// Whether a table of `main` is STRICT.
    fileprivate func isStrict(_ table: TableSchema) throws -> Bool {
        guard Features.versionNumber >= 3_037_000 else { return false }  // which introduced them
        let name = table.name.quotedDatabaseIdentifier
        let tables = try asking { try Row.fetchAll(makeStatement(sql: "PRAGMA main.table_list(\(name))")) }
        return try tables.contains {
            try CaseInsensitiveName.matches($0["schema"], "main") && $0["strict"]
        }
    }
}
