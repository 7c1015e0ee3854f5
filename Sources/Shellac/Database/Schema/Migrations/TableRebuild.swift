/// The rebuild of one table: see ``Database/rebuild(table:in:options:copying:body:)``.
///
/// ## The life of a rebuild
///
/// This is SQLite's own procedure: see "ALTER TABLE" in its documentation, section "Making Other
/// Kinds Of Table Schema Changes". Foreign keys are not enforced meanwhile, and a savepoint is
/// open.
///
/// 1. The indexes and triggers on the table are listed with their SQL.
/// 2. The new table is created under another name, `new_player`, and the rows are copied.
/// 3. The old table is dropped with its indexes and triggers. For a moment, views of it and foreign
///    keys into it refer to nothing.
/// 4. The new table is renamed in the old way (`legacy_alter_table`). The new way would check the
///    views that refer to nothing, and would make foreign keys follow the new table's earlier name.
/// 5. The dropped indexes and triggers are created again.
/// 6. Triggers and views that compiled before must still compile: see ``SchemaFaults``.
/// 7. Observers of the table are notified that it has changed.
struct TableRebuild {
    private let db: Database
    private let table: TableSchema
    private let definition: TableDefinition
    private let expressions: [CaseInsensitiveName: SQL]

    init(_ db: Database, table: TableSchema, definition: TableDefinition, expressions: [String: SQL]) {
        self.db = db
        self.table = table
        self.definition = definition
        self.expressions = Dictionary(
            expressions.map { (CaseInsensitiveName($0), $1) }, uniquingKeysWith: { first, _ in first })
    }

    func run() throws {
        let faults = try SchemaFaults(db)
        let dependents = try dependents()
        let newName = try unusedName()
        let statements = try definition.rebuildingStatements(db, name: newName)
        try db.execute(definition: statements.table)
        try copy(to: db.tableSchema(newName, in: table.schemaName))
        let lastID = try lastAutoincrementedID(table.name)
        try drop()
        try rename(newName)
        if let lastID { try keepLastAutoincrementedID(lastID) }
        let remaining = Set(try self.dependents().map(\.id))
        for dependent in dependents where !remaining.contains(dependent.id) { try create(dependent) }
        let kept = try db.tableSchema(table.name, in: table.schemaName).indexes
        for index in statements.indexes where !kept.contains(where: index.isSame) {
            try db.execute(definition: index.sql())
        }
        try complain(of: SchemaFaults(db).besides(faults))
        try db.object(in: .changes)?.object.tableDidChange(table.name)
    }

    private func complain(
        of faults: [SchemaFaults.Fault], code: ResultCode = .SQLITE_ERROR, sql: String? = nil
    ) throws {
        guard !faults.isEmpty else { return }
        let list = faults.map { "\($0.object) (\($0.message))" }.joined(separator: ", ")
        throw DatabaseError(
            resultCode: code,
            message:
                "the table \(table.name) cannot be rebuilt, since this would no longer work: \(list). Drop "
                + "it first, and create another one afterwards",
            sql: sql)
    }

    /// Returns `new_player`, or another unused name.
    private func unusedName() throws -> String {
        var name = "new_\(table.name)"
        while try isUsed(name) { name = "new_\(name)" }
        return name
    }

    private func isUsed(_ name: String) throws -> Bool {
        try db.tableExists(name, in: table.schemaName) || db.viewExists(name, in: table.schemaName)
            || db.indexExists(name, in: table.schemaName)
    }

    // MARK: - Rows

    /// Copies the rows, with their row ids.
    private func copy(to newTable: TableSchema) throws {
        if let unknown = expressions.keys.first(where: { newTable.column(named: $0.name) == nil }) {
            throw DatabaseError(
                message:
                    "the new definition of the table \(table.name) has no column \(unknown.name) to copy to")
        }
        var copies: [(column: String, expression: String)] = []
        for column in newTable.columns {
            if let expression = expressions[CaseInsensitiveName(column.name)] {
                let sql = try expression.literalSQL(as: .expression, on: db)
                copies.append((column.name.quotedDatabaseIdentifier, "(\(sql))"))
            } else if !column.isGenerated, let old = table.column(named: column.name) {
                copies.append((column.name.quotedDatabaseIdentifier, old.name.quotedDatabaseIdentifier))
            }
        }
        if let rowID = newTable.rowIDName?.quotedDatabaseIdentifier, let oldRowID = table.rowIDName,
            !copies.contains(where: { $0.column == rowID })
        {
            copies.insert((rowID, oldRowID.quotedDatabaseIdentifier), at: 0)
        }
        guard !copies.isEmpty else {
            throw DatabaseError(
                message:
                    "the new definition of the table \(table.name) has no column in common with the old "
                    + "one: state what its columns are copied from")
        }
        let columns = copies.map(\.column).joined(separator: ", ")
        let values = copies.map(\.expression).joined(separator: ", ")
        // OR ABORT: the conflict clause of a constraint would silently drop rows.
        let statement = try db.makeStatement(
            sql: "INSERT OR ABORT INTO \(newTable.name.quoted(in: table.schemaName)) (\(columns)) "
                + "SELECT \(values) FROM \(table.name.quoted(in: table.schemaName))")
        // The table has a temporary name, so its writes are not reported.
        statement.hideWrites()
        try statement.execute()
    }

