/// A table to which a ``ForeignKeyDefinition`` adds columns.
protocol ReferringTable {
    var name: String { get }

    /// The database of the table. The tables it refers to are in the same database.
    var schemaName: String { get }

    /// Returns the columns of the table's own primary key, for a table that refers to itself.
    func ownPrimaryKey(_ db: Database) throws -> [(name: String, type: Database.ColumnType?)]
}

/// Columns that refer to another table: see
/// ``TableDefinition/belongsTo(_:inTable:onDelete:onUpdate:deferred:indexed:)``.
public final class ForeignKeyDefinition {
    private let name: String
    private let table: String?
    private let onDelete: Database.ForeignKeyAction?
    private let onUpdate: Database.ForeignKeyAction?
    private let isDeferred: Bool
    private let isIndexed: Bool
    private var isNotNull = false
    private var isUnique = false
    /// Whether the columns are being resolved. This detects a primary key that depends on itself.
    private var isResolving = false

    init(
        name: String, table: String?, onDelete: Database.ForeignKeyAction?,
        onUpdate: Database.ForeignKeyAction?,
        isDeferred: Bool, isIndexed: Bool
    ) {
        self.name = name
        self.table = table
        self.onDelete = onDelete
        self.onUpdate = onUpdate
        self.isDeferred = isDeferred
        self.isIndexed = isIndexed
    }

    /// Refuses NULL.
    @discardableResult
    public func notNull() -> Self {
        isNotNull = true
        return self
    }

    /// Refuses a row that refers to the same row as another one.
    @discardableResult
    public func unique() -> Self {
        isUnique = true
        return self
    }

    // MARK: - SQL

    /// Whether an index must be created.
    var needsIndex: Bool { isIndexed && !isUnique }

    struct Resolved {
        var columns: [String]
        var columnsSQL: [String]
        var constraintsSQL: [String]
    }

    /// Resolves the columns and constraints.
    func resolve(_ db: Database, in definition: some ReferringTable) throws -> Resolved {
        let table = try destinationTable(db, in: definition)
        let key = try primaryKey(of: table, db, in: definition)
        let columns = try resolvedColumns(db, in: definition)
        let clause = ReferencesClause(
            table: table, columns: key.map(\.name), onDelete: onDelete, onUpdate: onUpdate,
            isDeferred: isDeferred)
        let isComposite = columns.count > 1
        let columnsSQL = columns.map { column in
            let definition = ColumnDefinition(name: column.name, type: column.type)
            if isNotNull { definition.notNull() }
            if isUnique, !isComposite { definition.unique() }
            return definition.sql + (isComposite ? "" : " \(clause.sql)")
        }
        let names = columns.map(\.name)
        var constraints: [String] = []
        if isComposite {
            if isUnique { constraints.append(KeyClause(columns: names).sql("UNIQUE")) }
            constraints.append("FOREIGN KEY \(names.quotedColumnList) \(clause.sql)")
        }
        return Resolved(columns: names, columnsSQL: columnsSQL, constraintsSQL: constraints)
    }

    /// Resolves the names and types of the columns.
    func resolvedColumns(
        _ db: Database, in definition: some ReferringTable
    ) throws -> [(name: String, type: Database.ColumnType?)] {
        guard !isResolving else {
            throw DatabaseError(message: "\(name) belongs to a primary key that contains it")
        }
        isResolving = true
        defer { isResolving = false }
        let prefix = Inflection.singular(name)
        let table = try destinationTable(db, in: definition)
        return try primaryKey(of: table, db, in: definition).map { column in
            (prefix + column.name.prefix(1).uppercased() + column.name.dropFirst(), column.type)
        }
    }

    private func primaryKey(
        of table: String, _ db: Database, in definition: some ReferringTable
    ) throws -> [(name: String, type: Database.ColumnType?)] {
        let key: [(name: String, type: Database.ColumnType?)]
        if CaseInsensitiveName.matches(table, definition.name) {
            key = try definition.ownPrimaryKey(db)
        } else {
            key = try (db.primaryKey(table, in: definition.schemaName).columnInfos ?? []).map {
                ($0.name, Database.ColumnType(sql: $0.type))
            }
        }
        // See "SQLite Foreign Key Support", section "Required and Suggested Database Indexes".
        guard !key.isEmpty else {
            throw DatabaseError(
                message: "\(name) cannot belong to the table \(table), which has no primary key to refer to")
        }
        return key
    }

    private func destinationTable(_ db: Database, in definition: some ReferringTable) throws -> String {
        if let table { return table }
        for candidate in [name, Inflection.plural(name), Inflection.singular(name)] {
            if CaseInsensitiveName.matches(candidate, definition.name) { return definition.name }
            if try db.tableExists(candidate, in: definition.schemaName) { return candidate }
        }
        throw DatabaseError(message: "no such table: \(name)")
    }
}
