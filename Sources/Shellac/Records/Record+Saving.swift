// How a class record is saved. Whatever saves it comes to one of its four overridable methods, whose base
// implementation comes here. What the record remembers is kept here, in final code.
//
// A class that overrides no callback with a `Database` takes the straight road: there is nobody to be called around
// the statement. One that overrides no method that saves either is encoded once, and has its columns named by nobody.

extension Record {
    /// Runs an operation: hands it to the overridable methods.
    @discardableResult
    public final func persist(_ operation: PersistenceOperation, in db: Database) throws -> Bool {
        db.checkAccess()
        let options = operation.options
        switch operation.verb {
        case .insert: try db.records.with(options, for: self) { try insert(db) }
        case .update(nil): try db.records.with(options, for: self) { try update(db) }
        case .update(let columns?):
            try db.records.with(options, for: self) { try update(db, columns: columns) }
        case .delete: return try delete(db)
        case .upsert: try insertRow(in: db, options, isUpsert: true)
        case .save: try saveRow(in: db, options)
        }
        return true
    }

    private func saveRow(in db: Database, _ options: PersistenceOptions) throws {
        let type = Swift.type(of: self)
        if try db.records.plan(for: type, on: db).overridesWhatSaves {
            do {
                if try hasKey(in: db) { return try db.records.with(options, for: self) { try update(db) } }
            } catch let error as RecordError {
                guard try isAbsence(error, in: db) else { throw error }
            }
            return try db.records.with(options, for: self) { try insert(db) }
        }
        var stored: Stored?
        try Persistence.with(
            type, on: db, encoding: { try encode(to: &$0) },
            perform: { persistence in
                if persistence.hasKey {
                    do {
                        return try updateStraight(
                            persistence, persistence.shape.allColumns, isFull: true, options)
                    } catch let error as RecordError where error == persistence.notFound {
                        // It is to be inserted.
                    }
                }
                stored = try insertStraight(persistence, options, isUpsert: false)
            })
        try stored.map(finish)
    }

    // MARK: - Inserting

    /// What ``insert(_:)`` does.
    final func insertRow(in db: Database) throws {
        db.checkAccess()
        try insertRow(in: db, db.records.takeOptions(for: self), isUpsert: false)
    }

    private func insertRow(in db: Database, _ options: PersistenceOptions, isUpsert: Bool) throws {
        let type = Swift.type(of: self)
        var stored: Stored?
        if try db.records.plan(for: type, on: db).overridesCallbacks {
            var record = self
            try record.runInsertion(in: db, options, isUpsert: isUpsert) { stored = store($0, $1) }
        } else {
            stored = try Persistence.with(
                type, on: db, encoding: { try encode(to: &$0) },
                perform: {
                    try insertStraight($0, options, isUpsert: isUpsert)
                })
        }
        if let stored { try finish(stored) }
    }

    /// Inserts what was encoded, where no callback stands around it.
    @inline(__always)
    private func insertStraight(
        _ persistence: Persistence, _ options: PersistenceOptions, isUpsert: Bool
    ) throws -> Stored? {
        let resolution =
            options.conflictResolution
            ?? type(of: self).persistenceConflictPolicy.conflictResolutionForInsert
        return try persistence.stampingInsertion(of: self, isUpsert: isUpsert) { persistence in
            let insertion =
                isUpsert
                ? try persistence.upsert(options.returning)
                : try persistence.insert(resolution, options.returning)
            guard let insertion else { return nil }
            let stored = store(persistence, insertion)
            didInsert(insertion)
            didSave(PersistenceSuccess(insertion: insertion))
            return stored
        }
    }

    /// What came of an insertion.
    private struct Stored {
        /// The error to throw.
        var rejection: RecordError?
        /// A row id of which it is not known whether the record has taken it.
        var unknownRowID: (rowID: Int64, plan: RecordPlan)?
    }

    /// Remembers what was inserted, and takes the row id.
    @inline(__always)
    private func store(_ persistence: Persistence, _ insertion: InsertionSuccess) -> Stored {
        let stored = storeRow(persistence, insertion)
        if persistence.boundStamps != nil { takeStamps(of: persistence) }
        return stored
    }

