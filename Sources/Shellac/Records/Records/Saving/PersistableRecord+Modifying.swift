// Modifies class records in a closure, without `mutating`.

extension PersistableRecord where Self: Record {
    /// Modifies the record, and updates the columns that the function has changed. Changes made
    /// before are not written.
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

    /// Modifies the record, and returns the columns that the function has changed, with their old
    /// values.
    ///
    /// - Parameter modify: A function that changes the record. It is called once.
    /// - Throws: any error that encoding the record throws, and any error of the function.
    @discardableResult
    public func databaseChanges(modify: (Self) throws -> Void) throws -> [String: DatabaseValue] {
        var record = self
        return try record.databaseChanges { (record: inout Self) in try modify(record) }
    }
}
