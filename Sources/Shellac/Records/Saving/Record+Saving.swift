// How a class record is saved. Whatever saves it comes to one of its four overridable methods, whose base
// implementation comes here. What the record remembers is kept here, in final code.
//
// A class that overrides no method that saves, and no callback with a `Database`, takes the straight road: there is nobody
// to be called around the statement, it is encoded once, and has its columns named by nobody. All others take the long
// road. What came of either is stored in the record by Record+Outcome.swift.

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

    private func saveRow(in db: Database, _ options: PersistenceOptions?) throws {
        let type = Swift.type(of: self)
        if try db.records.plan(for: type, on: db).overridesWhatSaves {
            return try saveByLongRoad(in: db, options)
        }
        var aftermath: Aftermath?
        try Persistence.with(
            type, on: db, encoding: { try _encodeColumns(to: &$0) },
            perform: { persistence in
                if persistence.hasKey {
                    do {
                        let (mask, isFull) = columnsOfFullUpdate(persistence)
                        return try updateStraight(persistence, mask, isFull: isFull, options, in: db)
                    } catch let error as RecordError where error == persistence.notFound {
                        // It is to be inserted.
                    }
                }
                aftermath = try insertStraight(persistence, options, isUpsert: false, in: db)
            })
        if let aftermath { try finish(aftermath) }
    }

    // MARK: - Inserting

    /// What ``insert(_:)`` does.
    final func insertRow(in db: Database) throws {
        db.checkAccess()
        try insertRow(in: db, db.withRecords { $0.takeOptions(for: self) }, isUpsert: false)
    }

    private func insertRow(in db: Database, _ options: PersistenceOptions?, isUpsert: Bool) throws {
        var aftermath: Aftermath?
        try db.withRecords { records in
            try records.withPlan(for: Swift.type(of: self), on: db) { plan in
                if plan.overridesWhatSaves {
                    aftermath = try insertByLongRoad(in: db, options, isUpsert: isUpsert)
                } else {
                    aftermath = try Persistence.with(
                        plan, records, on: db, encoding: { try _encodeColumns(to: &$0) },
                        perform: { try insertStraight($0, options, isUpsert: isUpsert, in: db) })
                }
            }
        }
        if let aftermath { try finish(aftermath) }
    }

    /// Inserts what was encoded, where no callback stands around it.
    @inline(__always)
    private func insertStraight(
        _ persistence: Persistence, _ options: PersistenceOptions?, isUpsert: Bool, in db: Database
    ) throws -> Aftermath? {
        if isUpsert { persistence.untouched = untouched(in: persistence) }
        if persistence.isStamped {
            return try insertStamped(persistence, options, isUpsert: isUpsert, in: db)
        }
        return try insertAsItIs(persistence, options, isUpsert: isUpsert, in: db)
    }

    @inline(never)
    private func insertStamped(
        _ persistence: Persistence, _ options: PersistenceOptions?, isUpsert: Bool, in db: Database
    ) throws -> Aftermath? {
        try persistence.stampingInsertion(of: self, isUpsert: isUpsert) {
            try insertAsItIs($0, options, isUpsert: isUpsert, in: db)
        }
    }

    @inline(__always)
    private func insertAsItIs(
        _ persistence: Persistence, _ options: PersistenceOptions?, isUpsert: Bool, in db: Database
    ) throws -> Aftermath? {
        let insertion = try persistence.insert(
            options, isUpsert: isUpsert, type(of: self).persistenceConflictPolicy)
        guard let insertion else { return nil }
        let aftermath = store(persistence, insertion, in: db)
        if isUpsert { takeUpserted(persistence, in: db) }
        didInsert(insertion)
        didSave(PersistenceSuccess(insertion: insertion))
        return aftermath
    }
}

// MARK: - The long road

extension Record {
    /// Inserts the record with all that is called around it.
    private func insertByLongRoad(
        in db: Database, _ options: PersistenceOptions?, isUpsert: Bool
    ) throws -> Aftermath? {
        var (aftermath, givesRowID) = (nil as Aftermath?, false)
        var record = self
        let insertion = try record.insertAmongCallbacks(in: db, options, isUpsert: isUpsert) {
            (aftermath, givesRowID) = store($0, $1, isUpsert: isUpsert, in: db)
        }
        tell(insertion.map { PersistenceSuccess(insertion: $0) }, options, givesRowID: givesRowID, in: db)
        return aftermath
    }

