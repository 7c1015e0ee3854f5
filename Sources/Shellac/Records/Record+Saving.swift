// How a class record is saved. Whatever saves it comes to one of its four overridable methods, whose base
// implementation comes here. What the record remembers is kept here, in final code.

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
        case .save:
            guard try hasKey(in: db) else {
                try db.records.with(options, for: self) { try insert(db) }
                break
            }
            do {
                try db.records.with(options, for: self) { try update(db) }
            } catch let error as RecordError {
                guard try isAbsence(error, in: db) else { throw error }
                try db.records.with(options, for: self) { try insert(db) }
            }
        }
        return true
    }

    /// What ``insert(_:)`` does.
    final func insertRow(in db: Database) throws {
        db.checkAccess()
        try insertRow(in: db, db.records.takeOptions(for: self), isUpsert: false)
    }

    private func insertRow(in db: Database, _ options: PersistenceOptions, isUpsert: Bool) throws {
        var record = self
        var unknownRowID: (rowID: Int64, plan: RecordPlan)?
        var rejection: RecordError?
        try record.runInsertion(in: db, options, isUpsert: isUpsert) { persistence, insertion in
            let columns = persistence.columns
            guard let column = persistence.shape.rowIDColumn, columns.isNull(column) else {
                remember(saved: columns.row(), givenRowID: nil, in: db)
                return
            }
            let row = columns.row(with: insertion.rowID, in: column)
            let given = Journal.GivenRowID(value: insertion.rowID, column: columns.layout.names[column])
            remember(saved: row, givenRowID: given, in: db)
            let plan = persistence.plan
            switch plan.rowIDRoad {
            case .updateFromRow: rejection = take(row)
            case .unknown:
                rejection = take(row)
                unknownRowID = (insertion.rowID, plan)
            case .didInsert, .none: break
            }
            if unknownRowID != nil, hasRowID(insertion.rowID, plan) {
                plan.rowIDRoad = .updateFromRow
                unknownRowID = nil
            }
        }
        if let rejection { throw rejection }
        if let (rowID, plan) = unknownRowID { learnRowIDRoad(rowID, plan) }
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

    /// What ``update(_:columns:)`` does.
    final func updateRow(in db: Database, columns: Set<String>) throws {
        db.checkAccess()
        let options = db.records.takeOptions(for: self)
        var record = self
        let plan = try db.records.plan(for: type(of: self), on: db)
        let isFull = plan.shape?.allNames == columns
        try record.runUpdate(in: db, columns: columns, isFull: isFull, options) { persistence, mask in
            let columns = persistence.columns
            let row = isFull ? columns.row() : columns.row(saving: mask, in: snapshot)
            remember(saved: row, givenRowID: nil, in: db)
        }
    }

    /// What ``delete(_:)`` does.
    final func deleteRow(in db: Database) throws -> Bool {
        try runDeletion(in: db) {
            note(in: db)
            keepSavedRows()
            snapshot = nil
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
        return try Persistence.with(type(of: self), on: db, encoding: { try encode(to: &$0) }) {
            persistence in
            let columns = persistence.columns
            let names: Set<String>
            if let snapshot {
                let mask = columns.changes(from: snapshot)
                if mask.isEmpty { return false }
                names = columns.names(of: mask)
            } else {
                names = persistence.shape.allNames
            }
            let options = PersistenceOptions(encoded: columns)
            try db.records.with(options, for: self) { try update(db, columns: names) }
            return true
        }
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
        try Persistence.with(type(of: self), on: db, encoding: { try encode(to: &$0) }) {
            try $0.withRow { row = $0.copy() }
        }
        if let row { try refresh(from: row, in: db) }
    }

    /// Takes a row of the record's table.
    private func refresh(from row: Row, in db: Database) throws {
        let before = try encoded().row()
        try updateFromRow(row)
        let after = try encoded()
        let fetched = try row.remembered(by: type(of: self), in: db)
        if let fetched, after.changes(from: before).isEmpty, !after.changes(from: fetched).isEmpty {
            throw RecordError.rowNotTaken(
                recordType: "\(type(of: self))",
                reason: "override updateFromRow(_:), and read the columns there")
        }
        note(in: db)
        keepSavedRows()
        snapshot = fetched
    }
}

extension PersistableRecord where Self: Record {
    /// Modifies the record, and updates the columns that this has changed. Changes made before are not written.
    ///
    /// ```swift
    /// let isUpdated = try player.updateChanges(db) { $0.score = 1000 }
    /// ```
    ///
    /// Without a change, no SQL is run and no callback is called.
    ///
    /// - Returns: Whether a column has changed.
    @discardableResult
    public func updateChanges(
        _ db: Database, onConflict resolution: Database.ConflictResolution? = nil,
        modify: (Self) throws -> Void
    ) throws -> Bool {
        let changes = try databaseChanges(modify: modify)
        if changes.isEmpty { return false }
        try update(db, onConflict: resolution, columns: Set(changes.keys))
        return true
    }

    /// Modifies the record, and returns the columns that this has changed, with their old values.
    @discardableResult
    public func databaseChanges(modify: (Self) throws -> Void) throws -> [String: DatabaseValue] {
        var record = self
        return try record.databaseChanges { (record: inout Self) in try modify(record) }
    }
}

extension PackedColumns {
    /// The names of some columns.
    fileprivate func names(of mask: ColumnMask) -> Set<String> {
        var names: Set<String> = []
        for (column, name) in layout.names.enumerated() where mask.contains(column) { names.insert(name) }
        return names
    }
}
