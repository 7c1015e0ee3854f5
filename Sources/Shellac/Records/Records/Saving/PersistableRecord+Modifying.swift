// What modifies a class record in a closure: it is not mutating.

extension PersistableRecord where Self: Record {
    /// Modifies the record, and updates the columns that this has changed. Changes made before are not written.
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
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's primary key, and
    ///   what the function throws.
    @discardableResult
    public func updateChanges(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        modify: (Self) throws -> Void
    ) throws -> Bool {
        let changes = try databaseChanges(modify: modify)
        if changes.isEmpty { return false }
        let columns = try columnsToUpdate(changes, in: db)
        try update(db, onConflict: resolution, columns: columns)
        return true
    }

    /// Modifies the record, and returns the columns that this has changed, with their old values.
    ///
    /// - Parameter modify: Changes the record. It is called once.
    /// - Throws: what encoding the record throws, and what the function throws.
    @discardableResult
    public func databaseChanges(modify: (Self) throws -> Void) throws -> [String: DatabaseValue] {
        var record = self
        return try record.databaseChanges { (record: inout Self) in try modify(record) }
    }
}
