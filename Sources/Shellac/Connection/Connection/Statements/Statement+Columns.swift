// The result columns of a statement under the current schema, by preparing it again.

import CSQLite

// The columns of a statement, in the present schema: a kept statement was prepared in that of another day.

extension Statement {
    /// The names of the result's columns.
    ///
    /// They are those of the rows to come: where the schema has changed since the statement ran last, `SELECT *` has others
    /// than before.
    public var columnNames: [String] {
        database.checkAccess()
        let fresh = phase == .running || width == 0 ? nil : preparedAfresh()
        return (fresh ?? self).row.layout.names
    }

    /// The number of the result's columns: 0 for a statement that gives no row.
    public var columnCount: Int { phase == .running || width == 0 ? width : columnNames.count }

    private var width: Int { Int(sqlite3_column_count(sqliteStatement)) }

    /// Prepares the statement again, in the schema that the databases have now. Nil where SQLite cannot: the statement
    /// will fail, or the database is closed.
    func preparedAfresh() -> Statement? {
        guard !database.isClosed else { return nil }
        // SQLite prepares a statement in the schema that it knows, and finds out when one runs that it has changed.
        for name in effects.databases where name != "temp" {
            let sql = "SELECT 1 FROM \(name.quotedDatabaseIdentifier).sqlite_master LIMIT 0"
            try? database.asking { try database.cachedStatement(sql: sql).execute() }
        }
        return try? database.prepare(sql: sql, persistent: false)
    }
}
