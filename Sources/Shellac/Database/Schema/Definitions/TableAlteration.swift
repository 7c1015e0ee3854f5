/// Changes to a table: see ``Database/alter(table:in:body:)``.
public final class TableAlteration {
    private enum Change {
        case add(ColumnDefinition)
        case addSQL(String)
        case belongsTo(ForeignKeyDefinition)
        case rename(column: String, to: String)
        case drop(column: String)
        case renameTable(String)
    }
    private var changes: [Change] = []
    /// The name of the table. A change may rename the table.
    private var name: String
    private let schemaName: String?

    init(table name: String, in schemaName: String?) {
        self.name = name
        self.schemaName = schemaName
    }

    // MARK: - Changes

    /// Adds a column.
    ///
    /// SQLite accepts no primary key, no UNIQUE column, and no NOT NULL column without a default
    /// value: see "ALTER TABLE" in its documentation. Use
    /// ``Database/rebuild(table:in:options:copying:body:)`` for those.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - type: The declared type. It is optional.
    @discardableResult
    public func add(column name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        changes.append(.add(column))
        return column
    }

    /// Adds a column, given as SQL.
    ///
    /// ```swift
    /// t.addColumn(sql: "url TEXT NOT NULL DEFAULT ''")
    /// ```
    ///
    /// - Parameter sql: The column's name, its type and its constraints, as SQL.
    public func addColumn(sql: String) { changes.append(.addSQL(sql.embeddedSQL)) }

    /// Adds a column that refers to the primary key of another table, and an index on it. See
    /// ``TableDefinition/belongsTo(_:inTable:onDelete:onUpdate:deferred:indexed:)``.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in
    ///     t.belongsTo("team", onDelete: .setNull)
    /// }
    /// // ALTER TABLE "player" ADD COLUMN "teamId" INTEGER REFERENCES "team"("id") ON DELETE SET NULL
    /// // CREATE INDEX "player_on_teamId" ON "player"("teamId")
    /// ```
    ///
    /// Existing rows get NULL. SQLite can add no such column that is NOT NULL or UNIQUE, and no
    /// reference to a primary key of several columns. Use
    /// ``Database/rebuild(table:in:options:copying:body:)`` for those.
    ///
    /// - Parameters:
    ///   - name: The name of the reference.
    ///   - table: The referenced table. If nil, the table of that name, or else of its plural.
    ///   - onDelete: The action on the row when the row it refers to is deleted.
    ///   - onUpdate: The action on the row when the key it refers to changes.
    ///   - isDeferred: Whether the key is checked at the end of the transaction instead of the
    ///     statement.
    ///   - isIndexed: Whether to create an index on the column.
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil, onDelete: Database.ForeignKeyAction? = nil,
        onUpdate: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false,
        indexed isIndexed: Bool = true
    ) -> ForeignKeyDefinition {
        let key = ForeignKeyDefinition(
            name: name, table: table, onDelete: onDelete, onUpdate: onUpdate, isDeferred: isDeferred,
            isIndexed: isIndexed)
        changes.append(.belongsTo(key))
        return key
    }

    /// Renames a column. Indexes, triggers, views and foreign keys are updated.
    ///
    /// - Parameters:
    ///   - name: The name of the column, after the earlier changes.
    ///   - newName: The new name.
    public func rename(column name: String, to newName: String) {
        changes.append(.rename(column: name, to: newName))
    }

    /// Drops a column.
    ///
    /// SQLite refuses to drop a column that is a key, or that an index, a trigger, a view or a
    /// check uses.
    ///
    /// - Parameter name: The name of the column, after the earlier changes.
    public func drop(column name: String) { changes.append(.drop(column: name)) }

    /// Renames the table. Later changes apply to the table under its new name.
    ///
    /// - Parameter newName: The new name. The table remains in its database.
    public func rename(to newName: String) { changes.append(.renameTable(newName)) }

    /// Whether an added column needs triggers that maintain it.
    var hasMaintainedColumns: Bool {
        changes.contains { if case .add(let column) = $0 { column.isMaintained } else { false } }
    }

    /// Whether a column is dropped. No trigger may refer to it then.
    var dropsColumn: Bool { changes.contains { if case .drop = $0 { true } else { false } } }

    // MARK: - Running

    /// Makes the changes, all or none.
    func run(_ db: Database) throws {
        if changes.count == 1 {
            for change in changes { try db.execute(definitions: statements(change, db)) }
        } else if !changes.isEmpty {
            try db.inSavepoint {
                // Each change sees the schema as the earlier ones left it.
                for change in changes {
                    for sql in try statements(change, db) { try db.execute(definition: sql) }
                }
                return .commit
            }
        }
    }

    /// Returns the statements of a change.
    private func statements(_ change: Change, _ db: Database) throws -> [String] {
        let alter = "ALTER TABLE \(name.quoted(in: schemaName))"
        switch change {
        case .add(let column):
            return ["\(alter) ADD COLUMN \(column.sql)"]
                + (column.needsIndex ? [try indexSQL([column.name])] : [])
        case .addSQL(let sql):
            return ["\(alter) ADD COLUMN \(sql)"]
        case .belongsTo(let key):
            let columns = try key.resolve(db, in: AlteredTable(db.tableSchema(name, in: schemaName)))
            guard columns.constraintsSQL.isEmpty else {
                throw DatabaseError(
                    message: "ALTER TABLE cannot add a foreign key of several columns, here "
                        + "\(columns.columns.joined(separator: ", ")), to the table \(name): use "
                        + "rebuild(table:)"
                )
            }
            return columns.columnsSQL.map { "\(alter) ADD COLUMN \($0)" }
                + (key.needsIndex ? [try indexSQL(columns.columns)] : [])
        case .rename(let column, let newName):
            try db.checkRenaming(name, column: column, in: schemaName)
            let (old, new) = (column.quotedDatabaseIdentifier, newName.quotedDatabaseIdentifier)
            return ["\(alter) RENAME COLUMN \(old) TO \(new)"]
        case .drop(let column):
            return ["\(alter) DROP COLUMN \(column.quotedDatabaseIdentifier)"]
        case .renameTable(let newName):
            try db.checkRenaming(name, in: schemaName)
            name = newName
            return ["\(alter) RENAME TO \(newName.quotedDatabaseIdentifier)"]
        }
    }

    private func indexSQL(_ columns: [String]) throws -> String {
        try IndexDefinition(
            name: IndexDefinition.columnIndexName(table: name, columns: columns), schemaName: schemaName,
            table: name, keys: columns.map(\.quotedDatabaseIdentifier)
        ).sql()
    }
}

/// An existing table that gets the columns of a foreign key.
private struct AlteredTable: ReferringTable {
    private let table: TableSchema

    init(_ table: TableSchema) { self.table = table }

    var name: String { table.name }
    var schemaName: String { table.schemaName }

    func ownPrimaryKey(_ db: Database) -> [(name: String, type: Database.ColumnType?)] {
        (table.primaryKey.columnInfos ?? []).map { ($0.name, Database.ColumnType(sql: $0.type)) }
    }
}
