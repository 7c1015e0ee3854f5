// A record's state follows the transaction: see ``Journal``.

extension Record: Journaled {
    /// Gives the record back what it remembered.
    final func giveBack(_ note: Journal.Note) {
        snapshot = note.state.map { unsafeDowncast($0, to: PackedRow.self) }
        snapshot?.forgetPast()
    }

    /// Takes the row id away that the record was given.
    final func takeAwayValues(_ note: Journal.Note) {
        if let rowID = note.rowID { takeAway(rowID) }
    }

    /// Has the record read a row of all that it encodes, with NULL for the row id.
    private func takeAway(_ rowID: Journal.GivenRowID) {
        do {
            let row = try encoded().row()
            var values = row.databaseValues
            let column = rowID.column
            guard values.indices.contains(column), values[column] == rowID.value.databaseValue
            else { return }  // it has another one by now
            values[column] = .null
            try updateFromRow(Row(.make(row.layout, values: values)))
        } catch {
            ErrorLog.warn(
                "the insertion of a \(type(of: self)) was rolled back, and the record has kept the row id \(rowID.value): "
                    + "updateFromRow threw \(error)")
        }
    }

    /// Whether the database holds what the record remembers. A record without a table remembers nothing of a database.
    final func isTrue(on database: Database) -> Bool {
        if type(of: self).databaseTableName.isEmpty { return true }
        do {
            guard let snapshot, snapshot.count > 0 else {
                return try Persistence.with(
                    type(of: self), on: database, encoding: { try encode(to: &$0) },
                    perform: {
                        try !$0.shape.keyColumns.isEmpty && !$0.exists()
                    })
            }
            let plan = try database.records.plan(for: type(of: self), on: database)
            let key = try plan.keyCondition()
            let arguments = plan.key.map { name in
                snapshot.layout.column(named: name).map(snapshot.databaseValue(at:)) ?? .null
            }
            // It may have been fetched with columns that are not the table's.
            let known = snapshot.layout.names.indices.filter {
                plan.table.column(named: snapshot.layout.names[$0]) != nil
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
            return false
        }
    }
}