    @inline(__always)
    private func storeRow(_ persistence: Persistence, _ insertion: InsertionSuccess) -> Stored {
        let (columns, db) = (persistence.columns, persistence.database)
        guard let column = persistence.shape.rowIDColumn, columns.isNull(column) else {
            snapshot = columns.row(past: past(in: db))
            return Stored()
        }
        let given = Journal.GivenRowID(value: insertion.rowID, column: column)
        let row = columns.row(with: insertion.rowID, in: column, past: past(givenRowID: given, in: db))
        snapshot = row
        let plan = persistence.plan
        switch plan.rowIDRoad {
        case .didInsert, .none: return Stored()
        case .updateFromRow: return Stored(rejection: take(row))
        case .unknown:
            let rejection = take(row)
            guard hasRowID(insertion.rowID, plan) else {
                return Stored(rejection: rejection, unknownRowID: (insertion.rowID, plan))
            }
            plan.rowIDRoad = .updateFromRow
            return Stored(rejection: rejection)
        }
    }

    private func finish(_ stored: Stored) throws {
        if let rejection = stored.rejection { throw rejection }
        if let (rowID, plan) = stored.unknownRowID { learnRowIDRoad(rowID, plan) }
    }

    /// Takes the row that was inserted. Returns the error to throw.
    final func take(_ row: PackedRow) -> RecordError? {
        do {
            try updateFromRow(Row(row))
            return nil
        } catch {
            return .rowNotTaken(recordType: "\(type(of: self))", reason: "updateFromRow threw \(error)")
        }
    }

    /// Whether the record has taken its row id.
    private func hasRowID(_ rowID: Int64, _ plan: RecordPlan) -> Bool {
        guard let name = plan.rowIDColumn, let columns = try? encoded(),
            let column = columns.layout.column(named: name)
        else { return false }
        return columns[column] == rowID.databaseValue
    }

    /// The class does not take its row id from `updateFromRow`: remembers how it does, for all its records.
    private func learnRowIDRoad(_ rowID: Int64, _ plan: RecordPlan) {
        guard plan.rowIDRoad == .unknown else { return }
        if hasRowID(rowID, plan) {
            plan.rowIDRoad = .didInsert
        } else {
            plan.rowIDRoad = .none
            let column = plan.rowIDColumn ?? "rowid"
            ErrorLog.warn(
                "\(type(of: self)) was inserted, and has not taken its row id (\(column)). Override updateFromRow(_:) and "
                    + "read the column there, or override didInsert(_:) and take inserted.rowID.")
        }
    }

    // MARK: - Updating

    /// What ``update(_:)`` does.
    final func updateRow(in db: Database) throws {
        db.checkAccess()
        let type = Swift.type(of: self)
        try Persistence.with(
            type, on: db, encoding: { try encode(to: &$0) },
            perform: { persistence in
                if persistence.plan.overridesWhatSaves {
                    try update(db, columns: persistence.shape.allNames)
                } else {
                    let options = db.records.takeOptions(for: self)
                    try updateStraight(persistence, persistence.shape.allColumns, isFull: true, options)
                }
            })
    }

    /// What ``update(_:columns:)`` does.
    final func updateRow(in db: Database, columns: Set<String>) throws {
        db.checkAccess()
        let options = db.records.takeOptions(for: self)
        let type = Swift.type(of: self)
        let plan = try db.records.plan(for: type, on: db)
        guard plan.overridesWhatSaves else {
            return try Persistence.with(
                type, on: db, encoding: { try encode(to: &$0) },
                perform: {
                    try updateStraight($0, $0.mask(of: columns, and: ColumnMask()), isFull: false, options)
                })
        }
        let isFull = plan.shape?.allNames == columns
        var record = self
        try record.runUpdate(in: db, columns: columns, isFull: isFull, options) {
            remember($0, $1, isFull: $2)
        }
    }

