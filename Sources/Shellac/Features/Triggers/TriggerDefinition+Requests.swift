// The body of a trigger, in requests. A trigger has no parameters: all values become literals.

extension TriggerDefinition {
    /// Restricts the trigger to the rows for which a condition holds.
    ///
    /// ```swift
    /// try t.when { old, new in new[Column("score")] > old[Column("score")] }
    /// ```
    ///
    /// - Parameter condition: Returns the condition. It is called once, at once, with the row before the change and the one
    ///   after it. Of several conditions, all must hold.
    /// - Throws: what the closure throws, and an error where an expression cannot be written.
    public func when(_ condition: (_ old: TriggerRow, _ new: TriggerRow) throws -> SQLExpression) throws {
        var writer = SQLWriter(database)
        try writer.expression(condition(old, new), above: .lowest)
        let fragment = writer.fragment
        when { _, _ in fragment }
    }

    /// Makes the trigger update the rows of a request.
    ///
    /// ```swift
    /// let team = Team.filter(Column("id") == t.new[Column("teamID")])
    /// try t.updateAll(team, Column("score") += t.new[Column("score")])
    /// // UPDATE "team" SET "score" = "score" + "NEW"."score" WHERE "id" = "NEW"."teamID";
    /// ```
    ///
    /// Where the statement that has started the trigger says what to do about conflicts, it says it for this one, too: see
    /// "CREATE TRIGGER" in the SQLite documentation.
    ///
    /// - Parameters:
    ///   - request: The request for the rows.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored.
    /// - Throws: a ``DatabaseError`` for a request whose rows are not those of a table, and without assignments.
    public func updateAll(
        _ request: some RequestSource, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws { try updateAll(request.all().query, conflictResolution, assignments) }

    /// Makes the trigger update all rows of a record type's table.
    ///
    /// - Parameters:
    ///   - type: The type whose table it is.
    ///   - conflictResolution: What SQLite does when a row violates a constraint: by default, what the policy of the record
    ///     says.
    ///   - assignments: What is stored.
    /// - Throws: a ``DatabaseError`` without assignments.
    public func updateAll(
        _ type: (some TableRecord).Type, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws { try updateAll(type.all().query, conflictResolution, assignments) }

    private func updateAll(
        _ query: SelectQuery, _ resolution: Database.ConflictResolution?, _ assignments: [ColumnAssignment]
    ) throws {
        guard !assignments.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "a trigger updates no column: give it an assignment")
        }
        let type = query.source.type as? any MutablePersistableRecord.Type
        let policy = type?.persistenceConflictPolicy.conflictResolutionForUpdate
        let action = BulkQuery.Action.update(assignments, resolution ?? policy ?? .abort)
        try execute(BulkQuery(query: query, action: action, isReturning: false))
    }

