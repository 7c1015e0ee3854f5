/// The triggers that stamp the rows of a table.
///
/// Their guards were found by experiment. They end where triggers are recursive, they leave explicit values alone, and
/// they do not see what another of them has stamped. `NEW.updatedAt IS OLD.updatedAt` alone would recurse forever at the
/// second update of one transaction.
struct StampTriggers {
    private let stamps: DatabaseStamps
    private let table: TableSchema
    /// What finds the row that a trigger runs for.
    private let row: String
    /// Whether somebody hears of the table's updates.
    private let isHeard: Bool

    /// Nil where the table cannot have them (any more).
    init?(_ declared: DatabaseStamps, _ table: TableSchema, isHeard: Bool) throws {
        guard table.kind == .table, let row = table.conditionOfNewRow else { return nil }
        func known(_ name: String?) -> String? { name.flatMap { table.column(named: $0)?.name } }
        var stamps = DatabaseStamps(created: known(declared.created), updated: known(declared.updated))
        for group in declared.groups {
            let columns = group.columns.compactMap(known)
            guard let stamp = known(group.stamp), columns.count == group.columns.count else { continue }
            stamps = stamps.adding(DatabaseStamps.Group(stamp: stamp, columns: columns))
        }
        self.stamps = stamps
        self.table = table
        self.row = row
        self.isHeard = isHeard
    }

    /// Name and SQL of all triggers.
    func all(_ database: Database) throws -> [(name: String, sql: String)] {
        _ = try database.stamps  // the function stamp()
        let (created, updated) = (
            stamps.created?.quotedDatabaseIdentifier, stamps.updated?.quotedDatabaseIdentifier
        )
        let both = [created, updated].compactMap(\.self)
        var triggers: [(name: String, sql: String)] = []
        if !both.isEmpty {
            let missing = both.map { "NEW.\($0) IS NULL" }.joined(separator: " OR ")
            let values = both.map { "\($0) = coalesce(\($0), stamp())" }.joined(separator: ", ")
            let condition = both.count > 1 ? "(\(missing))" : missing
            triggers.append(make("insert", "INSERT", "\(condition) AND stamp() IS NOT NULL", values))
        }
        if let updated {
            let same = [updated, created].compactMap(\.self).map { "NEW.\($0) IS OLD.\($0)" }
                .joined(separator: " AND ")
            triggers.append(
                make(
                    "update", "UPDATE", "\(same) AND NEW.\(updated) IS NOT stamp() AND stamp() IS NOT NULL",
                    "\(updated) = stamp()"))
        }
        for group in stamps.groups {
            let stamp = group.stamp.quotedDatabaseIdentifier
            let columns = group.columns.map(\.quotedDatabaseIdentifier)
            // The column's collation might find two texts equal.
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

    private func make(_ what: String, _ event: String, _ condition: String, _ values: String) -> (
        name: String, sql: String
    ) {
        let name = "\(TriggerConnection.prefix)stamps \(table.name) \(what)"
        let quoted = table.name.quotedDatabaseIdentifier
        var body = "UPDATE \(quoted) SET \(values) WHERE \(row);"
        if isHeard {
            let literal = table.name.quotedDatabaseLiteral
            body = "SELECT shellac_stamping(\(literal), 1); \(body) SELECT shellac_stamping(\(literal), 0);"
        }
        return (
            name,
            "CREATE TRIGGER \(name.quotedDatabaseIdentifier) AFTER \(event) ON main.\(quoted) FOR EACH ROW "
                + "WHEN \(condition) BEGIN \(body) END"
        )
    }

    // MARK: - What is refused

    /// Throws where a table cannot be stamped so, and tells what an insertion must give.
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
        guard table.conditionOfNewRow != nil else {
            throw refuse("its rows have neither a primary key nor a row id that SQL could use")
        }
        let groups = declared.groups
        for name in [declared.created, declared.updated].compactMap(\.self) + groups.map(\.stamp) {
            let column = try column(name)
            guard !column.isGenerated else { throw refuse("its column \(name) is generated") }
            guard column.primaryKeyIndex == 0 else {
                throw refuse("its column \(name) is in the primary key")
            }
        }
        for name in groups.flatMap(\.columns) { _ = try column(name) }
        for name in [declared.created, declared.updated].compactMap(\.self) {
            let column = try column(name)
            guard column.isNotNull, column.defaultValueSQL == nil else { continue }
            ErrorLog.warn(
                "the stamp \(table.name).\(column.name) is NOT NULL and has no default value: raw SQL that inserts rows must "
                    + "give it, since the trigger that stamps them runs after the insertion")
        }
    }
}

extension Database {
    /// A table of `main` whose rows triggers can follow.
    func tableForTriggers(_ name: String, _ refuse: (String) -> DatabaseError) throws -> TableSchema {
        let table = try tableSchema(name, in: "main")
        if Database.isSQLiteInternalTable(name) { throw refuse("it belongs to SQLite") }
        switch table.kind {
        case .table: break
        case .view: throw refuse("it is a view. Its rows are those of tables, which can be")
        case .virtualTable, .tableValuedFunction:
            throw refuse("it is a virtual table, and SQLite has no triggers on these")
        }
        // The statements of a trigger cannot say which database they mean.
        if try schema.table(name, in: "temp") != nil {
            throw refuse("a temporary table hides it")
        }
        return table
    }
}

extension TableSchema {
    /// What finds the row `NEW` of a trigger in the table.
    fileprivate var conditionOfNewRow: String? {
        if let name = rowIDName {
            let quoted = primaryKey.rowIDColumn == nil ? name : name.quotedDatabaseIdentifier
            return "\(quoted) = NEW.\(quoted)"
        }
        let key = primaryKey.tableHasRowID ? [] : primaryKey.columns
        if key.isEmpty { return nil }
        return key.map(\.quotedDatabaseIdentifier).map { "\($0) = NEW.\($0)" }.joined(separator: " AND ")
    }
}
