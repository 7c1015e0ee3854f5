// Soft deletes and restores records.

extension MutablePersistableRecord {
    /// Deletes the record's row permanently, even if ``TableRecord/databaseSoftDelete`` keeps
    /// deleted rows. Callbacks are called as by `delete`.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: any error of `delete`.
    @discardableResult
    public func destroy(_ db: Database) throws -> Bool {
        var record = self
        return try record.persist(PersistenceOperation(.destroy), in: db)
    }

    /// Restores the record's row if ``TableRecord/databaseSoftDelete`` has deleted it, and the rows
    /// that were deleted along with it. No callback is called.
    ///
    /// - Returns: Whether it was deleted.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no such row,
    ///   and a ``DatabaseError`` if the type declares no soft delete.
    @discardableResult
    public func restore(_ db: Database) throws -> Bool { try restoreRow(in: db) }
}

extension RecordWriter {
    /// Soft deletes the record's row. Returns the date, or nil if there was no row that was not
    /// deleted.
    func delete(
        _ type: any TableRecord.Type, _ deletion: SoftDelete, of object: Record?
    ) throws -> DatabaseValue? {
        try checkKeyIsEncoded()
        guard hasKey else { return nil }
        let date = try deletion.date(by: type, in: database)
        // Changes to a view's row do not count as changes, so its row is read before.
        let looksBefore = plan.isView || !deletion.cascades.isEmpty
        let known = looksBefore ? try owners(of: type, deletion) : nil
        if known?.date?.isNull ?? !looksBefore, try set(date, in: deletion, where: "IS NULL") {
            // A trigger may have changed the date. The stored date then applies to all rows that
            // are deleted along.
            let stored =
                try type.mayRewriteDates(on: database) ? values(of: [deletion.column])?.first ?? date : date
            if stored.isNull { return nil }
            if let owners = known?.owners {
                try SoftDeletion(db: database, direction: .delete(stored), written: date).cascade(
                    from: owners)
            }
            return stored
        }
        try explainMissingRow()
        if try !exists() { object?.forgetDeletedRow(in: database) }
        return nil
    }

    /// Restores the record's row. Returns whether it was deleted.
    func restore(_ type: any TableRecord.Type, _ deletion: SoftDelete) throws -> Bool {
        try checkKeyIsEncoded()
        guard hasKey else { throw notFound }
        try explainMissingRow()
        let (date, owners) = try owners(of: type, deletion)
        guard let date else { throw notFound }
        if date.isNull { return false }
        guard try set(.null, in: deletion, where: "IS NOT NULL") else { return false }
        try SoftDeletion(db: database, direction: .restore(date)).cascade(from: owners)
        return true
    }

    /// Reads the deletion date of the row, and its values in the columns by which cascades find
    /// other rows. The date is nil if there is no row.
    private func owners(
        of type: any TableRecord.Type, _ deletion: SoftDelete
    ) throws -> (date: DatabaseValue?, owners: SoftDeletion.Owners) {
        let columns = try deletion.ownerColumns(of: type, on: database)
        let values = try values(of: [deletion.column] + columns)
        let rows = values.map { [Array($0.dropFirst())] } ?? []
        return (
            values?.first,
            SoftDeletion.Owners(type: type, deletion: deletion, columns: columns, rows: rows)
        )
    }

    /// Reads columns of the record's row. Nil if there is no row.
    fileprivate func values(of names: [String]) throws -> [DatabaseValue]? {
        let list = names.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let key = keyNamesAndValues
        let statement = try database.cachedStatement(
            sql: "SELECT \(list) FROM \(plan.quotedTable) WHERE \(plan.ownCondition(key.names))")
        return try Row.fetchOne(statement, arguments: StatementArguments(key.values))?.databaseValues
    }

    private func set(_ value: DatabaseValue, in deletion: SoftDelete, where isDeleted: String) throws -> Bool
    {
        let key = keyNamesAndValues
        let column = deletion.column.quotedDatabaseIdentifier
        let statement = try database.cachedStatement(
            sql:
                "UPDATE \(plan.quotedTable) SET \(column) = ? WHERE \(plan.ownCondition(key.names)) AND \(column) \(isDeleted)"
        )
        statement.bypassAdvice()
        try statement.execute(arguments: StatementArguments([value] + key.values))
        return plan.isView || database.changesCount > 0
    }

    fileprivate var keyNamesAndValues: (names: [String], values: [DatabaseValue]) {
        let places = statements.key.columns
        return (places.map { columns.layout.names[$0] }, places.map { columns[$0] })
    }
}

extension Record {
    /// Returns the remembered values of the row with the record's key, which was found by it.
    private func remembered(_ known: PackedRow?, of writer: RecordWriter) throws -> PackedRow {
        let (columns, statements) = (writer.columns, writer.statements)
        if let known, !writer.hasOtherKey(than: known) { return known }
        let unread = known?.layout.unreadColumns?.without(statements.key.mask, of: columns)
        let row = columns.row(saving: statements.key.mask, in: nil, unread: unread, previous: nil)
        // A row may have other letters in its key than the key that found it.
        if statements.key.isExact { return row }
        let names = writer.keyNamesAndValues.names
        return try writer.values(of: names).map { row.with(Array(zip(names, $0))) } ?? row
    }

    /// Takes the deletion date of its row, or its removal, and the columns that other rules have
    /// filled in. They are set in the properties, if there are any, and in the remembered row.
    ///
    /// A column that the program has changed stays a change.
    final func takeDeletion(
        _ date: DatabaseValue, from writer: RecordWriter, _ deletion: SoftDelete, in db: Database
    ) throws {
        let columns = writer.columns.row()
        let known = snapshot
        let filled = writer.plan.rules.filter(\.fillsColumns).flatMap(\.ownColumns).filter { name in
            guard let place = columns.layout.column(named: name),
                let old = known.flatMap({ row in row.layout.column(named: name).map(row.column) })
            else { return false }
            return columns.column(place).isStored(as: old, in: nil)
        }
        let names = [deletion.column] + filled
        guard let values = try filled.isEmpty ? [date] : writer.values(of: names) else { return }
        let moment = note(in: db)
        let given = zip(names, values).compactMap { name, value in
            columns.layout.column(named: name).map { place in
                GivenValue(name: name, old: columns.column(place).view.databaseValue, new: value)
            }
        }
        if !given.isEmpty { noteGiven(GivenValues(given), in: db) }
        var reason: (any Error)?
        do { try take(given) } catch { reason = error }
        // A value that the record did not take does not count as a change.
        let refused = given.filter { value in (try? encodes(value.new, in: value.name)) != true }
        let row = try remembered(known, of: writer).with(
            zip(names, values).map { name, value in
                (name, refused.first { $0.name == name }?.old ?? value)
            })
        snapshot = row.copy(row.layout, previous: takePreviousState(moment: moment))
        guard let first = refused.first else { return }
        let why =
            reason.map { ": reading it threw \($0)" }
            ?? ". List it in columns(_:), or read it in updateFromRow(_:)"
        ErrorLog.warn(
            "a \(type(of: self)) was deleted or restored, but did not take its \(first.name)\(why)")
    }
}
