// Saves a record and fetches a selection of its row.
//
// For example: `insertAndFetch(db, selection: […]) { statement in … }`.

extension MutablePersistableRecord {
    /// Runs an operation, and calls a function with a statement that returns the selection of the
    /// saved row. The statement has no row if a conflict was resolved by ignoring the record.
    mutating func persist<Fetched>(
        _ verb: PersistenceOperation.Verb, _ resolution: Database.ConflictResolution?,
        _ selection: [any SQLSelectable], in db: Database, _ fetch: (Statement) throws -> Fetched
    ) throws -> Fetched {
        if selection.isEmpty {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "a save that fetches the row needs a selection")
        }
        var row: Row?
        let returning = try Returning(SelectedSQL.of(selection, on: db)) { row = $0.copy() }
        try persist(PersistenceOperation(verb, resolution, returning: returning), in: db)
        try returning.finish()
        // The saving statement has ended: its changes must be reported before anything else uses
        // the database. Another statement selects the values that it returned.
        guard let row else {
            let names = try SelectedSQL.names(selection, of: Self.databaseTableName, on: db)
            let columns = names.map { "NULL AS \($0.quotedDatabaseIdentifier)" }
            return try fetch(db.makeStatement(sql: "SELECT \(columns.joined(separator: ", ")) WHERE 0"))
        }
        let columns = row.columnNames.map { "? AS \($0.quotedDatabaseIdentifier)" }
        let statement = try db.makeStatement(sql: "SELECT \(columns.joined(separator: ", "))")
        try statement.setArguments(StatementArguments(row.databaseValues))
        return try fetch(statement)
    }

    /// Modifies the record, updates the changed columns, and returns the value that a function
    /// fetches from a selection of the row. Returns nil if nothing has changed.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    ///   - selection: Columns and expressions of the row.
    ///   - fetch: A function that fetches from a statement of the selection. The statement has no
    ///     row if a conflict was resolved by ignoring the record.
    ///   - modify: A function that changes the record.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key.
    public mutating func updateChangesAndFetch<Fetched>(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> Fetched?,
        modify: (inout Self) throws -> Void
    ) throws -> Fetched? {
        let changes = try databaseChanges(modify: modify)
        if changes.isEmpty { return nil }
        var columns = Set(changes.keys)
        if let object = self as? Record { columns = try object.columnsToUpdate(changes, in: db) }
        var record = self
        return try record.persist(.update(columns: columns), resolution, selection, in: db, fetch)
    }
}

// MARK: - By closures over columns

extension MutablePersistableRecord {
    /// Updates columns of the record's row that the type declares.
    ///
    /// ```swift
    /// try player.update(db) { [$0.score, $0.name] }
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    ///   - columns: A function that returns the columns to update.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key, and a ``DatabaseError`` if an expression is not a column.
    public func update(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        @SQLSelectionBuilder columns: (Columns.Type) throws -> [any SQLSelectable]
    ) throws {
        let names = try columns(Columns.self).map { column in
            guard case .expression(let expression, nil) = column.sqlSelection.form,
                case .column(let name) = expression.form
            else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "only columns can be updated") }
            return name
        }
        if let object = self as? Record, resolution == nil {
            return try object.update(db, columns: Set(names))
        }
        try update(db, onConflict: resolution, columns: Set(names))
    }

    /// Updates some columns of the record's row.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    ///   - columns: The names of the columns to update.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key.
    @_disfavoredOverload
    public func update(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>
    ) throws {
        if let object = self as? Record, resolution == nil {
            return try object.update(db, columns: Set(columns))
        }
        try update(db, onConflict: resolution, columns: Set(columns))
    }
}

/// A selection, as SQL without values.
private enum SelectedSQL {
    static func of(_ selection: [any SQLSelectable], on db: Database) throws -> String {
        var writer = SQLWriter(db)
        try writer.list(selection) { try $1.sqlSelection.write(to: &$0) }
        return try writer.fragment.literalSQL(on: db)
    }

    /// Returns the names of the columns that a selection from a table returns.
    static func names(_ selection: [any SQLSelectable], of table: String, on db: Database) throws -> [String]
    {
        let sql = try of(selection, on: db)
        return try db.makeStatement(sql: "SELECT \(sql) FROM \(table.quotedDatabaseIdentifier) WHERE 0")
            .columnNames
    }
}