    private func drop() throws {
        do {
            // The schema is read again when the new table has the final name.
            try db.execute(definition: "DROP TABLE \(table.name.quoted(in: table.schemaName))")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_LOCKED {
            throw DatabaseError(
                resultCode: error.extendedResultCode,
                message:
                    "the table \(table.name) cannot be rebuilt while rows are being fetched: release the "
                    + "cursors first", sql: error.sql)
        }
    }

    private func rename(_ newName: String) throws {
        let isLegacy = try Bool.fetchOne(db, sql: "PRAGMA legacy_alter_table") ?? false
        try db.setLegacyAlterTable(true)
        defer { try? db.setLegacyAlterTable(isLegacy) }
        try db.execute(
            definition: "ALTER TABLE \(newName.quoted(in: table.schemaName)) "
                + "RENAME TO \(table.name.quotedDatabaseIdentifier)")
    }

    // MARK: - AUTOINCREMENT

    private var sequenceTable: String { "\(table.schemaName.quotedDatabaseIdentifier).sqlite_sequence" }

    /// Returns the last id that SQLite stores for an AUTOINCREMENT key: see "SQLite Autoincrement"
    /// in its documentation. Nil for other tables.
    private func lastAutoincrementedID(_ name: String) throws -> Int64? {
        guard try db.tableExists("sqlite_sequence", in: table.schemaName) else { return nil }
        return try Int64.fetchOne(
            db, sql: "SELECT seq FROM \(sequenceTable) WHERE name = ?", arguments: [name])
    }

    private func keepLastAutoincrementedID(_ id: Int64) throws {
        // If the key is no longer AUTOINCREMENT, copying has left no row here.
        try db.execute(
            sql: "UPDATE \(sequenceTable) SET seq = ? WHERE name = ? AND seq < ?",
            arguments: [id, table.name, id])
    }

    // MARK: - Indexes and triggers

    /// An index or a trigger on the table.
    private struct Dependent {
        let schemaName: String
        let kind: String
        let name: String
        let sql: String

        var id: [String] { [schemaName, kind, name] }

        func fault(_ message: String) -> SchemaFaults.Fault {
            SchemaFaults.Fault(object: "the \(kind) \(name)", message: message)
        }
    }

    /// Returns the indexes and triggers on the table, oldest first. They include the temporary
    /// triggers of other tables with the same name.
    private func dependents() throws -> [Dependent] {
        let schemaNames = Set([table.schemaName, "temp"]).sorted { a, _ in a != "temp" }
        return try schemaNames.flatMap { schemaName in
            // The indexes of constraints have no SQL.
            try Row.fetchAll(
                db,
                sql: """
                    SELECT type, name, sql FROM \(schemaName.quotedDatabaseIdentifier).sqlite_master
                    WHERE type IN ('index', 'trigger') AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL
                    ORDER BY rowid
                    """, arguments: [table.name]
            ).map { row in
                try Dependent(schemaName: schemaName, kind: row[0], name: row[1], sql: row[2])
            }
        }
    }

    private func create(_ dependent: Dependent) throws {
        let heading = dependent.kind == "trigger" ? TriggerHeading(sql: dependent.sql) : nil
        // A temporary trigger contains the table name, which meant this table then, and may mean
        // another one now.
        if let heading, !heading.saysDatabase, dependent.schemaName == "temp",
            try db.tableSchema(table.name).schemaName != table.schemaName
        {
            try complain(of: [dependent.fault("another table \(table.name) hides this one")])
        }
        // SQLite stores the SQL in this form, without the name of the database.
        let beginnings = ["CREATE INDEX ", "CREATE UNIQUE INDEX ", "CREATE TRIGGER "]
        let beginning = beginnings.first(where: dependent.sql.hasPrefix) ?? ""
        let place = beginning.isEmpty ? "" : "\(dependent.schemaName.quotedDatabaseIdentifier)."
        do {
            try db.execute(definition: "\(beginning)\(place)\(dependent.sql.dropFirst(beginning.count))")
        } catch let error as DatabaseError {
            let message = error.message ?? "\(error.extendedResultCode)"
            try complain(of: [dependent.fault(message)], code: error.extendedResultCode, sql: error.sql)
        }
        guard let heading else { return }
        let newTable = try db.tableSchema(table.name, in: table.schemaName)
        let missing = heading.updatedColumns.filter { newTable.column(named: $0) == nil }
        try complain(of: missing.map { dependent.fault("no such column: \($0)") }, sql: dependent.sql)
    }
}
