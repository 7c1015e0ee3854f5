// The methods that insert, update, save and delete a record.
//
// Each call becomes an operation. A struct runs it, and a class record passes it to its overridable
// methods.

extension MutablePersistableRecord {
    /// Runs an operation: see ``persist(_:in:)``.
    @_documentation(visibility: internal)
    @discardableResult
    public mutating func persist(_ operation: PersistenceOperation, in db: Database) throws -> Bool {
        let options = operation.options
        return switch operation.verb {
        case .insert: try insertRow(in: db, options, isUpsert: false)
        case .upsert: try insertRow(in: db, options, isUpsert: true)
        case .update(let columns): try updateRow(in: db, columns: columns, options)
        case .save: try saveRow(in: db, options)
        case .delete: try deleteRow(in: db)
        case .destroy: try deleteRow(in: db, destroying: true)
        }
    }

    // MARK: - Inserting

    /// Inserts the record.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     var player = Player(id: nil, name: "Arthur", score: 1000)
    ///     try player.insert(db)
    /// }
    /// ```
    ///
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks.
    public mutating func insert(_ db: Database) throws { try persist(PersistenceOperation(.insert), in: db) }

    /// Returns the record after inserting it.
    ///
    /// ```swift
    /// let player = try Player(id: nil, name: "Arthur", score: 1000).inserted(db)
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks.
    public func inserted(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        try record.insert(db, onConflict: resolution)
        return record
    }

    // MARK: - Updating

    /// Updates all columns of the record's row.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key.
    public func update(_ db: Database) throws { try update(db, onConflict: nil) }

    /// Updates some columns of the record's row.
    ///
    /// ```swift
    /// try player.update(db, columns: ["score"])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The names of columns that the record encodes. Any other name throws
    ///     ``RecordError/columnNotEncoded(databaseTableName:column:)``. The primary key is not
    ///     written.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key.
    public func update(_ db: Database, columns: Set<String>) throws {
        try update(db, onConflict: nil, columns: columns)
    }

    /// Modifies the record, and updates the columns that have changed.
    ///
    /// ```swift
    /// let isUpdated = try player.updateChanges(db) { $0.score = 1000 }
    /// ```
    ///
    /// If nothing has changed, no SQL runs and no callback is called.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    ///   - modify: A function that changes the record.
    /// - Returns: Whether a column has changed.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key, and any error of the function.
    @discardableResult
    public mutating func updateChanges(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Bool {
        let changes = try databaseChanges(modify: modify)
        if changes.isEmpty { return false }
        try update(db, onConflict: resolution, columns: Set(changes.keys))
        return true
    }

    /// Updates the columns in which the record differs from another one.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if the row violates a constraint. By default, the
    ///     type's policy applies.
    ///   - other: The record to compare with.
    /// - Returns: Whether there is such a column.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key.
    @discardableResult
    public func updateChanges(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        from other: some EncodableRecord
    ) throws -> Bool {
        let changes = try databaseChanges(from: other)
        if changes.isEmpty { return false }
        try update(db, onConflict: resolution, columns: Set(changes.keys))
        return true
    }

    // MARK: - Inserting or updating

    /// Updates the record's row, or inserts the record if there is no row, or if its primary key is
    /// NULL.
    ///
    /// `willSave`, `aroundSave` and `didSave` are called once. If the update finds no row,
    /// `willUpdate` and `aroundUpdate` have already been called. Then, inside of `aroundSave`,
    /// `willInsert` and `aroundInsert` follow.
    ///
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks.
    public mutating func save(_ db: Database) throws { try persist(PersistenceOperation(.save), in: db) }

    /// Returns the record after saving it.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks.
    public func saved(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        try record.save(db, onConflict: resolution)
        return record
    }

    /// Inserts the record, or updates the row that conflicts with it in the primary key or a unique
    /// index.
    ///
    /// All columns that the record encodes are updated, except for its primary key. This is one
    /// statement, which calls the callbacks of an insertion. See "UPSERT" in the SQLite
    /// documentation.
    ///
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks.
    public mutating func upsert(_ db: Database) throws { try persist(PersistenceOperation(.upsert), in: db) }

    // MARK: - Deleting

    /// Deletes the record's row, or stamps it if ``TableRecord/databaseSoftDelete`` keeps deleted
    /// rows.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: a ``DatabaseError`` if other rows refer to this one by a foreign key that prevents
    ///   the deletion, and any error of the callbacks.
    @discardableResult
    public func delete(_ db: Database) throws -> Bool {
        var record = self
        return try record.persist(PersistenceOperation(.delete), in: db)
    }

    /// Returns whether there is a row with the record's primary key.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such table, and any error that encoding the
    ///   record throws.
    public func exists(_ db: Database) throws -> Bool {
        try db.withWriter(for: self) {
            $0.takeKey(of: self)
            return try $0.exists()
        }
    }
}
