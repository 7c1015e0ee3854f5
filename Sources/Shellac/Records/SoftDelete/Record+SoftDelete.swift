// How a record is deleted so that its row stays, and restored.

extension MutablePersistableRecord {
    /// Deletes the record's row for good, also where ``TableRecord/databaseSoftDelete`` has deleted rows stay. Callbacks are called as by
    /// `delete`.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func destroy(_ db: Database) throws -> Bool {
        var record = self
        return try record.persist(PersistenceOperation(.destroy), in: db)
    }

    /// Restores the record's row where it is deleted, and the rows that went along with it, by ``TableRecord/databaseSoftDelete``. No
    /// callback is called.
    ///
    /// - Returns: Whether it was deleted.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` where there is no such row, and a ``DatabaseError`` where the type
    ///   does not say how rows are deleted.
    @discardableResult
    public func restore(_ db: Database) throws -> Bool {
        db.checkAccess()
        let deletion = try recordType.softDeletion()
        return try db.inOneTransaction(if: true) {
            let isRestored = try db.withWriter(for: self) { writer in
                writer.takeKey(of: self)
                return try writer.restore(recordType, deletion)
            }
            if isRestored { object?.takeDeletion(.null, in: deletion.column, in: db) }
            return isRestored
        }
    }

    /// Deletes the record's row, which stays where the type says so.
    func deleteRow(_ writer: RecordWriter, destroying: Bool, in db: Database) throws -> Bool {
        writer.takeKey(of: self)
        guard !destroying, let deletion = recordType.databaseSoftDelete else {
            let isDeleted = try writer.delete()
            object?.forgetDeletedRow(in: db)
            return isDeleted
        }
        return try db.inOneTransaction(if: !deletion.cascades.isEmpty) {
            let date = try db.transactionDate.databaseValue
            let isDeleted = try writer.delete(recordType, deletion, at: date)
            if isDeleted { object?.takeDeletion(date, in: deletion.column, in: db) }
            return isDeleted
        }
    }
}

extension RecordWriter {
    /// Deletes the record's row, which stays. Returns whether there was one that was not deleted.
    fileprivate func delete(
        _ type: any TableRecord.Type, _ deletion: SoftDelete, at date: DatabaseValue
    ) throws -> Bool {
        guard hasKey else { return false }
        let owners = try owners(of: type, deletion)
        guard try set(date, in: deletion, where: "IS NULL") else {
            try checkKind()
            return false
        }
        try SoftDeletion(db: database, direction: .delete(date))
            .cascade(of: type, deletion, owners.columns, owners.rows)
        return true
    }

    /// Restores the record's row. Returns whether it was deleted.
    fileprivate func restore(_ type: any TableRecord.Type, _ deletion: SoftDelete) throws -> Bool {
        guard hasKey else { throw notFound }
        try checkKind()
        let owners = try owners(of: type, deletion)
        guard let date = owners.date else { throw notFound }
        if date.isNull { return false }
        guard try set(.null, in: deletion, where: "IS NOT NULL") else { return false }
        try SoftDeletion(db: database, direction: .restore(date))
            .cascade(of: type, deletion, owners.columns, owners.rows)
        return true
    }

    /// Reads what the row has in the columns by which others are found that go along with it, and its date. There is none where there is
    /// no row.
    private func owners(
        of type: any TableRecord.Type, _ deletion: SoftDelete
    ) throws -> (date: DatabaseValue?, columns: [String], rows: [[DatabaseValue]]) {
        let columns = try deletion.ownerColumns(of: type, on: database)
        let list = ([deletion.column] + columns).map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let key = keyNamesAndValues
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT \(list) FROM \(plan.quotedTable) WHERE \(plan.ownCondition(key.names))"),
            arguments: StatementArguments(key.values))
        guard let values = row?.databaseValues else { return (nil, columns, []) }
        return (values[0], columns, [Array(values.dropFirst())])
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

    private var keyNamesAndValues: (names: [String], values: [DatabaseValue]) {
        let places = statements.keyColumns
        return (places.map { columns.layout.names[$0] }, places.map { columns[$0] })
    }
}

extension Record {
    /// Takes the date of the deletion of its row, or that there is none any more: into the property, where there is one, and into what is
    /// remembered.
    fileprivate final func takeDeletion(_ value: DatabaseValue, in column: String, in db: Database) {
        guard let columns = try? encoded() else { return }
        let moment = note(in: db)
        if let row = snapshot?.with([(column, value)]) {
            snapshot = row.copy(row.layout, previous: takePreviousState(moment: moment))
        }
        guard let place = columns.layout.column(named: column) else { return }
        let given = GivenValue(name: column, old: columns[place], new: value)
        noteGiven(GivenValues([given]), in: db)
        do {
            if try takeOrRefuse([given]) != nil {
                ErrorLog.warn(
                    "a \(type(of: self)) was deleted or restored, and has not taken its \(column): list it in columns(_:), or read it in updateFromRow(_:)"
                )
            }
        } catch {
            ErrorLog.warn(
                "a \(type(of: self)) was deleted or restored, and has not taken its \(column): \(error)")
        }
    }
}
