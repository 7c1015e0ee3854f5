// How a class record is updated and deleted: see Record+Saving.swift.

extension Record {
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
                    try updateStraight(
                        persistence, persistence.shape.allColumns, isFull: true, options, in: db)
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
                    try updateStraight(
                        $0, $0.mask(of: columns, and: ColumnMask()), isFull: false, options, in: db)
                })
        }
        let isFull = plan.shape?.allNames == columns
        var record = self
        let success = try record.updateAmongCallbacks(in: db, columns: columns, isFull: isFull, options) {
            remember($0, $1, isFull: $2, in: db)
        }
        tell(success, options, in: db)
    }

    /// Updates columns that were encoded, where no callback stands around it.
    @inline(__always)
    final func updateStraight(
        _ persistence: Persistence, _ mask: ColumnMask, isFull: Bool, _ options: PersistenceOptions?,
        in db: Database
    ) throws {
        if persistence.isStamped {
            try updateStamped(persistence, mask, isFull: isFull, options, in: db)
        } else {
            try updateAsItIs(persistence, mask, isFull: isFull, options, in: db)
        }
    }

    @inline(never)
    private func updateStamped(
        _ persistence: Persistence, _ mask: ColumnMask, isFull: Bool, _ options: PersistenceOptions?,
        in db: Database
    ) throws {
        try persistence.stampingUpdate(of: self, mask, isFull: isFull) {
            try updateAsItIs($0, $1, isFull: $2, options, in: db)
        }
    }

    @inline(__always)
    private func updateAsItIs(
        _ persistence: Persistence, _ mask: ColumnMask, isFull: Bool, _ options: PersistenceOptions?,
        in db: Database
    ) throws {
        rememberedRow.prefetchNextRow()
        guard try persistence.update(mask, options, type(of: self).persistenceConflictPolicy) else { return }
        remember(persistence, mask, isFull: isFull, in: db)
        let success = PersistenceSuccess(insertion: nil)
        didUpdate(success)
        didSave(success)
    }

    /// Remembers the columns that were updated.
    @inline(__always)
    final func remember(
        _ persistence: Persistence, _ mask: ColumnMask, isFull: Bool, in db: Database
    ) {
        let columns = persistence.columns
        if isFull {
            var older: PackedRow?
            let past = takePast(moment: note(in: db), older: &older)
            snapshot = columns.row(past: past, replacing: &older)
        } else {
            let old = snapshot
            snapshot = columns.row(saving: mask, in: old, past: takePast(in: db))
        }
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
        rememberedRow.prefetchRow()
        if db.holdsSchema {
            return try Persistence.withChanged(
                type(of: self), from: rememberedRow.look, on: db, encoding: { try encode(to: &$0) },
                perform: { persistence, row in
                    if let row, !rememberedRow.isStill(row) { persistence.columns.forgetFirstChange() }
                    rememberedRow.leaveChunk()
                    return try updateChanges(persistence, in: db)
                })
        }
        // To know the table may take SQL, and without a change there is to be none.
        if !hasDatabaseChanges { return false }
        return try Persistence.with(
            type(of: self), on: db, encoding: { try encode(to: &$0) },
            perform: {
                rememberedRow.leaveChunk()
                return try updateChanges($0, in: db)
            })
    }

    /// Updates the columns that were encoded, and differ from what the record remembers, outside of a chunk.
    @inline(__always)
    private func updateChanges(_ persistence: Persistence, in db: Database) throws -> Bool {
        let columns = persistence.columns
        let changes = rememberedRow.packed.map { $0.use { columns.changesAndExactness(from: $0) } }
        let mask = changes?.mask ?? ColumnMask(0..<columns.count)
        if mask.isEmpty { return false }
        if persistence.withPlan({ $0.overridesWhatSaves }) {
            try updateByMethods(persistence, mask, isKnown: changes != nil, in: db)
        } else {
            let settable = persistence.settable(mask)
            // Where all is written that is not known to be there, what was encoded is what there is.
            let isFull = changes?.isExact == true && settable == mask || mask.count == columns.count
            try updateStraight(persistence, settable, isFull: isFull, nil, in: db)
        }
        return true
    }

    @inline(never)
    private func updateByMethods(
        _ persistence: Persistence, _ mask: ColumnMask, isKnown: Bool, in db: Database
    ) throws {
        let names = isKnown ? persistence.shape.names(of: mask) : persistence.shape.allNames
        let options = PersistenceOptions(encoded: persistence)
        try db.records.with(options, for: self) { try update(db, columns: names) }
    }
}
