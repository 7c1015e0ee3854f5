// The body of a trigger, in requests. A trigger has no parameters: all values become literals.

extension TriggerDefinition {
    /// Restricts the trigger to the rows for which a condition holds.
    ///
    /// ```swift
    /// try t.when { old, new in new[Column("score")] > old[Column("score")] }
    /// ```
    ///
    /// - Parameter condition: Returns the condition. It is called once, immediately, with the row
    ///   before the change and the one after it. Of several conditions, all must hold.
    /// - Throws: Errors of the closure, and an error if an expression cannot be written.
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
    /// If the statement that has started the trigger has a conflict policy, that applies to this
    /// update, too: see "CREATE TRIGGER" in the SQLite documentation.
    ///
    /// - Parameters:
    ///   - request: The request for the rows.
    ///   - conflictResolution: The handling of a row that violates a constraint. By default, it is
    ///     the policy of the record.
    ///   - assignments: The values to store.
    /// - Throws: A ``DatabaseError`` for a request whose rows are not those of a table, and without
    ///   assignments.
    public func updateAll(
        _ request: some RowSource, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws { try updateAll(request.all().query, conflictResolution, assignments) }

    /// Makes the trigger update all rows of a record type's table.
    ///
    /// - Parameters:
    ///   - type: The type whose table it is.
    ///   - conflictResolution: The handling of a row that violates a constraint. By default, it is
    ///     the policy of the record.
    ///   - assignments: The values to store.
    /// - Throws: A ``DatabaseError`` without assignments.
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
    /// - Parameter request: The request for the rows. It may refer to the rows ``old`` and ``new``;
    ///   its values become literals.
    /// - Throws: A ``DatabaseError`` for a type with soft deletes
    ///   (``TableRecord/databaseSoftDelete``). A trigger has no date but those that it is given:
    ///   set the column by `updateAll`, or delete the rows for good by `destroyAll`.
    public func deleteAll(_ request: some RowSource) throws {
        let query = request.all().query
        if let type = query.source.type, let column = type.deletionColumn {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "a trigger deletes rows of \(type), which keeps deleted rows, but a trigger knows "
                    + "neither the date nor the rows that go along: set \(column) with "
                    + "updateAll(_:_:), or delete the rows for good with destroyAll(_:)")
        }
        try destroyAll(request)
    }

    /// Makes the trigger delete all rows of a record type's table.
    ///
    /// - Parameter type: The type whose table it is. Its default filter applies.
    /// - Throws: A ``DatabaseError`` for a type with soft deletes
    ///   (``TableRecord/databaseSoftDelete``).
    public func deleteAll(_ type: (some TableRecord).Type) throws { try deleteAll(type.all()) }

    /// Makes the trigger delete the rows of a request for good, even with soft deletes
    /// (``TableRecord/databaseSoftDelete``).
    ///
    /// ```swift
    /// try t.destroyAll(Player.ignoringDefaultFilter(.deleted).filter(Column("teamID") == t.old[Column("id")]))
    /// // DELETE FROM "player" WHERE "teamID" = "OLD"."id";
    /// ```
    ///
    /// - Parameter request: The request for the rows. It may refer to the rows ``old`` and ``new``;
    ///   its values become literals.
    /// - Throws: A ``DatabaseError`` for a request whose rows are not those of a table.
    public func destroyAll(_ request: some RowSource) throws {
        try execute(BulkQuery(query: request.all().query, action: .delete, isReturning: false))
    }

    /// Makes the trigger delete all rows of a record type's table for good.
    ///
    /// - Parameter type: The type whose table it is. The rows that its default filter excludes
    ///   stay.
    /// - Throws: A ``DatabaseError`` for a request whose rows are not those of a table.
    public func destroyAll(_ type: (some TableRecord).Type) throws { try destroyAll(type.all()) }

    /// Makes the trigger insert a row.
    ///
    /// ```swift
    /// try t.insert(into: "log", Column("what").set(to: "scored"), Column("player").set(to: t.new[Column("id")]))
    /// // INSERT INTO "log" ("what", "player") VALUES ('scored', "NEW"."id");
    /// ```
    ///
    /// A column that is not named gets its default value. SQLite requires at least one column.
    ///
    /// - Parameters:
    ///   - tableName: The name of the table.
    ///   - conflictResolution: The handling of a row that violates a constraint.
    ///   - values: The values to store.
    /// - Throws: A ``DatabaseError`` without values, and for an assignment without a value.
    public func insert(
        into tableName: String, onConflict conflictResolution: Database.ConflictResolution = .abort,
        _ values: ColumnAssignment...
    ) throws { try insert(tableName, conflictResolution, values) }

    /// Makes the trigger insert a row into a record type's table.
    ///
    /// With single-table inheritance, the trigger writes the kind of the class, as the insertion of
    /// one of its records does.
    ///
    /// - Parameters:
    ///   - type: The type whose table it is.
    ///   - conflictResolution: The handling of a row that violates a constraint.
    ///   - values: The values to store.
    /// - Throws: A ``DatabaseError`` for an unlisted class, whose records cannot be inserted, and
    ///   if the values set the column of the kinds. To set that yourself, insert into the table by
    ///   its name.
    public func insert(
        into type: any TableRecord.Type, onConflict conflictResolution: Database.ConflictResolution = .abort,
        _ values: ColumnAssignment...
    ) throws {
        try insert(type.databaseTableName, conflictResolution, values + kind(of: type, beside: values))
    }

    /// Returns the assignment of the column that stores the kinds of a table, if it has one.
    private func kind(
        of type: any TableRecord.Type, beside values: [ColumnAssignment]
    ) throws -> [ColumnAssignment] {
        guard let classes = (type as? Record.Type)?.rowClasses else { return [] }
        try classes.check(database.tableSchema(type.databaseTableName))
        if let value = values.first(where: { CaseInsensitiveName.matches($0.column, classes.column) }) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "a trigger inserts a row of \(type), and sets the column \(value.column) of its kind, "
                    + "which Shellac sets itself: leave it out, or insert into "
                    + "\"\(type.databaseTableName)\"")
        }
        return [Column(classes.column).set(to: try classes.insertedValue())]
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

    /// Makes the trigger evaluate expressions, for the side effects of their functions.
    ///
    /// ```swift
    /// try t.when { old, new in new[Column("score")] < 0 }
    /// try t.select(SQL("RAISE(ABORT, 'a score is never negative')"))
    /// ```
    ///
    /// - Parameter expressions: The expressions. Without any, SQLite refuses the trigger.
    /// - Throws: An error if an expression cannot be written.
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
