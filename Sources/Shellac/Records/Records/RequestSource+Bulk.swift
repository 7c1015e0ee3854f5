// Updates and deletions of many rows, which run no callbacks of records.

extension RequestSource {
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
        if let rule = try query.source.type.flatMap(SaveRule.deletion) {
            return try rule.deleteRows(of: query, in: db)
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

    /// Updates the rows of the request. Returns the number of updated rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int { try updateAll(db, onConflict: conflictResolution, assignments) }

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

extension RequestSource where RowDecoder: TableRecord {
    /// Updates the rows of the request, by the columns that the type declares. Returns the number
    /// of updated rows.
    ///
    /// ```swift
    /// try Player.filter(Column("teamID") == 1).updateAll(db) {
    ///     $0.score += 10
    ///     $0.isFlagged.toggle()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: A function that returns the assignments. If there are none, nothing is
    ///     done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        @ColumnAssignmentsBuilder _ assignments: (RowDecoder.Columns.Type) throws -> [ColumnAssignment]
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments(RowDecoder.Columns.self))
    }
}

extension RequestSource where RowDecoder: DatabaseFetchable {
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
        if let rule = try query.source.type.flatMap(SaveRule.deletion) {
            return try rule.deleteAndFetch(query, in: db) { statement, arguments in
                try supplied(RowDecoder.fetchAll(statement, arguments: arguments), in: db)
            }
        }
        let (statement, arguments) = try db.queries.prepare(
            BulkQuery(query: query, action: .delete, isReturning: true), on: db)
        return try supplied(RowDecoder.fetchAll(statement, arguments: arguments), in: db)
    }
}

extension RequestSource where RowDecoder: DatabaseFetchable & TableRecord {
    /// Updates the rows of the request, and returns the updated rows, in no particular order.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: A function that returns the assignments. If there are none, nothing is
    ///     done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile. Also any error that making an element throws.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        @ColumnAssignmentsBuilder _ assignments: (RowDecoder.Columns.Type) throws -> [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try updateAndFetchAll(db, onConflict: conflictResolution, assignments(RowDecoder.Columns.self))
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

extension TableRecord {
    /// Updates all rows of the table. Returns the number of updated rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int { try all().updateAll(db, onConflict: conflictResolution, assignments) }

    /// Updates all rows of the table. Returns the number of updated rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: The assignments. If there are none, nothing is done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int { try all().updateAll(db, onConflict: conflictResolution, assignments) }

    /// Updates all rows of the table, by the columns that the type declares. Returns the number of
    /// updated rows.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: The conflict resolution if a row violates a constraint. By default,
    ///     the record's policy applies.
    ///   - assignments: A function that returns the assignments. If there are none, nothing is
    ///     done.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, or the statement does not
    ///   compile.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        @ColumnAssignmentsBuilder _ assignments: (Columns.Type) throws -> [ColumnAssignment]
    ) throws -> Int { try all().updateAll(db, onConflict: conflictResolution, assignments(Columns.self)) }

    /// Requests the rows that satisfy a condition, by the columns that the type declares.
    ///
    /// ```swift
    /// Player.filter { $0.score > 100 }
    /// ```
    ///
    /// - Parameter condition: A function that returns the condition from the type's columns. It is
    ///   called immediately.
    public static func filter(
        _ condition: (Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> QueryInterfaceRequest<Self> { try all().filter(condition(Columns.self)) }

    /// Requests all rows, sorted by columns that the type declares.
    ///
    /// ```swift
    /// Player.order { $0.score.desc }
    /// Player.order { [$0.score.desc, $0.name] }
    /// ```
    ///
    /// - Parameter terms: A function that returns the ordering terms from the type's columns: one
    ///   or several, with the most significant first. It is called immediately.
    public static func order(
        @SQLOrderingBuilder _ terms: (Columns.Type) throws -> [any SQLOrderingTerm]
    ) rethrows -> QueryInterfaceRequest<Self> { try all().order(terms(Columns.self)) }
}

extension RefinableRequest where RowDecoder: TableRecord {
    /// Adds a condition by the columns that the type declares: only rows that also satisfy it are
    /// fetched (`AND`).
    ///
    /// - Parameter condition: A function that returns the condition from the type's columns. It is
    ///   called immediately.
    public func filter(
        _ condition: (RowDecoder.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> Refined { try filter(condition(RowDecoder.Columns.self)) }

    /// Sorts the rows by columns that the type declares, replacing any earlier order.
    ///
    /// - Parameter terms: A function that returns the ordering terms from the type's columns: one
    ///   or several, with the most significant first. It is called immediately.
    public func order(
        @SQLOrderingBuilder _ terms: (RowDecoder.Columns.Type) throws -> [any SQLOrderingTerm]
    ) rethrows -> Refined { try order(terms(RowDecoder.Columns.self)) }
}
