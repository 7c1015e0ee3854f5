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

    private func saveRow(in db: Database, _ options: PersistenceOptions?) throws {
        let type = Swift.type(of: self)
        if try db.records.plan(for: type, on: db).overridesWhatSaves {
            do {
                if try hasKey(in: db) { return try db.records.with(options, for: self) { try update(db) } }
            } catch let error as RecordError {
                guard try isAbsence(error, in: db) else { throw error }
            }
            return try db.records.with(options, for: self) { try insert(db) }
        }
        var aftermath: Aftermath?
        try Persistence.with(
            type, on: db, encoding: { try encode(to: &$0) },
            perform: { persistence in
                if persistence.hasKey {
                    do {
                        return try updateStraight(
                            persistence, persistence.shape.allColumns, isFull: true, options, in: db)
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
                if plan.overridesCallbacks {
                    var record = self
                    try record.runInsertion(in: db, options, isUpsert: isUpsert) {
                        aftermath = store($0, $1, in: db)
                        if isUpsert { takeUpserted($0) }
                    }
                } else {
                    aftermath = try Persistence.with(
                        plan, records, on: db, encoding: { try encode(to: &$0) },
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
        if isUpsert { takeUpserted(persistence) }
        didInsert(insertion)
        didSave(PersistenceSuccess(insertion: insertion))
        return aftermath
    }

    /// What is left to do after an insertion.
    indirect enum Aftermath {
        /// An error is to be thrown.
        case rejection(RecordError)
        /// It is not known whether the record has taken its row id.
        case unknownRowID(Int64, RecordPlan)
    }

    /// Remembers what a row has become that was in the way: it may differ from what the record has.
    private func takeUpserted(_ persistence: Persistence) {
        guard let values = persistence.upserted else { return }
        persistence.upserted = nil
        snapshot = snapshot?.with(Array(zip(persistence.columns.layout.names, values)))
    }

    /// Remembers what was inserted, and takes the row id.
    @inline(__always)
    final func store(
        _ persistence: Persistence, _ insertion: InsertionSuccess, in db: Database
    ) -> Aftermath? {
        let aftermath = storeRow(persistence, insertion, in: db)
        if persistence.boundStamps != nil { takeStamps(of: persistence) }
        return aftermath
    }

    @inline(__always)
    private func storeRow(
        _ persistence: Persistence, _ insertion: InsertionSuccess, in db: Database
    ) -> Aftermath? {
        let columns = persistence.columns
        let rowIDColumn = persistence.withShape { $0.rowIDColumn }
        guard let column = rowIDColumn, columns.isNull(column) else {
            let moment = note(in: db)
            if !remember(persistence, since: moment, in: db, inserted: { columns.row(among: &$0) }) {
                snapshot = columns.row(past: takePast(moment: moment))
            }
            return nil
        }
        let rowID = insertion.rowID
        let moment = note(Journal.GivenRowID(value: rowID, column: column), in: db)
        let road = persistence.withPlan { $0.rowIDRoad }
        if road == .didInsert || road == .none,
            remember(
                persistence, since: moment, in: db,
                inserted: { columns.row(with: rowID, in: column, among: &$0) })
        {
            return nil
        }
        let row = columns.row(with: rowID, in: column, past: takePast(moment: moment))
        snapshot = row
        switch road {
        case .didInsert, .none: return nil
        case .updateFromRow:
            return persistence.withShape { $0.withRow(on: row, take) }.map(Aftermath.rejection)
        case .unknown: return learnWhetherTaken(row, rowID, persistence.plan)
        }
    }

    /// Remembers a row that was inserted, among those that were inserted since the same moment. Returns false where it is
    /// to stand alone.
    @inline(__always)
    private func remember(
        _ persistence: Persistence, since moment: UInt64, in db: Database,
        inserted row: (inout ChunkedRow.Filling) -> ChunkedRow?
    ) -> Bool {
        // A row that will have to leave the chunk at once, or has a past, is better off alone.
        guard moment != 0, rememberedRow.isNothing, persistence.boundStamps == nil else { return false }
        return db.withRecords { records in
            records.insertedRows.begin(moment: moment)
            guard let row = row(&records.insertedRows) else { return false }
            rememberedRow.remember(row)
            return true
        }
    }

    /// The first insertion of a class: finds out whether the record takes its row id from `updateFromRow`.
    @inline(never)
    private func learnWhetherTaken(_ row: PackedRow, _ rowID: Int64, _ plan: RecordPlan) -> Aftermath? {
        let rejection = take(Row(row))
        let isTaken = hasRowID(rowID, plan)
        if isTaken { plan.rowIDRoad = .updateFromRow }
        if let rejection { return .rejection(rejection) }
        return isTaken ? nil : .unknownRowID(rowID, plan)
    }

    final func finish(_ aftermath: Aftermath) throws {
        switch aftermath {
        case .rejection(let error): throw error
        case .unknownRowID(let rowID, let plan): learnRowIDRoad(rowID, plan)
        }
    }

    /// Takes the row that was inserted. Returns the error to throw.
    final func take(_ row: Row) -> RecordError? {
        do {
            try updateFromRow(row)
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
}

// MARK: - On top of the overridable methods

extension Record {
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
