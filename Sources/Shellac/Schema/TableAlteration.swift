/// Changes to a table: see ``Database/alter(table:body:)``.
public final class TableAlteration {
    private enum Change {
        case add(ColumnDefinition)
        case addSQL(String)
        case rename(column: String, to: String)
        case drop(column: String)
        case renameTable(String)
    }
    private var changes: [Change] = []

    /// Adds a column.
    ///
    /// SQLite accepts no primary key, no UNIQUE column, and no NOT NULL column without a default value: see "ALTER
    /// TABLE" in its documentation.
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
    public func addColumn(sql: String) { changes.append(.addSQL(sql)) }

    /// Renames a column. Indexes, triggers, views and foreign keys follow.
    public func rename(column name: String, to newName: String) {
        changes.append(.rename(column: name, to: newName))
    }

    /// Drops a column.
    ///
    /// SQLite refuses to drop one that is a key, or that anything else uses: an index, a trigger, a view, a check.
    public func drop(column name: String) { changes.append(.drop(column: name)) }

    /// Renames the table. What comes after is done to the table of the new name.
    public func rename(to newName: String) { changes.append(.renameTable(newName)) }

    /// The statements that make the changes.
    func statements(forTable name: String) throws -> [String] {
        var name = name
        return try changes.flatMap { change -> [String] in
            let alter = "ALTER TABLE \(name.quotedDatabaseIdentifier)"
            switch change {
            case .add(let column):
                let added = "\(alter) ADD COLUMN \(column.sql)"
                guard column.needsIndex else { return [added] }
                let index = IndexDefinition(
                    name: IndexDefinition.defaultName(table: name, columns: [column.name]), table: name,
                    keys: [column.name.quotedDatabaseIdentifier])
                return try [added, index.sql()]
            case .addSQL(let sql):
                return ["\(alter) ADD COLUMN \(sql)"]
            case .rename(let column, let newName):
                let (old, new) = (column.quotedDatabaseIdentifier, newName.quotedDatabaseIdentifier)
                return ["\(alter) RENAME COLUMN \(old) TO \(new)"]
            case .drop(let column):
                return ["\(alter) DROP COLUMN \(column.quotedDatabaseIdentifier)"]
            case .renameTable(let newName):
                name = newName
                return ["\(alter) RENAME TO \(newName.quotedDatabaseIdentifier)"]
            }
        }
    }
}
