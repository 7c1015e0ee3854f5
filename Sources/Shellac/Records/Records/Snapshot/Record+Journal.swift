// Makes a record's state follow the transaction: see ``Journal``.

extension Record: Journaled {
    final var original: AnyObject { self }

    final func inPlace(of copy: AnyObject) -> (any Journaled)? { copy as? Record }

    /// Restores the noted row of the record, if the note is of a remembered row.
    final func restore(_ note: Journal.Note) {
        if note.state is GivenValues { return }
        let state = note.state.map { unsafeDowncast($0, to: PackedRow.self) }
        // A copy shares nothing with its original.
        snapshot = note.object === self ? state : state.map { $0.copy($0.layout) }
        snapshot?.forgetPreviousState()
    }

    /// Removes the row id that a save has set in the record, or other values.
    final func revert(_ note: Journal.Note, on database: Database) {
        if let given = note.state as? GivenValues { return takeAway(given) }
        guard let rowID = note.rowID else { return }
        do {
            // Use the name, because the record may encode its columns in another order by now.
            guard let name = database.records.knownPlan(for: type(of: self))?.rowIDColumn else { return }
            try take([GivenValue(name: name, old: rowID.value.databaseValue, new: .null, affinity: .integer)])
        } catch {
            ErrorLog.warn(
                "the insertion of a \(type(of: self)) was rolled back, but the record has kept the row id \(rowID.value): "
                    + "\(setter) threw \(error)")
        }
    }

    /// Remembers the same row as another record, and follows the transactions in which that record
    /// was saved.
    final func becomeCopy(of record: Record) {
        // The copy needs memory of its own. The original memory belongs to the other record, and so
        // does its previous state.
        snapshot = record.snapshot.map { $0.copy($0.layout) }
        for database in Database.accessed { database.transactionLog.note(copy: self, of: record) }
    }

    /// Forgets the remembered row.
    final func forget() { snapshot = nil }

    /// Returns whether the database holds the row that the record remembers. A record without a
    /// table remembers nothing of a database. Nil if the query fails, for example because the table
    /// of saved records is gone.
    final func matches(_ database: Database) -> Bool? {
        do {
            let type = type(of: self)
            if database.records.knownPlan(for: type) == nil, try type.table(in: database) == nil {
                return true
            }
            guard let snapshot, snapshot.count > 0 else {
                return try database.withWriter(for: self) {
                    try !$0.statements.key.columns.isEmpty && !$0.exists()
                }
            }
            let plan = try database.plan(for: type).object
            let key = try plan.keyCondition()
            let arguments = plan.key.map { name in
                snapshot.layout.column(named: name).map(snapshot.databaseValue(at:)) ?? .null
            }
            // It may have been fetched with columns that are not the table's, and with several of
            // one name.
            let names = snapshot.layout.names
            let known = names.indices.filter {
                plan.table.column(named: names[$0]) != nil && snapshot.layout.column(named: names[$0]) == $0
            }
            let columns = known.map { snapshot.layout.names[$0].quotedDatabaseIdentifier }
                .joined(separator: ", ")
            let statement = try database.makeStatement(
                sql: "SELECT \(columns) FROM \(plan.quotedTable) WHERE \(key)")
            guard let row = try Row.fetchOne(statement, arguments: StatementArguments(arguments)) else {
                return false
            }
            return zip(row.databaseValues, known).allSatisfy { value, column in
                ColumnAffinity.isStored(
                    snapshot.databaseValue(at: column), as: value,
                    in: plan.table.affinity(ofColumn: snapshot.layout.names[column]))
            }
        } catch {
            return nil
        }
    }
}
