// Updates and deletions of many rows that return these rows: as cursors, as sets, as a statement.

extension RequestSource {
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
    ///   ``RequestSource/deleteAndFetchAll(_:)``.
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

extension RequestSource where RowDecoder: TableRecord {
    /// Prepares a statement that updates the rows of the request when it runs, and returns columns
    /// of the updated rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments.
    ///   - selection: A function that returns the selection from the type's columns.
    /// - Throws: a ``DatabaseError`` if there is no assignment, or nothing is selected.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment],
        @SQLSelectionBuilder selection: (RowDecoder.Columns.Type) throws -> [any SQLSelectable]
    ) throws -> Statement {
        try updateAndFetchStatement(
            db, onConflict: conflictResolution, assignments, selection: selection(RowDecoder.Columns.self))
    }

    /// Prepares a statement that deletes the rows of the request when it runs, and returns columns
    /// of the deleted rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - selection: A function that returns the selection from the type's columns: one item or
    ///     several. It is called immediately.
    /// - Throws: a ``DatabaseError`` if nothing is selected, or if
    ///   ``TableRecord/databaseSoftDelete`` keeps deleted rows.
    public func deleteAndFetchStatement(
        _ db: Database,
        @SQLSelectionBuilder selection: (RowDecoder.Columns.Type) throws -> [any SQLSelectable]
    ) throws -> Statement { try deleteAndFetchStatement(db, selection: selection(RowDecoder.Columns.self)) }
}

extension RequestSource where RowDecoder: DatabaseFetchable {
    /// Updates the rows of the request, and returns the updated rows, in no particular order.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile. Also any error that making an element throws.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> [RowDecoder] {
        try updateAndFetchAll(db, onConflict: conflictResolution, assignments)
    }

    /// Updates the rows of the request immediately, and returns a cursor over the updated rows, in
    /// no particular order.
    ///
    /// All rows are updated, even if the cursor is not read to its end.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile. Also any error that making an element throws.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> AnyCursor<RowDecoder> {
        AnyCursor(try updateAndFetchAll(db, onConflict: conflictResolution, assignments))
    }

    /// Updates the rows of the request immediately, and returns a cursor over the updated rows, in
    /// no particular order.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile. Also any error that making an element throws.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> AnyCursor<RowDecoder> {
        try updateAndFetchCursor(db, onConflict: conflictResolution, assignments)
    }

    /// Deletes the rows of the request immediately, and returns a cursor over them as they were, in
    /// no particular order.
    ///
    /// All rows are deleted, even if the cursor is not read to its end.
    ///
    /// - Throws: any error that `deleteAll` throws, and any error that making an element throws.
    public func deleteAndFetchCursor(_ db: Database) throws -> AnyCursor<RowDecoder> {
        AnyCursor(try deleteAndFetchAll(db))
    }
}

extension RequestSource where RowDecoder: DatabaseFetchable & Hashable {
    /// Updates the rows of the request, and returns the updated rows as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile. Also any error that making an element throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try Set(updateAndFetchAll(db, onConflict: conflictResolution, assignments))
    }

    /// Updates the rows of the request, and returns the updated rows as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile. Also any error that making an element throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Set<RowDecoder> { try updateAndFetchSet(db, onConflict: conflictResolution, assignments) }

    /// Deletes the rows of the request, and returns them as they were, as a set.
    ///
    /// - Throws: any error that `deleteAll` throws, and any error that making an element throws.
    public func deleteAndFetchSet(_ db: Database) throws -> Set<RowDecoder> { try Set(deleteAndFetchAll(db)) }
}

extension RequestSource where RowDecoder: DatabaseFetchable & Hashable & TableRecord {
    /// Updates the rows of the request, and returns the updated rows as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: A function that returns the assignments. If there are none, nothing is
    ///     done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile. Also any error that making an element throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        @ColumnAssignmentsBuilder _ assignments: (RowDecoder.Columns.Type) throws -> [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try updateAndFetchSet(db, onConflict: conflictResolution, assignments(RowDecoder.Columns.self))
    }
}

extension RequestSource where RowDecoder: DatabaseFetchable & TableRecord {
    /// Updates the rows of the request immediately, and returns a cursor over the updated rows, in
    /// no particular order.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: A function that returns the assignments. If there are none, nothing is
    ///     done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile. Also any error that making an element throws.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        @ColumnAssignmentsBuilder _ assignments: (RowDecoder.Columns.Type) throws -> [ColumnAssignment]
    ) throws -> AnyCursor<RowDecoder> {
        try updateAndFetchCursor(db, onConflict: conflictResolution, assignments(RowDecoder.Columns.self))
    }
}

extension RequestSource where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Deletes the rows of the request, and returns the ids that they had.
    ///
    /// - Throws: any error that `deleteAll` throws, and any error that making an element throws.
    public func deleteAndFetchIds(_ db: Database) throws -> Set<RowDecoder.ID> {
        try Set(selectID().deleteAndFetchAll(db))
    }
}
