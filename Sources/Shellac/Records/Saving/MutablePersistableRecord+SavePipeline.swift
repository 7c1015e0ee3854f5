// How records are updated or inserted: one call of `willSave` and `aroundSave` for both.

extension MutablePersistableRecord {
    /// Updates the record's row, or inserts the record where there is none, with one call of `willSave` and `aroundSave` for
    /// both, and without a `did` callback. Returns nil when a conflict was resolved by ignoring it.
    ///
    /// - Parameters:
    ///   - columns: The names of all columns.
    ///   - didUpdate: Called once the row is updated.
    ///   - didInsert: Called once the row is inserted.
    mutating func saveAmongCallbacks(
        in db: Database, columns: Set<String>, _ options: PersistenceOptions?,
        didUpdate: (Persistence, ColumnMask, _ isFull: Bool) throws -> Void,
        didInsert: (Persistence, InsertionSuccess) throws -> Void
    ) throws -> PersistenceSuccess? {
        db.checkAccess()
        try willSave(db)
        try willUpdate(db, columns: columns)
        // The record does not change while `aroundSave` runs: what `willInsert` makes of it is put in its place afterwards.
        var inserted: Self?
        let success = try insertingIfAbsent(
            in: db, columns: columns, options, didUpdate: didUpdate, didInsert: didInsert, &inserted)
        if let inserted { self = inserted }
        return success
    }

    private func insertingIfAbsent(
        in db: Database, columns: Set<String>, _ options: PersistenceOptions?,
        didUpdate: (Persistence, ColumnMask, _ isFull: Bool) throws -> Void,
        didInsert: (Persistence, InsertionSuccess) throws -> Void, _ inserted: inout Self?
    ) throws -> PersistenceSuccess? {
        try aroundSaving(db) {
            do {
                return try updateAsItIs(in: db, columns: columns, isFull: true, options, didStore: didUpdate)
            } catch let error as RecordError {
                guard try isAbsence(error, in: db) else { throw error }
            }
            var record = self
            try record.willInsert(db)
            let insertion = try record.insertAsItIs(in: db, options, isUpsert: false, didStore: didInsert)
            inserted = record
            return insertion.map { PersistenceSuccess(insertion: $0) }
        }
    }

    /// Calls the callbacks of a save around functions that save the record, which call all others.
    mutating func saveAmongCallbacks(
        in db: Database, by save: () throws -> PersistenceSuccess?
    ) throws -> PersistenceSuccess? {
        try willSave(db)
        return try aroundSaving(db, save)
    }
}
