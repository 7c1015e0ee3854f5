// Updates and deletions of many rows, which call no callback of records.

extension RequestSource {
    // MARK: - Deletion

    /// Deletes the rows of the request. Returns how many there were.
    ///
    /// ```swift
    /// try Player.filter(Column("score") < 10).deleteAll(db)
    /// // DELETE FROM "player" WHERE "score" < 10
    /// ```
    ///
    /// The rows of a request with a limit, or with joins, are found by their keys. Where ``TableRecord/databaseSoftDelete`` has deleted rows
    /// stay, they are stamped.
    ///
    /// - Throws: a ``DatabaseError`` when other rows refer to one of them by a foreign key that does not let them go, or the
    ///   statement does not compile.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        let query = all().query
        if let type = query.source.type, type.databaseSoftDelete != nil {
            return try SoftDeletion.delete(query, of: type, in: db)
        }
        return try BulkQuery(query: query, action: .delete, isReturning: false).execute(db)
    }

    // MARK: - Updates

    /// Updates the rows of the request. Returns how many there were.
    ///
    /// ```swift
    /// try Player.filter(Column("teamID") == 1).updateAll(db, [Column("score") += 10])
    /// // UPDATE "player" SET "score" = "score" + 10 WHERE "teamID" = 1
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the
    ///     record says.
    ///   - assignments: What is stored. Without any, nothing is done, and 0 returned.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        let assignments = assignments.filter { $0.value != nil }
        if assignments.isEmpty { return 0 }
        return try update(assignments, conflictResolution, isReturning: false).execute(db)
    }

    /// Updates the rows of the request. Returns how many there were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile.
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
    /// Updates the rows of the request, by the columns that the type declares. Returns how many there were.
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
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        @ColumnAssignmentsBuilder _ assignments: (RowDecoder.Columns.Type) throws -> [ColumnAssignment]
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments(RowDecoder.Columns.self))
    }
}

extension RequestSource where RowDecoder: DatabaseFetchable {
    /// Updates the rows of the request, and returns what they have become, in no particular order.
    ///
    /// ```swift
    /// let players = try Player.filter(Column("teamID") == 1).updateAndFetchAll(db, [Column("score") += 10])
    /// // UPDATE "player" SET "score" = "score" + 10 WHERE "teamID" = 1 RETURNING *
    /// ```
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
        _ assignments: [ColumnAssignment]
    ) throws -> [RowDecoder] {
        let assignments = assignments.filter { $0.value != nil }
        if assignments.isEmpty { return [] }
        let (statement, arguments) = try db.queries.prepare(
            update(assignments, conflictResolution, isReturning: true), on: db)
        return try supplied(RowDecoder.fetchAll(statement, arguments: arguments), in: db)
    }

    /// Fetches what the request fetches for its elements.
    private func supplied(_ elements: [RowDecoder], in db: Database) throws -> [RowDecoder] {
        try all().query.supplement?.supply(elements, in: db)
        return elements
    }

    /// Deletes the rows of the request, and returns what they were, in no particular order: or what they have become, where
    /// ``TableRecord/databaseSoftDelete`` has them stay.
    ///
    /// - Throws: what `deleteAll` throws, and what making an element throws.
    public func deleteAndFetchAll(_ db: Database) throws -> [RowDecoder] {
        let query = all().query
        if let type = query.source.type, type.databaseSoftDelete != nil {
            return try SoftDeletion.deleteAndFetch(query, of: type, in: db) { statement, arguments in
                try supplied(RowDecoder.fetchAll(statement, arguments: arguments), in: db)
            }
        }
        let (statement, arguments) = try db.queries.prepare(
            BulkQuery(query: query, action: .delete, isReturning: true), on: db)
        return try supplied(RowDecoder.fetchAll(statement, arguments: arguments), in: db)
    }
}

extension RequestSource where RowDecoder: DatabaseFetchable & TableRecord {
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

    /// Prepares the statement. In debug builds, the class is known from then on, whose callbacks it bypasses.
    func prepare(on db: Database) throws -> (Statement, StatementArguments) {
        #if DEBUG
        if let type = query.source.type as? Record.Type { _ = try db.plan(for: type) }
        #endif
        return try db.queries.prepare(self, on: db)
    }
}

extension TableRecord {
    /// Updates all rows of the table. Returns how many there were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int { try all().updateAll(db, onConflict: conflictResolution, assignments) }

    /// Updates all rows of the table. Returns how many there were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int { try all().updateAll(db, onConflict: conflictResolution, assignments) }

    /// Updates all rows of the table, by the columns that the type declares. Returns how many there were.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored. Without any, nothing is done.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, or the statement does not compile.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        @ColumnAssignmentsBuilder _ assignments: (Columns.Type) throws -> [ColumnAssignment]
    ) throws -> Int { try all().updateAll(db, onConflict: conflictResolution, assignments(Columns.self)) }

    /// Requests the rows for which a condition holds, by the columns that the type declares.
    ///
    /// ```swift
    /// Player.filter { $0.score > 100 }
    /// ```
    ///
    /// - Parameter condition: Returns the condition, of the type's columns. It is called at once.
    public static func filter(
        _ condition: (Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> QueryInterfaceRequest<Self> { try all().filter(condition(Columns.self)) }

    /// Requests all rows, in an order, by columns that the type declares.
    ///
    /// ```swift
    /// Player.order { $0.score.desc }
    /// Player.order { [$0.score.desc, $0.name] }
    /// ```
    ///
    /// - Parameter terms: Returns what sorts the rows, of the type's columns: one term, or several, of which the first goes first.
    ///   It is called at once.
    public static func order(
        @SQLOrderingBuilder _ terms: (Columns.Type) throws -> [any SQLOrderingTerm]
    ) rethrows -> QueryInterfaceRequest<Self> { try all().order(terms(Columns.self)) }
}

extension RefinableRequest where RowDecoder: TableRecord {
    /// Adds a condition by the columns that the type declares: only rows that also satisfy it are fetched (`AND`).
    ///
    /// - Parameter condition: Returns the condition, of the type's columns. It is called at once.
    public func filter(
        _ condition: (RowDecoder.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> Refined { try filter(condition(RowDecoder.Columns.self)) }

    /// Sorts the rows by columns that the type declares, replacing any earlier order.
    ///
    /// - Parameter terms: Returns what sorts the rows, of the type's columns: one term, or several, of which the first goes first.
    ///   It is called at once.
    public func order(
        @SQLOrderingBuilder _ terms: (RowDecoder.Columns.Type) throws -> [any SQLOrderingTerm]
    ) rethrows -> Refined { try order(terms(RowDecoder.Columns.self)) }
}
