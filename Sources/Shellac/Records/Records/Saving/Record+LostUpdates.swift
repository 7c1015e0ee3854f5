// How a class record is saved where others save the same row: no change of theirs is overwritten unseen.

extension Record {
    /// Updates the columns that have changed, unless somebody else has changed the row since the record was fetched or saved.
    ///
    /// ```swift
    /// player.score += 10
    /// do {
    ///     try player.update(db, ifUnchanged: .changedColumns)
    ///     // UPDATE "player" SET "score" = ? WHERE "id" = ? AND "score" IS ?
    /// } catch RecordError.stale(let columns, let row) {
    ///     print("somebody else has changed \(columns)")
    ///     try player.merge(row)
    /// }
    /// ```
    ///
    /// It needs no column with a version: what the record remembers of the row is compared with what the row holds, by SQLite and as
    /// it is stored, in the statement that writes. Texts are compared byte by byte, and NULL is a value as any other.
    ///
    /// What is compared are the columns that are written, by ``UnchangedColumns/changedColumns``, or all that the record remembers, by
    /// ``UnchangedColumns/all``, or those that you name. A column among these that the record has never read counts as changed by
    /// somebody else: nobody knows better. The columns of ``databaseStamps`` are compared only where they are named, since whoever
    /// writes the row writes them.
    ///
    /// Without a change, no SQL is run and no callback is called. Callbacks are called as by ``updateChanges(_:)``.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns that are to hold what the record remembers.
    /// - Returns: Whether a column had changed.
    /// - Throws: ``RecordError/stale(columns:row:)`` where the row holds something else: nothing is written then, and the record
    ///   is as it was. ``RecordError/recordNotFound(databaseTableName:key:)`` where the row is gone.
    @discardableResult
    public final func update(_ db: Database, ifUnchanged columns: UnchangedColumns) throws -> Bool {
        try updateChanges(db, columns)
    }

    /// Updates the columns that have changed; where somebody else has changed the row in one of them, takes the row by
    /// ``merge(_:)-(Row)``, and begins again.
    ///
    /// In a column that both have changed, the record's value is written in the end. Where that one is made of the old value, give a
    /// function that makes it: `updateChanges(db, retrying: 3) { $0.score += 10 }`.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - retries: How often it begins again. In a transaction, once is enough: nobody else writes meanwhile.
    /// - Returns: Whether a column had changed.
    /// - Throws: what ``update(_:ifUnchanged:)`` and ``merge(_:)-(Row)`` throw.
    @discardableResult
    public final func updateChanges(_ db: Database, retrying retries: Int) throws -> Bool {
        try retry(retries, in: db) { try update(db, ifUnchanged: .changedColumns) }
    }

    /// Runs a function that updates the record, until the row is what the record remembers. What the function, and what the callbacks
    /// have made of the record is taken back each time: they make it of the new values again.
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

    /// Gives the record the values back that it had encoded before.
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
                "it cannot be given back its \(refused.name), to begin again. List it in columns(_:), or read it in updateFromRow(_:)"
        )
    }

    /// Runs an update. Where callbacks may write, too, what they have written goes with an update that fails.
    private func updateAsOne(in db: Database, _ update: () throws -> Bool) throws -> Bool {
        if try db.plan(for: type(of: self)).use({ $0.isIdle(.update) }) { return try update() }
        var result = false
        try db.inSavepoint {
            result = try update()
            return .commit
        }
        return result
    }

    /// Whether a row is that of the record: a callback may have updated another one.
    private func isOwn(_ row: NewerRow, in db: Database) throws -> Bool {
        try db.withWriter(for: self) { writer in
            writer.takeKey(of: self)
            guard CaseInsensitiveName.matches(writer.plan.tableName, row.databaseTableName) else {
                return false
            }
            let (values, columns) = (row.row, writer.columns)
            let key = columns.layout.key
            return zip(writer.statements.keyColumns, key.comparisons).allSatisfy { column, comparison in
                guard let place = values.layout.column(named: columns.layout.names[column]) else {
                    return true
                }
                return comparison.isSameKey(columns[column], as: row.databaseValues[place])
            }
        }
    }
}

extension PersistableRecord where Self: Record {
    /// Modifies the record, and updates the columns that this has changed; where somebody else has changed the row in one of them,
    /// takes the row as ``Record/merge(_:)-(Row)`` does, and begins again. Changes made before are not written.
    ///
    /// ```swift
    /// try player.updateChanges(db, retrying: 3) { $0.score += 10 }
    /// ```
    ///
    /// However many do that at once, no change is lost: the function runs again with what the others have written. What it changes
    /// beside the columns is not taken back before.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - retries: How often it begins again. In a transaction, once is enough: nobody else writes meanwhile.
    ///   - modify: Sets properties of the record.
    /// - Returns: Whether a column has changed.
    /// - Throws: ``RecordError/stale(columns:row:)`` where the row was changed once more, ``RecordError/recordNotFound(databaseTableName:key:)``
    ///   where it is gone, and what the function throws.
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
                PersistenceOperation(.update(columns: columns), ifUnchanged: .changedColumns), in: db)
        }
    }
}
