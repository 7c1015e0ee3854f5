// Writes the changes of a class record since it was fetched or saved.

extension Record {
    /// Updates the columns that have changed since the record was fetched or saved.
    ///
    /// If nothing has changed, no SQL runs and no callback is called.
    ///
    /// - Returns: Whether a column has changed.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key, or if the record was never inserted.
    @discardableResult
    public final func updateChanges(_ db: Database) throws -> Bool { try updateChanges(db, nil) }

    /// Updates the columns that have changed.
    ///
    /// - Parameter options: The columns that must still hold the values that the record remembers.
    ///   Nil for none.
    @inline(__always)
    final func updateChanges(_ db: Database, _ options: SaveOptions?) throws -> Bool {
        db.checkAccess()
        if try updateColumnsThatChanged(db, options) { return true }
        // The state in its attachment is in none of its columns.
        if attachment?.mayRefuseSaving == true {
            try db.withWriter(for: self) { try $0.checkAttachment(of: self, nil) }
        }
        return false
    }

    @inline(__always)
    private func updateColumnsThatChanged(_ db: Database, _ options: SaveOptions?) throws -> Bool {
        rememberedRow.prefetchRow()
        if db.holdsSchema {
            return try db.withChanges(of: self, from: RememberedRow.View(self)) { writer, row in
                if let row, !row.isStillRemembered { writer.columns.forgetFirstChange() }
                rememberedRow.leaveChunk()
                return try updateChanges(writer, options, in: db)
            }
        }
        // Reading the table's schema may take SQL, and without a change no SQL must run.
        if !hasDatabaseChanges { return false }
        return try db.withWriter(for: self) {
            rememberedRow.leaveChunk()
            return try updateChanges($0, options, in: db)
        }
    }

    /// Updates the columns that were encoded, and that differ from the remembered row, outside of a
    /// chunk.
    @inline(__always)
    private func updateChanges(
        _ writer: RecordWriter, _ options: SaveOptions?, in db: Database
    ) throws -> Bool {
        let columns = writer.columns
        var changes = rememberedRow.packed.map { $0.use { columns.changesAndExactness(from: $0) } }
        if changes?.isExact == false, noteAddedColumns(writer) {
            changes = rememberedRow.packed.map { $0.use { columns.changesAndExactness(from: $0) } }
        }
        guard var changes else { return try updateRowOfOtherKey(writer, options, in: db) }
        var mask = changes.mask.subtracting(writer.withStatements { $0.written.leftAlone })
        if writer.withPlan({ $0.rules.withholdColumns }) {
            let given = mask.subtracting(writer.columnsWithheld(by: self))
            if given != mask { (mask, changes.isExact) = (given, false) }
        }
        if mask.isEmpty { return false }
        if writer.withStatements({ mask.subtracting($0.key.mask) }) != mask,
            rememberedRow.row.map({ writer.hasOtherKey(than: $0) }) ?? true
        {
            return try updateRowOfOtherKey(writer, options, in: db)
        }
        if writer.withPlan({ $0.hasNoCallbacks(for: .update) }) {
            try updateAlone(mask, writesAllColumns: changes.isExact, writer, options, in: db)
        } else {
            try updateByMethods(writer, writer.statements.names(of: mask), options, in: db)
        }
        return true
    }

    /// Updates all columns of a record that remembers nothing of the row that it identifies. It
    /// was neither fetched nor saved, or its primary key was changed. The update leaves columns
    /// alone that the record does not provide.
    @inline(never)
    private func updateRowOfOtherKey(
        _ writer: RecordWriter, _ options: SaveOptions?, in db: Database
    ) throws -> Bool {
        let notGiven = writer.columnsNotGiven(by: self)
        if writer.withPlan({ $0.hasNoCallbacks(for: .update) }) {
            let mask = writer.allColumns.subtracting(notGiven)
            try updateAlone(
                writer.settable(mask), writesAllColumns: notGiven.isEmpty, writer, options, in: db)
        } else {
            try updateByMethods(
                writer, writer.names(without: notGiven), options, in: db)
        }
        return true
    }

    /// Updates columns if no callbacks run around the statement.
    @inline(__always)
    private func updateAlone(
        _ mask: ColumnMask, writesAllColumns: Bool, _ writer: RecordWriter, _ options: SaveOptions?,
        in db: Database
    ) throws {
        if try writer.update(self, mask, writesAllColumns: writesAllColumns, options, in: db) {
            runDidCallbacks(.update, in: db)
        }
    }

    /// Returns the columns to update after some were changed. If the record identifies another row
    /// now, these include all columns that it provides.
    ///
    /// - Parameter changes: The columns, with their old values.
    final func columnsToUpdate(_ changes: [String: DatabaseValue], in db: Database) throws -> Set<String> {
        let plan = try db.plan(for: type(of: self)).object
        let names = Set(changes.keys)
        let old = plan.key.map { key in changes.first { CaseInsensitiveName.matches($0.key, key) }?.value }
        if old.allSatisfy({ $0 == nil }) { return names }
        return try db.withWriter(for: self) { writer in
            let (columns, key) = (writer.columns, writer.statements.layout.key)
            let isSame = zip(zip(writer.statements.key.columns, key.comparisons), old).allSatisfy {
                new, old in
                old.map { new.1.isSameKey(columns[new.0], as: $0) } ?? true
            }
            if isSame, !key.isEmpty { return names }
            return writer.names(without: writer.columnsNotGiven(by: self)).union(names)
        }
    }
}
