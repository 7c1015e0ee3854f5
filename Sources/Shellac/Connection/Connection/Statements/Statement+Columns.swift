// The result columns of a statement under the current schema, by preparing it again.

import CSQLite

// The columns of a statement in the current schema: a cached statement may have been prepared in an
// older one.

extension Statement {
    /// The names of the result's columns.
    ///
    /// They are those of the next run. If the schema has changed since the last run, `SELECT *` may
    /// have other columns than before.
    public var columnNames: [String] {
        database.checkAccess()
        let fresh = phase == .running || width == 0 ? nil : preparedAfresh()
        return (fresh ?? self).row.layout.names
    }

    /// The number of the result's columns, which is 0 for a statement that returns no rows.
    public var columnCount: Int { phase == .running || width == 0 ? width : columnNames.count }

    private var width: Int { Int(sqlite3_column_count(sqliteStatement)) }

    /// Prepares the statement again, in the current schema of the databases. Returns nil if SQLite
    /// fails to do so: the statement will fail, or the database is closed.
    func preparedAfresh() -> Statement? {
        guard !database.isClosed else { return nil }
        // SQLite prepares a statement in its cached schema, and only detects changes when a
        // statement runs.
        for name in effects.databases where name != "temp" {
            let sql = "SELECT 1 FROM \(name.quotedDatabaseIdentifier).sqlite_master LIMIT 0"
            try? database.asking { try database.cachedStatement(sql: sql).execute() }
        }
        return try? database.prepare(sql: sql, persistent: false)
    }
}