    /// Updates or inserts the record with all that is called around it: `willSave` and `aroundSave` once.
    final func saveByLongRoad(in db: Database, _ options: PersistenceOptions?) throws {
        var aftermath: Aftermath?
        if try db.records.plan(for: type(of: self), on: db).overridesMethods {
            try saveByMethods(in: db, options)
        } else if let columns = try columnsToUpdate(in: db) {
            var givesRowID = false
            var record = self
            let success = try record.saveAmongCallbacks(
                in: db, columns: columns, options,
                didUpdate: { remember($0, $1, isFull: $2, in: db) },
                didInsert: { (aftermath, givesRowID) = store($0, $1, isUpsert: false, in: db) })
            tell(success, nil, givesRowID: givesRowID, in: db)
        } else {
            aftermath = try insertByLongRoad(in: db, options, isUpsert: false)
        }
        if let aftermath { try finish(aftermath) }
    }

    /// Updates or inserts the record by its own methods.
    private func saveByMethods(in db: Database, _ asked: PersistenceOptions?) throws {
        guard try columnsToUpdate(in: db) != nil else {
            return try db.records.with(asked, for: self) { try insert(db) }
        }
        // What `willSave` changes is written, whatever columns the methods name: compare with what is encoded before.
        let part = try Persistence.with(
            type(of: self), on: db, encoding: { try _encodeColumns(to: &$0) },
            perform: { encoded in
                func options() -> PersistenceOptions {
                    PersistenceOptions(
                        asked?.conflictResolution, returning: asked?.returning, encoded: encoded,
                        isPartOfSave: true)
                }
                var part = options()
                var record = self
                let success = try record.saveAmongCallbacks(in: db) {
                    do {
                        try db.records.with(part, for: self) { try update(db) }
                    } catch let error as RecordError {
                        guard try isAbsence(error, in: db) else { throw error }
                        part = options()
                        try db.records.with(part, for: self) { try insert(db) }
                    }
                    return part.isIgnored ? nil : part.outcome?.success ?? PersistenceSuccess(insertion: nil)
                }
                return success == nil ? nil : part
            })
        // A method that has not called `super` has saved the record by itself, or has not.
        if let outcome = part?.outcome {
            tell(outcome.success, nil, givesRowID: outcome.givesRowID, in: db)
        }
    }
}

// MARK: - On top of the overridable methods

extension Record {
    /// Inserts the record. With `refreshing`, takes what the database made of it, too: the default values of columns
    /// that were not encoded, and generated columns.
    ///
    /// It is one statement, and needs a class that lists its columns in ``columns(_:)``, or reads them in
    /// ``updateFromRow(_:)``.
    ///
    /// - Throws: ``RecordError/rowNotTaken(recordType:reason:)`` when the record does not take the row,
    ///   which is inserted all the same.
    public final func insert(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil, refreshing: Bool
    ) throws {
        guard refreshing else { return try insert(db, onConflict: resolution) }
        try checkRefreshing()
        var row: Row?
        let returning = Returning("*") { row = $0.copy() }
        try persist(PersistenceOperation(.insert, resolution, returning: returning), in: db)
        guard let row else { return }
        try refresh(from: row, before: encoded().row(), in: db)
    }

    /// Takes what the database holds.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key, and ``RecordError/rowNotTaken(recordType:reason:)`` when the class neither lists its columns
    ///   nor overrides ``updateFromRow(_:)``.
    public final func reload(_ db: Database) throws {
        db.checkAccess()
        try checkRefreshing()
        let found = try Persistence.with(
            type(of: self), on: db, encoding: { try _encodeColumns(to: &$0) },
            perform: { persistence in
                persistence.takeKey(of: self)
                var row: Row?
                try persistence.withRow { row = $0.copy() }
                return row.map { (row: $0, before: persistence.columns.row()) }
            })
        if let found { try refresh(from: found.row, before: found.before, in: db) }
    }

    /// Takes a row of the record's table.
    ///
    /// - Parameter before: What the record had encoded before the row was read.
    private func refresh(from row: Row, before: PackedRow, in db: Database) throws {
        try read(row)
        let fetched = try row.remembered(
            by: type(of: self), in: db, past: pastOfSave(moment: note(in: db)))
        let remembered = snapshot
        // To encode the record may save it, which it then remembers.
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