    /// Makes the trigger delete the rows of a request.
    ///
    /// ```swift
    /// try t.deleteAll(Player.filter(Column("teamID") == t.old[Column("id")]))
    /// // DELETE FROM "player" WHERE "teamID" = "OLD"."id";
    /// ```
    ///
    /// - Parameter request: The request for the rows. It may refer to the rows ``old`` and ``new``; its values become literals.
    /// - Throws: a ``DatabaseError`` where ``TableRecord/databaseSoftDelete`` has deleted rows stay. A trigger knows no date but those that
    ///   it is given: set the column by `updateAll`, or delete the rows for good by `destroyAll`.
    public func deleteAll(_ request: some RequestSource) throws {
        let query = request.all().query
        if let type = query.source.type, let deletion = type.databaseSoftDelete {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "a trigger deletes rows of \(type), which are to stay, and knows neither the date nor what goes along: set \(deletion.column) "
                    + "by updateAll(_:_:), or delete them for good by destroyAll(_:)")
        }
        try destroyAll(request)
    }

    /// Makes the trigger delete all rows of a record type's table.
    ///
    /// - Parameter type: The type whose table it is. Its default filter applies.
    /// - Throws: a ``DatabaseError`` where ``TableRecord/databaseSoftDelete`` has deleted rows stay.
    public func deleteAll(_ type: (some TableRecord).Type) throws { try deleteAll(type.all()) }

    /// Makes the trigger delete the rows of a request for good, also where ``TableRecord/databaseSoftDelete`` has deleted rows stay.
    ///
    /// ```swift
    /// try t.destroyAll(Player.unfiltered(by: .deleted).filter(Column("teamID") == t.old[Column("id")]))
    /// // DELETE FROM "player" WHERE "teamID" = "OLD"."id";
    /// ```
    ///
    /// - Parameter request: The request for the rows. It may refer to the rows ``old`` and ``new``; its values become literals.
    /// - Throws: a ``DatabaseError`` for a request whose rows are not those of a table.
    public func destroyAll(_ request: some RequestSource) throws {
        try execute(BulkQuery(query: request.all().query, action: .delete, isReturning: false))
    }

    /// Makes the trigger delete all rows of a record type's table for good.
    ///
    /// - Parameter type: The type whose table it is. The rows that its default filter leaves out stay.
    /// - Throws: a ``DatabaseError`` for a request whose rows are not those of a table.
    public func destroyAll(_ type: (some TableRecord).Type) throws { try destroyAll(type.all()) }

    /// Makes the trigger insert a row.
    ///
    /// ```swift
    /// try t.insert(into: "log", Column("what").set(to: "scored"), Column("player").set(to: t.new[Column("id")]))
    /// // INSERT INTO "log" ("what", "player") VALUES ('scored', "NEW"."id");
    /// ```
    ///
    /// A column that is not named has its default value. SQLite wants one at least to be named.
    ///
    /// - Parameters:
    ///   - tableName: The name of the table.
    ///   - conflictResolution: What SQLite does when the row violates a constraint.
    ///   - values: What is stored.
    /// - Throws: a ``DatabaseError`` without values, and where a column is set to nothing.
    public func insert(
        into tableName: String, onConflict conflictResolution: Database.ConflictResolution = .abort,
        _ values: ColumnAssignment...
    ) throws { try insert(tableName, conflictResolution, values) }

    /// Makes the trigger insert a row into a record type's table.
    ///
    /// A class among the kinds of a table has its kind written, as when one of its records is inserted.
    ///
    /// - Parameters:
    ///   - type: The type whose table it is.
    ///   - conflictResolution: What SQLite does when the row violates a constraint.
    ///   - values: What is stored.
    /// - Throws: a ``DatabaseError`` for a class whose records cannot be inserted, as it is not listed, and where the column of the kinds is
    ///   set: insert into the table, by its name, to say that yourself.
    public func insert(
        into type: any TableRecord.Type, onConflict conflictResolution: Database.ConflictResolution = .abort,
        _ values: ColumnAssignment...
    ) throws {
        try insert(type.databaseTableName, conflictResolution, values + kind(of: type, beside: values))
    }

    /// Returns what sets the column that tells the kinds of a table, where it has one.
    private func kind(
        of type: any TableRecord.Type, beside values: [ColumnAssignment]
    ) throws -> [ColumnAssignment] {
        guard let kind = (type as? Record.Type).flatMap(ClassKind.of) else { return [] }
        try kind.check(database.tableSchema(type.databaseTableName))
        if let value = values.first(where: { CaseInsensitiveName.matches($0.column, kind.column) }) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "a trigger inserts a row of \(type), and sets the column \(value.column), which tells its kind, and is written by itself: leave "
                    + "it out, or insert into \"\(type.databaseTableName)\"")
        }
        try kind.checkSaving([])
        return [Column(kind.column).set(to: kind.kind ?? .null)]
    }

    private func insert(
        _ tableName: String, _ resolution: Database.ConflictResolution, _ values: [ColumnAssignment]
    ) throws {
        guard !values.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "a trigger inserts a row of \(tableName) without values: give it an assignment")
        }
        var writer = SQLWriter(database)
        writer.text("INSERT ")
        if resolution != .abort { writer.keyword("OR \(resolution.rawValue) ") }
        writer.text("INTO ")
        writer.name(tableName)
        writer.text(" (")
        writer.list(values) { $0.name($1.column) }
        writer.text(") VALUES (")
        try writer.list(values) {
            guard let value = $1.value else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "a trigger inserts nothing into the column \($1.column) of \(tableName): set it to a value"
                )
            }
            try $0.expression(value, above: .lowest)
        }
        writer.text(")")
        execute(literal: writer.fragment)
    }

    /// Makes the trigger compute something, for what the functions in it do.
    ///
    /// ```swift
    /// try t.when { old, new in new[Column("score")] < 0 }
    /// try t.select(SQL("RAISE(ABORT, 'a score is never negative')"))
    /// ```
    ///
    /// - Parameter expressions: What is computed: one expression at least, or SQLite refuses the trigger.
    /// - Throws: an error where an expression cannot be written.
    public func select(_ expressions: any SQLSpecificExpressible...) throws {
        var writer = SQLWriter(database)
        writer.text("SELECT ")
        try writer.list(expressions.map(\.sqlExpression))
        execute(literal: writer.fragment)
    }

    private func execute(_ query: some WritableQuery) throws {
        var writer = SQLWriter(database)
        try query.write(to: &writer)
        execute(literal: writer.fragment)
    }
}
