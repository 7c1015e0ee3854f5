// How a class record is updated and deleted: see Record+Saving.swift.

extension Record {
    // MARK: - Updating

    /// What ``update(_:)`` does.
    final func updateRow(in db: Database) throws {
        db.checkAccess()
        let type = Swift.type(of: self)
        try Persistence.with(
            type, on: db, encoding: { try _encodeColumns(to: &$0) },
            perform: { persistence in
                if persistence.withPlan({ $0.overridesWhatSaves }) {
                    let untouched = untouched(in: persistence)
                    try update(db, columns: persistence.names(without: untouched))
                } else {
                    let options = db.records.takeOptions(for: self)
                    let (mask, isFull) = columnsOfFullUpdate(persistence)
                    try updateStraight(persistence, mask, isFull: isFull, options, in: db)
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
                type, on: db, encoding: { try _encodeColumns(to: &$0) },
                perform: {
                    try updateStraight(
                        $0, $0.mask(of: columns, and: ColumnMask()), isFull: false, options, in: db)
                })
        }
        // What it never read is written where it is named.
        let isFull = plan.shape?.allNames == columns && knownLayout?.unread == nil
        var record = self
        let success = try record.updateAmongCallbacks(in: db, columns: columns, isFull: isFull, options) {
            let knowsOthers = knownLayout.map($0.columns.lacksColumns) ?? false
            remember($0, $1, isFull: $2 && !knowsOthers, in: db)
        }
        tell(success, options, in: db)
    }

    /// Updates columns that were encoded, where no callback stands around it.
    @inline(__always)
    final func updateStraight(
        _ persistence: Persistence, _ mask: ColumnMask, isFull: Bool, _ options: PersistenceOptions?,
        in db: Database
    ) throws {
        persistence.takeKey(of: self)
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
            rememberSome(of: persistence, mask, in: db)
        }
        if persistence.boundStamps != nil { takeStamps(of: persistence) }
    }

    /// Remembers some of the columns, and what was known of the others: nothing, where the record has come to mean
    /// another row. The row was found by its primary key, so that is known.
    @inline(never)
    private func rememberSome(of persistence: Persistence, _ mask: ColumnMask, in db: Database) {
        let (columns, shape) = (persistence.columns, persistence.shape)
        let old = snapshot
        let hasOtherKey = old.map { columns.hasOtherKey(shape.keyColumns, than: $0) } ?? true
        var written = mask
        if hasOtherKey { written.formUnion(shape.keyMask) }
        var unread = old?.layout.unreadColumns?.without(written, of: columns)
        // Its other values were given to the record, and are still to be written. Its stamps were not.
        if hasOtherKey, let old, persistence.isStamped {
            let stamps = persistence.stampsLeftOut(of: written, knowing: old)
            unread = UnreadColumns.joining(stamps, of: columns, with: unread)
        }
        snapshot = columns.row(
            saving: written, in: hasOtherKey ? nil : old, unread: unread, past: takePast(in: db))
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
                type(of: self), from: RememberedRow.Look(self), on: db,
                encoding: { try _encodeColumns(to: &$0) },
                perform: { persistence, row in
                    if let row, !row.isStillRemembered { persistence.columns.forgetFirstChange() }
                    rememberedRow.leaveChunk()
                    return try updateChanges(persistence, in: db)
                })
        }
        // To know the table may take SQL, and without a change there is to be none.
        if !hasDatabaseChanges { return false }
        return try Persistence.with(
            type(of: self), on: db, encoding: { try _encodeColumns(to: &$0) },
            perform: {
                rememberedRow.leaveChunk()
                return try updateChanges($0, in: db)
            })
    }

    /// Updates the columns that were encoded, and differ from what the record remembers, outside of a chunk.
    @inline(__always)
    private func updateChanges(_ persistence: Persistence, in db: Database) throws -> Bool {
        let columns = persistence.columns
        var changes = rememberedRow.packed.map { $0.use { columns.changesAndExactness(from: $0) } }
        if changes?.isExact == false, noteAddedColumns(persistence) {
            changes = rememberedRow.packed.map { $0.use { columns.changesAndExactness(from: $0) } }
        }
        guard let changes else { return try updateRowOfOtherKey(persistence, in: db) }
        let mask = changes.mask
        if mask.isEmpty { return false }
        if persistence.withShape({ mask.subtracting($0.keyMask) }) != mask {
            return try updateRowOfOtherKey(persistence, in: db)
        }
        if persistence.withPlan({ $0.overridesWhatSaves }) {
            try updateByMethods(persistence, persistence.shape.names(of: mask), in: db)
        } else {
            try updateStraight(persistence, mask, isFull: changes.isExact, nil, in: db)
        }
        return true
    }

    /// Updates all columns of a record that knows nothing of the row that it means: it was neither fetched nor saved, or
    /// its primary key was changed. Those that it never read, nor changed, are left alone.
    @inline(never)
    private func updateRowOfOtherKey(_ persistence: Persistence, in db: Database) throws -> Bool {
        let untouched = untouched(in: persistence)
        if persistence.withPlan({ $0.overridesWhatSaves }) {
            try updateByMethods(persistence, persistence.names(without: untouched), in: db)
        } else {
            let mask = persistence.shape.allColumns.subtracting(untouched)
            try updateStraight(
                persistence, persistence.settable(mask), isFull: untouched.isEmpty, nil, in: db)
        }
        return true
    }

    @inline(never)
    private func updateByMethods(_ persistence: Persistence, _ names: Set<String>, in db: Database) throws {
        let options = PersistenceOptions(encoded: persistence)
        try db.records.with(options, for: self) { try update(db, columns: names) }
    }

    /// The columns to update where some were changed: all that are not untouched, where the primary key is among them.
    final func columnsToUpdate(_ names: Set<String>, in db: Database) throws -> Set<String> {
        let plan = try db.records.plan(for: type(of: self), on: db)
        guard plan.key.contains(where: { key in names.contains { CaseInsensitiveName.matches($0, key) } })
        else { return names }
        return try Persistence.with(
            type(of: self), on: db, encoding: { try _encodeColumns(to: &$0) },
            perform: { $0.names(without: untouched(in: $0)) })
    }
}

extension Persistence {
    /// The names of all columns but some.
    func names(without untouched: ColumnMask) -> Set<String> {
        if untouched.isEmpty { return shape.allNames }
        return shape.names(of: ColumnMask(0..<columns.count).subtracting(untouched))
    }
}
