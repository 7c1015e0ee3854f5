// The clauses of constraints, as SQL.

extension Database.ConflictResolution? {
    /// ` ON CONFLICT IGNORE`, or an empty string.
    var clause: String { map { " ON CONFLICT \($0.rawValue)" } ?? "" }
}

extension String {
    /// Returns this name in a database, quoted, such as `"archive"."player"`. Returns the quoted
    /// name alone if no database is given.
    func quoted(in schemaName: String?) -> String {
        (schemaName.map { $0.quotedDatabaseIdentifier + "." } ?? "") + quotedDatabaseIdentifier
    }
}

extension [String] {
    /// Quoted names in parentheses: `("a", "b")`.
    var quotedColumnList: String { "(\(map(\.quotedDatabaseIdentifier).joined(separator: ", ")))" }
}

/// A reference to another table: `REFERENCES "team"("id") ON DELETE CASCADE`.
struct ReferencesClause {
    var table: String
    /// The referenced columns, or nil for the primary key of the table.
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

/// A key of several columns: `PRIMARY KEY ("a", "b")`, `UNIQUE ("a", "b")`.
struct KeyClause {
    var columns: [String]
    var conflictResolution: Database.ConflictResolution?

    func sql(_ keywords: String) -> String {
        "\(keywords) \(columns.quotedColumnList)\(conflictResolution.clause)"
    }
}