    /// Updates columns that were encoded, where no callback stands around it.
    @inline(__always)
    private func updateStraight(
        _ persistence: Persistence, _ mask: ColumnMask, isFull: Bool, _ options: PersistenceOptions
    ) throws {
        let resolution =
            options.conflictResolution
            ?? type(of: self).persistenceConflictPolicy.conflictResolutionForUpdate
        try persistence.stampingUpdate(of: self, mask, isFull: isFull) { persistence, mask, isFull in
            guard try persistence.update(mask, resolution, options.returning) else { return }
            remember(persistence, mask, isFull: isFull)
            let success = PersistenceSuccess(insertion: nil)
            didUpdate(success)
            didSave(success)
        }
    }

    /// Remembers the columns that were updated.
    @inline(__always)
    private func remember(_ persistence: Persistence, _ mask: ColumnMask, isFull: Bool) {
        let columns = persistence.columns
        let (old, past) = (snapshot, past(in: persistence.database))
        snapshot = isFull ? columns.row(past: past) : columns.row(saving: mask, in: old, past: past)
        if persistence.boundStamps != nil { takeStamps(of: persistence) }
    }

    // MARK: - Deleting

    /// What ``delete(_:)`` does.
    final func deleteRow(in db: Database) throws -> Bool {
        try runDeletion(in: db) {
            snapshot = .nothing(past: pastOfSave(moment: note(in: db)))
        }
    }
}

// MARK: - On top of the overridable methods

extension Record {
    /// Updates the columns that have changed since the record was fetched or saved.
    ///
    /// Without a change, no SQL is run and no callback is called.
    ///
    /// - Returns: Whether a column has changed.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key, and for a record that was never inserted.
    @discardableResult
    public final func updateChanges(_ db: Database) throws -> Bool {
        db.checkAccess()
        if !hasDatabaseChanges { return false }
        return try Persistence.with(
            type(of: self), on: db, encoding: { try encode(to: &$0) },
            perform: {
                persistence in
                let columns = persistence.columns
                let mask = snapshot.map { columns.changes(from: $0) } ?? ColumnMask(0..<columns.count)
                if mask.isEmpty { return false }
                if !persistence.plan.overridesWhatSaves {
                    let isFull = mask == ColumnMask(0..<columns.count)
                    try updateStraight(
                        persistence, persistence.settable(mask), isFull: isFull, PersistenceOptions())
                    return true
                }
                let names = snapshot == nil ? persistence.shape.allNames : persistence.shape.names(of: mask)
                let options = PersistenceOptions(encoded: columns)
                try db.records.with(options, for: self) { try update(db, columns: names) }
                return true
            })
    }

    /// Inserts the record. With `refreshing`, takes what the database made of it, too: the default values of columns
    /// that were not encoded, and generated columns.
    ///
    /// It is one statement, and needs ``updateFromRow(_:)``.
    ///
    /// - Throws: ``RecordError/rowNotTaken(recordType:reason:)`` when the record does not take the row,
    ///   which is inserted all the same.
    public final func insert(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, refreshing: Bool
    ) throws {
        guard refreshing else { return try insert(db, onConflict: resolution) }
        var row: Row?
        let returning = Returning("*") { row = $0.copy() }
        try persist(PersistenceOperation(.insert, resolution, returning: returning), in: db)
        guard let row else { return }
        try refresh(from: row, in: db)
    }

    /// Takes what the database holds.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key, and ``RecordError/rowNotTaken(recordType:reason:)`` when the class does not override
    ///   ``updateFromRow(_:)``.
    public final func reload(_ db: Database) throws {
        db.checkAccess()
        var row: Row?
        try Persistence.with(
            type(of: self), on: db, encoding: { try encode(to: &$0) },
            perform: {
                try $0.withRow { row = $0.copy() }
            })
        if let row { try refresh(from: row, in: db) }
    }

    /// Takes a row of the record's table.
    private func refresh(from row: Row, in db: Database) throws {
        let before = try encoded().row()
        try updateFromRow(row)
        let after = try encoded()
        let fetched = try row.remembered(
            by: type(of: self), in: db, past: pastOfSave(moment: note(in: db)))
        if after.changes(from: before).isEmpty, !after.changes(from: fetched).isEmpty {
            throw RecordError.rowNotTaken(
                recordType: "\(type(of: self))",
                reason: "override updateFromRow(_:), and read the columns there")
        }
        snapshot = fetched
    }
}
