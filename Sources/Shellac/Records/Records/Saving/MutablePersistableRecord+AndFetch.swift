// Saves a record and fetches its row, in one statement with RETURNING.
//
// Changes that triggers make after the statement are not in the row: see "RETURNING" in the SQLite
// documentation.

extension MutablePersistableRecord {
    /// Runs an operation, and returns the saved row as a record of the given type.
    mutating func persistAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ verb: PersistenceOperation.Verb, _ resolution: Database.ConflictResolution?, as type: Fetched.Type,
        upsert: UpsertClause? = nil, in db: Database
    ) throws -> Fetched {
        var fetched: Fetched?
        let returning = try Returning(type.selectionSQL) { fetched = try type.made(of: $0) }
        try persist(PersistenceOperation(verb, resolution, upsert: upsert, returning: returning), in: db)
        try returning.finish()
        guard let fetched else {
            // A conflict was resolved by ignoring the record, or an overriding method did not save
            // it.
            throw try db.withWriter(for: self) { $0.notFound }
        }
        return fetched
    }

    /// Modifies the record, updates the changed columns, and returns the row as a record of another
    /// type. Returns nil if nothing has changed.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    ///   - type: The type that the row is read as.
    ///   - modify: A function that changes the record.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key, or if a conflict was resolved by ignoring the record.
    public mutating func updateChangesAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, as type: Fetched.Type,
        modify: (inout Self) throws -> Void
    ) throws -> Fetched? {
        let changes = try databaseChanges(modify: modify)
        if changes.isEmpty { return nil }
        var columns = Set(changes.keys)
        // A record that now identifies another row remembers no values of that row.
        if let object = self as? Record { columns = try object.columnsToUpdate(changes, in: db) }
        var record = self
        return try record.persistAndFetch(.update(columns: columns), resolution, as: type, in: db)
    }
}
