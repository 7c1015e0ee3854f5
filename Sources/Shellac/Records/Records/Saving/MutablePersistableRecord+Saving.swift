// What saves a record: inserts, updates, deletes it. All of it becomes an operation, which a struct runs and a class
// record hands to its overridable methods.

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
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public mutating func insert(_ db: Database) throws { try persist(PersistenceOperation(.insert), in: db) }

    /// Inserts the record, and resolves conflicts in a way.
    ///
    /// Where a conflict is resolved by `.ignore`, the record is as it was, and `didInsert` is not called.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when a record violates a constraint; what the policy of the type says if nil.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public mutating func insert(_ db: Database, onConflict resolution: Database.ConflictResolution?) throws {
        try persist(PersistenceOperation(.insert, resolution), in: db)
    }

    /// The record, inserted.
    ///
    /// ```swift
    /// let player = try Player(id: nil, name: "Arthur", score: 1000).inserted(db)
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when a record violates a constraint: by default, what the policy of the type says.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
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
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key.
    public func update(_ db: Database) throws { try update(db, onConflict: nil) }

    /// Updates all columns of the record's row, and resolves conflicts in a way.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when the row violates a constraint; what the policy of the type says if nil.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key.
    public func update(_ db: Database, onConflict resolution: Database.ConflictResolution?) throws {
        var record = self
        try record.persist(PersistenceOperation(.update(columns: nil), resolution), in: db)
    }

    /// Updates some columns of the record's row.
    ///
    /// ```swift
    /// try player.update(db, columns: ["score"])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The names of columns that the record encodes. Another one throws
    ///     ``RecordError/columnNotEncoded(databaseTableName:column:)``. The primary key is not written.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key.
    public func update(_ db: Database, columns: Set<String>) throws {
        try update(db, onConflict: nil, columns: columns)
    }

    /// Updates some columns of the record's row.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when the row violates a constraint: by default, what the policy of the type says.
    ///   - columns: The columns to update.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key.
    public func update(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        columns: some Sequence<Column>
    ) throws {
        try update(db, onConflict: resolution, columns: Set(columns.map(\.name)))
    }

    /// Updates some columns of the record's row, and resolves conflicts in a way.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when the row violates a constraint: by default, what the policy of the type says.
    ///   - columns: The columns to update.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key.
    public func update(
        _ db: Database, onConflict resolution: Database.ConflictResolution?, columns: Set<String>
    ) throws {
        var record = self
        try record.persist(PersistenceOperation(.update(columns: columns), resolution), in: db)
    }

    /// Modifies the record, and updates the columns that have changed.
    ///
    /// ```swift
    /// let isUpdated = try player.updateChanges(db) { $0.score = 1000 }
    /// ```
    ///
    /// Without a change, no SQL is run and no callback is called.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when the row violates a constraint: by default, what the policy of the type says.
    ///   - modify: Changes the record.
    /// - Returns: Whether a column has changed.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key, and what the function throws.
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
    ///   - resolution: What SQLite does when the row violates a constraint: by default, what the policy of the type says.
    ///   - other: What the record is compared with.
    /// - Returns: Whether there is such a column.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key.
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

    /// Updates the record's row, or inserts the record where there is none, or where its primary key is NULL.
    ///
    /// `willSave`, `aroundSave` and `didSave` are called once. Where the update finds no row, `willUpdate` and `aroundUpdate`
    /// have been called, and then, inside of `aroundSave`, come `willInsert` and `aroundInsert`.
    ///
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public mutating func save(_ db: Database) throws { try persist(PersistenceOperation(.save), in: db) }

    /// Updates the record's row, or inserts the record where there is none, and resolves conflicts in a way.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when a record violates a constraint; what the policy of the type says if nil.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public mutating func save(_ db: Database, onConflict resolution: Database.ConflictResolution?) throws {
        try persist(PersistenceOperation(.save, resolution), in: db)
    }

    /// The record, saved.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when a record violates a constraint: by default, what the policy of the type says.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public func saved(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        try record.save(db, onConflict: resolution)
        return record
    }

    /// Inserts the record, or updates the row that is in its way because of the primary key or a unique index.
    ///
    /// All columns of the row that the record encodes are updated, without its primary key. It is one statement,
    /// which calls the callbacks of an insertion. See "UPSERT" in the SQLite documentation.
    ///
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public mutating func upsert(_ db: Database) throws { try persist(PersistenceOperation(.upsert), in: db) }

    // MARK: - Deleting

    /// Deletes the record's row: or stamps it, where ``TableRecord/databaseSoftDelete`` has it stay.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: a ``DatabaseError`` when other rows refer to this one by a foreign key that does not let it go, and
    ///   what the callbacks throw.
    @discardableResult
    public func delete(_ db: Database) throws -> Bool {
        var record = self
        return try record.persist(PersistenceOperation(.delete), in: db)
    }

    /// Whether there is a row with the record's primary key.
    ///
    /// - Throws: a ``DatabaseError`` when there is no such table, and what encoding the record throws.
    public func exists(_ db: Database) throws -> Bool {
        try db.withWriter(for: self) {
            $0.takeKey(of: self)
            return try $0.exists()
        }
    }
}

// MARK: - Records that saving does not change

extension PersistableRecord {
    /// Inserts the record.
    ///
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public func insert(_ db: Database) throws { try insert(db, onConflict: nil) }

    /// Inserts the record, and resolves conflicts in a way.
    ///
    /// Where a conflict is resolved by `.ignore`, `didInsert` is not called.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when a record violates a constraint; what the policy of the type says if nil.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public func insert(_ db: Database, onConflict resolution: Database.ConflictResolution?) throws {
        var record = self
        try record.persist(PersistenceOperation(.insert, resolution), in: db)
    }

    /// Updates the record's row, or inserts the record where there is none, or where its primary key is NULL.
    ///
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public func save(_ db: Database) throws { try save(db, onConflict: nil) }

    /// Updates the record's row, or inserts the record where there is none, and resolves conflicts in a way.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: What SQLite does when a record violates a constraint; what the policy of the type says if nil.
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public func save(_ db: Database, onConflict resolution: Database.ConflictResolution?) throws {
        var record = self
        try record.persist(PersistenceOperation(.save, resolution), in: db)
    }

    /// Inserts the record, or updates the row that is in its way because of the primary key or a unique index.
    ///
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    public func upsert(_ db: Database) throws {
        var record = self
        try record.persist(PersistenceOperation(.upsert), in: db)
    }
}
