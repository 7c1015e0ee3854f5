// Optimistic locking: a save fails if another change would be lost.

extension Record {
    /// Updates the changed columns, unless another writer has changed the row since the record was
    /// fetched or saved.
    ///
    /// ```swift
    /// player.score += 10
    /// do {
    ///     try player.update(db, checking: .changedColumns)
    ///     // UPDATE "player" SET "score" = ? WHERE "id" = ? AND "score" IS ?
    /// } catch RecordError.stale(let columns, let row) {
    ///     print("somebody else has changed \(columns)")
    ///     try player.merge(row)
    /// }
    /// ```
    ///
    /// It needs no version column. SQLite compares the values that the record remembers with the
    /// stored values of the row, in the statement that writes. Texts are compared byte by byte, and
    /// NULL is a value like any other.
    ///
    /// The compared columns are those that are written (``ConflictCheck/changedColumns``), all
    /// that the record remembers (``ConflictCheck/all``), or those that you name. If the record
    /// has never read one of them, it counts as changed by another writer. The columns of
    /// ``databaseStamps`` are compared only if they are named, because every writer of the row
    /// writes them.
    ///
    /// If nothing has changed, no SQL runs and no callback is called. Callbacks are called as by
    /// ``updateChanges(_:)``.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns that must still hold the values that the record remembers.
    /// - Returns: Whether a column had changed.
    /// - Throws: ``RecordError/stale(columns:row:)`` if the row holds other values. Then nothing is
    ///   written, and the record is unchanged.
    ///   ``RecordError/recordNotFound(databaseTableName:key:)`` if the row is gone.
    @discardableResult
    public final func update(_ db: Database, checking columns: ConflictCheck) throws -> Bool {
        try updateChanges(db, SaveOptions(checking: columns))
    }

    @available(*, unavailable, renamed: "update(_:checking:)")
    public final func update(_ db: Database, ifUnchanged columns: ConflictCheck) throws -> Bool {
        try update(db, checking: columns)
    }

    /// Updates the changed columns. If another writer has changed the row in one of them, takes the
    /// row by ``merge(_:)-(Row)``, and tries again.
    ///
    /// If both have changed a column, the record's value is written in the end. If the new value
    /// depends on the old one, pass a function that computes it:
    /// `updateChanges(db, retrying: 3) { $0.score += 10 }`.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - retries: The number of further attempts. In a transaction, one is enough, because there
    ///     is no other writer meanwhile.
    /// - Returns: Whether a column had changed.
    /// - Throws: any error that ``update(_:checking:)`` and ``merge(_:)-(Row)`` throw.
    @discardableResult
    public final func updateChanges(_ db: Database, retrying retries: Int) throws -> Bool {
        try retry(retries, in: db) { try update(db, checking: .changedColumns) }
    }

    /// Runs a function that updates the record, until the row matches the remembered one. Before
    /// each retry, it reverts the changes that the function and the callbacks made to the record.
    /// They make them again from the new values.
    fileprivate func retry(
        _ retries: Int, in db: Database, _ update: () throws -> Bool
    ) throws -> Bool {
        var rest = retries
        while true {
            let before = rest > 0 ? try encoded().row() : nil
            do {
                return try updateAsOne(in: db, update)
            } catch let error as RecordError {
                guard rest > 0, case .stale(_, let row) = error, try isOwn(row, in: db) else { throw error }
                rest -= 1
                if let before { try takeBack(to: before) }
                try merge(row)
            }
        }
    }

    /// Restores the values that the record had encoded before.
    private func takeBack(to before: PackedRow) throws {
        let after = try encoded()
        let values = before.databaseValues
        let given = before.layout.names.enumerated().compactMap { place, name -> GivenValue? in
            guard let column = after.layout.column(named: name), after[column] != values[place] else {
                return nil
            }
            return GivenValue(name: name, old: after[column], new: values[place])
        }
        guard !given.isEmpty, let refused = try takeOrRefuse(given) else { return }
        throw RecordError.rowNotTaken(
            recordType: "\(type(of: self))",
            reason:
                "its \(refused.name) could not be restored before the next attempt. List it in columns(_:), or read it in updateFromRow(_:)"
        )
    }

    /// Runs an update. If callbacks may write too, a failed update also undoes their changes.
    private func updateAsOne(in db: Database, _ update: () throws -> Bool) throws -> Bool {
        if try db.plan(for: type(of: self)).use({ $0.hasNoCallbacks(for: .update) }) { return try update() }
        var result = false
        try db.inSavepoint {
            result = try update()
            return .commit
        }
        return result
    }

    /// Whether a row belongs to the record. A callback may have updated another one.
    private func isOwn(_ row: CurrentRow, in db: Database) throws -> Bool {
        try db.withWriter(for: self) { writer in
            writer.takeKey(of: self)
            guard CaseInsensitiveName.matches(writer.plan.tableName, row.databaseTableName) else {
                return false
            }
            let (values, columns) = (row.row, writer.columns)
            let key = columns.layout.key
            return zip(writer.statements.key.columns, key.comparisons).allSatisfy { column, comparison in
                guard let place = values.layout.column(named: columns.layout.names[column]) else {
                    return true
                }
                return comparison.isSameKey(columns[column], as: row.databaseValues[place])
            }
        }
    }
}

extension PersistableRecord where Self: Record {
    /// Modifies the record, and updates the columns that the function has changed. If another
    /// writer has changed the row in one of them, takes the row like ``Record/merge(_:)-(Row)``,
    /// and tries again. Changes made before are not written.
    ///
    /// ```swift
    /// try player.updateChanges(db, retrying: 3) { $0.score += 10 }
    /// ```
    ///
    /// No change is lost, even with many writers at once: the function runs again with the values
    /// of the others. Its side effects outside of the columns are not reverted first.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - retries: The number of further attempts. In a transaction, one is enough, because there
    ///     is no other writer meanwhile.
    ///   - modify: A function that sets properties of the record.
    /// - Returns: Whether a column has changed.
    /// - Throws: ``RecordError/stale(columns:row:)`` if the row was changed once more.
    ///   ``RecordError/recordNotFound(databaseTableName:key:)`` if it is gone. Any error of the
    ///   function.
    @discardableResult
    public func updateChanges(
        _ db: Database, retrying retries: Int, modify: (Self) throws -> Void
    ) throws -> Bool {
        db.checkAccess()
        return try retry(retries, in: db) {
            let changes = try databaseChanges(modify: modify)
            if changes.isEmpty { return false }
            let columns = try columnsToUpdate(changes, in: db)
            return try persist(
                PersistenceOperation(.update(columns: columns), checking: ConflictCheck.changedColumns),
                in: db)
        }
    }
}
