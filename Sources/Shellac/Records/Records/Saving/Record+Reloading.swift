// Reads the row of a class record again.

extension Record {
    /// Inserts the record. With `refreshing`, also takes the values that the database added:
    /// default values of columns that were not encoded, and generated columns.
    ///
    /// This is one statement. It needs a class that lists its columns in ``columns(_:)``, or reads
    /// them in ``updateFromRow(_:)``.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - resolution: The conflict resolution if a record violates a constraint. By default, the
    ///     type's policy applies.
    ///   - refreshing: Whether the record takes the stored row.
    /// - Throws: ``RecordError/rowNotTaken(recordType:reason:)`` if the record does not take the
    ///   row, which is inserted nevertheless.
    public final func insert(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, refreshing: Bool
    ) throws {
        guard refreshing else { return try insert(db, onConflict: resolution) }
        try ClassCoding.of(type(of: self))?.use { try $0.checkRefreshing() }
        var row: Row?
        let returning = Returning("*") { row = $0.copy() }
        try persist(PersistenceOperation(.insert, resolution, returning: returning), in: db)
        guard let row else { return }
        try refresh(from: row, before: encoded().row(), in: db)
    }

    /// Takes the values of the record's row in the database.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key. ``RecordError/rowNotTaken(recordType:reason:)`` if the class neither
    ///   lists its columns nor overrides ``updateFromRow(_:)``.
    public final func reload(_ db: Database) throws {
        db.checkAccess()
        try ClassCoding.of(type(of: self))?.use { try $0.checkRefreshing() }
        let found = try db.withWriter(for: self) { writer in
            writer.takeKey(of: self)
            var row: Row?
            try writer.withRow { row = $0.copy() }
            return row.map { (row: $0, before: writer.columns.row()) }
        }
        if let found { try type(of: self).rowClasses?.checkRow(found.row) }
        if let found { try refresh(from: found.row, before: found.before, in: db) }
    }

    /// Takes a row of the record's table.
    ///
    /// - Parameter before: The values that the record had encoded before the row was read.
    private func refresh(from row: Row, before: PackedRow, in db: Database) throws {
        try read(row)
        let fetched = try row.remembered(
            by: type(of: self), in: db, previous: previousSave(moment: note(in: db)))
        let remembered = snapshot
        // Encoding the record may save it, and then it remembers that save.
        snapshot = fetched
        let after: PackedColumns
        do { after = try encoded() } catch {
            if snapshot === fetched { snapshot = remembered }
            throw error
        }
        let names = after.layout.names
        let missing = ColumnMask(names.indices.filter { fetched.layout.column(named: names[$0]) == nil })
        if after.changes(from: before).isEmpty, !after.changes(from: fetched).subtracting(missing).isEmpty {
            if snapshot === fetched { snapshot = remembered }
            throw RecordError.rowNotTaken(
                recordType: "\(type(of: self))",
                reason: "list the columns in columns(_:), or read them in updateFromRow(_:)")
        }
        if snapshot === fetched, let known = fetched.knowing(remembered, encoding: after) { snapshot = known }
    }
}
