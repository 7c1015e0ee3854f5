// Updates and deletions of many rows that give these rows: as cursors, as sets, as a statement.

extension RequestSource {
    /// Prepares a statement that updates the rows of the request when it runs, and gives a selection of what they have become.
    ///
    /// ```swift
    /// let statement = try Player.all().updateAndFetchStatement(
    ///     db, [Column("score") += 10], selection: [Column("score")])
    /// let scores = try Int.fetchAll(statement)
    /// ```
    ///
    /// It has its arguments. Run it to its end: SQLite commits what was written outside of a transaction when the statement ends.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored.
    ///   - selection: What is selected.
    /// - Throws: a ``DatabaseError`` when there is no assignment, or nothing is selected.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment], selection: [any SQLSelectable]
    ) throws -> Statement {
        let assignments = assignments.filter { $0.value != nil }
        guard !assignments.isEmpty, !selection.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "an update that fetches needs assignments, and a selection")
        }
        let type = all().query.source.type as? any MutablePersistableRecord.Type
        let policy = type?.persistenceConflictPolicy.conflictResolutionForUpdate
        return try returning(
            .update(assignments, conflictResolution ?? policy ?? .abort), selection, on: db)
    }

    /// Prepares a statement that deletes the rows of the request when it runs, and gives a selection of what they were.
    ///
    /// It has its arguments. Run it to its end: SQLite commits what was written outside of a transaction when the statement ends.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - selection: What is selected, of each row as it was. It is not empty.
    /// - Throws: a ``DatabaseError`` when nothing is selected, and where ``TableRecord/databaseSoftDelete`` has deleted rows stay:
    ///   these are updated, by ``RequestSource/deleteAndFetchAll(_:)``.
    public func deleteAndFetchStatement(_ db: Database, selection: [any SQLSelectable]) throws -> Statement {
        guard !selection.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "a deletion that fetches needs a selection")
        }
        if let type = all().query.source.type, type.databaseSoftDelete != nil {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "deleted rows of \(type.databaseTableName) stay, and no one statement deletes them: "
                    + "call deleteAndFetchAll(db), or destroyAll(db)")
        }
        return try returning(.delete, selection, on: db)
    }

    private func returning(
        _ action: BulkQuery.Action, _ selection: [any SQLSelectable], on db: Database
    ) throws -> Statement {
        let query = all().select(selection).query
        let (kept, arguments) = try db.queries.prepare(
            BulkQuery(query: query, action: action, isReturning: true), on: db)
        // The statement is the caller's, for as long as it likes.
        let statement = try db.makeStatement(sql: kept.sql)
        try statement.setArguments(arguments)
        return statement
    }
}

extension RequestSource where RowDecoder: TableRecord {
    /// Prepares a statement that updates the rows of the request when it runs, and gives columns of what they have become.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored.
    ///   - selection: What is selected.
    /// - Throws: a ``DatabaseError`` when there is no assignment, or nothing is selected.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment],
        @SQLSelectionBuilder selection: (RowDecoder.Columns.Type) throws -> [any SQLSelectable]
    ) throws -> Statement {
        try updateAndFetchStatement(
            db, onConflict: conflictResolution, assignments, selection: selection(RowDecoder.Columns.self))
    }

    /// Prepares a statement that deletes the rows of the request when it runs, and gives columns of what they were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - selection: Returns what is selected, of the type's columns: one thing, or several. It is called at once.
    /// - Throws: a ``DatabaseError`` when nothing is selected, and where ``TableRecord/databaseSoftDelete`` has deleted rows
    ///   stay.
    public func deleteAndFetchStatement(
        _ db: Database,
        @SQLSelectionBuilder selection: (RowDecoder.Columns.Type) throws -> [any SQLSelectable]
    ) throws -> Statement { try deleteAndFetchStatement(db, selection: selection(RowDecoder.Columns.self)) }
}

extension RequestSource where RowDecoder: DatabaseFetchable {
    /// Updates the rows of the request, and returns what they have become, in no particular order.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile, and what making an
    ///   element throws.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> [RowDecoder] {
        try updateAndFetchAll(db, onConflict: conflictResolution, assignments)
    }

    /// Updates the rows of the request at once, and returns a cursor over what they have become, in no particular order.
    ///
    /// All rows are updated, also where the cursor is not read to its end.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile, and what making an
    ///   element throws.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> AnyCursor<RowDecoder> {
        AnyCursor(try updateAndFetchAll(db, onConflict: conflictResolution, assignments))
    }

    /// Updates the rows of the request at once, and returns a cursor over what they have become, in no particular order.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile, and what making an
    ///   element throws.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> AnyCursor<RowDecoder> {
        try updateAndFetchCursor(db, onConflict: conflictResolution, assignments)
    }

    /// Deletes the rows of the request at once, and returns a cursor over what they were, in no particular order.
    ///
    /// All rows are deleted, also where the cursor is not read to its end.
    ///
    /// - Throws: what `deleteAll` throws, and what making an element throws.
    public func deleteAndFetchCursor(_ db: Database) throws -> AnyCursor<RowDecoder> {
        AnyCursor(try deleteAndFetchAll(db))
    }
}

extension RequestSource where RowDecoder: DatabaseFetchable & Hashable {
    /// Updates the rows of the request, and returns what they have become, as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile, and what making an
    ///   element throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try Set(updateAndFetchAll(db, onConflict: conflictResolution, assignments))
    }

    /// Updates the rows of the request, and returns what they have become, as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile, and what making an
    ///   element throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Set<RowDecoder> { try updateAndFetchSet(db, onConflict: conflictResolution, assignments) }

    /// Deletes the rows of the request, and returns what they were, as a set.
    ///
    /// - Throws: what `deleteAll` throws, and what making an element throws.
    public func deleteAndFetchSet(_ db: Database) throws -> Set<RowDecoder> { try Set(deleteAndFetchAll(db)) }
}

extension RequestSource where RowDecoder: DatabaseFetchable & Hashable & TableRecord {
    /// Updates the rows of the request, and returns what they have become, as a set.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile, and what making an
    ///   element throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        @ColumnAssignmentsBuilder _ assignments: (RowDecoder.Columns.Type) throws -> [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try updateAndFetchSet(db, onConflict: conflictResolution, assignments(RowDecoder.Columns.self))
    }
}

extension RequestSource where RowDecoder: DatabaseFetchable & TableRecord {
    /// Updates the rows of the request at once, and returns a cursor over what they have become, in no particular order.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile, and what making an
    ///   element throws.
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
    /// - Throws: what `deleteAll` throws, and what making an element throws.
    public func deleteAndFetchIds(_ db: Database) throws -> Set<RowDecoder.ID> {
        try Set(selectID().deleteAndFetchAll(db))
    }
}
