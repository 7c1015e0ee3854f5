// Statements that update or delete the rows of a request, and return a selection of them.

extension RowSource {
    /// Prepares a statement that updates the rows of the request when it runs, and returns a
    /// selection from the updated rows.
    ///
    /// ```swift
    /// let statement = try Player.all().updateAndFetchStatement(
    ///     db, [Column("score") += 10], selection: [Column("score")])
    /// let scores = try Int.fetchAll(statement)
    /// ```
    ///
    /// Its arguments are already set. Run it to its end: outside of a transaction, SQLite commits
    /// the changes when the statement ends.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments.
    ///   - selection: The selection.
    /// - Throws: a ``DatabaseError`` if there is no assignment, or nothing is selected.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment], selection: [any SQLSelectable]
    ) throws -> Statement {
        let assignments = assignments.filter { $0.value != nil }
        guard !assignments.isEmpty, !selection.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "an update that fetches rows needs assignments and a selection")
        }
        let type = all().query.source.type as? any MutablePersistableRecord.Type
        let policy = type?.persistenceConflictPolicy.conflictResolutionForUpdate
        return try returning(
            .update(assignments, conflictResolution ?? policy ?? .abort), selection, on: db)
    }

    /// Prepares a statement that deletes the rows of the request when it runs, and returns a
    /// selection from the deleted rows.
    ///
    /// Its arguments are already set. Run it to its end: outside of a transaction, SQLite commits
    /// the changes when the statement ends.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - selection: The selection from each row as it was. It must not be empty.
    /// - Throws: a ``DatabaseError`` if nothing is selected, or if
    ///   ``TableRecord/databaseSoftDelete`` keeps deleted rows. Such rows are updated by
    ///   ``RowSource/deleteAndFetchAll(_:)``.
    public func deleteAndFetchStatement(_ db: Database, selection: [any SQLSelectable]) throws -> Statement {
        guard !selection.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "a deletion that fetches rows needs a selection")
        }
        if let type = all().query.source.type, type.deletionColumn != nil {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "the table \(type.databaseTableName) keeps deleted rows, so no single statement deletes "
                    + "and fetches them: call deleteAndFetchAll(db), or destroyAll(db)")
        }
        return try returning(.delete, selection, on: db)
    }

    private func returning(
        _ action: BulkQuery.Action, _ selection: [any SQLSelectable], on db: Database
    ) throws -> Statement {
        let query = all().select(selection).query
        let (kept, arguments) = try db.queries.prepare(
            BulkQuery(query: query, action: action, isReturning: true), on: db)
        // The caller owns the statement, and may keep it.
        let statement = try db.makeStatement(sql: kept.sql)
        try statement.setArguments(arguments)
        return statement
    }
}
