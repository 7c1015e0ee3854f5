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

    /// Inserts the record, and returns its row as a record of another type.
    ///
    /// ```swift
    /// let persisted = try player.insertAndFetch(db, as: PersistedPlayer.self)
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    ///   - type: The type that the row is read as.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if a conflict was resolved
    ///   by ignoring the record, and any error of `insert`.
    public mutating func insertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, as type: Fetched.Type
    ) throws -> Fetched {
        try persistAndFetch(.insert, resolution, as: type, in: db)
    }

    /// Updates all columns of the record's row, and returns the row as a record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    ///   - type: The type that the row is read as.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key, or if a conflict was resolved by ignoring the record.
    public func updateAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, as type: Fetched.Type
    ) throws -> Fetched {
        var record = self
        return try record.persistAndFetch(.update(columns: nil), resolution, as: type, in: db)
    }

    /// Updates or inserts the record, and returns its row as a record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    ///   - type: The type that the row is read as.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if a conflict was resolved
    ///   by ignoring the record.
    public mutating func saveAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, as type: Fetched.Type
    ) throws -> Fetched {
        try persistAndFetch(.save, resolution, as: type, in: db)
    }

    /// Inserts the record or updates the conflicting row, and returns the row as a record of
    /// another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks or
    ///   of reading the row.
    public mutating func upsertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, as type: Fetched.Type
    ) throws -> Fetched {
        try persistAndFetch(.upsert, nil, as: type, in: db)
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

extension MutablePersistableRecord where Self: FetchableRecord {
    /// Inserts the record, and returns it as the database stores it: with its row id, and the
    /// defaults of columns that it does not encode.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if a conflict was resolved
    ///   by ignoring the record.
    public func insertAndFetch(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        return try record.insertAndFetch(db, onConflict: resolution, as: recordType)
    }

    /// Updates all columns of the record's row, and returns the record as the database stores it.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key, or if a conflict was resolved by ignoring the record.
    public func updateAndFetch(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        try updateAndFetch(db, onConflict: resolution, as: recordType)
    }

    /// Updates or inserts the record, and returns it as the database stores it.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if a conflict was resolved
    ///   by ignoring the record.
    public func saveAndFetch(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        return try record.saveAndFetch(db, onConflict: resolution, as: recordType)
    }

    /// Inserts the record or updates the conflicting row, and returns the record as the database
    /// stores it.
    ///
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks or
    ///   of reading the row.
    public func upsertAndFetch(_ db: Database) throws -> Self {
        var record = self
        return try record.upsertAndFetch(db, as: recordType)
    }

    /// Modifies the record, updates the changed columns, and returns the record as the database
    /// stores it. Returns nil if nothing has changed.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    ///   - modify: A function that changes the record.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key, or if a conflict was resolved by ignoring the record.
    public mutating func updateChangesAndFetch(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Self? {
        try updateChangesAndFetch(db, onConflict: resolution, as: recordType, modify: modify)
    }
}

extension PersistableRecord {
    /// Inserts the record, and returns its row as a record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    ///   - type: The type that the row is read as.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if a conflict was resolved
    ///   by ignoring the record.
    public func insertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, as type: Fetched.Type
    ) throws -> Fetched {
        var record = self
        return try record.persistAndFetch(.insert, resolution, as: type, in: db)
    }

    /// Updates or inserts the record, and returns its row as a record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    ///   - type: The type that the row is read as.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if a conflict was resolved
    ///   by ignoring the record.
    public func saveAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, as type: Fetched.Type
    ) throws -> Fetched {
        var record = self
        return try record.persistAndFetch(.save, resolution, as: type, in: db)
    }

    /// Inserts the record or updates the conflicting row, and returns the row as a record of
    /// another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks or
    ///   of reading the row.
    public func upsertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, as type: Fetched.Type
    ) throws -> Fetched {
        var record = self
        return try record.persistAndFetch(.upsert, nil, as: type, in: db)
    }
}
