// The clauses of constraints, as SQL.

extension Database.ConflictResolution? {
    /// ` ON CONFLICT IGNORE`, or nothing.
    var clause: String { map { " ON CONFLICT \($0.rawValue)" } ?? "" }
}

extension String {
    /// Returns `"archive"."player"`: this name in a database, quoted, or the quoted name alone where no database is
    /// said.
    func quoted(in schemaName: String?) -> String {
        (schemaName.map { $0.quotedDatabaseIdentifier + "." } ?? "") + quotedDatabaseIdentifier
    }
}

extension [String] {
    /// `("a", "b")`: names, quoted.
    var quotedColumnList: String { "(\(map(\.quotedDatabaseIdentifier).joined(separator: ", ")))" }
}

/// `REFERENCES "team"("id") ON DELETE CASCADE`.
struct ReferencesClause {
    var table: String
    /// Nil for the primary key of the table.
    var columns: [String]?
    var onDelete: Database.ForeignKeyAction?
    var onUpdate: Database.ForeignKeyAction?
    var isDeferred: Bool

    var sql: String {
        var sql = "REFERENCES \(table.quotedDatabaseIdentifier)"
        if let columns { sql += columns.quotedColumnList }
        if let onDelete { sql += " ON DELETE \(onDelete.rawValue)" }
        if let onUpdate { sql += " ON UPDATE \(onUpdate.rawValue)" }
        if isDeferred { sql += " DEFERRABLE INITIALLY DEFERRED" }
        return sql
    }
}

/// `PRIMARY KEY ("a", "b")`, `UNIQUE ("a", "b")`.
struct KeyClause {
    var columns: [String]
    var conflictResolution: Database.ConflictResolution?

    func sql(_ keywords: String) -> String {
        "\(keywords) \(columns.quotedColumnList)\(conflictResolution.clause)"
    }
}
