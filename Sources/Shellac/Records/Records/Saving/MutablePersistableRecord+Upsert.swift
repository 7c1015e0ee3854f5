// Upserts with assignments to the conflicting row.

/// The treatment of the columns of a conflicting row that no assignment names.
public enum UpsertUpdateStrategy: Hashable, Sendable {
    /// They are overwritten.
    case allColumns
    /// They are left as they are.
    case noColumnUnlessSpecified
}

extension MutablePersistableRecord {
    /// Inserts the record, or updates the conflicting row as specified.
    ///
    /// ```swift
    /// try word.upsert(db, onConflict: ["text"]) { excluded in
    ///     Column("count") += 1
    ///     Column("firstSeen").noOverwrite
    /// }
    /// // INSERT INTO "word" ("text", "count", "firstSeen", "lastSeen") VALUES (?, ?, ?, ?)
    /// // ON CONFLICT ("text") DO UPDATE SET "count" = "count" + 1, "lastSeen" = "excluded"."lastSeen"
    /// ```
    ///
    /// The assignments are made in the conflicting row, and read its columns. `excluded` has the
    /// values that could not be inserted. The other columns that the record encodes are
    /// overwritten, except for its primary key: see ``UpsertUpdateStrategy``. This is one
    /// statement, which calls the callbacks of an insertion.
    ///
    /// A class record takes the values of the updated row, such as the sum, and the date that was
    /// not overwritten. So its next save does not undo them. A rollback restores its previous
    /// values. Columns that it never read stay unread.
    ///
    /// A struct stays as it is, except for the row id, which `didInsert` takes.
    /// ``upsertAndFetch(_:onConflict:updating:doUpdate:)`` returns the updated row.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws. By default, all unique indexes, which needs SQLite 3.35.
    ///   - strategy: The treatment of the columns that no assignment names.
    ///   - assignments: The assignments to the conflicting row.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated.
    public mutating func upsert(
        _ db: Database, onConflict columns: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        @ColumnAssignmentsBuilder doUpdate assignments: (_ excluded: TableAlias<Self>) throws ->
            [ColumnAssignment]
    ) throws {
        let clause = try UpsertClause(
            target: columns, strategy: strategy, assignments: assignments(TableAlias("excluded")))
        try persist(PersistenceOperation(.upsert, upsert: clause), in: db)
    }
}
