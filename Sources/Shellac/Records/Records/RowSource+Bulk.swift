// Updates and deletions of many rows, which run no callbacks of records.

extension RowSource {
    // MARK: - Deletion

    /// Deletes the rows of the request. Returns the number of deleted rows.
    ///
    /// ```swift
    /// try Player.filter(Column("score") < 10).deleteAll(db)
    /// // DELETE FROM "player" WHERE "score" < 10
    /// ```
    ///
    /// The rows of a request with a limit, or with joins, are found by their keys. If
    /// ``TableRecord/databaseSoftDelete`` keeps deleted rows, they are stamped.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile, or if a foreign key of
    ///   other rows prevents the deletion.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        let query = all().query
        for rule in try query.deletionRules(on: db) {
            if let count = try rule.deleteAll(query, in: db) { return count }
        }
        return try BulkQuery(query: query, action: .delete, isReturning: false).execute(db)
    }

    // MARK: - Updates

    /// Updates the rows of the request. Returns the number of updated rows.
    ///
    /// ```swift
    /// try Player.filter(Column("teamID") == 1).updateAll(db, [Column("score") += 10])
    /// // UPDATE "player" SET "score" = "score" + 10 WHERE "teamID" = 1
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done, and 0 returned.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        let assignments = assignments.filter { $0.value != nil }
        if assignments.isEmpty { return 0 }
        return try update(assignments, conflictResolution, isReturning: false).execute(db)
    }

    private func update(
        _ assignments: [ColumnAssignment], _ resolution: Database.ConflictResolution?, isReturning: Bool
    ) -> BulkQuery {
        let query = all().query
        let type = query.source.type as? any MutablePersistableRecord.Type
        let policy = type?.persistenceConflictPolicy.conflictResolutionForUpdate
        return BulkQuery(
            query: query, action: .update(assignments, resolution ?? policy ?? .abort),
            isReturning: isReturning)
    }
}

extension RowSource where RowDecoder: DatabaseFetchable {
    /// Updates the rows of the request, and returns the updated rows, in no particular order.
    ///
    /// ```swift
    /// let players = try Player.filter(Column("teamID") == 1).updateAndFetchAll(db, [Column("score") += 10])
    /// // UPDATE "player" SET "score" = "score" + 10 WHERE "teamID" = 1 RETURNING *
    /// ```
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
        _ assignments: [ColumnAssignment]
    ) throws -> [RowDecoder] {
        let assignments = assignments.filter { $0.value != nil }
        if assignments.isEmpty { return [] }
        let (statement, arguments) = try db.queries.prepare(
            update(assignments, conflictResolution, isReturning: true), on: db)
        return try supplied(RowDecoder.fetchAll(statement, arguments: arguments), in: db)
    }

    /// Fetches what the request additionally fetches for its elements.
    private func supplied(_ elements: [RowDecoder], in db: Database) throws -> [RowDecoder] {
        try all().query.supplement?.supply(elements, in: db)
        return elements
    }

    /// Deletes the rows of the request, and returns them as they were, in no particular order. If
    /// ``TableRecord/databaseSoftDelete`` keeps them, returns them as they are now.
    ///
    /// - Throws: any error that `deleteAll` throws, and any error that making an element throws.
    public func deleteAndFetchAll(_ db: Database) throws -> [RowDecoder] {
        let query = all().query
        func fetch(_ statement: Statement, _ arguments: StatementArguments) throws -> [RowDecoder] {
            try supplied(RowDecoder.fetchAll(statement, arguments: arguments), in: db)
        }
        for rule in try query.deletionRules(on: db) {
            if let elements = try rule.deleteAndFetchAll(query, in: db, fetch) { return elements }
        }
        let (statement, arguments) = try db.queries.prepare(
            BulkQuery(query: query, action: .delete, isReturning: true), on: db)
        return try fetch(statement, arguments)
    }
}

extension BulkQuery {
    func execute(_ db: Database) throws -> Int {
        let (statement, arguments) = try prepare(on: db)
        try statement.execute(arguments: arguments)
        return db.changesCount
    }

    /// Prepares the statement. In debug builds, this also registers the class whose callbacks the
    /// statement bypasses.
    func prepare(on db: Database) throws -> (Statement, StatementArguments) {
        #if DEBUG
        if let type = query.source.type as? Record.Type { _ = try db.plan(for: type) }
        #endif
        return try db.queries.prepare(self, on: db)
    }
}
